"""Rows query by query, and within each class by class, by ascending score."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from aucmax._core.sorting import deal_out, sort_with_order
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.risks import _kernels, _partial_kernels
from aucmax.risks._hinge_sums import LARGEST_GAP_AT_A_KINK, window_laplacian
from aucmax.risks.contract import Support

__all__ = ["QueryRows"]

_MARGIN = 1.0


class QueryRows(NamedTuple):
    """Sorted rows; the class of a query is a group, its negatives before the others.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Which rows they are.
    values, weights : ndarray of shape (n_rows,)
        Their scores, and weights in units of the heaviest row's.
    starts : ndarray of shape (2 * n_queries + 1,)
        Where the groups begin, and the end.
    """

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
    ) -> "QueryRows":
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

    def first(self, negatives: float, positives: float) -> "QueryRows":
        """Keep the weights of the first rows alone, up to shares of their groups'.

        The first ones are the highest negatives and the lowest positives.
        """
        if negatives == positives == 1.0:
            return self
        weights = _partial_kernels.first_weights_of_groups(
            self.values, self.weights, self.starts, negatives, positives
        )
        return self._replace(weights=weights)

    def in_order(self, slopes: FloatArray) -> FloatArray:
        """Return slopes of these rows in the order in which the rows came."""
        ordered = np.empty_like(slopes)
        ordered[self.rows] = slopes
        return ordered

    def support(self, width: float = 0.0) -> Support:
        """Return the mean over queries of the mean hinge of pairs, and a line below it.

        The slope of the line is smoothed over a width, the mean is not.
        """
        values, slopes = self.values.copy(), np.empty_like(self.values)
        value = _partial_kernels.mean_pair_hinge(
            values, self.weights, self.starts, LARGEST_GAP_AT_A_KINK, slopes
        )
        is_positive = self.is_positive
        if width > 0.0:
            values[~is_positive] += _MARGIN
            _kernels.query_ramps(values, self.weights, self.starts, width / 2.0, slopes)
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
