"""Confidence intervals of shares, for all counts and rates of a decision."""

from math import inf

from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_number
from aucmax.metrics.results import check_confidence
from aucmax.metrics.uncertainty import wilson_ends

_ROUNDING_OF_A_SHARE = 1e-9


@documented
def wilson_interval(
    share: float, n: float, *, confidence: float = 0.95, extra_below: float = 0.0
) -> tuple[float, float]:
    r"""Return Wilson's interval of a share observed in n rows.

    .. math:: \frac{\hat p + z^2 / 2n}{1 + z^2 / n} \pm \frac{z}{1 + z^2 / n}
              \sqrt{\frac{\hat p (1 - \hat p)}{n} + \frac{z^2}{4 n^2}}

    with z = 1.96 for a confidence of 95 %. It stays within [0, 1], and is not empty if
    the share is 0 or 1.

    Parameters
    ----------
    share : float
        The observed share, from 0 to 1.
    n : float
        Number of rows; with weights, :math:`(\sum w)^2 / \sum w^2`. If 0, the interval
        is [0, 1].
    extra_below : float, default=0.0
        Added to z at the lower end, for a share that was chosen as the best of many.

    Returns
    -------
    low, high : float
        The ends of the interval.

    References
    ----------
    .. [1] E. B. Wilson. Probable inference, the law of succession, and statistical
       inference. Journal of the American Statistical Association 22, 1927.

    Examples
    --------
    >>> from aucmax.decisions import wilson_interval
    >>> low, high = wilson_interval(37 / 52, 52)
    >>> round(low, 3), round(high, 3)
    (0.577, 0.817)
    """
    check_confidence(confidence)
    check_number("n", n, 0.0, inf)
    check_number("extra_below", extra_below, 0.0, inf)
    if n == 0.0 or share != share:
        return 0.0, 1.0
    check_number("share", share, 0.0, 1.0 + _ROUNDING_OF_A_SHARE)
    low, high = wilson_ends(share, n, confidence, extra_below)
    return float(low), float(high)
