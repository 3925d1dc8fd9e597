"""Intervals and tests of the concordance of scores with censored times."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from math import inf, sqrt
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.censored_times import SurvivalRows
from aucmax._core.docstrings import documented
from aucmax._core.parameters import check_choice
from aucmax._core.validation import BoolArray, FloatArray, IntArray, check_scores
from aucmax.metrics._samples import (
    Measured,
    Rows,
    check_groups,
    effective_rows,
    shrunk,
)
from aucmax.metrics.concordance import METHODS, PairShares, concordance_shares
from aucmax.metrics.contrasts import BoundMetric, Contrasts, measure_on_same_rows
from aucmax.metrics.results import (
    MetricComparison,
    MetricDifference,
    MetricInterval,
    check_confidence,
)
from aucmax.metrics.uncertainty import (
    area_interval,
    rescaled_interval,
    warn_of_few_rows,
)

_MIN_UNITS = 1.0 + 1e-12
_KINDS = "rows with a comparable event", "rows observed for longer than an event"


@dataclass(frozen=True)
class ConcordanceSample:
    """Rows with censored times, for a concordance index."""

    rows: SurvivalRows
    method: str
    horizon: float | None
    censoring: Any
    groups: IntArray | None

    @classmethod
    def of(
        cls,
        event: ArrayLike,
        time: ArrayLike,
        sample_weight: ArrayLike | None,
        qid: ArrayLike | None,
        groups: ArrayLike | None,
        **options: Any,
    ) -> ConcordanceSample:
        """Check the rows."""
        check_choice("method", options["method"], tuple(METHODS))
        rows = SurvivalRows(event, time, sample_weight, qid)
        codes = check_groups(groups, rows.time.size)
        sample = cls(rows, groups=codes, **options)
        warn_of_few_rows(check_units(sample.units, codes is not None), _KINDS, 4)
        return sample

    @cached_property
    def _pairs(self) -> PairShares:
        """Weights of pairs, which depend on the scores of no model."""
        return self._shares(np.zeros(self.rows.time.size))

    def _shares(self, scores: FloatArray) -> PairShares:
        options = self.method, self.horizon, self.censoring
        return concordance_shares(self.rows, scores, *options)

    @cached_property
    def units(self) -> Rows:
        """Effective rows, or groups, as the earlier and as the later of a pair."""
        return effective_pair(self._pairs.earlier, self._pairs.later, self.groups)

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """All rows or groups."""
        return [(slice(None), max(min(self.units) - 1.0, 1.0))]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the effective rows on both sides of pairs, and degrees of freedom."""
        rows = effective_pair(self._pairs.earlier, self._pairs.later, None)
        degrees = max(min(self.units) - 1.0, 1.0)
        return shrunk(rows, self.units, design_effect), degrees

    def measure(self, scores: ArrayLike, name: str = "scores") -> Measured:
        """Return the concordance index with its effects."""
        found = self._shares(check_scores(scores, self.rows.time.size, name))
        is_earlier = found.earlier > 0.0
        return measured(found, is_earlier, self.rows.weight, self.groups)


def measured(
    found: PairShares, is_earlier: BoolArray, weight: FloatArray, groups: Any
) -> Measured:
    """Return the effects of rows or groups, without bias for few of them.

    Rows that are the earlier one of a pair and other rows are corrected separately, as
    the two classes of an AUC are.
    """
    effects = weight * found.effects
    of_rows = np.empty(effects.size)
    of_groups = None if groups is None else np.zeros(int(groups.max()) + 1)
    for part in (is_earlier, ~is_earlier):
        of_rows[part] = _factor(weight[part]) * effects[part]
        if of_groups is not None:
            codes = groups[part]
            summed = np.bincount(codes, effects[part], of_groups.size)
            of_groups += _factor(weight[part], codes) * summed
    return Measured.of(found.value, of_rows, of_groups)


def _factor(weight: FloatArray, codes: IntArray | None = None) -> float:
    if not weight.any():
        return 1.0
    n_units = effective_rows(weight, weight.size, codes)
    return sqrt(n_units / (n_units - 1.0)) if n_units > _MIN_UNITS else 1.0


