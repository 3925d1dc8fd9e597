"""The logistic loss of all pairs as a function of the scores alone."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_range
from aucmax._core.sorting import sort_with_order
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    Queries,
    first_positive_level,
)
from aucmax.risks._pairs import logistic_sweeps as kernels
from aucmax.risks._pairs.few_pairs import FewPairs
from aucmax.risks._pairs.level_pairs import (
    LevelWeights,
    Part,
    discounts_of_ranks,
    equal_weights,
    mauc_numbers,
    ndcg_numbers,
    run_all,
    spans_of_groups,
    split_levels,
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
_UNUSED = np.ones(1)  # in place of weights or steps
_EVEN = np.empty(0)  # in place of widths or steps that are all 1


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
        self._of_thread = threading.local()
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
        numbers = None if self.n_queries == 1 or queries is None else queries.codes
        largest = _heaviest(numbers, weights)
        if weights is not None:  # so that no product of two overflows or vanishes
            unit = np.where(largest > 0.0, largest, 1.0)
            weights = weights / (unit[0] if numbers is None else unit[numbers])
        self._weights = weights
        counted = LevelWeights.count(numbers, codes, weights)
        self._discounts = changes = None
        if risk.pair_weights == "ndcg":
            rows = counted
            if weights is not None:
                rows = LevelWeights.count(numbers, codes, (weights > 0.0).astype(float))
            n_ranks = int(rows.own.sum(axis=1).max())
            self._discounts = discounts_of_ranks(n_ranks, risk.truncation)
            found = ndcg_numbers(rows, counted, levels, self._discounts)
            self._factors, self._numbers, changes = found
        else:
            self._factors, self._numbers = _pair_weights(risk, levels, counted)
        n_used = int(np.count_nonzero(self._factors))
        self.n_skipped = self.n_queries - n_used
        self._limits = self._range_limits(counted)
        for low, high in self._ranges:
            self._factors /= self._with_outside(high - low)
        self._factors /= max(n_used, 1)
        if self._is_ranked and self._discounts is None:
            self._factors *= largest
        by_digits = risk.pair_weights == "equal"
        self._parts = list(split_levels(numbers, codes, by_digits=by_digits))
        self._query_scale = self._scale(
            counted.own.sum(axis=1) * largest, n_used, changes
        )
        self._two_classes = None
        if self.n_queries == 1 and not self._is_ranked and counted.own.shape[1] == 2:
            self._two_classes = GridClasses.of(
                self._parts[0].classes, weights, self._ranges, self._outside
            )
        self._few = None
        if all(limits is None for limits in self._limits):
            self._few = FewPairs.of(
                numbers,
                codes,
                weights,
                self._numbers,
                is_ranked=self._is_ranked,
                discounts=self._discounts,
            )
        by_row = np.zeros(self.n_rows, dtype=np.int64) if numbers is None else numbers
        self.row_scale = self._query_scale[by_row]

    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        found = np.empty(self.n_rows), np.empty(self.n_rows)
        value, _ = self._sum_up(scores, self._factors, found, with_value=with_value)
        return (value, *found)

    def gradient_hessian(
        self, scores: ArrayLike, *, scaled: bool = False, out: Derivatives | None = None
    ) -> Derivatives:
        """Return (or fill) both derivatives; `scaled` times `row_scale`."""
        factors = self._factors * self._query_scale if scaled else self._factors
        out = out or (np.empty(self.n_rows), np.empty(self.n_rows))
        self._sum_up(self._checked(scores), factors, out)
        return out

    def slope_and_hessian(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the mean slope of the pairs, above 0, and the second derivatives."""
        found = np.empty(self.n_rows), np.empty(self.n_rows)
        _, sums = self._sum_up(scores, self._factors, found)
        if sums is not None:
            return self._unit(self._factors) * sums.slope, found[1]
        return 0.5 * float(np.abs(found[0]).sum()), found[1]

    def _sum_up(
        self,
        scores: FloatArray,
        factors: FloatArray,
        out: Derivatives,
        *,
        with_value: bool = False,
    ) -> tuple[float, GridSums | None]:
        """Fill in both derivatives; return the value, if needed, and grid sums."""
        # over a grid if that needs no sort, else pair by pair if there are few pairs,
        # else by sweeps over the sorted rows
        if (sums := self._over_a_grid(scores)) is not None:
            unit = self._unit(factors)
            sums.fill_in(unit, *out)
            return unit * sums.loss, sums
        settings = self._width, factors, self._n_jobs
        is_done = self._few is not None and self._few.fill_in(scores, *settings, out)
        if is_done and not with_value:
            return 0.0, None
        return self._sweep(scores, factors, None if is_done else out, with_value), None

    def _sweep(
        self,
        scores: FloatArray,
        factors: FloatArray,
        out: Derivatives | None,
        with_value: bool,
    ) -> float:
        """Fill in both derivatives, unless None, by sweeps; return the value, or 0."""
        order, rising = sort_with_order(-scores)
        by_query = self._parts[-1].arrange(order)  # the last part compares all levels
        weights, widths = self._weigh(scores, by_query)
        has_many = len(self._parts) > 1
        ranks = _UNUSED
        if has_many and self._is_ranked:
            ranks = self._rank(by_query, widths)
        if not hasattr(self._of_thread, "buffers"):
            self._of_thread.buffers = _Buffers(self.n_rows)
        buffers: _Buffers = self._of_thread.buffers
        value = 0.0
        found = out
        if out and has_many:  # parts are added up before they are rounded
            found = np.empty(self.n_rows), np.empty(self.n_rows)
        for part in self._parts:
            is_last = part is self._parts[-1]
            rows = by_query if is_last else part.arrange(order)
            steps = _UNUSED
            if self._is_ranked:
                steps = self._steps(rows, None if is_last else ranks, widths)
            ordered = -rising if part.groups is None else scores[rows]
            laid_out = kernels.SweepRows(
                part.starts,
                ordered,
                buffers.find_decays(ordered, self._width),
                steps,
                part.classes[rows],
                _UNUSED if weights is None else weights[rows],
            )
            settings = self._pairing(part, factors), self._table, self._n_jobs
            wanted = {"with_value": with_value, "with_slopes": bool(out)}
            value += buffers.sweep(part, laid_out, settings, **wanted)
            if found:
                is_first = part is self._parts[0]
                buffers.give_to_rows(rows, self._n_jobs, is_first, *found)
        if out and found and has_many:
            for result, sums_of_parts in zip(out, found, strict=True):
                result[:] = sums_of_parts
        return value

    def _over_a_grid(self, scores: FloatArray) -> GridSums | None:
        """Return the sums over all pairs of weight 1, if they need no sort."""
        if self._two_classes is None:
            return None
        grid = LogisticGrid.cover(scores, self._width, self.relative_error)
        if grid is None:
            return None
        return GridSums(self._two_classes.at(scores), grid, self._n_jobs)

    def _unit(self, factors: FloatArray) -> float:
        """Return the weight of a pair of the two classes, without its rows' weights."""
        if self._numbers.shape[1] == 0:
            return float(factors[0])
        return float(factors[0] * abs(self._numbers[0, 1] - self._numbers[0, 0]))

    def _pairing(self, part: Part, factors: FloatArray) -> kernels.Pairing:
        factors, numbers = factors[part.owners], self._numbers[part.owners]
        if part.n_classes == 2 and numbers.shape[1] > 0:
            factors = factors * np.abs(numbers[:, 1] - numbers[:, 0])
            numbers = numbers[:, :0]
        return kernels.Pairing(part.n_classes, factors, numbers, self._is_ranked)

    def _weigh(
        self, scores: FloatArray, rows: IntArray
    ) -> tuple[FloatArray | None, FloatArray]:
        """Return the weights of all rows, and the widths of the given ones in ranks."""
        # a range takes from the weights of negatives, or from the widths of ranks
        weights = self._weights
        is_part = any(limits is not None for limits in self._limits)
        if not is_part and weights is None and len(self._parts) == 1:
            return weights, _EVEN
        if not is_part and (self._discounts is not None or not self._is_ranked):
            return weights, _UNUSED
        widths = np.ones(rows.size) if weights is None else weights[rows]
        if is_part:
            widths *= self._shares(scores[rows], rows, widths)
        if not self._is_ranked:
            weights = np.empty(rows.size)
            weights[rows] = widths
        return weights, widths

    def _rank(self, rows: IntArray, widths: FloatArray) -> FloatArray:
        """Return the rank of each row in its query, in two parts, for exact sums."""
        sorted_ranks, ranks = np.empty((2, rows.size)), np.empty((2, rows.size))
        kernels.find_ranks(self._parts[-1].starts, widths, *sorted_ranks)
        ranks[:, rows] = sorted_ranks
        return ranks

    def _steps(
        self, rows: IntArray, ranks: FloatArray | None, widths: FloatArray
    ) -> FloatArray:
        """Return distances from each row to the next, in ranks or in discounts.

        Discounts count rows, but those without weight have no rank.
        """
        if self._discounts is None:
            if ranks is not None:
                return np.asarray(np.diff(ranks[0, rows]) + np.diff(ranks[1, rows]))
            return 0.5 * (widths[1:] + widths[:-1])
        counts = np.ones(rows.size, dtype=np.int64)
        if self._weights is not None:
            counts = (self._weights[rows] > 0.0).astype(np.int64)
        places, starts = np.cumsum(counts) - counts, self._parts[-1].starts
        places -= np.repeat(places[starts[:-1]], np.diff(starts))
        discounts = self._discounts[np.minimum(places, self._discounts.size - 1)]
        return np.asarray(discounts[:-1] - discounts[1:])

    def _shares(
        self, ordered: FloatArray, rows: IntArray, weights: FloatArray
    ) -> FloatArray:
        """Return the share of each row, in the order of `rows`, within its range."""
        labels, starts = self._parts[-1].classes[rows], self._parts[-1].starts
        shares = np.ones(rows.size)
        for limits, own in zip(self._limits, (0, 1), strict=True):
            if limits is None:
                continue
            found = np.empty(rows.size)
            others = labels != own
            classes = others.view(np.uint8)
            kernels.find_range(ordered, classes, weights, starts, limits, found)
            if not self._is_ranked:
                found[others] = 1.0
            shares *= self._with_outside(found)
        return shares

    def _with_outside(self, share: Share) -> Share:
        """Return the weight of a row of which this share is within the range."""
        return share + self._outside * (1.0 - share)

    def _range_limits(self, counted: LevelWeights) -> list[FloatArray | None]:
        """Return the ends of partial ranges in the weights of their classes."""
        found: list[FloatArray | None] = []
        for column, (low, high) in enumerate(self._ranges):
            if (low, high) == (0.0, 1.0):
                found.append(None)
                continue
            own = counted.own[:, column]
            rest = np.full_like(own, float(high == 1.0))
            found.append(np.column_stack((low * own, high * own, rest)))
        return found

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


