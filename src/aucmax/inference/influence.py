r"""Values of a metric with the effect of each independent unit on them.

A sample has the checked labels, weights and groups. It measures any number of rankings:
each gets its value, and one *effect* per unit (a row, a group of rows or a query). An
effect is the derivative of the value by the share of the unit, times that share, and is
scaled such that the sum of squares is the variance of the value, without bias for few
units. The covariance of two rankings is then the sum of products of their effects.

For a class of an area with shares :math:`w_i` of the class and influence values
:math:`V_i` (:mod:`aucmax.inference.area_influence`) around their mean A, the effect of
a group g, or of a row as a group of its own, is

.. math:: \frac{1}{\sqrt{1 - \sum_g w_g^2}} \sum_{i \in g} w_i (V_i - A), \qquad
          w_g = \sum_{i \in g} w_i .

Effects of positives and negatives of one group add up, which includes their covariance:
Obuchowski's variance (Biometrics 53, 1997) where groups have equal sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.sorting import sort_with_order
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_qid,
    reject_unreadable,
)
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.area_influence import influences
from aucmax.metrics import _ranking_kernels
from aucmax.metrics._steps import WHOLE_SQUARE, Box, RankingTask, box_size

_N_HELD = 5  # models whose effects are in memory at one time
_MIN_GROUPS_PER_FOLD = 1.5  # of a class, for a variance within folds
_MIN_REST = 1e-12  # share of the weight beside the largest row of a class
# Pseudo-rows of a class without a moved row, as many as Agresti and Coull add; and the
# number of moved rows from which none is needed. Chosen on scores of two values:
# coverage of 95 % or more, at most 1.1 times as wide with 5 moved rows in both classes.
_N_PSEUDO, _N_ENOUGH = 2.0, 10.0
_NEAR = 1.0 / 36.0  # of the squared distance of moved rows

Rows = tuple[float, float]
Weights = tuple[FloatArray | None, FloatArray | None]


@dataclass(frozen=True)
class Measured:
    """The value of a ranking, and the effect of each unit on it."""

    value: float
    effects: FloatArray
    design_effect: float = 1.0  # variance, by that of independent rows
    by_class: FloatArray | None = None  # effects of groups, of each class by itself

    @classmethod
    def of(cls, value: float, rows: FloatArray, groups: FloatArray | None) -> Measured:
        """Use the effects of groups, if any; compare them with those of rows."""
        if groups is None:
            return cls(value, rows)
        variance = float(rows @ rows)
        ratio = float(groups @ groups) / variance if variance else np.inf
        return cls(value, groups, ratio)

    @property
    def error(self) -> float:
        """Standard error of the value."""
        return sqrt(self.effects @ self.effects)

    @property
    def column(self) -> FloatArray:
        """Effects, then those of groups on each class: what `class_parts` divides."""
        if self.by_class is None:
            return self.effects
        return np.concatenate((self.effects, self.by_class))

    def unseen(self, class_parts: Sequence[tuple[slice, float]]) -> float:
        """Return the variance that the rows of each class have not shown."""
        squares = [np.square(self.column[units]) for units, _ in class_parts]
        sums = np.array([[one.sum(), one @ one] for one in squares]).reshape(-1, 2)
        n_units = [n for _, n in class_parts]
        return float(unseen_variance(sums[:, 0], sums[:, 1], n_units))


@dataclass(frozen=True)
class AreaSample:
    """Rows of two classes, for the area within a box as a mean over it."""

    is_positive: BoolArray
    sample_weight: FloatArray | None
    box: Box = WHOLE_SQUARE
    groups: IntArray | None = None

    @cached_property
    def weights(self) -> Weights:
        """Weights of both classes."""
        return self._by_class(self.sample_weight)

    @cached_property
    def codes(self) -> tuple[IntArray | None, IntArray | None]:
        """Groups of both classes."""
        return self._by_class(self.groups)

    def _by_class(self, values: Any) -> tuple[Any, Any]:
        if values is None:
            return None, None
        return values[self.is_positive], values[~self.is_positive]

    @cached_property
    def n_rows(self) -> Rows:
        """Rows of both classes; with weights, those of the same variance."""
        return self._count((None, None))

    @cached_property
    def n_units(self) -> Rows:
        """Rows, or groups, of both classes, as equally large ones."""
        return self._count(self.codes)

    def _count(self, codes: tuple[IntArray | None, IntArray | None]) -> Rows:
        n_positive = int(np.count_nonzero(self.is_positive))
        sizes = n_positive, self.is_positive.size - n_positive
        each = zip(self.weights, sizes, codes, strict=True)
        positive, negative = (effective_rows(*one) for one in each)
        return positive, negative

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """Rows by class; groups have rows of both."""
        _, degrees = self.sizes(np.inf)
        if self.groups is not None:
            return [(slice(0, int(self.groups.max()) + 1), degrees)]
        return [(units, max(n - 1.0, 1.0)) for units, n in self.class_parts]

    @property
    def class_parts(self) -> list[tuple[slice, float]]:
        """Rows by class with their number; groups by class after those of both."""
        start, end = 0, int(np.count_nonzero(self.is_positive))
        if self.groups is not None:
            start = int(self.groups.max()) + 1
            end = 2 * start
        positive, negative = _in_box(self.n_units, self.box)
        return [(slice(start, end), positive), (slice(end, None), negative)]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the rows in the box, at least as many as groups, and degrees."""
        rows, units = _in_box(self.n_rows, self.box), _in_box(self.n_units, self.box)
        return shrunk(rows, units, design_effect), max(min(units) - 1.0, 1.0)

    @property
    def n_pairs(self) -> float:
        """Pairs of a positive and a negative row, by weight."""
        positive, negative = np.bincount(~self.is_positive, self.sample_weight, 2)
        return float(positive * negative)

    def take(self, rows: IntArray) -> AreaSample:
        """Return some of the rows, without groups."""
        weights = None if self.sample_weight is None else self.sample_weight[rows]
        return AreaSample(self.is_positive[rows], weights, self.box)

    def check(self) -> AreaSample:
        """Return the sample; reject a class with one row or in one group."""
        rows_in_box(*self.n_rows, self.box, is_weighted=self.sample_weight is not None)
        if min(self.n_units) <= 1.0 + _MIN_REST:
            name = "positive" if self.n_units[0] <= self.n_units[1] else "negative"
            raise ValueError(
                f"groups has all {name} rows in one group; the variance needs each "
                "class in at least two groups. Use more groups."
            )
        return self

    def measure(self, scores: Any) -> Measured:
        """Return the area with its effects: by row, positives first, or by group."""
        task = RankingTask(scores, self.is_positive, self.sample_weight)
        values = influences(task, self.box)
        n_groups = 0 if self.groups is None else int(self.groups.max()) + 1
        sides = zip(values, self.weights, self.codes, strict=True)
        (auc, positive), (_, negative) = (residuals(*one, n_groups) for one in sides)
        if self.box != WHOLE_SQUARE:
            auc = min(task.mean_area(self.box) / box_size(self.box), 1.0)
        if self.groups is None:
            return Measured(auc, np.concatenate((positive, negative)))
        alone = [residuals(*one)[1] for one in zip(values, self.weights, strict=True)]
        measured = Measured.of(auc, np.concatenate(alone), positive + negative)
        return replace(measured, by_class=np.concatenate((positive, negative)))


