"""The gradient of all pairs of all workers, for the rows of one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xgboost import collective

from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks import PairLogistic
from aucmax.risks._pairs.logistic_grid import GridClasses, GridSums, LogisticGrid
from aucmax.risks.bound_pair_logistic import tree_factor

#: with more rows, workers exchange cells instead of scores, where that is possible
MAX_SCORES = 20_000_000

#: gradient and Hessian of the rows of a worker, given their scores
GradientHessian: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class LocalRows:
    """The rows of one worker, part after part."""

    labels: NDArray[Any]
    weights: FloatArray | None
    queries: IntArray | None
    places: IntArray  # among all rows
    n_rows: int  # of all workers

    def gather(self, values: NDArray[Any]) -> FloatArray:
        """Return the values of all rows, in the order of parts: one sum."""
        everywhere = np.zeros(self.n_rows)
        everywhere[self.places] = values
        return _sum(everywhere)


def gradient_of_all_pairs(
    risk: PairLogistic, rows: LocalRows, max_scores: int
) -> GradientHessian:
    """Choose the exchange by the number of rows: all scores, or cells."""
    is_whole = tuple(risk.fpr_range) == tuple(risk.tpr_range) == (0.0, 1.0)
    fits_cells = rows.queries is None and is_whole and not risk.rank_weighted
    if rows.n_rows > max_scores and fits_cells:
        return gradient_from_cells(risk, rows)
    return gradient_from_scores(risk, rows)


def gradient_from_scores(risk: PairLogistic, rows: LocalRows) -> GradientHessian:
    """Send the scores of all rows to every worker, 8 bytes each: exact."""
    labels = rows.gather(rows.labels).astype(np.int64)
    weights = None if rows.weights is None else rows.gather(rows.weights)
    queries = None
    if rows.queries is not None:
        queries = rows.gather(rows.queries).astype(np.int64)
    bound = risk.bind(labels, weights, queries)

    def gradient_hessian(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        gradient, hessian = bound.gradient_hessian(rows.gather(scores), scaled=True)
        return gradient[rows.places], hessian[rows.places]

    return gradient_hessian


def gradient_from_cells(risk: PairLogistic, rows: LocalRows) -> GradientHessian:
    """Add up moments of both classes in cells of half a unit of the scores.

    The relative error of each pair is at most the risk's accuracy.
    """
    classes = np.asarray(rows.labels == 1).view(np.uint8)
    class_weights = np.bincount(classes, rows.weights, minlength=2).astype(np.float64)
    total_weights = _sum(class_weights)
    unit = rows.n_rows / 2.0 / total_weights.prod()
    total_weight = total_weights.sum()
    initial = 2.0 * rows.n_rows * total_weights.prod() / total_weight**2
    weights = np.ones(classes.size) if rows.weights is None else rows.weights
    relative = np.where(weights > 0.0, weights * (rows.n_rows / total_weight), np.inf)
    grid_classes = GridClasses.from_codes(classes, rows.weights, [(0.0, 1.0)] * 2, 0.0)

    def gradient_hessian(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        ends = np.array([-scores.min(initial=np.inf), scores.max(initial=-np.inf)])
        low, high = collective.allreduce(ends, collective.Op.MAX)
        grid = LogisticGrid.between(-float(low), float(high), 1.0, risk.accuracy)
        grid_rows = grid_classes.at(scores)
        sums = GridSums(grid_rows, grid, int(risk.n_jobs), add_others=_sum)
        gradient, hessian = sums.gradient_hessian(unit)
        sizes = np.abs(gradient)
        largest = np.array([(sizes / relative).max(initial=0.0)])
        largest = collective.allreduce(largest, collective.Op.MAX)
        factor = tree_factor(initial, float(_sum(sizes.sum())), float(largest[0]))
        return gradient * factor, hessian * factor

    return gradient_hessian


def _sum(values: FloatArray) -> FloatArray:
    total: FloatArray = collective.allreduce(values.ravel(), collective.Op.SUM)
    return total.reshape(values.shape)
