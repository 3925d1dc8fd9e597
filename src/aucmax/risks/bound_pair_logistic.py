"""The logistic loss of all pairs as a function of the scores alone."""

from __future__ import annotations

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
from aucmax.risks._pairs import pair_sums
from aucmax.risks._pairs.level_pairs import (
    LevelWeights,
    discounts_of_ranks,
    equal_weights,
    mauc_level_weights,
    ndcg_level_weights,
)
from aucmax.risks._pairs.logistic_grid import GridClasses, GridSums, LogisticGrid
from aucmax.risks._pairs.logistic_sweeps import Pairing, SweepRows, find_range
from aucmax.risks._pairs.logistic_table import coefficients
from aucmax.risks.contract import BoundTreeRisk, Derivatives

if TYPE_CHECKING:
    from aucmax.risks.pair_logistic import PairLogistic

Share = TypeVar("Share", float, FloatArray)
_ALL_ONES = pair_sums.ALL_ONES
# A pair in order whose ranks are far from each other has a hessian as large as its
# gradient, twice that of a close pair, so steps are short. Chosen on simulated tables
# and digits: as far as with equal weights after the same number of rounds.
_HESSIAN_SHARE_OF_RANKS = 0.5
# Largest gradient of a row for trees, per unit of its relative weight; a classifier's
# is 1. Else a few noisy positives get all the gradient once other pairs are in order.
# Chosen on 13 public tables: 2 to 5 make little difference.
MAX_ROW_GRADIENT = 5.0


def tree_factor(initial: float, total: float, largest: float) -> float:
    """Return the factor of derivatives: see `BoundPairLogistic.gradient_hessian`.

    The last two are the sum of absolute gradients, and the largest of a row by weight.
    """
    if not total > 0.0:
        return 1.0
    return min(initial / total, MAX_ROW_GRADIENT / largest)


