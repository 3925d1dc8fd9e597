"""The sigmoid of all pairs: bounded, and the AUC itself as its width falls."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from aucmax._core.parameters import check_positive
from aucmax._core.validation import FloatArray
from aucmax.risks.contract import BoundRisk
from aucmax.risks.pair_logistic import PairLogistic

_MIN_TAU = 1e-300  # slopes grow with 1 / tau and must stay finite


@dataclass(eq=False, repr=False)
class PairSigmoid(BaseEstimator):
    r"""Mean sigmoid of the margins of all pairs, without the pairs; not convex.

    .. math:: R(s) = \frac{1}{W_+ W_-} \sum_{i \in P} \sum_{j \in N}
              w_i w_j \, \sigma\Big(-\frac{s_i - s_j}{\tau}\Big),
              \qquad \sigma(x) = \frac{1}{1 + e^{-x}}

    A pair costs at most 1, however far ahead the negative is, and as :math:`\tau` falls
    the risk tends to 1 - AUC. Over ranges of the false and the true positive rate the
    mean is over the pairs of the negatives with ranks in `fpr_range` and the positives
    with ranks in `tpr_range`, by descending score, rows at the ends in part; then it
    tends to 1 - partial AUC. With queries it is the mean over those with both classes.

    The derivative of the logistic loss is a sigmoid, so this is minus the sum of the
    gradient of :class:`PairLogistic` over the positives, and its gradient is the second
    derivative there, in O(m) for m rows: over a grid if many rows are within few
    widths, else after a sort. Ranks at the ends of a range are held fixed.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        Lower and upper end, ``0 <= low < high <= 1``.
    tau : float, default=1.0
        The width: margins within a few times tau of 0 have a slope.
    accuracy : float, default=1e-7
        Relative error as for :class:`PairLogistic`, of each pair's share and slope.
    n_jobs : int, default=1
        Number of threads; the result does not depend on it.

    See Also
    --------
    PairLogistic : A convex loss of the same pairs.
    aucmax.metrics.partial_auc_score : Its limit is 1 minus this metric.

    References
    ----------
    .. [1] L. Yan, R. Dodier, M. Mozer, R. Wolniewicz. Optimizing classifier performance
       via an approximation to the Wilcoxon-Mann-Whitney statistic. ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.risks import PairSigmoid
    >>> scores, labels = np.array([2.0, 0.0, 3.0]), np.array([1, 0, 0])
    >>> value, gradient = PairSigmoid().bind(labels).value_and_gradient(scores)
    >>> print(f"{value:.4f}", gradient.round(4))
    0.4251 [-0.1508  0.0525  0.0983]
    >>> round(PairSigmoid(tau=0.01).bind(labels).value(scores), 6)  # 1 - AUC
    0.5
    """

    fpr_range: Sequence[float] = (0.0, 1.0)
    _: KW_ONLY
    tpr_range: Sequence[float] = (0.0, 1.0)
    tau: float = 1.0
    accuracy: float = 1e-7
    n_jobs: int = 1

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundPairSigmoid":
        """Return the risk of these rows: see :meth:`Risk.bind`."""
        return BoundPairSigmoid(self, labels, sample_weight, queries)


class BoundPairSigmoid(BoundRisk):
    """The pair sigmoid of given rows."""

    risk: PairSigmoid
    is_convex, least_value = False, 0.0
    is_smooth = True

    def __init__(
        self,
        risk: PairSigmoid,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        check_positive("tau", risk.tau)
        if risk.tau < _MIN_TAU:
            raise ValueError(f"tau must be at least 1e-300, got {risk.tau!r}.")
        super().__init__(risk, labels, sample_weight, queries)
        self.relative_error = float(risk.accuracy)
        self._signs = np.where(self.labels, -1.0, 1.0) / float(risk.tau)
        # its slopes are our heights, its curvatures our slopes
        logistic = PairLogistic(
            fpr_range=risk.fpr_range,
            tpr_range=risk.tpr_range,
            accuracy=risk.accuracy,
            n_jobs=risk.n_jobs,
        )
        codes = None if self.queries is None else self.queries.codes
        self._pairs = logistic.bind(
            self.labels, self.sample_weight, codes, width=float(risk.tau)
        )

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        value, slopes = self._pairs.slope_and_hessian(scores)
        return value, np.multiply(slopes, self._signs, out=slopes)
