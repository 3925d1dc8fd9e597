r"""The pair hinge of more scores than one process should hold.

Rows of one class whose scores are in one cell, a span of width h, are put at the mean
of their scores. The hinge is linear except at its kink, so this changes only pairs of
cells with pairs on both sides of the kink, whose mean hinge is at most h / 2 more than
that of the means (a chord of a kink over 2 h):

.. math:: \tilde R \le R \le \tilde R + \frac h 2 \cdot \text{share of such pairs}.

A solver sees the upper bound as the risk, and each line below the risk of the means is
below the risk itself: the certificate holds, and its gap includes the price of cells.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import FloatArray, IntArray
from aucmax.risks.contract import BoundRisk, Support
from aucmax.risks.pair_hinge import BoundPairHinge
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Point

_MAX_SHARE_OF_GAP = 0.1  # of the tolerance, that cells may add to a gap
_MAX_POINTS_KNOWN = 20  # whose cells are kept; the best point is among them


def suits_cells(risk: BoundRisk, X: Any) -> TypeGuard[BoundPairHinge]:
    """Return whether to send cells instead of scores from the workers."""
    return isinstance(risk, BoundPairHinge) and as_row_matrix(X).prefers_cells


class CellObjective(LinearObjective):
    """C times the pair hinge of ``X @ w``, whose scores stay on the workers."""

    def __init__(
        self,
        X: Any,
        risk: BoundPairHinge,
        C: float,
        column_scales: FloatArray | None,
        tol: float,
    ) -> None:
        super().__init__(X, risk, C, column_scales)
        self._hinge = risk.risk
        # the margin is a multiple of the width, so that a kink is in few cells
        n_cells = np.ceil(np.sqrt(1.0 / (_MAX_SHARE_OF_GAP * tol)))
        self._width = self._hinge.margin / 2.0 ** np.ceil(np.log2(n_cells))
        self._rows = X.in_cells(risk.labels, risk.sample_weight, self._width)
        self._known: dict[bytes, _Cells] = {}

    def at(self, parameters: FloatArray) -> Point:
        """Return the point, whose scores stay on the workers: no pass."""
        scores: Any = _ScoresOf(parameters)
        return Point(parameters, scores)

    def risk_value(self, point: Point) -> float:
        """Evaluate an upper bound of the risk: half a pass at a new point."""
        cells = self._cells_at(point)
        value = self._risk_of(cells).value(cells.scores)
        return value + self._most_at_kinks(cells)

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk, smoothed if `width` > 0: half a pass at a new point."""
        cells = self._cells_at(point)
        of_cells = LinearObjective(self.X, self._risk_of(cells), self.C)
        line = of_cells.support(Point(point.parameters, cells.scores), width)
        slopes: Any = _Slopes(
            self, point, cells, line.subgradient / cells.counts.masses
        )
        return line._replace(
            value=line.value + self._most_at_kinks(cells), subgradient=slopes
        )

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over cells into one over features: half a pass, once."""
        slopes: Any = support.subgradient
        pulled: FloatArray = slopes.over_parameters()
        return pulled

    def threshold(self, point: Point) -> float:
        """Return where `predict` cuts the scores, among the means of cells."""
        counts, scores = self._cells_at(point)
        return balanced_threshold(scores, counts.is_positive, counts.masses)

    def pulled(self, point: Point, cells: _Cells, slopes: FloatArray) -> FloatArray:
        """Return the slope over features of one slope for each cell."""
        found = self._rows.pull_back(
            self.unscaled(point.parameters), cells.counts, slopes
        )
        self.n_passes += 0.5
        if not np.isfinite(found).all():
            raise FloatingPointError("a product with the data is not finite")
        return self.unscaled(found)

    def _risk_of(self, cells: _Cells) -> BoundRisk:
        return self._hinge.bind(cells.counts.is_positive, cells.counts.masses)

    def _scores_of_rows(
        self, point: Point, rows: IntArray, X: FloatArray
    ) -> FloatArray:
        scores: FloatArray = X @ point.parameters
        return scores

    def _cells_at(self, point: Point) -> _Cells:
        name = point.parameters.tobytes()
        if name not in self._known:
            counts = self._rows.count(self.unscaled(point.parameters))
            self.n_passes += 0.5
            self._known[name] = _Cells(counts, counts.sums / counts.masses)
            if len(self._known) > _MAX_POINTS_KNOWN:
                self._known.pop(next(iter(self._known)))
        return self._known[name]

    def _most_at_kinks(self, cells: _Cells) -> float:
        """Return how far the risk may exceed that of the means."""
        counts = cells.counts
        negative, positive = ~counts.is_positive, counts.is_positive
        # cells that are exactly a margin apart have pairs on both sides of the kink
        steps = round(self._hinge.margin / self._width)
        places = counts.places[negative]
        facing = np.searchsorted(places, counts.places[positive] - steps)
        facing = np.minimum(facing, places.size - 1)
        meets = places[facing] == counts.places[positive] - steps
        masses = counts.masses[negative][facing] * meets
        total = counts.masses[negative].sum() * counts.masses[positive].sum()
        at_kinks = float(counts.masses[positive] @ masses)
        return float(0.5 * self._width * at_kinks / total)


class _Cells(NamedTuple):
    """Cells with rows, each as one row at the mean of its scores."""

    counts: Any  # with `is_positive`, `masses` and `places` of the cells
    scores: FloatArray


class _ScoresOf:
    """Scores of parameters, not computed: sums and multiples are those of these."""

    __array_ufunc__ = None  # a NumPy number times this is __rmul__

    def __init__(self, parameters: FloatArray) -> None:
        self.parameters = parameters

    def __add__(self, other: _ScoresOf) -> _ScoresOf:
        return _ScoresOf(self.parameters + other.parameters)

    def __sub__(self, other: _ScoresOf) -> _ScoresOf:
        return _ScoresOf(self.parameters - other.parameters)

    def __rmul__(self, factor: float) -> _ScoresOf:
        return _ScoresOf(factor * self.parameters)


class _Slopes:
    """One slope for the rows of each cell, pulled back on first use."""

    def __init__(
        self, objective: CellObjective, point: Point, cells: _Cells, slopes: FloatArray
    ) -> None:
        self._pull = partial(objective.pulled, point, cells, slopes)
        self._pulled: FloatArray | None = None

    def over_parameters(self) -> FloatArray:
        """Return the slope over features: half a pass, the first time."""
        if self._pulled is None:
            self._pulled = self._pull()
        return self._pulled

    def inner(self, scores: _ScoresOf) -> float:
        """Return the inner product with the scores of parameters."""
        return float(self.over_parameters() @ scores.parameters)
