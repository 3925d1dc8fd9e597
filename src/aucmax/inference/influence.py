r"""Values of metrics with the effect of each independent unit on them.

An *effect* of a unit (a row, a group of rows or a query) is the derivative of the value
by the share of the unit, times that share, scaled such that the sum of squares is the
variance of the value, without bias for few units. The covariance of two rankings is
then the sum of products of their effects.

The influence values of the whole area are DeLong's shares: of a positive, the negatives
below it; of a negative, the positives above it. For a box of false positive rates [a,
b] and true positive rates [c, d], a row counts at its point of the curve, moved to the
nearest point of the curve inside of the box:

.. math:: V_i = \frac{b - \mathrm{clip}(F(\mathrm{clip}(v_i, c, d)), a, b)}
          {(b - a)(d - c)}, \qquad
          U_j = \frac{\mathrm{clip}(T(\mathrm{clip}(u_j, a, b)), c, d) - c}
          {(b - a)(d - c)} ,

where :math:`u_j` and :math:`v_i` are the rates at the middle of the row's own step, T
is the curve, and F its inverse. With shares :math:`w_i` of the class, and A the mean of
the influence values of the class, the effect of a group g, or of a row as a group of
its own, is

.. math:: \frac{1}{\sqrt{1 - \sum_g w_g^2}} \sum_{i \in g} w_i (V_i - A), \qquad
          w_g = \sum_{i \in g} w_i .

Effects of positives and negatives of one group add up, which includes their covariance:
Obuchowski's variance (Biometrics 53, 1997) where groups have equal sizes.

Average precision with weights :math:`w_i`, of the thresholds t from the highest:
:math:`g_t` is the weight of positives at t, :math:`F_t` and :math:`N_t` are those of
positives and of all rows at or above t, and P is the weight of all positives. Its
derivatives by the weight of a positive and of a negative row at the threshold s are

.. math:: \frac{1}{P} \Big[ \frac{F_s}{N_s} - \mathrm{AP}
          + \sum_{t \le s} g_t \Big(\frac{1}{N_t} - \frac{F_t}{N_t^2}\Big) \Big] ,
          \qquad -\frac{1}{P} \sum_{t \le s} \frac{g_t F_t}{N_t^2} .
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.sorting import sort_with_order
from aucmax._core.validation import BoolArray, FloatArray, IntArray, check_qid
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.intervals import Rows, unseen_variance, wilson_ends
from aucmax.metrics import _ranking_kernels
from aucmax.metrics._steps import (
    WHOLE_SQUARE,
    BinaryRows,
    Box,
    RankingTask,
    box_size,
    tie_starts,
)

_MANY = 2**14  # rows; fewer take milliseconds, and no loop to compile
_MIN_GROUPS_PER_FOLD = 1.5  # of a class, for a variance within folds
_ONE = 1.0 + 1e-12  # effective rows: one row has all of the weight

Parts = list[tuple[FloatArray, float]]


@dataclass(frozen=True)
class Influence:
    """The value of a ranking, the effects of units on it, and sizes for tests."""

    value: float
    parts: Parts  # independent parts: effects of units, and their degrees of freedom
    rows: Rows  # effective rows of both classes, or on both sides of pairs
    degrees: float
    classes: Parts = field(default_factory=list)  # effects, and the number of units
    has_areas: bool = True  # else, means over queries or concordance
    scale: tuple[float, float] = (1.0, 0.0)  # factor and shift of values up to 1
    n_folds: float = 1.0
    draws: FloatArray | None = None  # of the value, for a metric by resampling

    @property
    def effects(self) -> FloatArray:
        """Effects of all units."""
        return np.concatenate([effects for effects, _ in self.parts])

    @property
    def error(self) -> float:
        """Standard error of the value."""
        return sqrt(sum(float(effects @ effects) for effects, _ in self.parts))

    @property
    def unseen(self) -> float:
        """Variance that the units of each class have not shown."""
        squares = [np.square(effects) for effects, _ in self.classes]
        sums = np.array([[one.sum(), one @ one] for one in squares]).reshape(-1, 2)
        n_units = [n for _, n in self.classes]
        return float(unseen_variance(sums[:, 0], sums[:, 1], n_units))

    def inflate(self, factor: float) -> Influence:
        """Multiply the standard error."""
        parts, classes = (
            [(factor * effects, n) for effects, n in one]
            for one in (self.parts, self.classes)
        )
        return replace(self, parts=parts, classes=classes)


def influences(
    task: RankingTask, box: Box = WHOLE_SQUARE
) -> tuple[FloatArray, FloatArray]:
    """Return V of each positive and U of each negative, in the order of the rows."""
    is_positive = task.is_positive
    if box == WHOLE_SQUARE and task.scores.size >= _MANY:  # in half of the time
        weights = np.empty(0) if task.sample_weight is None else task.sample_weight
        order, ranked = sort_with_order(-task.scores)
        shares = _ranking_kernels.delong_shares(order, ranked, is_positive, weights)
        return shares[is_positive], shares[~is_positive]
    steps = task.steps()
    tpr, fpr = (
        np.concatenate(([0.0], np.cumsum(masses)))
        for masses in (steps.positive, steps.negative)
    )
    tpr, fpr = tpr / tpr[-1], fpr / fpr[-1]
    # at the middle of each step
    v, u = 0.5 * (tpr[1:] + tpr[:-1]), 0.5 * (fpr[1:] + fpr[:-1])
    if box == WHOLE_SQUARE:  # exact where all pairs are in order
        v_values, u_values = 1.0 - u, v
    else:
        a, b, c, d = box
        inverse = np.interp(np.clip(v, c, d), tpr, fpr)
        curve = np.interp(np.clip(u, a, b), fpr, tpr)
        v_values = (b - np.clip(inverse, a, b)) / box_size(box)
        u_values = (np.clip(curve, c, d) - c) / box_size(box)
    numbers = steps.number_of_rows()
    return v_values[numbers[is_positive]], u_values[numbers[~is_positive]]


def area_influence(
    task: RankingTask, groups: IntArray | None = None, box: Box = WHOLE_SQUARE
) -> Influence:
    """Return the mean area within a box, with the effects of rows or groups."""
    rows, units = (in_box(sizes, box) for sizes in class_sizes(task, groups))
    degrees = max(min(units) - 1.0, 1.0)
    auc, classes = _area_and_influences(task, box)
    by_row = [residuals(values, weights)[1] for values, weights, _ in classes]
    if groups is None:
        parts = [(e, max(n - 1.0, 1.0)) for e, n in zip(by_row, units, strict=True)]
        return Influence(
            auc, parts, rows, degrees, list(zip(by_row, units, strict=True))
        )
    n_groups = int(groups.max()) + 1
    by_group = [
        residuals(values, weights, groups[side], n_groups)[1]
        for values, weights, side in classes
    ]
    effects = by_group[0] + by_group[1]
    rows = shrink(rows, units, np.concatenate(by_row), effects)
    by_class = list(zip(by_group, units, strict=True))
    return Influence(auc, [(effects, degrees)], rows, degrees, by_class)


def _area_and_influences(task: RankingTask, box: Box) -> tuple[float, list[Any]]:
    """Return the area; influence values, weights and members of each class."""
    sides = task.is_positive, ~task.is_positive
    classes = [
        (values, take(task.sample_weight, side), side)
        for values, side in zip(influences(task, box), sides, strict=True)
    ]
    if box == WHOLE_SQUARE:
        return residuals(*classes[0][:2])[0], classes
    return min(task.mean_area(box) / box_size(box), 1.0), classes


def fold_influence(
    rows: BinaryRows,
    scores: FloatArray,
    folds: IntArray,
    groups: IntArray | None = None,
    box: Box = WHOLE_SQUARE,
) -> Influence:
    """Return the mean area within test folds; effects are summed over repetitions."""
    columns = np.broadcast_to(scores.reshape(scores.shape[0], -1), folds.shape)
    areas, pairs = [], []
    pieces: tuple[list[Any], list[Any]] = ([], [])  # of each class, by fold
    for repetition, codes in enumerate(folds.T):
        for fold in range(int(codes.max()) + 1):
            members = np.flatnonzero(codes == fold)
            task = RankingTask(
                np.ascontiguousarray(columns[members, repetition]),
                rows.is_positive[members],
                take(rows.sample_weight, members),
            )
            class_weights = np.bincount(~task.is_positive, task.sample_weight, 2)
            if class_weights.prod() == 0.0:
                continue
            area, classes = _area_and_influences(task, box)
            areas.append(area)
            pairs.append(float(class_weights.prod()))
            for piece, (values, weights, side) in zip(pieces, classes, strict=True):
                piece.append((values, weights, members[side]))
    if not areas:
        raise NotEnoughClassesError(
            "None of the folds has rows of both classes, so there is nothing to "
            "average. Check that folds numbers folds, not rows."
        )
    shares = np.array(pairs) / sum(pairs)
    mean = areas[0] + float(shares @ (np.array(areas) - areas[0]))
    n_folds = len(areas) / folds.shape[1]
    n_rows, units = (in_box(sizes, box) for sizes in class_sizes(rows, groups))
    degrees = max(min(units) - 1.0, 1.0)
    if groups is not None:
        both = [_effects_of_groups(piece, shares, groups, n_folds) for piece in pieces]
        by_row, by_group = (
            np.concatenate([one[0] for one in both]),
            both[0][1] + both[1][1],
        )
        n_rows = shrink(n_rows, units, by_row, by_group)
        return Influence(mean, [(by_group, degrees)], n_rows, degrees, n_folds=n_folds)
    by_class, sizes = [], []
    for piece in pieces:
        counts = [effective_rows(weights, values.size) for values, weights, _ in piece]
        if min(counts) <= _ONE:
            raise ValueError(
                "a test fold has a single row of one class; the variance "
                "within folds needs two. Use fewer or stratified folds."
            )
        effects = np.zeros(scores.shape[0])
        for share, (values, weights, members) in zip(shares, piece, strict=True):
            effects[members] += share * residuals(values, weights)[1]
        by_class.append(effects)
        sizes.append(sum(counts) / folds.shape[1])
    n_rows = in_box((sizes[0], sizes[1]), box)
    parts = [(e, max(n - 1.0, 1.0)) for e, n in zip(by_class, units, strict=True)]
    classes = list(zip(by_class, units, strict=True))
    degrees = max(min(n_rows) - 1.0, 1.0)
    return Influence(mean, parts, n_rows, degrees, classes, n_folds=n_folds)


def _effects_of_groups(
    piece: list[Any], shares: FloatArray, groups: IntArray, n_folds: float
) -> tuple[FloatArray, FloatArray]:
    """Return the effects of rows and groups of one class on the mean within folds.

    Influence values are compared with the mean of their fold, which costs a degree
    of freedom per fold. Where few groups are left, as if each fold has one group of
    a class, they are compared with the mean of all folds, which is cautious.
    """
    columns = []
    for share, (values, weights, members) in zip(shares, piece, strict=True):
        mass = np.ones(values.size) if weights is None else weights
        mass = mass / mass.sum()
        columns.append((values, values - mass @ values, share * mass, groups[members]))
    values, centred, mass, codes = map(np.concatenate, zip(*columns, strict=True))
    _, by_row = residuals(values, mass)
    n_units, factor = effective_rows(mass, mass.size, codes), 1.0
    if n_units >= _MIN_GROUPS_PER_FOLD * n_folds:
        values, factor = centred, sqrt((n_units - 1.0) / (n_units - n_folds))
    _, by_group = residuals(values, mass, codes, int(groups.max()) + 1)
    return by_row, factor * by_group


def refit_factor(n_folds: float) -> float:
    r"""Return the factor of a standard error that covers other training rows, too.

    Test folds of models that share training rows have the correlation :math:`\rho`, so
    the mean of K folds has :math:`1 + (K - 1) \rho` times the variance of independent
    ones. Nadeau and Bengio suggest :math:`\rho = 1 / K`.
    """
    return sqrt(2.0 - 1.0 / max(n_folds, 1.0))


def ordinal_influence(
    scores: FloatArray,
    levels: IntArray,
    sample_weight: FloatArray | None,
    groups: IntArray | None,
) -> Influence:
    """Return the share of pairs of different levels that are in order."""
    order, ranked = sort_with_order(scores)
    weights = np.ones(scores.size) if sample_weight is None else sample_weight
    weights = weights / weights.sum()
    ordered, partners = np.empty(scores.size), np.empty(scores.size)
    ordered[order], partners[order] = _ranking_kernels.partner_masses(
        ranked, levels[order], weights[order], np.array([0, scores.size])
    )
    pairs = float(weights @ partners)
    value = float(weights @ ordered) / pairs
    influence = weights * (ordered - value * partners) * (2.0 / pairs)
    n_rows, n_units = (effective_rows(weights, levels.size, g) for g in (None, groups))
    effects = by_row = influence * sqrt(n_rows / (n_rows - 1.0))
    if groups is not None:
        effects = np.bincount(groups, influence).astype(np.float64)
        effects *= sqrt(n_units / (n_units - 1.0))
    # rows beside the largest level, at most half, and the rest
    share = min(1.0 - np.bincount(levels, weights).max(), 0.5)
    rows, units = ((n * share, n * (1.0 - share)) for n in (n_rows, n_units))
    rows = shrink(rows, units, by_row, effects)
    degrees = max(min(rows[0], n_units) - 1.0, 1.0)
    return Influence(value, [(effects, n_units - 1.0)], rows, degrees)


def mean_influence(values: FloatArray) -> Influence:
    """Return the mean of independent values."""
    mean, effects = residuals(values, None)
    n, degrees = float(values.size), values.size - 1.0
    return Influence(mean, [(effects, degrees)], (n, n), degrees, has_areas=False)


def check_query_values(values: FloatArray) -> FloatArray:
    """Return the values of the queries that have one; reject a single one."""
    values = values[~np.isnan(values)]
    if values.size < 2:
        raise ValueError(
            f"qid has {values.size} queries with a value of the metric; a variance "
            "needs at least two."
        )
    return values


def precision_derivatives(task: RankingTask) -> tuple[float, FloatArray]:
    """Return average precision, and its derivative by the share of each row."""
    order, ranked = sort_with_order(-task.scores)
    starts = tie_starts(ranked, np.array([0, ranked.size]))
    weights = np.ones(ranked.size)
    if task.sample_weight is not None:
        weights = task.sample_weight[order] / task.sample_weight.mean()
    is_positive = task.is_positive[order]
    gained = np.add.reduceat(weights * is_positive, starts)
    positives_above = np.cumsum(gained)
    above = np.cumsum(np.add.reduceat(weights, starts))
    above[above == 0.0] = inf  # rows of weight 0 at the top
    precision = positives_above / above
    value = float(gained @ precision / positives_above[-1])
    negative_term = _sum_from_below(gained * precision / above)
    positive_term = precision - value + _sum_from_below(gained / above)
    positive_term -= negative_term
    steps = np.repeat(np.arange(starts.size), np.diff(starts, append=ranked.size))
    influence = np.empty(ranked.size)
    influence[order] = np.where(
        is_positive, positive_term[steps], -negative_term[steps]
    )
    return value, influence * (ranked.size / positives_above[-1])


def _sum_from_below(values: FloatArray) -> FloatArray:
    return np.cumsum(values[::-1])[::-1]


def precision_influence(task: RankingTask, groups: IntArray | None) -> Influence:
    """Return average precision; the share of positives varies with the rows."""
    value, influence = precision_derivatives(task)
    weights = task.sample_weight
    weights = np.ones(influence.size) if weights is None else weights
    weights = weights / weights.sum()
    n_groups = 0 if groups is None else int(groups.max()) + 1
    by_row, by_group = [], np.zeros(n_groups)
    for side in (task.is_positive, ~task.is_positive):
        values, own_weights = influence[side], weights[side]
        share = float(own_weights.sum())
        mean, effects = residuals(values, own_weights)
        # classes have a mean influence: that of their share
        by_row.append(share * effects + mean * own_weights)
        if groups is not None:
            codes = groups[side]
            _, effects = residuals(values, own_weights, codes, n_groups)
            by_group += share * effects
            by_group += mean * np.bincount(codes, own_weights, n_groups)
    effects = np.concatenate(by_row)
    rows, units = class_sizes(task, groups)
    if groups is not None:
        rows, effects = shrink(rows, units, effects, by_group), by_group
    degrees = max(min(units) - 1.0, 1.0)
    return Influence(value, [(effects, degrees)], rows, degrees)


def class_sizes(
    rows: BinaryRows | RankingTask, groups: IntArray | None = None
) -> tuple[Rows, Rows]:
    """Return the effective rows and units of both classes; reject a single one."""
    sizes, units = [], []
    for side in (rows.is_positive, ~rows.is_positive):
        weights, n_rows = take(rows.sample_weight, side), int(np.count_nonzero(side))
        sizes.append(effective_rows(weights, n_rows))
        units.append(effective_rows(weights, n_rows, take(groups, side)))
    fewer = "positive" if units[0] <= units[1] else "negative"
    if min(sizes) <= _ONE:
        fewer = "positive" if sizes[0] <= sizes[1] else "negative"
        weighted = " with all the weight" * (rows.sample_weight is not None)
        raise ValueError(
            "DeLong's variance needs at least two rows of each class, but there is "
            f"one {fewer} row{weighted}. Use more rows."
        )
    if min(units) <= _ONE:
        raise ValueError(
            f"groups has all {fewer} rows in one group; the variance needs each class "
            "in at least two groups. Use more groups."
        )
    return (sizes[0], sizes[1]), (units[0], units[1])


def shrink(rows: Rows, units: Rows, by_row: FloatArray, by_unit: FloatArray) -> Rows:
    """Divide rows by the ratio of variances, but not to fewer than the units."""
    variance = float(by_row @ by_row)
    # less than that is rounding: all pairs are in order
    ratio = float(by_unit @ by_unit) / variance if variance > 1e-30 else inf
    both = zip(rows, units, strict=True)
    first, second = (min(max(n / ratio, least), n) for n, least in both)
    return first, second


def in_box(rows: Rows, box: Box) -> Rows:
    """Return how many rows of both classes the box holds."""
    return rows[0] * (box[3] - box[2]), rows[1] * (box[1] - box[0])


def take(values: Any, rows: Any) -> Any:
    """Return the values of some rows, if there are any values."""
    return None if values is None else values[rows]


def residuals(
    values: FloatArray,
    weights: FloatArray | None,
    codes: IntArray | None = None,
    n_groups: int = 0,
) -> tuple[float, FloatArray]:
    """Return the weighted mean of values, and the effect of each row or group on it."""
    # relative to one value, so that equal values give exactly that value and zero
    centre = values[0 if weights is None else np.argmax(weights)]
    effects = values - centre
    shares = None if weights is None else weights / weights.sum()
    if shares is None:
        mean = effects.mean()
        effects -= mean
        effects /= values.size
    else:
        mean = shares @ effects
        effects -= mean
        effects *= shares
    n_units = effective_rows(weights, values.size, codes)
    if codes is not None:
        effects = np.bincount(codes, effects, n_groups)
    effects *= sqrt(n_units / (n_units - 1.0)) if n_units > 1.0 else np.nan
    return float(centre + mean), effects


def effective_rows(
    weights: FloatArray | None, n_rows: int, codes: IntArray | None = None
) -> float:
    """Return the number of equally weighted rows, or groups, of the same variance."""
    if codes is not None:
        weights = np.bincount(codes, weights).astype(np.float64)
    if weights is None:
        return float(n_rows)
    share = weights / weights.sum()
    return float(1.0 / (share @ share))


def share_interval(
    rows: BoolArray,
    counted: BoolArray,
    confidence_level: float,
    sample_weight: FloatArray | None = None,
    groups: IntArray | None = None,
    extra_below: float = 0.0,
) -> tuple[float, float, float, float]:
    """Return the share of rows that are counted, its rows and Wilson's interval.

    The number of rows is that of equal weight and with the same variance of the share;
    with groups, of independent rows: at least the groups, at most the rows.
    """
    weights = np.ones(np.count_nonzero(rows))
    weights = weights if sample_weight is None else sample_weight[rows]
    if not weights.any():
        return np.nan, 0.0, 0.0, 1.0
    values = counted[rows].astype(np.float64)
    share = float(np.average(values, weights=weights))
    n = effective_rows(weights, weights.size)
    if groups is not None:
        codes = groups[rows]
        n_groups = effective_rows(weights, weights.size, codes)
        _, effects = residuals(values, weights, codes, int(codes.max()) + 1)
        variance = float(effects @ effects)  # NaN of a single group
        by_groups = share * (1.0 - share) / variance if variance > 0.0 else n_groups
        n = min(max(by_groups, n_groups), n)
    low, high = wilson_ends(share, n, confidence_level, extra_below)
    return share, n, float(low), float(high)


def check_groups(groups: ArrayLike | None, n_rows: int) -> IntArray | None:
    """Return the number of each row's group; reject a single group."""
    if groups is None:
        return None
    codes = check_qid(groups, n_rows, "groups")
    if codes.n_queries == 1:
        raise ValueError(
            "groups holds one group only; rows of one group are not independent, so "
            "there is nothing to estimate a variance from. Use more groups."
        )
    return codes.codes