def rows_in_box(
    n_positive: float, n_negative: float, box: Box, *, is_weighted: bool
) -> Rows:
    """Return how many rows of each class the box holds; reject a single row."""
    if min(n_positive, n_negative) <= 1.0 + _MIN_REST:
        name = "positive" if n_positive <= n_negative else "negative"
        raise ValueError(
            f"DeLong's variance needs at least two rows of each class, but there is "
            f"one {name} row{' with all the weight' * is_weighted}. Use more rows."
        )
    return _in_box((n_positive, n_negative), box)


def shrunk(rows: Rows, units: Rows, design_effect: float) -> Rows:
    """Divide rows by the design effect, but not to fewer than the units."""
    both = zip(rows, units, strict=True)
    first, second = (min(max(n / design_effect, least), n) for n, least in both)
    return first, second


def _in_box(rows: Rows, box: Box) -> Rows:
    return rows[0] * (box[3] - box[2]), rows[1] * (box[1] - box[0])


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


def class_effects(
    influence: FloatArray,
    weights: FloatArray,
    classes: Sequence[IntArray],
    groups: IntArray | None,
) -> tuple[FloatArray, FloatArray | None]:
    """Return the effects of rows, class by class, and of groups if there are any.

    `influence` is the derivative by the weight of a row; weights add up to 1. Classes
    may have a mean influence: that of their share, which varies with the rows.
    """
    n_groups = 0 if groups is None else int(groups.max()) + 1
    of_rows, of_groups = [], np.zeros(n_groups)
    for own in classes:
        share = float(weights[own].sum())
        mean, effects = residuals(influence[own], weights[own])
        of_rows.append(share * effects + mean * weights[own])
        if groups is not None:
            codes = groups[own]
            _, effects = residuals(influence[own], weights[own], codes, n_groups)
            of_groups += share * effects
            of_groups += mean * np.bincount(codes, weights[own], n_groups)
    return np.concatenate(of_rows), None if groups is None else of_groups


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


