"""Intervals and tests of the concordance of scores with censored times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.censored_times import SurvivalRows
from aucmax._core.validation import FloatArray, IntArray, check_scores
from aucmax.inference.bound_metrics import BoundMetric
from aucmax.inference.contrasts import check_models, compare_estimates, without_names
from aucmax.inference.estimates import on_same_rows
from aucmax.inference.influence import (
    Measured,
    Rows,
    check_groups,
    effective_rows,
    shrunk,
)
from aucmax.inference.intervals import area_interval, rescaled_interval
from aucmax.inference.results import (
    MetricComparison,
    MetricDifference,
    MetricInterval,
    check_confidence,
)
from aucmax.metrics.concordance import PairShares, concordance_shares


@dataclass(frozen=True)
class ConcordanceSample:
    """Rows with censored times, for a concordance index."""

    rows: SurvivalRows
    groups: IntArray | None
    options: dict[str, Any]  # of `concordance_shares`

    @classmethod
    def of(
        cls, event: Any, time: Any, weight: Any, qid: Any, groups: Any, **options: Any
    ) -> ConcordanceSample:
        """Check the rows."""
        rows = SurvivalRows(event, time, weight, qid)
        sample = cls(rows, check_groups(groups, rows.time.size), options)
        count_units(sample._pairs, sample.groups)
        return sample

    @cached_property
    def _pairs(self) -> PairShares:
        """Weights of pairs, which are the same for all scores."""
        return concordance_shares(
            self.rows, np.zeros(self.rows.time.size), **self.options
        )

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """All rows or groups."""
        return [(slice(None), self.sizes(1.0)[1])]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the effective rows on both sides of pairs, and degrees of freedom."""
        units = count_units(self._pairs, self.groups)
        rows = shrunk(count_units(self._pairs, None), units, design_effect)
        return rows, max(min(units) - 1.0, 1.0)

    def measure(self, scores: ArrayLike, name: str = "scores") -> Measured:
        """Return the concordance index with its effects."""
        checked = check_scores(scores, self.rows.time.size, name)
        found = concordance_shares(self.rows, checked, **self.options)
        return measured(found, self.rows.weight, self.groups)


def count_units(found: PairShares, groups: IntArray | None, where: str = "") -> Rows:
    """Return the effective rows or groups on both sides of pairs; reject a single one.

    These are the equally weighted rows of the same variance; rows weigh their pairs.
    """
    earlier, later = found.earlier, found.later
    units = (
        effective_rows(earlier, earlier.size, groups),
        effective_rows(later, later.size, groups),
    )
    if min(units) > 1.0 + 1e-12:
        return units
    kind = ("before other rows" if units[0] <= units[1] else "after an event") + where
    raise ValueError(
        f"The variance needs at least two rows {kind}"
        f"{', of different groups' if groups is not None else ''}, but there is one. "
        "Use more rows."
    )


def measured(
    found: PairShares, weight: FloatArray, groups: IntArray | None
) -> Measured:
    """Return the effects of rows or groups, without bias for few of them."""
    effects = weight * found.effects
    share = (found.earlier + found.later) / found.earlier.sum()  # of pairs with the row
    of_rows = effects / np.sqrt(1.0 - share)
    # a row's effect is divided like its pairs, in which it is the earlier or the later
    total = found.earlier + found.later
    as_earlier = of_rows * found.earlier / np.where(total > 0.0, total, 1.0)
    sides = [as_earlier, of_rows - as_earlier]
    if groups is None:
        return Measured(found.value, of_rows, by_class=np.concatenate(sides))
    n_units = min(count_units(found, groups))
    of_groups = np.bincount(groups, effects).astype(np.float64)
    of_groups *= sqrt(n_units / (n_units - 1.0))
    sides = [np.bincount(groups, side).astype(np.float64) for side in sides]
    by_group = Measured.of(found.value, of_rows, of_groups)
    return replace(by_group, by_class=np.concatenate(sides))


def unseen_in_pairs(found: Measured, rows: Rows) -> float:
    """Return the variance that the rows on both sides of pairs have not shown."""
    n = found.effects.size
    return found.unseen([(slice(n, 2 * n), rows[0]), (slice(2 * n, None), rows[1])])