def _relative_weights(weights: FloatArray | None) -> FloatArray | None:
    """Return weights over their mean; infinity for rows without weight."""
    if weights is None:
        return None
    relative = weights / weights.max()
    relative /= relative.mean()
    return np.where(relative > 0.0, relative, np.inf)


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
            n_ranks = int(rows.by_level.sum(axis=1).max())
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
        query_weights = counted.by_level.sum(axis=1) * largest
        self._query_scale = self._scale(query_weights, n_used, changes)
        self._two_classes = None
        if self.n_queries == 1 and not self._is_ranked and levels.size == 2:
            grid_weights = _ALL_ONES if weights is None else weights
            rows_of_grid = self._classes, grid_weights
            self._two_classes = GridClasses(*rows_of_grid, self._ranges, self._outside)
        self.row_scale = self._query_scale[query_codes]
        pairs = (counted.by_level * counted.lower).sum(axis=1) * largest
        per_row = np.divide(
            pairs, counted.by_level.sum(axis=1), out=pairs, where=pairs > 0.0
        )
        self._initial_gradients = 2.0 * per_row.sum() / query_weights.sum()
        self._initial_gradients *= self.n_rows
        self._n_levels = levels.size
        can_rank = self._is_ranked and self._discounts is None
        self._is_rescaled = levels.size == 2 or self._discounts is not None
        self._hessian_share = 1.0
        if can_rank and self._is_rescaled:
            self._hessian_share = _HESSIAN_SHARE_OF_RANKS
        self._relative_weights = _relative_weights(self.sample_weight)
        self._can_use_bins = can_rank and self.n_queries == 1 and not self._is_partial

    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        out = np.empty(self.n_rows), np.empty(self.n_rows)
        value, _ = self._evaluate(scores, self._factors, out, with_value=with_value)
        return (value, *out)

    def gradient_hessian(
        self, scores: ArrayLike, *, scaled: bool = False, out: Derivatives | None = None
    ) -> Derivatives:
        """Return (or fill) both derivatives; `scaled` for tree learners.

        These are times `row_scale`. For two levels and for "ndcg", one more factor
        makes the absolute gradients add up to those of a classifier that starts from
        the base rate, 2 p n / (p + n) for p positives and n negatives, unless a row
        would have more than `MAX_ROW_GRADIENT`. Trees need it as the loss falls: in a
        pair that is well ordered both derivatives are about the product of those of its
        rows in a classifier, so leaves would fall below the learner's limits and shrink
        by its penalties twice as early. Several levels are rarely that well ordered.
        """
        out = out or (np.empty(self.n_rows), np.empty(self.n_rows))
        if not scaled:
            self._evaluate(self._checked(scores), self._factors, out)
            return out
        gradient, hessian = np.empty((2, self.n_rows))
        factors = self._factors * self._query_scale
        self._evaluate(self._checked(scores), factors, (gradient, hessian))
        factor = 1.0
        if self._is_rescaled:
            sizes = np.abs(gradient)
            total = float(sizes.sum())
            if self._relative_weights is not None:
                sizes /= self._relative_weights
            factor = tree_factor(self._initial_gradients, total, float(sizes.max()))
        # rounded once, so that the type of the results changes nothing else
        np.multiply(gradient, factor, out=out[0], casting="same_kind")
        factor *= self._hessian_share
        np.multiply(hessian, factor, out=out[1], casting="same_kind")
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
        # over a grid or bins if that needs no sort, else by sweeps over the sorted rows
        pairing = Pairing(factors, self._level_weights, self._n_levels, self._is_ranked)
        if self._two_classes is not None:
            grid = LogisticGrid.cover(scores, self._width, self.relative_error)
            if grid is not None:
                sums = GridSums(self._two_classes.at(scores), grid, self._n_jobs)
                unit = self._unit(factors)
                sums.fill_in(unit, *out)
                return unit * sums.loss, sums
        elif self._can_use_bins:
            bins = pair_sums.ScoreBins.cover(scores, self._width, self.relative_error)
            if bins is not None:
                rows = scores, self._classes, self._weights
                table = self._table
                value = pair_sums.sum_ranked_pairs(
                    bins, self._width, rows, pairing, table, out
                )
                return value, None
        order, sorted_rows = self._sorted_rows(scores)
        value, *derivatives = pair_sums.sum_pairs(
            sorted_rows,
            pairing,
            self._table,
            n_jobs=self._n_jobs,
            with_value=with_value,
        )
        for result, derivative in zip(out, derivatives, strict=True):
            result[order] = derivative
        return value, None

    def _sorted_rows(self, scores: FloatArray) -> tuple[IntArray, SweepRows]:
        """Return the rows by query and descending score, and what the sweeps need."""
        order = sort_in_groups(-scores, self._query_codes, self._starts)
        ordered = scores[order]
        weights, steps, tied = _ALL_ONES, _ALL_ONES, _ALL_ONES
        if self._weights is not None:
            weights = self._weights[order]
        widths = weights  # of ranks
        if self._is_partial:  # a range takes from weights, or from widths of ranks
            widths = weights if weights.size else np.ones(order.size)
            widths = widths * self._shares(ordered, order, widths)
        if self._discounts is not None:
            steps = self._discount_steps(order, self._discounts)
        elif self._is_ranked:
            steps, tied = pair_sums.steps_and_widths(ordered, widths, self._starts)
        else:
            weights = widths
        decays = pair_sums.decays_between(ordered, self._width)
        levels = self._classes[order]
        return order, SweepRows(
            self._starts, ordered, decays, levels, weights, steps, tied
        )

    def _unit(self, factors: FloatArray) -> float:
        """Return the weight of a pair of the two classes, without its rows' weights."""
        if self._level_weights.shape[1] == 0:
            return float(factors[0])
        return float(factors[0] * abs(np.diff(self._level_weights[0])[0]))

    def _discount_steps(self, order: IntArray, discounts: FloatArray) -> FloatArray:
        """Return the distances of neighbours in discounts, of rows with any weight."""
        counts = np.ones(order.size, dtype=np.int64)
        if self._weights is not None:
            counts = (self._weights[order] > 0.0).astype(np.int64)
        ranks = np.cumsum(counts) - counts
        ranks -= np.repeat(ranks[self._starts[:-1]], np.diff(self._starts))
        by_row = discounts[np.minimum(ranks, discounts.size - 1)]
        return np.asarray(by_row[:-1] - by_row[1:])

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
            find_range(ordered, classes, weights, self._starts, limits, inside)
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
            totals = counted.by_level[:, column]
            at_end = np.full_like(totals, float(high == 1.0))
            limits.append(np.column_stack((low * totals, high * totals, at_end)))
        return limits

    def _scale(
        self, weights: FloatArray, n_used: int, changes: FloatArray | None
    ) -> FloatArray:
        """Return the scale of each query, by the weight of its rows."""
        scale: FloatArray = n_used * self.n_rows / 2.0 * weights / weights.sum()
        if changes is not None:  # by the sum of the weights of its pairs
            np.divide(scale, changes, out=scale, where=changes > 0.0)
        elif self._is_ranked:  # by the mean distance of two ranks
            scale *= np.divide(
                3.0, weights, out=np.zeros_like(weights), where=weights > 0.0
            )
        return scale