def check_groups(groups: ArrayLike | None, n_rows: int) -> IntArray | None:
    """Return the number of each row's group; reject a single group."""
    if groups is None:
        return None
    found = check_qid(groups, n_rows, "groups")
    if found.n_queries == 1:
        raise ValueError(
            "groups holds one group only; rows of one group are not independent, so "
            "there is nothing to estimate a variance from. Use more groups."
        )
    return found.codes


@dataclass(frozen=True)
class FoldSample:
    """Rows whose scores are compared within test folds only, by repetition."""

    rows: AreaSample  # all of them
    folds: IntArray  # the fold of each row, one column per repetition

    @cached_property
    def _splits(self) -> list[tuple[int, IntArray, AreaSample]]:
        """Repetition, row numbers and rows of each fold that has both classes."""
        found = []
        for repetition, folds in enumerate(self.folds.T):
            for fold in range(int(folds.max()) + 1):
                members = np.flatnonzero(folds == fold)
                part = self.rows.take(members)
                if part.n_pairs == 0.0:
                    continue
                if self.rows.groups is None and min(part.n_rows) <= 1.0 + _MIN_REST:
                    raise ValueError(
                        "a test fold has a single row of one class; the variance "
                        "within folds needs two. Use fewer or stratified folds."
                    )
                found.append((repetition, members, part))
        if not found:
            raise NotEnoughClassesError(
                "None of the folds has rows of both classes, so there is nothing to "
                "average. Check that folds numbers folds, not rows."
            )
        return found

    @cached_property
    def _shares(self) -> FloatArray:
        """Share of the pairs, by weight, in each split."""
        pairs = np.array([part.n_pairs for _, _, part in self._splits])
        return np.asarray(pairs / pairs.sum())

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """Rows by class."""
        return self.rows.parts

    @property
    def class_parts(self) -> list[tuple[slice, float]]:
        """Rows by class with their number."""
        return [] if self.rows.groups is not None else self.rows.class_parts

    @property
    def n_folds(self) -> float:
        """Folds with both classes, per repetition."""
        return float(len(self._splits) / self.folds.shape[1])

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the rows of all folds."""
        if self.rows.groups is not None:
            return self.rows.sizes(design_effect)
        sizes = np.array([part.sizes(1.0)[0] for _, _, part in self._splits])
        positive, negative = (sizes.sum(axis=0) / self.folds.shape[1]).tolist()
        return (positive, negative), max(min(positive, negative) - 1.0, 1.0)

    def measure(self, scores: FloatArray) -> Measured:
        """Return the mean area within folds; effects are summed over repetitions."""
        columns = np.broadcast_to(scores.reshape(scores.shape[0], -1), self.folds.shape)
        slots = np.empty(self.folds.shape[0], dtype=np.int64)
        slots[np.argsort(~self.rows.is_positive, kind="stable")] = np.arange(slots.size)
        effects, areas = np.zeros(slots.size), []
        for share, (repetition, members, part) in zip(
            self._shares, self._splits, strict=True
        ):
            found = part.measure(np.ascontiguousarray(columns[members, repetition]))
            areas.append(found.value)
            by_class = np.argsort(~part.is_positive, kind="stable")
            effects[slots[members[by_class]]] += share * found.effects
        splits = np.array(areas)
        mean = splits[0] + float(self._shares @ (splits - splits[0]))
        if self.rows.groups is None:
            return Measured(mean, effects)
        return Measured.of(mean, *self._effects_of_groups(columns, self.rows.groups))

    def _effects_of_groups(
        self, columns: FloatArray, groups: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the effects of rows and groups on the mean area within folds.

        Influence values are compared with the mean of their fold, which costs a degree
        of freedom per fold. Where few groups are left, as if each fold has one group of
        a class, they are compared with the mean of all folds, which is cautious.
        """
        kept: tuple[list[Any], list[Any]] = ([], [])
        for share, (repetition, members, part) in zip(
            self._shares, self._splits, strict=True
        ):
            scores = np.ascontiguousarray(columns[members, repetition])
            task = RankingTask(scores, part.is_positive, part.sample_weight)
            codes = part._by_class(groups[members])
            sides = zip(
                kept, influences(task, part.box), part.weights, codes, strict=True
            )
            for side, values, weights, own in sides:
                mass = np.ones(values.size) if weights is None else weights
                mass = mass / mass.sum()
                side.append((values, values - mass @ values, share * mass, own))
        n_groups = int(groups.max()) + 1
        of_rows, of_groups = [], np.zeros(n_groups)
        for side in kept:
            values, gaps, mass, own = map(np.concatenate, zip(*side, strict=True))
            of_rows.append(residuals(values, mass)[1])
            n_units, factor = effective_rows(mass, mass.size, own), 1.0
            if n_units >= _MIN_GROUPS_PER_FOLD * self.n_folds:
                values = gaps
                factor = sqrt((n_units - 1.0) / (n_units - self.n_folds))
            of_groups += factor * residuals(values, mass, own, n_groups)[1]
        return np.concatenate(of_rows), of_groups


