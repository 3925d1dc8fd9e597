r"""The pair hinge of more scores than one process should hold.

Rows of one class whose scores are in one cell, a span of width h, are put at the mean
of their scores. The hinge is linear but for its kink, so that this changes nothing for
the pairs of two cells, unless some of these pairs are on one side of the kink and some
on the other. Their mean hinge is at most h / 2 more than that of the means (a chord of
a kink over 2 h):

.. math:: \tilde R \le R \le \tilde R + \frac h 2 \cdot \text{share of such pairs},

which is of the order of h squared. The upper bound is what a solver sees as the risk,
and each line below the risk of the means is one below the risk itself. So the
certificate is as true as with all scores, and its gap has the price of the cells in it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.linear.linear_objective import LinearObjective
from aucmax.risks.contract import BoundRisk, Support
from aucmax.risks.pair_hinge import BoundPairHinge
from aucmax.solvers.solver import Point

_MOST_CELLS_OF_GAP = 0.1  # what cells may add to a gap, as a share of the tolerance

_MOST_POINTS_KNOWN = 20  # of which the cells are kept: the best one is among them


def suits_cells(risk: BoundRisk, X: Any) -> TypeGuard[BoundPairHinge]:
    """Return whether rows in parts are so many that cells should travel."""
    return isinstance(risk, BoundPairHinge) and as_row_matrix(X).prefers_cells


class CellObjective(LinearObjective):
    """C times the pair hinge of ``X @ w``, whose scores stay where the rows are.

    A point between two others costs a pass here, since nobody knows its scores.
    """

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
        n_cells = np.ceil(np.sqrt(1.0 / (_MOST_CELLS_OF_GAP * tol)))
        self._width = self._hinge.margin / 2.0 ** np.ceil(np.log2(n_cells))
        self._rows = X.in_cells(self.labels, self.sample_weight, self._width)
        self._known: dict[bytes, _Cells] = {}

    def at(self, parameters: FloatArray) -> Point:
        """Return the point, whose scores are left where the rows are: no pass."""
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
        slopes: Any = _Slopes(self, point, cells, line.subgradient / cells.masses)
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
        cells = self._cells_at(point)
        return balanced_threshold(cells.scores, cells.is_positive, cells.masses)

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
        return self._hinge.bind(cells.is_positive, cells.masses)

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
            if len(self._known) > _MOST_POINTS_KNOWN:
                self._known.pop(next(iter(self._known)))
        return self._known[name]

    def _most_at_kinks(self, cells: _Cells) -> float:
        """Return how much more than the means the rows may have lost."""
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

    counts: Any
    scores: FloatArray

    @property
    def is_positive(self) -> BoolArray:
        """The class of each cell."""
        found: BoolArray = self.counts.is_positive
        return found

    @property
    def masses(self) -> FloatArray:
        """The weight of the rows of each cell."""
        found: FloatArray = self.counts.masses
        return found


class _ScoresOf:
    """Scores that nobody has computed, of parameters: they add up as those do."""

    __array_ufunc__ = None  # a number of numpy times this is left to us

    def __init__(self, parameters: FloatArray) -> None:
        self.parameters = parameters

    def __add__(self, other: _ScoresOf) -> _ScoresOf:
        return _ScoresOf(self.parameters + other.parameters)

    def __sub__(self, other: _ScoresOf) -> _ScoresOf:
        return _ScoresOf(self.parameters - other.parameters)

    def __rmul__(self, factor: float) -> _ScoresOf:
        return _ScoresOf(factor * self.parameters)


class _Slopes:
    """One slope for the rows of each cell, pulled back when it is asked for."""

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