class _Buffers:
    """Arrays of the sweeps, kept from call to call: new memory costs a third more."""

    def __init__(self, n_rows: int) -> None:
        self.decays = np.empty(n_rows)
        self.gradients = np.empty((2, n_rows))
        self.hessians = np.empty((2, n_rows))

    def find_decays(self, ordered: FloatArray, width: float) -> FloatArray:
        """Return exp(-distance / width) from each row to the next."""
        self.decays[-1] = 0.0
        with np.errstate(over="ignore"):
            np.subtract(ordered[1:], ordered[:-1], out=self.decays[:-1])
            if width != 1.0:
                self.decays /= width
        # the next score is higher between groups only, where it does not matter
        np.minimum(self.decays, 0.0, out=self.decays)
        return np.exp(self.decays, out=self.decays)

    def sweep(
        self,
        part: Part,
        rows: kernels.SweepRows,
        settings: tuple[kernels.Pairing, FloatArray, int],
        *,
        with_value: bool,
        with_slopes: bool,
    ) -> float:
        """Fill in the results; return the value, or 0 without `with_value`."""
        pairing, table, n_jobs = settings
        tasks = []
        values = np.zeros(part.starts.size - 1)
        sweep = kernels.sweep_ranked if pairing.is_ranked else kernels.sweep_plain
        for span in spans_of_groups(part.starts):
            shared = (rows, pairing, table, span)
            for k, down in enumerate((True, False) if with_slopes else ()):
                own = kernels.nothing_met(pairing.n_levels, table.shape[1])
                results = own, self.gradients[k], self.hessians[k]
                tasks.append(partial(sweep, *shared, down, *results))
            if with_value:
                own = kernels.nothing_met(pairing.n_levels, table.shape[1])
                tasks.append(partial(kernels.add_values, *shared, own, values))
        run_all(tasks, n_jobs if rows.scores.size >= _MANY_ROWS else 1)
        return float(values.sum())

    def give_to_rows(self, rows: IntArray, n_jobs: int, *results: Any) -> None:
        """Set the results of the rows, or add to them."""
        give = partial(kernels.give_to_rows, rows)
        tasks = []
        for first in range(0, rows.size, _BLOCK):
            span = first, min(first + _BLOCK, rows.size)
            tasks.append(partial(give, span, self.gradients, self.hessians, *results))
        run_all(tasks, n_jobs if rows.size >= _MANY_ROWS else 1)


def _pair_weights(
    risk: PairLogistic, levels: NDArray[Any], counted: LevelWeights
) -> tuple[FloatArray, FloatArray]:
    """Return a factor for each query, and numbers of its levels if they matter."""
    if risk.pair_weights == "equal":
        return equal_weights(counted), np.empty((counted.own.shape[0], 0))
    first = 0 if risk.classes == "all" else first_positive_level(levels)
    return mauc_numbers(counted, np.arange(levels.size) >= first)


def _heaviest(queries: IntArray | None, weights: FloatArray | None) -> FloatArray:
    n_queries = 1 if queries is None else int(queries.max()) + 1
    if weights is None:
        return np.ones(n_queries)
    if queries is None:
        return np.array([weights.max()])
    largest = np.zeros(n_queries)
    np.maximum.at(largest, queries, weights)
    return largest
