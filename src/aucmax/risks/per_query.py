"""The mean over queries of the hinge over a part of the pairs of each."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.sorting import deal_out, sort_with_order
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.risks._pairs import box_kernels, hinge_kernels
from aucmax.risks._pairs.forms import window_laplacian
from aucmax.risks._pairs.hinge_sums import MAX_KINK_DISTANCE
from aucmax.risks._pairs.rank_box import RankBox
from aucmax.risks.contract import BoundRisk, Form, Risk, Support

_MARGIN = 1.0  # of the kernels
_ROWS_OF_A_QUERY = 30  # of each class, at most, where a sample can have more queries


class BoundPerQuery(BoundRisk):
    r"""The mean over queries of a hinge that compares rows of one query alone.

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
        queries: ArrayLike,
        *,
        margin: float = 1.0,
    ) -> None:
        super().__init__(risk, labels, sample_weight, queries)
        assert self.queries is not None
        self._box, self._margin = box, float(margin)
        self.can_be_smoothed = box.is_choice_of_rows
        self.line_margin = self._margin if self.can_be_smoothed else None
        self.n_queries = self.queries.n_queries
        members = ~self.labels if box.is_mirrored else self.labels
        self._groups = 2 * self.queries.codes + members
        counted = self._groups
        if self.sample_weight is not None:
            counted = counted[self.sample_weight > 0.0]
        sizes = np.bincount(counted, minlength=2 * self.n_queries).reshape(-1, 2)
        self.n_skipped = int(np.count_nonzero(sizes.min(axis=1) == 0))
        if self.n_skipped == self.n_queries:
            raise NotEnoughClassesError(
                f"None of the {self.n_queries} queries has rows of both classes, so "
                "there is nothing to rank. Check that queries holds query ids, not row "
                "numbers."
            )

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        if self.can_be_smoothed:
            value, slope, _ = self._first_rows(scores).support()
        else:
            value, slope = self._structural(scores)
        return self._margin * value, slope

    def _smoothed(self, scores: FloatArray, width: float) -> Support:
        # kinks are smoothed, not the choice of rows
        value, slope, offset = self._first_rows(scores).support(width / self._margin)
        return Support(self._margin * value, slope, self._margin * offset)

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        form = self._first_rows(scores).laplacian(width / self._margin)
        return lambda columns: form(columns) / self._margin

    def draw_rows(self, rows_per_class: int, rng: np.random.Generator) -> IntArray:
        """Draw rows of some queries, about `rows_per_class` of each class."""
        # all rows of few queries have more pairs than few rows of each; large ones are
        # thinned
        counted = np.arange(self.labels.size)
        if self.sample_weight is not None:
            counted = np.flatnonzero(self.sample_weight > 0.0)
        groups = self._groups[counted]
        sizes = np.bincount(groups, minlength=2 * self.n_queries).reshape(-1, 2)
        queries = rng.permutation(np.flatnonzero(sizes.min(axis=1) > 0))
        most = max(_ROWS_OF_A_QUERY, rows_per_class // queries.size)
        drawn = np.minimum(sizes[queries], most).cumsum(axis=0).min(axis=1)
        queries = queries[: 1 + int(np.searchsorted(drawn, rows_per_class))]
        is_drawn = np.zeros(self.n_queries, dtype=bool)
        is_drawn[queries] = True
        kept = rng.permutation(np.flatnonzero(is_drawn[groups // 2]))
        kept = kept[np.argsort(groups[kept], kind="stable")]
        # places within each group, of which there are as many as it has rows
        starts = np.flatnonzero(np.diff(groups[kept], prepend=-1))
        lengths = np.diff(starts, append=kept.size)
        places = np.arange(kept.size) - np.repeat(starts, lengths)
        return np.sort(counted[kept[places < most]])

    def _first_rows(self, scores: FloatArray) -> "SortedQueries":
        """Return the rows of each query that count; the others weigh nothing."""
        return self._rows(scores).first(self._box.negatives, self._box.positives)

    def _rows(self, scores: FloatArray) -> "SortedQueries":
        if self._margin != 1.0:
            scores = scores / self._margin
        n_groups = 2 * self.n_queries
        return SortedQueries.of(scores, self._groups, n_groups, self.sample_weight)

    def _structural(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and a subgradient where the order of the rows matters."""
        box = self._box
        rows = self._rows(-scores if box.is_mirrored else scores)
        slopes = np.empty_like(scores)
        value = box_kernels.mean_over_queries(
            rows.values,
            rows.weights,
            rows.starts,
            np.array(box[:3]),
            box.is_loose,
            MAX_KINK_DISTANCE,
            slopes,
        )
        sign = -1.0 if box.is_mirrored else 1.0
        return float(value), rows.in_order(sign * slopes)


class SortedQueries(NamedTuple):
    """Sorted rows; the class of a query is a group, its negatives before the others."""

    # weights are in units of the heaviest row's; starts also has the end
    rows: IntArray
    values: FloatArray
    weights: FloatArray
    starts: IntArray

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        groups: IntArray,
        n_groups: int,
        sample_weight: FloatArray | None,
    ) -> "SortedQueries":
        """Sort all rows at once, and deal them out to their groups."""
        sizes = np.bincount(groups, minlength=n_groups)
        starts = np.concatenate(([0], np.cumsum(sizes)))
        order, _ = sort_with_order(scores)
        rows = deal_out(order, groups, starts)
        weights = np.ones(scores.size)
        if sample_weight is not None:
            weights = sample_weight[rows] / sample_weight.max()
        return cls(rows, scores[rows], weights, starts)

    @property
    def is_positive(self) -> BoolArray:
        """Which of the rows, as they stand here, are positives."""
        sizes = np.diff(self.starts)
        return np.repeat(np.arange(sizes.size) % 2 == 1, sizes)

    def first(self, negatives: float, positives: float) -> "SortedQueries":
        """Keep the weights of the first rows alone, up to shares of their groups'."""
        if negatives == positives == 1.0:
            return self
        weights = box_kernels.first_weights_of_groups(
            self.values, self.weights, self.starts, negatives, positives
        )
        return self._replace(weights=weights)

    def in_order(self, slopes: FloatArray) -> FloatArray:
        """Return slopes of these rows in the order in which the rows came."""
        ordered = np.empty_like(slopes)
        ordered[self.rows] = slopes
        return ordered

    def support(self, width: float = 0.0) -> Support:
        """Return the mean hinge over queries, and a line with smoothed slope."""
        values, slopes = self.values.copy(), np.empty_like(self.values)
        value = box_kernels.mean_pair_hinge(
            values, self.weights, self.starts, MAX_KINK_DISTANCE, slopes
        )
        is_positive = self.is_positive
        if width > 0.0:
            values[~is_positive] += _MARGIN
            hinge_kernels.query_ramps(
                values, self.weights, self.starts, width / 2.0, slopes
            )
        shares = float(slopes[~is_positive].sum())
        return Support(float(value), self.in_order(slopes), _MARGIN * shares)

    def laplacian(self, width: float) -> Callable[[FloatArray], FloatArray]:
        """Return the Hessian of the mean of smoothed hinges as the map V -> V^T L V."""
        scale = np.zeros(self.rows.size)
        first, last = np.zeros((2, self.rows.size), dtype=np.int64)
        n_before = n_queries = 0  # negatives of the queries before, queries with pairs
        for q in range(self.starts.size // 2):
            negatives = slice(self.starts[2 * q], self.starts[2 * q + 1])
            positives = slice(self.starts[2 * q + 1], self.starts[2 * q + 2])
            pairs = self.weights[negatives].sum() * self.weights[positives].sum()
            if pairs > 0.0:
                n_queries += 1
                scale[positives] = 1.0 / (pairs * width)
                lifted = self.values[negatives] + _MARGIN
                for ends, side in ((first, -1.0), (last, 1.0)):
                    edges = self.values[positives] + side * width / 2.0
                    ends[positives] = n_before + np.searchsorted(lifted, edges)
            n_before += negatives.stop - negatives.start
        is_positive = self.is_positive
        weights = self.weights * scale / max(n_queries, 1)
        return window_laplacian(
            (self.rows[is_positive], weights[is_positive]),
            (self.rows[~is_positive], self.weights[~is_positive]),
            first[is_positive],
            last[is_positive],
        )
