"""The gradient of all pairs of all workers, for one of them, in one sum of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xgboost import collective

from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks import PairLogistic
from aucmax.risks._pairs.logistic_grid import GridClasses, GridSums, LogisticGrid

#: with more rows, workers exchange cells instead of scores, where that is possible
MAX_SCORES = 20_000_000
_BINS = 2**16  # of the histogram from which the threshold of many rows is taken


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


def pairs_of_all(
    risk: PairLogistic, rows: LocalRows, max_scores: int
) -> AllScores | CellMoments:
    """Choose the exchange by the number of rows: all scores, or cells."""
    whole = tuple(risk.fpr_range) == tuple(risk.tpr_range) == (0.0, 1.0)
    fits_cells = rows.queries is None and whole and not risk.rank_weighted
    if rows.n_rows > max_scores and fits_cells:
        return CellMoments(risk, rows)
    return AllScores(risk, rows)


class AllScores:
    """Every worker receives the scores of all rows, 8 bytes each: exact."""

    def __init__(self, risk: PairLogistic, rows: LocalRows) -> None:
        self._rows = rows
        self._labels = rows.gather(rows.labels).astype(np.int64)
        self._weights = None if rows.weights is None else rows.gather(rows.weights)
        queries = None
        if rows.queries is not None:
            queries = rows.gather(rows.queries).astype(np.int64)
        self._pairs = risk.bind(self._labels, self._weights, queries)

    def gradient_hessian(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both for the rows of this worker, given their scores."""
        everywhere = self._rows.gather(scores)
        found = self._pairs.gradient_hessian(everywhere, scaled=True)
        return found[0][self._rows.places], found[1][self._rows.places]

    def threshold(self, scores: FloatArray) -> float:
        """Return the cut of the best balanced accuracy."""
        return balanced_threshold(
            self._rows.gather(scores), self._labels == 1, self._weights
        )


class CellMoments:
    """Moments of both classes in cells of half a unit, added up by the workers."""

    # the relative error of each pair is at most the risk's accuracy
    def __init__(self, risk: PairLogistic, rows: LocalRows) -> None:
        self._risk = risk
        self._positive = rows.labels == 1
        weights = rows.weights
        self._masses = np.ones(rows.labels.size) if weights is None else weights
        self._classes = GridClasses.of(
            self._positive.view(np.uint8), weights, [(0.0, 1.0)] * 2, 0.0
        )
        negative, positive = _sum(
            np.array([self._masses[side].sum() for side in self._sides])
        )
        self._unit = rows.n_rows / 2.0 / (negative * positive)

    def gradient_hessian(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return both for the rows of this worker."""
        grid = LogisticGrid.between(*_ends(scores), 1.0, self._risk.accuracy)
        rows = self._classes.at(scores)
        sums = GridSums(rows, grid, int(self._risk.n_jobs), add_others=_sum)
        return sums.gradient_hessian(self._unit)

    def threshold(self, scores: FloatArray) -> float:
        """Return the cut of the best balanced accuracy, among 65,536 equal steps."""
        ends = _ends(scores)
        counts = [
            np.histogram(scores[side], _BINS, ends, weights=self._masses[side])[0]
            for side in self._sides
        ]
        below = np.cumsum(_sum(np.array(counts, dtype=np.float64)), axis=1)
        below /= below[:, -1:]
        best = int(np.argmax(below[0] - below[1]))
        return float(np.linspace(*ends, _BINS + 1)[best + 1])

    @property
    def _sides(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return ~self._positive, self._positive


def _sum(values: FloatArray) -> FloatArray:
    total: FloatArray = collective.allreduce(values.ravel(), collective.Op.SUM)
    return total.reshape(values.shape)


def _ends(scores: FloatArray) -> tuple[float, float]:
    """Return the lowest and the highest score of all rows."""
    ends = np.array([-scores.min(initial=np.inf), scores.max(initial=-np.inf)])
    low, high = collective.allreduce(ends, collective.Op.MAX)
    return -float(low), float(high)