def refit_factor(n_folds: float) -> float:
    r"""Return the factor of a standard error that covers other training rows, too.

    Test folds of models that share training rows have the correlation :math:`\rho`, so
    the mean of K folds has :math:`1 + (K - 1) \rho` times the variance of independent
    ones. Nadeau and Bengio suggest :math:`\rho = 1 / K`.
    """
    return sqrt(2.0 - 1.0 / max(n_folds, 1.0))


def positions_in_folds(scores: FloatArray, folds: IntArray) -> FloatArray:
    """Return the share of the rows of its fold that each row outranks; ties half.

    Models of different folds rank on one scale then, for metrics of one list of rows.
    """
    if folds.shape[1] > 1:
        raise ValueError(
            f"folds has {folds.shape[1]} columns; only areas have a mean over "
            "repetitions. Give the folds of one repetition."
        )
    positions = np.empty(scores.size)
    for fold in range(int(folds.max()) + 1):
        members = folds[:, 0] == fold
        _, places, counts = np.unique(
            scores[members], return_inverse=True, return_counts=True
        )
        positions[members] = (np.cumsum(counts) - counts / 2.0)[places] / places.size
    return positions


def check_folds(folds: Any, n_rows: int) -> IntArray:
    """Return the number of each row's fold, one column per repetition."""
    reject_unreadable(folds, "folds")
    columns = np.asarray(folds)
    if columns.ndim not in (1, 2) or columns.shape[0] != n_rows:
        raise ValueError(
            f"folds must have one row per label, {n_rows}, and a column per "
            f"repetition, got shape {columns.shape}."
        )
    columns = columns.reshape(n_rows, -1)
    found = [check_qid(column, n_rows, "folds").codes for column in columns.T]
    return np.column_stack(found)


