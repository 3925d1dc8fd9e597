r"""Projected and proximal subgradient steps, with momentum and a certificate."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import ProximalRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers.bundle_models import ProximalModel
from aucmax.solvers.risk_objective import (
    RiskObjective,
    begin,
    first_width,
    lost_by_smoothing,
    narrowing,
    plane_value,
    value_at,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, require
from aucmax.solvers.sparsity import drop_negligible_weights

_MAX_EXCESS = 0.2  # share of the gap by which a step may miss the quadratic model
_CURVATURE_GROWTH = 2.0  # factor after a step that missed the model by more
_MAX_GROWTHS = 60  # per step; only rounding could ask for more
_CURVATURE_DECAY = 0.9  # factor per step
_MIN_RISE = 1e-3  # share of the gap; a bound that rises by less has stalled
_MAX_SMOOTHING_LOSS = 0.03  # share of the gap
_MAX_ROUNDING_ERROR = 1e-12  # relative


@dataclass(frozen=True)
class SubgradientSolver:
    r"""Minimise by subgradient steps that end with a projection or a proximal map.

    .. math:: w_{k+1} = \mathrm{prox}_{\Omega / L} (y_k - C g_k / L), \qquad
              y_{k+1} = w_{k+1} + \beta_k (w_{k+1} - w_k)

    with a subgradient :math:`g_k` of the risk at :math:`y_k`. The first step is
    Polyak's, with the certified lower bound as target. The curvature L doubles where a
    step ends above the quadratic model by more than a share of the gap, and falls
    slowly otherwise (Nesterov, Mathematical Programming 152, 2015, section 4). The
    momentum :math:`\beta_k` restarts where it leads uphill (O'Donoghue, Candes,
    Foundations of Computational Mathematics 15, 2015, section 3.2).

    The mixture of the latest lines below the risk certifies the gap. Where that bound
    stalls, a step from the best point along the mixture's slope (dual averaging) looks
    for a line that is missing. The best iterate is returned, so that zeros are true
    zeros. One pass per iteration, and half a pass for each doubling of L.
    """

    stopping: StoppingRule
    max_cuts: int = 60  # lines that certify the gap

    def minimize(
        self,
        objective: RiskObjective,
        regularizer: ProximalRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; a start outside a ball is projected first."""
        others = "Try L2, L1, ElasticNet, GroupLasso or a ball."
        for ability in ("prox", "lower_bound"):
            require(regularizer, ability, "a subgradient step", others)
        objective.require_certifiable("a subgradient step")
        first, monitor, cuts = begin(
            self.stopping, objective, regularizer, start, self.max_cuts
        )
        model = ProximalModel(objective, regularizer, cuts)
        best = _inside(objective, regularizer, first)
        value = value_at(best, objective, regularizer)
        iterates = _AcceleratedIterates(
            objective, regularizer, best, first_width(objective, start)
        )
        bound, jumped = objective.least_value, False
        line = iterates.extrapolated_plane()
        while True:
            cuts.add(line.slope, line.support)
            candidate = model.minimize(best.parameters, value)
            last_bound, bound = bound, candidate.lower_bound
            if monitor.should_stop(objective.n_passes, value, bound):
                break
            gap = value - bound
            jumped = not jumped and bound - last_bound <= _MIN_RISE * gap
            if jumped:
                line = iterates.plane_at(objective.at(candidate.parameters))
                if line.value < value:
                    best, value = line.point, line.value
                    iterates.start_at(line)
                continue
            point, point_value = iterates.step(gap)
            if point_value < value:
                best, value = point, point_value
            iterates.narrow(max(value - bound, self.stopping.tol * value))
            iterates.gain_momentum()
            line = iterates.extrapolated_plane()
        value = value_at(best, objective, regularizer)  # not smoothed
        solution = monitor.solution(best, value, max(value - bound, 0.0), cuts)
        return drop_negligible_weights(solution, objective, regularizer, self.stopping)


def _inside(
    objective: RiskObjective, regularizer: ProximalRegularizer, point: Point
) -> Point:
    """Project a start that is outside a ball."""
    projected = regularizer.prox(point.parameters, 0.0)
    tolerance = _MAX_ROUNDING_ERROR
    if np.allclose(projected, point.parameters, rtol=tolerance, atol=0.0):
        return point
    return objective.at(projected)


class _Line(NamedTuple):
    """A line below the risk, and the point where it was found."""

    point: Point
    support: Support
    slope: FloatArray  # over parameters
    value: float  # of the objective at the point; never too low


class _AcceleratedIterates:
    """The iterates: a point, another one ahead of it, and how to step from there."""

    def __init__(
        self,
        objective: RiskObjective,
        regularizer: ProximalRegularizer,
        point: Point,
        width: float,
    ) -> None:
        self._objective = objective
        self._regularizer = regularizer
        self._width = width
        self._curvature = 0.0
        self._age = 1.0  # of the momentum; Nesterov's sequence t_k
        self._last = self._point = self._ahead = point
        self._reached: Support

    def extrapolated_plane(self) -> _Line:
        """Return the line below the risk at the point ahead: half a pass."""
        self._line = self.plane_at(self._ahead)
        return self._line

    def plane_at(self, point: Point) -> _Line:
        """Return the line below the risk at another point: half a pass."""
        support = self._objective.support(point, self._width)
        slope = self._objective.pull_back(support)
        return _Line(point, support, slope, self._value(point, support))

    def _value(self, point: Point, support: Support) -> float:
        penalty = self._regularizer.value(point.parameters)
        return penalty + self._objective.C * support.value

    def start_at(self, line: _Line) -> None:
        """Continue from another point, without momentum."""
        self._line = line
        self._last = self._point = self._ahead = line.point
        self._age = 1.0

    def step(self, gap: float) -> tuple[Point, float]:
        """Step from the point ahead; return its end, and a value never too low."""
        # shortened until it ends little higher than its model: half a pass per try
        objective, ahead = self._objective, self._ahead.parameters
        slope = objective.C * self._line.slope
        self._curvature *= _CURVATURE_DECAY
        if self._curvature == 0.0:
            self._curvature = float(slope @ slope) / gap or 1.0
        current = objective.C * plane_value(self._line.support, self._ahead)
        allowed = _MAX_EXCESS * gap + _MAX_ROUNDING_ERROR * abs(current)
        for _ in range(_MAX_GROWTHS):
            length = 1.0 / self._curvature
            point = objective.at(self._regularizer.prox(ahead - length * slope, length))
            support = objective.support(point, self._width)
            moved = point.parameters - ahead
            expected = current + float(slope @ moved)
            expected += self._curvature / 2.0 * float(moved @ moved)
            if objective.C * plane_value(support, point) <= expected + allowed:
                break
            self._curvature *= _CURVATURE_GROWTH
        self._last, self._point, self._reached = self._point, point, support
        return point, self._value(point, support)

    def narrow(self, gap: float) -> None:
        """Shrink the width until smoothing costs a small part of the gap."""
        lost = self._objective.C * lost_by_smoothing(self._reached, self._point)
        self._width *= narrowing(lost, _MAX_SMOOTHING_LOSS * gap)

    def gain_momentum(self) -> None:
        """Move the point ahead, beyond the last two points."""
        move = self._last.towards(self._point)
        back = self._ahead.parameters - self._point.parameters
        if float(back @ move.parameters) > 0.0:
            self._age = 1.0
        age = (1.0 + float(np.sqrt(1.0 + 4.0 * self._age**2))) / 2.0
        self._ahead = self._point.moved(move, (self._age - 1.0) / age)
        self._age = age