def effective_pair(
    earlier: FloatArray, later: FloatArray, codes: IntArray | None
) -> Rows:
    """Return the number of equally weighted rows, or groups, on each side of pairs."""
    n_rows = earlier.size
    first = effective_rows(earlier, n_rows, codes)
    return first, effective_rows(later, n_rows, codes)


def check_units(units: Rows, has_groups: bool, where: str = "") -> Rows:
    """Return the effective rows or groups; reject a single one."""
    if min(units) <= _MIN_UNITS:
        kind = _KINDS[int(units[0] > units[1])]
        group = "in different groups" if has_groups else "of positive weight"
        raise ValueError(
            f"the variance needs at least two {kind}, {group}, but there is "
            f"one{where}. Use more rows."
        )
    return units


@documented
def concordance_interval(
    event: ArrayLike,
    time: ArrayLike,
    scores: ArrayLike,
    *,
    method: str = "harrell",
    horizon: float | None = None,
    null: float | None = None,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> MetricInterval:
    r"""Concordance index with a standard error and an interval on the logit scale.

    The index is a ratio of sums over pairs. The weight of row i changes it by

    .. math:: h_i = \frac{a_i - C b_i + c_i - C d_i}{\text{comparable pairs}} ,

    where :math:`a_i` of :math:`b_i` pairs are concordant in which the row is the
    earlier one, and :math:`c_i` of :math:`d_i` in which it is the later one. Uno's C
    has a further term, since the weights :math:`1 / G(t-)^2` are estimated from the
    same rows. The variance is the sum of squares of these effects, the infinitesimal
    jackknife, with the correction n / (n - 1) for rows that have a comparable event and
    for other rows: DeLong's variance if there are two times. The interval is symmetric
    on the logit scale, with Student's t. Its degrees of freedom are the smaller of
    k - 1 and

    .. math:: \nu = \frac{2 (\sum_i h_i^2)^2}
        {\sum_i h_i^4 - (\sum_i h_i^2)^2 / m} ,

    where k is the effective number of rows on the earlier or on the later side of
    pairs, :math:`(\sum_i b_i)^2 / \sum_i b_i^2` or the same of :math:`d_i`, whichever
    is smaller; :math:`\nu` is small if few rows have most errors. Where all pairs
    are in order, or all scores equal, it is the interval of :func:`auc_interval` for
    classes of these effective sizes. Costs O(m log m).

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row.
    time : array-like of shape (n_rows,)
        Time to the event or to censoring, at least 0.
    scores : array-like of shape (n_rows,)
        Predicted risks: high for early events.
    method, horizon, censoring
        As in :func:`concordance_index`. Censoring that is estimated from other rows
        counts as known.
    null : float, optional
        Test whether the index equals this one, as :func:`auc_interval` does.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of independent rows (not how often a row was seen).
    qid : array-like of shape (n_rows,), optional
        Strata: only rows of one stratum are compared. Rows remain independent.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as its hospital or patient. Rows of one
        group may depend on each other.

    Returns
    -------
    MetricInterval
        ``value`` with ``low``, ``high`` and ``standard_error``; ``p_value`` with
        `null`.

    Warns
    -----
    FewRowsWarning
        As in :func:`auc_interval`.

    See Also
    --------
    compare_concordance : Differences of models.
    concordance_index : The value alone.

    References
    ----------
    .. [1] H. Uno, T. Cai, M. J. Pencina, R. B. D'Agostino, L. J. Wei. On the
       C-statistics for evaluating overall adequacy of risk prediction procedures with
       censored survival data. Statistics in Medicine 30 (2011), 1105-1117.
    .. [2] L. Kang, W. Chen, N. A. Petrick, B. D. Gallas. Comparing two correlated C
       indices with right-censored survival outcome: a one-shot nonparametric approach.
       Statistics in Medicine 34 (2015), 685-703.

    Examples
    --------
    >>> from aucmax.metrics import concordance_interval
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> scores = [-(t % 9) - t / 9 for t in time]
    >>> print(concordance_interval(event, time, scores))
    Harrell's C 0.6621 (95% interval 0.5018 to 0.7921)
    """
    check_confidence(confidence)
    options: Any = {"method": method, "horizon": horizon, "censoring": censoring}
    sample = ConcordanceSample.of(event, time, sample_weight, qid, groups, **options)
    found = sample.measure(scores)
    rows, degrees = sample.sizes(found.design_effect)
    title = f"{method}_c"
    return interval_of_means(found, rows, degrees, confidence, title, null)


def interval_of_means(
    found: Measured,
    rows: Rows,
    degrees: float,
    confidence: float,
    metric: str,
    null: float | None = None,
) -> MetricInterval:
    """Return the interval of a share whose errors are not those of two classes."""
    # Newcombe's extension for few errors of two classes would cover 99 to 100 %
    degrees = min(degrees, _tail_degrees(found.effects))
    ends = partial(
        area_interval,
        found.value,
        found.error,
        rows=rows,
        degrees=degrees,
        few_errors=0.0,
    )
    return rescaled_interval(found, ends, (1.0, 0.0), confidence, rows, null, metric)


def _tail_degrees(effects: FloatArray) -> float:
    """Return the degrees of freedom of a sum of squares, by its fourth powers."""
    squares = np.square(effects[effects != 0.0])
    total = float(squares.sum())
    spread = float(squares @ squares) - total**2 / max(squares.size, 1)
    return max(2.0 * total**2 / spread, 1.0) if spread > 0.0 else inf


@overload
def compare_concordance(
    event: ArrayLike,
    time: ArrayLike,
    scores_a: Any,
    scores_b: ArrayLike,
    **options: Any,
) -> MetricDifference: ...
@overload
def compare_concordance(
    event: ArrayLike, time: ArrayLike, scores_a: Any, **options: Any
) -> MetricComparison: ...
@documented
def compare_concordance(  # type: ignore[misc]
    event: ArrayLike,
    time: ArrayLike,
    scores_a: Any,
    scores_b: ArrayLike | None = None,
    *,
    method: str = "harrell",
    horizon: float | None = None,
    reference: Any = None,
    null: float = 0.0,
    margin: float | None = None,
    confidence: float = 0.95,
    sample_weight: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    censoring: tuple[ArrayLike, ArrayLike] | None = None,
) -> MetricDifference | MetricComparison:
    """Test whether models have the same concordance index: two models, or any number.

    The variance of a difference is that of :func:`concordance_interval` with the
    differences of the effects of each row, so that it allows for the correlation of
    models on the same rows. Tests with Student's t, simultaneous intervals and Holm's
    p-values are those of :func:`compare_auc`, without its term for few errors. Costs
    O(k m log m + k^2 m) for k models.

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row.
    time : array-like of shape (n_rows,)
        Time to the event or to censoring, at least 0.
    scores_a, scores_b : array-like of shape (n_rows,)
        The predicted risks of two models for the same rows. Or all models in the first:
        a mapping from names to scores, a frame with one column per model, or an array
        of shape (n_rows, n_models).
    method, horizon, censoring
        As in :func:`concordance_index`.
    reference, null, margin
        As in :func:`compare_auc`.
    sample_weight, qid, groups : array-like of shape (n_rows,), optional
        As in :func:`concordance_interval`.

    Returns
    -------
    MetricDifference or MetricComparison
        Of two arrays, the ``difference`` with its interval, ``z`` and ``p_value``. Of
        several models, the ``p_value`` of the test that all are equal, and all
        ``differences``.

    Warns
    -----
    FewRowsWarning
        As in :func:`auc_interval`.

    Examples
    --------
    >>> from aucmax.metrics import compare_concordance
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> a, b = [-(t % 9) - t / 9 for t in time], [-(t % 7) for t in time]
    >>> print(compare_concordance(event, time, a, b))  # doctest: +NORMALIZE_WHITESPACE
    Harrell's C 0.6621 against 0.5086: difference 0.1534
    (95% interval -0.0424 to 0.3493), p = 0.115
    """
    check_confidence(confidence)
    contrasts = Contrasts.of(
        scores_a, scores_b, reference, null, margin, confidence, "scores"
    )
    options: Any = {"method": method, "horizon": horizon, "censoring": censoring}
    sample = ConcordanceSample.of(event, time, sample_weight, qid, groups, **options)
    bound = BoundMetric(sample, sample.measure, has_areas=False)
    found = measure_on_same_rows(bound, contrasts.names, contrasts.columns, "models")
    return contrasts.test(found, "auto", (1.0, 0.0), f"{method}_c")
