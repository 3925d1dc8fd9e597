"""The hinge over all pairs, or those of a part of the ROC curve, of given rows."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_range
from aucmax._core.sorting import row_number_type, sort_in_groups
from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks._pairs import hinge_kernels as kernels
from aucmax.risks._pairs.class_rows import ClassRows, SmoothChoice, weighted_top
from aucmax.risks._pairs.hinge_grid import HingeGrid
from aucmax.risks._pairs.pair_laplacians import window_laplacian
from aucmax.risks.contract import BoundRisk, Form, Risk, Support, no_pairs_error

# In units of the largest score: a pair as close to the kink as this is at it. Otherwise
# rounding, and with it the order of the rows, would decide on which side it is.
_MAX_KINK_DISTANCE = 1e-12
# Width of the slope from chosen to not chosen, in widths of the hinge's. Measured: from
# 2 to 6 solvers need the fewest passes.
_CHOICE_WIDTH = 4.0
_ALL_ROWS = np.empty((0, 3))  # in place of the ends of ranges
_ROWS_OF_A_QUERY = 30  # of each class, at most, where a sample can have more queries


class RankBox(NamedTuple):
    """The part of the pairs that counts, in shares of the class weights."""

    # Negatives rank from the highest score down, positives from the lowest up. A
    # mirrored box swaps the classes and the signs of all scores, which changes no pair.
    skip: float  # share of the first negatives that do not count
    negatives: float  # share at which their range ends
    positives: float  # share at which the range of the positives ends; it starts at 0
    is_mirrored: bool
    is_loose: bool

    @classmethod
    def from_ranges(
        cls,
        fpr_range: Sequence[float],
        tpr_range: Sequence[float],
        bound: str = "tight",
    ) -> "RankBox":
        """Translate the ranges, of which only one may leave out the first rows."""
        check_choice("bound", bound, ("tight", "loose"))
        is_loose = bound == "loose"
        a, b = check_range("fpr_range", fpr_range)
        c, d = check_range("tpr_range", tpr_range)
        if a > 0.0 and d < 1.0:
            raise ValueError(
                f"fpr_range={fpr_range!r} starts above 0 and tpr_range={tpr_range!r} "
                "ends below 1; the bound supports one of the two: start fpr_range at "
                "0, or end tpr_range at 1."
            )
        if d < 1.0:
            return cls(1.0 - d, 1.0 - c, b, True, is_loose)
        return cls(a, b, 1.0 - c, False, is_loose)

    @property
    def is_choice_of_rows(self) -> bool:
        """Whether the risk is a mean of hinges over the first rows of each class."""
        return not (self.is_loose or self.is_mirrored or self.skip > 0.0)


class BoundHinge(BoundRisk):
    r"""A mean hinge over a part of the pairs of each query; no queries are one.

    .. math:: R(s) = \frac{1}{|Q|} \sum_{q \in Q} R_q(s_q)

    where :math:`Q` are the queries with both classes, of equal weight; the other
    `n_skipped` add nothing. Kernels have margin 1: scores are divided by `margin`.
    """

    is_convex, least_value = True, 0.0

    def __init__(
        self,
        risk: Risk,
        box: RankBox,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None = None,
        *,
        margin: float = 1.0,
    ) -> None:
        super().__init__(risk, labels, sample_weight, queries)
        self._box, self._margin = box, float(margin)
        self.can_be_smoothed = box.is_choice_of_rows
        self.line_margin = self._margin if self.can_be_smoothed else None
        self._prepare_groups()

    def _prepare_groups(self) -> None:
        """Sort rows with pairs by query and class, negatives before positives."""
        groups = (~self.labels if self._box.is_mirrored else self.labels).astype(int)
        self.n_queries = 1
        if self.queries is not None:
            self.n_queries = self.queries.n_queries
            groups += 2 * self.queries.codes
        is_used = np.ones(groups.size, dtype=bool)
        if self.sample_weight is not None:
            is_used = self.sample_weight > 0.0
        sizes = np.bincount(groups[is_used], minlength=2 * self.n_queries)
        has_pairs = sizes.reshape(-1, 2).min(axis=1) > 0
        self.n_skipped = int(np.count_nonzero(~has_pairs))
        if self.n_skipped == self.n_queries:
            raise no_pairs_error(self.n_queries)
        rows = np.flatnonzero(is_used & has_pairs[groups // 2])
        kind = row_number_type(groups.size)
        self._rows = rows[np.argsort(groups[rows], kind="stable")].astype(kind)
        first = np.flatnonzero(np.diff(groups[self._rows], prepend=-1))
        self._starts = np.append(first, rows.size)
        sizes = np.diff(self._starts)
        self._groups = np.repeat(np.arange(sizes.size, dtype=kind), sizes)
        self._weights = np.ones(rows.size)
        if self.sample_weight is not None:  # so that no product of two overflows
            weights = self.sample_weight[self._rows]
            largest = np.maximum.reduceat(weights, self._starts[:-1])
            self._weights = weights / largest[self._groups]
        totals = np.add.reduceat(self._weights, self._starts[:-1]).reshape(-1, 2)
        box = self._box
        self._is_whole = box[:3] == (0.0, 1.0, 1.0)
        self._ends = totals[:, [0, 0, 1]] * (box.skip, box.negatives, box.positives)
        pairs = (self._ends[:, 1] - self._ends[:, 0]) * self._ends[:, 2]
        self._pairs = pairs * pairs.size

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        sign = -1.0 if self._box.is_mirrored else 1.0
        rows = self._sorted(sign * scores)
        ends = _ALL_ROWS if self._is_whole else self._ends
        value, slopes = rows.mean_hinge(self._pairs, ends, self._box.is_loose)
        return self._margin * value, rows.by_row(sign * slopes, scores.size)

    def _smoothed(self, scores: FloatArray, width: float) -> Support:
        # Without queries, the choice of rows is smoothed, too: a row of key k (minus
        # the score of a positive) counts by ``clip((k - threshold) / (4 width) + 1/2,
        # 0, 1)``, and any shares that fill the range give a line below the risk. Many
        # rows are counted in cells of about ``width / 32``: the value is then a few
        # hundredths of `width` above the risk at most.
        if self.queries is None:
            grid = HingeGrid.cover(scores, self._margin, width)
            if grid is not None:
                return grid.support(
                    scores,
                    self.labels,
                    self.sample_weight,
                    self._margin,
                    ranges=(self._box.negatives, self._box.positives),
                    choice_width=_CHOICE_WIDTH,
                )
        width = width / self._margin
        chosen, choices = self._choice(scores, width)
        slopes = np.empty(chosen.rows.size)
        kernels.sum_ramps(*chosen[1:], width, slopes)
        slopes = chosen.signed(slopes, self._pairs)
        exact = chosen
        if choices:
            weights = np.concatenate([choice.exact for choice in choices])
            exact = chosen._replace(weights=weights)
        value = self._margin * exact.mean_hinge(self._pairs)[0]
        offset = self._margin * float(slopes[slopes > 0.0].sum())
        return Support(value, chosen.by_row(slopes, scores.size), offset)

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        # The Laplacian of the pairs near the kink, plus the scatter of rows near the
        # threshold of the choice, which trade places; its weight is the slope there.
        chosen, choices = self._choice(scores, width / self._margin)
        pair_form = chosen.laplacian(self._pairs, width / self._margin)
        moving = [
            (choice, self._slope_at_threshold(choice, other, width / self._margin))
            for choice, other in zip(choices, choices[::-1], strict=True)
            if choice.sloping.size
        ]

        def form(columns: Any) -> FloatArray:
            hessian = pair_form(columns)
            for choice, slope in moving:
                hessian = hessian + slope * choice.scatter(columns)
            return hessian / self._margin

        return form

    def draw_rows(self, rows_per_class: int, rng: np.random.Generator) -> IntArray:
        """Draw rows of some queries, about `rows_per_class` of each class."""
        if self.queries is None:
            return super().draw_rows(rows_per_class, rng)
        # all rows of few queries have more pairs than few rows of each; large ones are
        # thinned
        sizes = np.diff(self._starts).reshape(-1, 2)
        queries = rng.permutation(sizes.shape[0])
        most = max(_ROWS_OF_A_QUERY, rows_per_class // queries.size)
        drawn = np.minimum(sizes[queries], most).cumsum(axis=0).min(axis=1)
        queries = queries[: 1 + int(np.searchsorted(drawn, rows_per_class))]
        places = [
            rng.permutation(np.arange(self._starts[group], self._starts[group + 1]))
            for query in queries
            for group in (2 * query, 2 * query + 1)
        ]
        return np.sort(self._rows[np.concatenate([own[:most] for own in places])])

    def _sorted(self, scores: FloatArray) -> "SortedGroups":
        """Sort the rows of each group; rows that cannot count may be left out."""
        rows, groups, starts = self._rows, self._groups, self._starts
        weights, values = self._weights, scores[rows]
        if self._margin != 1.0:
            values /= self._margin
        if self._pairs.size == 1 and not self._box.is_loose:
            # selecting the rows within a range costs less than sorting all
            parts = self._could_count(values, 0), self._could_count(values, 1)
            kept = np.concatenate(parts)
            if kept.size < rows.size:
                starts = np.array([0, parts[0].size, kept.size])
                groups = np.repeat([0, 1], np.diff(starts))
                rows, values, weights = rows[kept], values[kept], weights[kept]
        order = sort_in_groups(values, groups, starts)
        return SortedGroups(rows[order], values[order], weights[order], starts)

    def _could_count(self, values: FloatArray, group: int) -> IntArray:
        """Return the places of a group of the only query that are within its range."""
        first, stop = self._starts[group], self._starts[group + 1]
        places = np.arange(first, stop)
        if (self._box.negatives, self._box.positives)[group] == 1.0:
            return places
        keys = -values[first:stop] if group else values[first:stop]
        cut = weighted_top(keys, self._class_weights(group), self._ends[0, 1 + group])
        return places[keys >= cut.threshold]

    def _class_weights(self, group: int) -> FloatArray | None:
        """Return the weights of a group, or None for ones."""
        if self.sample_weight is None:
            return None
        return self._weights[self._starts[group] : self._starts[group + 1]]

    def _first_rows(self, rows: "SortedGroups") -> "SortedGroups":
        """Return the rows with their weights within the ranges, in part at the end."""
        if self._is_whole:
            return rows
        return rows._replace(
            weights=kernels.first_weights_of_groups(*rows[1:], self._ends)
        )

    def _choice(
        self, scores: FloatArray, width: float
    ) -> tuple["SortedGroups", list[SmoothChoice]]:
        """Return the rows that count, and the smooth choices that were made, if any."""
        if self.queries is not None or self._is_whole:
            return self._first_rows(self._sorted(scores)), []
        values = scores[self._rows] / self._margin
        ranges, choices = (self._box.negatives, self._box.positives), []
        for k, (share, side) in enumerate(zip(ranges, (1, -1), strict=True)):
            members = slice(self._starts[k], self._starts[k + 1])
            class_rows = ClassRows(
                self._rows[members], values[members], self._class_weights(k), side
            )
            choices.append(
                SmoothChoice.from_class(class_rows, share, _CHOICE_WIDTH * width)
            )
        chosen = [choice.chosen for choice in choices]
        sizes = [rows.size for rows in chosen]
        return SortedGroups(
            np.concatenate([rows.rows for rows in chosen]),
            np.concatenate([rows.values for rows in chosen]),
            np.concatenate([rows.explicit_weights for rows in chosen]),
            np.concatenate(([0], np.cumsum(sizes))),
        ), choices

    def _slope_at_threshold(
        self, choice: SmoothChoice, other: SmoothChoice, width: float
    ) -> float:
        """Return the share of the other class paired with a row at the threshold."""
        gaps = 1.0 + choice.threshold + other.chosen.keys
        shares = np.clip(gaps / width + 0.5, 0.0, 1.0)
        share = float(np.average(shares, weights=other.chosen.explicit_weights))
        return share / choice.chosen.total_weight


class SortedGroups(NamedTuple):
    """Rows by query, class (negatives first) and ascending score."""

    rows: IntArray
    values: FloatArray
    weights: FloatArray
    starts: IntArray  # of the groups, and the end

    def near_zero(self) -> tuple[FloatArray, FloatArray]:
        """Return values whose sums keep their digits, and the widths of kinks."""
        # a constant is subtracted from each query
        starts = self.starts
        first, last = self.values[starts[:-1]], self.values[starts[1:] - 1]
        low = first.reshape(-1, 2).min(axis=1)
        high = last.reshape(-1, 2).max(axis=1)
        level = np.minimum(np.maximum(low, 0.0), high)
        slacks = _MAX_KINK_DISTANCE * np.maximum(np.maximum(-low, high), 1.0)
        return self.values - np.repeat(level, np.diff(starts[::2])), slacks

    def mean_hinge(
        self, pairs: FloatArray, ends: FloatArray = _ALL_ROWS, is_loose: bool = False
    ) -> tuple[float, FloatArray]:
        """Return the mean (structural) hinge over weights of pairs, and its slopes."""
        values, slacks = self.near_zero()
        slopes = np.zeros(values.size)
        groups = values, self.weights, self.starts, slacks
        value = kernels.sum_hinges(*groups, pairs, ends, is_loose, slopes)
        return value, self.signed(slopes, pairs)

    def signed(self, slopes: FloatArray, pairs: FloatArray) -> FloatArray:
        """Return slopes of these rows, those of positives negated, over the pairs."""
        factors = np.stack([1.0 / pairs, -1.0 / pairs], axis=1).ravel()
        return 0.0 + slopes * np.repeat(factors, np.diff(self.starts))  # not -0.0

    def by_row(self, slopes: FloatArray, n_rows: int) -> FloatArray:
        """Return the slopes of all rows, 0 for those that are not here."""
        by_row = np.zeros(n_rows)
        by_row[self.rows] = slopes
        return by_row

    def laplacian(
        self, pairs: FloatArray, width: float
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the Hessian of the mean of smoothed hinges as the map V -> V^T L V."""
        is_positive = np.repeat(
            np.arange(2 * pairs.size) % 2 == 1, np.diff(self.starts)
        )
        n_queries = pairs.size
        weights = self.weights.copy()
        first, last = np.zeros((2, self.rows.size), dtype=np.int64)
        n_before = 0  # negatives of the queries before
        for q in range(n_queries):
            negatives = slice(self.starts[2 * q], self.starts[2 * q + 1])
            positives = slice(self.starts[2 * q + 1], self.starts[2 * q + 2])
            weights[positives] /= pairs[q] * width
            lifted = self.values[negatives] + 1.0
            for ends, side in ((first, -0.5), (last, 0.5)):
                edges = self.values[positives] + side * width
                ends[positives] = n_before + np.searchsorted(lifted, edges)
            n_before += lifted.size
        return window_laplacian(
            (self.rows[is_positive], weights[is_positive]),
            (self.rows[~is_positive], weights[~is_positive]),
            first[is_positive],
            last[is_positive],
        )