@dataclass(frozen=True)
class OrdinalSample:
    """Rows of more than two levels, for the share of pairs of levels in order."""

    levels: IntArray
    sample_weight: FloatArray | None
    groups: IntArray | None = None

    @cached_property
    def n_units(self) -> float:
        """Rows or groups, as equally large ones."""
        return effective_rows(self.sample_weight, self.levels.size, self.groups)

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """All rows or groups."""
        return [(slice(None), self.n_units - 1.0)]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the rows beside the largest level, at most half, and the rest."""
        n = effective_rows(self.sample_weight, self.levels.size)
        n = min(max(n / design_effect, self.n_units), n)
        shares = np.bincount(self.levels, self.sample_weight)
        few = n * min(1.0 - shares.max() / shares.sum(), 0.5)
        return (few, n - few), max(min(few, self.n_units) - 1.0, 1.0)

    def measure(self, scores: Any) -> Measured:
        """Return the share of ordered pairs with its effects."""
        order, ranked = sort_with_order(scores)
        given = self.sample_weight
        weights = np.ones(scores.size) if given is None else given
        weights = weights / weights.sum()
        ordered, partners = np.empty(scores.size), np.empty(scores.size)
        ordered[order], partners[order] = _ranking_kernels.partner_masses(
            ranked, self.levels[order], weights[order]
        )
        pairs = float(weights @ partners)
        value = float(weights @ ordered) / pairs
        influence = weights * (ordered - value * partners) * (2.0 / pairs)
        n = effective_rows(weights, weights.size)
        of_rows = influence * sqrt(n / (n - 1.0))
        if self.groups is None:
            return Measured(value, of_rows)
        effects = np.bincount(self.groups, influence).astype(np.float64)
        effects *= sqrt(self.n_units / (self.n_units - 1.0))
        return Measured.of(value, of_rows, effects)


@dataclass(frozen=True)
class QuerySample:
    """Queries, for the mean of a metric over those that have a value."""

    n_queries: int

    @property
    def parts(self) -> list[tuple[slice, float]]:
        """All queries."""
        return [(slice(None), self.n_queries - 1.0)]

    def sizes(self, design_effect: float) -> tuple[Rows, float]:
        """Return the number of queries."""
        return (self.n_queries, self.n_queries), self.n_queries - 1.0

    def measure(self, values: FloatArray) -> Measured:
        """Return the mean of the values of queries, with their effects."""
        return Measured(*residuals(values, None))


def unseen_variance(
    squares: Any, quartics: Any, n_units: Sequence[float], least: float = 0.0
) -> Any:
    """Return the variance of pseudo-rows of all classes; see :func:`auc_interval`.

    Takes sums of squares and of fourth powers of the effects of each class. A row that
    differs from most others is moved, by a squared distance of at least `least`.
    """
    n = np.reshape(n_units, (-1, *[1] * (np.ndim(squares) - 1)))
    squares, quartics = n**2 * squares, n**4 * quartics  # of shares, not of effects
    total = squares.sum(axis=0)
    is_known = total > 0.0
    distance = quartics.sum(axis=0) / np.where(is_known, total, 1.0)
    of_class = quartics / np.where(squares > 0.0, squares, 1.0)
    of_class = np.maximum(of_class, distance * _NEAR)  # closer rows are not moved
    n_moved = squares / np.where(of_class > 0.0, of_class, 1.0)
    missing = np.maximum(1.0 - n_moved / np.minimum(_N_ENOUGH, n / 4.0), 0.0)
    added = (missing * _N_PSEUDO / (n * (n + 2.0 * _N_PSEUDO))).sum(axis=0)
    return np.where(is_known, added * np.maximum(distance, least), 0.0)


def effect_products(
    effects: Callable[[int], FloatArray],
    n_models: int,
    parts: Sequence[slice],
    class_parts: Sequence[slice],
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of products of the effects of all pairs of models, by part.

    And of the differences of each pair the sums of squares and of fourth powers, by
    class; effects of all models but the first are relative to it.
    """
    # Effects of later models are computed again for each block of models that is held:
    # memory for m units and k models is O(m), time O(k^2 m).
    products = np.empty((len(parts), n_models, n_models))
    moments = np.zeros((2, len(class_parts), n_models, n_models))
    for first in range(0, n_models, _N_HELD):
        held: list[FloatArray] = []
        for other in range(first, n_models):
            column = effects(other)
            if len(held) < _N_HELD:
                held.append(column)
            for place, one in enumerate(held, first):
                for part, units in enumerate(parts):
                    products[part, place, other] = one[units] @ column[units]
                    products[part, other, place] = products[part, place, other]
                if place == other:
                    continue
                for part, units in enumerate(class_parts):
                    gap = np.square(column[units] - one[units] * (place > 0))
                    both = [place, other], [other, place]
                    moments[0, part][both] = gap.sum()
                    moments[1, part][both] = gap @ gap
    return products, moments