def share_interval(
    found: Measured,
    sizes: tuple[Rows, float],
    confidence: float,
    metric: str,
    null: float | None = None,
) -> MetricInterval:
    """Return the interval of a share of pairs; see :func:`concordance_interval`."""
    # the extension of `auc_interval` for few errors would cover in 99 to 100 %
    (rows, degrees), few_errors = sizes, 0.0
    squares = np.square(found.effects[found.effects != 0.0])
    total = float(squares.sum())
    spread = float(squares @ squares) - total**2 / max(squares.size, 1)
    by_tails = max(2.0 * total**2 / spread, 1.0) if spread > 0.0 else inf
    options: Any = {"degrees": min(degrees, by_tails), "few_errors": few_errors}
    options["unseen"] = unseen_in_pairs(found, rows)
    ends = partial(area_interval, found.value, found.error, rows=rows, **options)
    return rescaled_interval(found, ends, (1.0, 0.0), confidence, rows, null, metric)


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

    A row that is in :math:`b_i` of N comparable pairs, :math:`a_i` of them concordant,
    changes the index C by :math:`h_i = (a_i - C b_i) / N`. Uno's C has a further term,
    since its weights are estimated from the same rows. The variance is

    .. math:: \sigma^2 = \sum_i \frac{h_i^2}{1 - b_i / N} ,

    which is DeLong's for two times. The interval is :math:`\mathrm{logit}(C) \pm t
    \sigma / (C (1 - C))`, mapped back. Student's t has k - 1 degrees of freedom, where
    k is the effective number of rows on the earlier or on the later side of pairs
    (the smaller one), or :math:`2 (\sum h_i^2)^2 / (\sum h_i^4 - (\sum h_i^2)^2 / m)`
    if that is less, since few rows have most of the errors. A marker in few rows has
    the pseudo-rows of :func:`auc_interval`: the effect of a row is divided like its
    pairs, in which it is the earlier or the later one. Where all pairs are in
    order, or all scores equal, it is the interval of :func:`auc_interval` for classes
    of these sizes. Costs O(m log m).

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.
    scores : array-like of shape (n_rows,)
        Predicted risks: high for early events.
    method : {"harrell", "uno"}, default="harrell"
        As in :func:`aucmax.metrics.concordance_index`.
    horizon : float, default=None
        Only pairs whose event is before it count.
    null : float, optional
        Test whether the index equals this one, as :func:`auc_interval` does.
    confidence : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid : array-like of shape (n_rows,), optional
        Strata: only rows of one stratum are compared. Rows remain independent.
    groups : array-like of shape (n_rows,), optional
        The group (cluster) of each row, such as its hospital or patient. Effects are
        summed within groups, so that their rows may depend on each other.
    censoring : pair of array-like, default=None
        Events and times to estimate the censoring from; by default the rows themselves.

    Returns
    -------
    MetricInterval
        ``value``, ``low``, ``high``, ``standard_error``; ``p_value`` with `null`.

    References
    ----------
    .. [1] L. Kang, W. Chen, N. A. Petrick, B. D. Gallas. Comparing two correlated C
       indices with right-censored survival outcome: a one-shot nonparametric approach.
       Statistics in Medicine 34 (2015), 685-703.

    Examples
    --------
    >>> from aucmax.inference import concordance_interval
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> scores = [-(t % 9) - t / 9 for t in time]
    >>> print(concordance_interval(event, time, scores))
    Harrell's C 0.6621 (95% interval 0.4999 to 0.7934)
    """
    check_confidence(confidence)
    options: Any = {"method": method, "horizon": horizon, "censoring": censoring}
    sample = ConcordanceSample.of(event, time, sample_weight, qid, groups, **options)
    found = sample.measure(scores)
    sizes = sample.sizes(found.design_effect)
    return share_interval(found, sizes, confidence, f"{method}_c", null)


def compare_concordance(
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
    differences of the effects of each row. Tests with Student's t, simultaneous
    intervals and Holm's p-values are those of :func:`compare_auc`, without its terms
    for few errors and few moved rows. Costs O(k m log m + k^2 m) for k models.

    Parameters
    ----------
    event : array-like of shape (n_rows,)
        1 or True for an observed event, 0 or False for a censored row.
    time : array-like of shape (n_rows,)
        Time from the start to the event or to censoring, at least 0.
    scores_a, scores_b : array-like of shape (n_rows,)
        The predicted risks of two models for the same rows. Or all models in the first:
        a mapping from names to scores, a frame with one column per model, or an array
        of shape (n_rows, n_models).
    method : {"harrell", "uno"}, default="harrell"
        As in :func:`aucmax.metrics.concordance_index`.
    horizon : float, default=None
        Only pairs whose event is before it count.
    reference, null, margin
        As in :func:`compare_auc`.
    confidence : float, default=0.95
        Probability that the interval is meant to cover.
    sample_weight : array-like of shape (n_rows,), default=None
        Nonnegative row weights; the weight of a pair is the product of its rows'.
    qid, groups : array-like of shape (n_rows,), optional
        As in :func:`concordance_interval`.
    censoring : pair of array-like, default=None
        Events and times to estimate the censoring from; by default the rows themselves.

    Returns
    -------
    MetricDifference or MetricComparison
        Of two arrays, the ``difference``; of several models, all ``differences``.

    Examples
    --------
    >>> from aucmax.inference import compare_concordance
    >>> event, time = [1, 0, 1, 1, 0, 1] * 5, [*range(1, 31)]
    >>> a, b = [-(t % 9) - t / 9 for t in time], [-(t % 7) for t in time]
    >>> print(compare_concordance(event, time, a, b))  # doctest: +NORMALIZE_WHITESPACE
    Harrell's C 0.6621 against 0.5086: difference 0.1534
    (95% interval -0.0438 to 0.3507), p = 0.117
    """
    check_confidence(confidence)
    tests = reference, null, margin
    names, columns, pairs = check_models(scores_a, scores_b, *tests, "scores")
    options: Any = {"method": method, "horizon": horizon, "censoring": censoring}
    sample = ConcordanceSample.of(event, time, sample_weight, qid, groups, **options)
    bound = BoundMetric(sample, sample.measure, has_areas=False)
    found = on_same_rows(bound, names, columns, "models")
    scale, title = (1.0, 0.0), f"{method}_c"
    several = compare_estimates(found, pairs, *tests, confidence, "auto", scale, title)
    return several if scores_b is None else without_names(several)
