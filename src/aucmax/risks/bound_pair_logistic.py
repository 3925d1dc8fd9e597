"""The logistic loss of all pairs as a function of the scores alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_range
from aucmax._core.sorting import sort_in_groups
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    Queries,
    first_positive_level,
)
from aucmax.risks._pairs import logistic_sweeps as kernels
from aucmax.risks._pairs.level_pairs import (
    LevelWeights,
    discounts_of_ranks,
    equal_weights,
    mauc_level_weights,
    ndcg_level_weights,
    run_all,
    spans_of_groups,
)
from aucmax.risks._pairs.logistic_grid import GridClasses, GridSums, LogisticGrid
from aucmax.risks._pairs.logistic_table import coefficients
from aucmax.risks.contract import BoundTreeRisk, Derivatives

if TYPE_CHECKING:
    from aucmax.risks.pair_logistic import PairLogistic

Share = TypeVar("Share", float, FloatArray)
# Fewer rows take one thread a few milliseconds, during which the threads of a tree
# learner still spin, waiting for their next tree, and occupy the cores.
_MANY_ROWS = 2**17
_BLOCK = 2**15  # rows per task of a thread
_ALL_ONES = np.empty(0)  # in place of weights or steps


class BoundPairLogistic(BoundTreeRisk):
    """The risk :class:`PairLogistic` of given labels, weights and queries."""

    risk: PairLogistic
    least_value = 0.0
    is_smooth = True

    def __init__(
        self,
        risk: PairLogistic,
        levels: NDArray[Any],
        codes: IntArray,
        queries: Queries | None,
        weights: FloatArray | None,
        width: float = 1.0,
    ) -> None:
        self.risk, self.queries, self.sample_weight = risk, queries, weights
        self.labels = codes > 0
        self.n_rows = codes.size
        self.n_queries = 1 if queries is None else queries.n_queries
        self._is_ranked = bool(risk.rank_weighted)
        self._n_jobs = int(risk.n_jobs)
        self.relative_error = float(risk.accuracy)
        self._table = coefficients(self.relative_error)
        self._width = width
        self._ranges = (
            check_range("fpr_range", risk.fpr_range),
            check_range("tpr_range", risk.tpr_range),
        )
        (fpr_low, _), (_, tpr_high) = self._ranges
        # the rows at an end of a range with the largest losses are a maximum
        self.is_convex = not self._is_ranked and (fpr_low, tpr_high) == (0.0, 1.0)
        self._outside = float(risk.outside_weight)
        query_codes = np.zeros(codes.size, dtype=np.int64)
        if queries is not None:
            query_codes = queries.codes
        self._query_codes = query_codes
        self._starts = np.concatenate(([0], np.cumsum(np.bincount(query_codes))))
        self._classes = codes.astype(np.uint8 if levels.size <= 256 else np.int64)
        largest = np.ones(self.n_queries)
        if weights is not None:  # so that no product of two overflows or vanishes
            largest = np.zeros(self.n_queries)
            np.maximum.at(largest, query_codes, weights)
            weights = weights / np.where(largest > 0.0, largest, 1.0)[query_codes]
        self._weights = weights
        counted = LevelWeights.count(query_codes, codes, weights)
        self._discounts = changes = None
        if risk.pair_weights == "ndcg":
            rows = counted
            if weights is not None:
                is_used = (weights > 0.0).astype(float)
                rows = LevelWeights.count(query_codes, codes, is_used)
            n_ranks = int(rows.own.sum(axis=1).max())
            self._discounts = discounts_of_ranks(n_ranks, risk.truncation)
            self._factors, self._level_weights, changes = ndcg_level_weights(
                rows, counted, levels, self._discounts
            )
        elif risk.pair_weights == "mauc":
            first = 0 if risk.classes == "all" else first_positive_level(levels)
            self._factors, self._level_weights = mauc_level_weights(
                counted, np.arange(levels.size) >= first
            )
        else:
            self._factors = equal_weights(counted)
            self._level_weights = np.empty((self.n_queries, 0))
        n_used = int(np.count_nonzero(self._factors))
        self.n_skipped = self.n_queries - n_used
        self._limits = self._range_limits(counted)
        self._is_partial = any(limits is not None for limits in self._limits)
        for low, high in self._ranges:
            self._factors /= self._with_outside(high - low)
        self._factors /= max(n_used, 1)
        if self._is_ranked and self._discounts is None:
            self._factors *= largest
        self._query_scale = self._scale(
            counted.own.sum(axis=1) * largest, n_used, changes
        )
        self._two_classes = None
        if self.n_queries == 1 and not self._is_ranked and levels.size == 2:
            self._two_classes = GridClasses.of(
                self._classes, weights, self._ranges, self._outside
            )
        self.row_scale = self._query_scale[query_codes]

    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        out = np.empty(self.n_rows), np.empty(self.n_rows)
        value, _ = self._evaluate(scores, self._factors, out, with_value=with_value)
        return (value, *out)

    def gradient_hessian(
        self, scores: ArrayLike, *, scaled: bool = False, out: Derivatives | None = None
    ) -> Derivatives:
        """Return (or fill) both derivatives; `scaled` times `row_scale`."""
        factors = self._factors * self._query_scale if scaled else self._factors
        out = out or (np.empty(self.n_rows), np.empty(self.n_rows))
        self._evaluate(self._checked(scores), factors, out)
        return out

    def slope_and_hessian(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the mean slope of the pairs, above 0, and the second derivatives."""
        gradient, hessian = np.empty(self.n_rows), np.empty(self.n_rows)
        _, sums = self._evaluate(scores, self._factors, (gradient, hessian))
        if sums is not None:
            return self._unit(self._factors) * sums.slope, hessian
        return 0.5 * float(np.abs(gradient).sum()), hessian

    def _evaluate(
        self,
        scores: FloatArray,
        factors: FloatArray,
        out: Derivatives,
        *,
        with_value: bool = False,
    ) -> tuple[float, GridSums | None]:
        """Fill in both derivatives; return the value, if needed, and grid sums."""
        # over a grid if that needs no sort, else by sweeps over the sorted rows
        if self._two_classes is not None:
            grid = LogisticGrid.cover(scores, self._width, self.relative_error)
            if grid is not None:
                sums = GridSums(self._two_classes.at(scores), grid, self._n_jobs)
                unit = self._unit(factors)
                sums.fill_in(unit, *out)
                return unit * sums.loss, sums
        return self._sweep(scores, factors, out, with_value), None

    def _sweep(
        self,
        scores: FloatArray,
        factors: FloatArray,
        out: Derivatives,
        with_value: bool,
    ) -> float:
        """Fill in both derivatives by sweeps; return the value, or 0."""
        order, rows = self._sorted_rows(scores)
        pairing = kernels.Pairing(factors, self._level_weights, self._is_ranked)
        n_jobs = self._n_jobs if self.n_rows >= _MANY_ROWS else 1
        gradients, hessians = np.empty((2, 2, self.n_rows))
        values = np.zeros(self.n_queries)
        n_levels, n_powers = int(self._classes.max()) + 1, self._table.shape[1]
        sweep = kernels.sweep_ranked if self._is_ranked else kernels.sweep_plain
        tasks = []
        for span in spans_of_groups(self._starts):
            shared = rows, pairing, self._table, span
            for k, down in enumerate((True, False)):
                met = kernels.nothing_met(n_levels, n_powers)
                results = gradients[k], hessians[k]
                tasks.append(partial(sweep, *shared, down, met, *results))
            if with_value:
                met = kernels.nothing_met(n_levels, n_powers)
                tasks.append(partial(kernels.add_values, *shared, met, values))
        run_all(tasks, n_jobs)
        blocks = [
            (first, min(first + _BLOCK, self.n_rows))
            for first in range(0, self.n_rows, _BLOCK)
        ]
        scatter = partial(kernels.scatter_add, order)
        run_all(
            [partial(scatter, b, gradients, hessians, *out) for b in blocks], n_jobs
        )
        return float(values.sum())

    def _sorted_rows(self, scores: FloatArray) -> tuple[IntArray, kernels.SweepRows]:
        """Return the rows by query and descending score, and what the sweeps need."""
        order = sort_in_groups(-scores, self._query_codes, self._starts)
        ordered = scores[order]
        decays = np.zeros(ordered.size)
        with np.errstate(over="ignore"):
            np.subtract(ordered[1:], ordered[:-1], out=decays[:-1])
            decays /= self._width
        # the next score is higher between queries only, where it does not matter
        np.minimum(decays, 0.0, out=decays)
        np.exp(decays, out=decays)
        weights, steps = _ALL_ONES, _ALL_ONES
        if self._weights is not None:
            weights = self._weights[order]
        widths = weights  # of ranks
        if self._is_partial:  # a range takes from weights, or from widths of ranks
            widths = weights if weights.size else np.ones(order.size)
            widths = widths * self._shares(ordered, order, widths)
        if self._is_ranked:
            steps = self._steps(order, widths)
        else:
            weights = widths
        classes = self._classes[order]
        return order, kernels.SweepRows(
            self._starts, ordered, decays, steps, classes, weights
        )

    def _unit(self, factors: FloatArray) -> float:
        """Return the weight of a pair of the two classes, without its rows' weights."""
        if self._level_weights.shape[1] == 0:
            return float(factors[0])
        return float(factors[0] * abs(np.diff(self._level_weights[0])[0]))

    def _steps(self, order: IntArray, widths: FloatArray) -> FloatArray:
        """Return distances from each row to the next, in ranks or in discounts.

        Discounts count rows, but those without weight have no rank.
        """
        if self._discounts is None:
            return 0.5 * (widths[1:] + widths[:-1]) if widths.size else _ALL_ONES
        counts = np.ones(order.size, dtype=np.int64)
        if self._weights is not None:
            counts = (self._weights[order] > 0.0).astype(np.int64)
        ranks = np.cumsum(counts) - counts
        ranks -= np.repeat(ranks[self._starts[:-1]], np.diff(self._starts))
        discounts = self._discounts[np.minimum(ranks, self._discounts.size - 1)]
        return np.asarray(discounts[:-1] - discounts[1:])

    def _shares(
        self, ordered: FloatArray, order: IntArray, weights: FloatArray
    ) -> FloatArray:
        """Return the share of each sorted row within its range."""
        labels = self._classes[order]
        shares = np.ones(order.size)
        for limits, label in zip(self._limits, (0, 1), strict=True):
            if limits is None:
                continue
            inside = np.empty(order.size)
            others = labels != label
            classes = others.view(np.uint8)
            kernels.find_range(ordered, classes, weights, self._starts, limits, inside)
            if not self._is_ranked:
                inside[others] = 1.0
            shares *= self._with_outside(inside)
        return shares

    def _with_outside(self, share: Share) -> Share:
        """Return the weight of a row of which this share is within the range."""
        return share + self._outside * (1.0 - share)

    def _range_limits(self, counted: LevelWeights) -> list[FloatArray | None]:
        """Return the ends of partial ranges in the weights of their classes."""
        limits: list[FloatArray | None] = []
        for column, (low, high) in enumerate(self._ranges):
            if (low, high) == (0.0, 1.0):
                limits.append(None)
                continue
            own = counted.own[:, column]
            at_end = np.full_like(own, float(high == 1.0))
            limits.append(np.column_stack((low * own, high * own, at_end)))
        return limits

    def _scale(
        self, masses: FloatArray, n_used: int, changes: FloatArray | None
    ) -> FloatArray:
        """Return the scale of each query, by the weight of its rows."""
        scale: FloatArray = n_used * self.n_rows / 2.0 * masses / masses.sum()
        if changes is not None:  # by the sum of the weights of its pairs
            np.divide(scale, changes, out=scale, where=changes > 0.0)
        elif self._is_ranked:  # by the mean distance of two ranks
            scale *= np.divide(3.0, masses, out=np.zeros_like(masses), where=masses > 0)
        return scale
