"""Newton steps over the few columns that matter, on a smoothed risk."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import FloatArray, IntArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import SparseRegularizer, WeightPenalty
from aucmax.risks.contract import Support
from aucmax.solvers import risk_objective
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.inner.l1_quadratic import minimize_l1_quadratic
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.risk_objective import (
    MAX_WIDTH,
    MIN_TOL_OF_SMOOTHING,
    RiskObjective,
    first_start,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, inner, require
from aucmax.solvers.sparsity import drop_negligible_weights

_MAX_ROWS = {"sparse": 20_000, "dense": 5_000}  # of columns at work, kept in memory

_MAX_SMOOTHING_LOSS = 0.3  # share of the gap of the latest line
_NARROWING = 0.4  # factor of the width, then
_MAX_STEPS_PER_WIDTH = 20  # before it is narrowed anyway
_FIRST_WIDTH_PER_RANGE = 0.3  # of the scores that the steepest column alone gives
_WIDTH_AT_A_START = 0.05  # factor; a wider one would leave a good start
_FIRST_DAMPING = 1e-3  # shares of the mean curvature
_MAX_DAMPING = 0.1
_MAX_MODEL_ERROR = 0.02  # of gradients, per L1 penalty, in a quadratic model
_MODEL_ERROR_PER_GAP = 0.1  # the same, per relative gap
_ACCURACY_OF_STEPS = 0.1  # share of the slope that may be left at the end of a step
_MIN_PENALTY = 1e-3  # share of the largest gradient, for weights of a given norm
# In units of a bound, by which it may be too high: of a narrow window the ends are
# rounded, and so are the shares of the pairs inside.
_ROUNDING = 1e-9
_FAR_INSIDE = 0.5  # share of the radius; weights of such a norm need no penalty
_FIRST_PENALTY = 0.3  # share of the largest gradient, before there are weights


def suits_column_steps(objective: RiskObjective, tol: float) -> bool:
    """Return whether the solver is meant for an objective."""
    if objective.forms_columns:  # cutting planes over all of them would be too long
        return True
    if as_row_matrix(objective.X).on_workers:  # the rows are too many
        return False
    max_rows = _MAX_ROWS["sparse" if sparse.issparse(objective.X) else "dense"]
    return bool(objective.n_rows <= max_rows and tol >= MIN_TOL_OF_SMOOTHING)


@dataclass(frozen=True)
class ColumnNewtonSolver:
    """Minimise a risk plus an L1 or elastic net penalty, or over an L1 ball or simplex.

    Proximal Newton steps (Lee, Sun, Saunders, SIAM Journal on Optimization 24, 2014) on
    the smoothed risk, over the columns that have weight and those whose gradients are
    larger than the L1 penalty. A line search in score space finds the step: at most
    one pass per iteration. The width of the smoothing falls with the gap. When it
    falls, pairs on the smoothed part would all leave it at once; the model keeps them
    there, as if the risk continued as a parabola. Sets are for margin risks (positively
    homogeneous), whose optimum in a ball lies on its surface unless it is 0; there, the
    norm has a multiplier, which takes the place of the penalty. Memory is O(k^2 +
    n_rows k) for k dense columns at work.
    """

    stopping: StoppingRule
    max_columns: int = 3000  # in use; the solver gives up if there are more

    @one_blas_thread()
    def minimize(
        self,
        objective: RiskObjective,
        regularizer: SparseRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; the risk can be smoothed."""
        _check_abilities(objective, regularizer)
        if start is None:
            start = first_start(objective, regularizer)
        watch = self.stopping.watch(start.history)
        model = _Model(objective, regularizer.weight_penalty())
        certificate = _Certificate(objective, regularizer)
        if start.cuts is not None:
            certificate.add_mixture(start.cuts)
        best = point = start.point
        best_value = risk_objective.value_at(point, objective, regularizer)
        width = model.first_width(point)
        if point.parameters.any():
            width *= _WIDTH_AT_A_START
        n_steps = 0  # at this width
        while True:
            support = objective.support(point, width)
            slope = objective.C * objective.pull_back(support)
            value = regularizer.value(point.parameters) + objective.C * support.value
            candidate, value = model.scaled_to_surface(point, value)
            if value < best_value:
                best, best_value = candidate, value
            bound = certificate.add(support, slope)
            if watch.should_stop(objective.n_passes, best_value, certificate.bound):
                break
            if np.count_nonzero(point.parameters) > self.max_columns:
                break
            lost = objective.C * risk_objective.lost_by_smoothing(support, point)
            n_steps += 1
            narrowing = 1.0
            is_late = n_steps > _MAX_STEPS_PER_WIDTH
            if is_late or lost > _MAX_SMOOTHING_LOSS * (value - bound):
                narrowing, n_steps = _NARROWING, 0
            scale = max(abs(best_value), self.stopping.floor)
            gap = (best_value - certificate.bound) / scale if scale else 1.0
            accuracy = min(_MAX_MODEL_ERROR, _MODEL_ERROR_PER_GAP * gap)
            step = model.step(point, slope, width, narrowing, accuracy)
            width *= narrowing
            point = model.line_search(point, step, width)
        # sums of steps lose digits; a half pass more
        best = objective.at(best.parameters)
        best_value = risk_objective.value_at(best, objective, regularizer)
        cuts = certificate.cuts()
        gap = max(best_value - certificate.bound, 0.0)
        solution = watch.solution(best, best_value, gap, cuts)
        return drop_negligible_weights(solution, objective, regularizer, self.stopping)


def _check_abilities(objective: RiskObjective, regularizer: SparseRegularizer) -> None:
    others = "Try L1, ElasticNet, L1Ball or Simplex."
    require(regularizer, "weight_penalty", "a step over few columns", others)
    has_radius = regularizer.weight_penalty().radius is not None
    name = "a step over few columns"
    objective.require_certifiable(name, bounded=not has_radius)
    if has_radius and np.isfinite(objective.risk.least_value):
        raise IncompatibleError(
            f"Newton steps over columns support {type(regularizer).__name__} with "
            "margin risks only. Try L1, or a margin risk."
        )
    if not objective.risk.can_be_smoothed:
        raise IncompatibleError(
            "Newton steps over columns need a risk with methods smoothed and "
            "curvature, such as PairHinge, InstanceMargin or PairMargin."
        )


class _Certificate:
    """The best lower bound so far, and its line."""

    def __init__(
        self, objective: RiskObjective, regularizer: SparseRegularizer
    ) -> None:
        self._objective = objective
        self._regularizer = regularizer
        self.bound = objective.least_value
        self._best: tuple[float, FloatArray, Support] | None = None

    def add(self, support: Support, slope: FloatArray) -> float:
        """Return the bound of a line, given its slope over parameters times C."""
        constant = self._objective.C * support.offset
        bound = self._objective.lower_bound(self._regularizer, constant, slope)
        bound -= _ROUNDING * abs(bound)
        if self._best is None or bound > self._best[0]:
            self._best = bound, slope, support
        self.bound = max(self.bound, bound)
        return bound

    def add_mixture(self, cuts: Cuts) -> None:
        """Add the line that the shares of cuts mix, if its source is known."""
        if len(cuts) == 0 or (self._objective.keeps_row_weights and not cuts.sources):
            return
        source = cuts.mixed_source() if cuts.sources else np.empty(0)
        offset = float(cuts.offsets @ cuts.multipliers)
        slope = self._objective.C * cuts.mixed(cuts.multipliers)
        self.add(Support(offset, source, offset), slope)

    def cuts(self) -> Cuts:
        """Return the line as a cut below the risk."""
        if self._best is None:
            raise AssertionError("at least one line was taken in")
        _, slope, support = self._best
        cuts = Cuts(slope.size, keep_sources=self._objective.keeps_row_weights)
        cuts.add(slope / self._objective.C, support)
        return cuts


class _Step(NamedTuple):
    """A direction over a few columns."""

    which: IntArray
    direction: FloatArray
    scores: FloatArray
    growth: float  # of the L1 penalty


class _Model:
    """Quadratic models of the smoothed risk over columns."""

    def __init__(self, objective: RiskObjective, penalty: WeightPenalty) -> None:
        self._objective = objective
        self._penalty = penalty
        self._damping = _FIRST_DAMPING
        # where the hinge of a pair has its kink
        margin = objective.risk.line_margin or 0.0
        self._lift = margin * (~objective.risk.labels).astype(np.float64)

    def first_width(self, point: Point) -> float:
        """Return how wide kinks are rounded off at first."""
        radius, objective = self._penalty.radius, self._objective
        if radius is None:
            return MAX_WIDTH
        slope = objective.pull_back(objective.support(point))
        steepest = np.zeros(slope.size)
        steepest[np.argmax(np.abs(slope))] = radius
        scores = objective.at(steepest).scores
        return _FIRST_WIDTH_PER_RANGE * float(np.ptp(scores)) or MAX_WIDTH

    def step(
        self,
        point: Point,
        slope: FloatArray,
        width: float,
        narrowing: float,
        accuracy: float,
    ) -> _Step:
        """Minimise the model; the width is about to fall by a factor."""
        objective, penalty = self._objective, self._penalty
        l1 = self._l1_penalty(point, slope)
        tol = accuracy * max(abs(l1), _MIN_PENALTY * float(np.abs(slope).max()))
        slope = slope + penalty.curvature * point.parameters
        which = self._working_columns(point.parameters, slope, l1)
        weights = point.parameters[which]
        if which.size == 0:
            return _Step(which, weights, np.zeros_like(point.scores), 0.0)
        columns = objective.columns(which)
        last = point.scores + self._lift
        curved = objective.hessian(columns, last, point, width)
        hessian = curved[:-1, :-1] / narrowing
        here = slope[which] + (1.0 / narrowing - 1.0) * curved[:-1, -1]
        n = which.size
        mean = float(np.trace(hessian)) / n
        diagonal = np.diag_indices(n)
        hessian[diagonal] += penalty.curvature + self._damping * mean
        # columns without curvature keep the L1 term only
        least = objective.min_damping * mean or 1.0
        hessian[diagonal] = np.maximum(hessian[diagonal], least)
        linear = here - hessian @ weights
        try:
            minimizer = minimize_l1_quadratic(
                *(hessian, linear, weights, l1, tol),
                norm=penalty.radius,
                is_nonnegative=penalty.is_nonnegative,
            )
        except LinAlgError:
            minimizer = weights
        direction = self._scaled_to_radius(minimizer, weights) - weights
        growth = np.abs(weights + direction).sum() - np.abs(weights).sum()
        scores = np.asarray(columns @ direction)
        return _Step(which, direction, scores, penalty.l1 * float(growth))

    def line_search(self, point: Point, step: _Step, width: float) -> Point:
        """Step to where the objective has nearly stopped falling."""
        if not step.direction.any():
            return point
        objective, which = self._objective, step.which
        curvature = self._penalty.curvature
        parameters = point.parameters.copy()

        def slope_at(length: float) -> float:
            support = objective.support(point_at(length), width)
            weights = point.parameters[which] + length * step.direction
            slope = objective.C * inner(support.subgradient, step.scores)
            return slope + step.growth + curvature * float(weights @ step.direction)

        def point_at(length: float) -> Point:
            return Point(parameters, point.scores + length * step.scores)

        start = slope_at(0.0)
        length = 0.0
        if start < 0.0:
            search = LineSearch(start, longest=1.0, accuracy=_ACCURACY_OF_STEPS)
            while search.is_open:
                length = search.length
                search.report(slope_at(length))
        self._learn(length)
        parameters[which] += length * step.direction
        return point_at(length)

    def _l1_penalty(self, point: Point, slope: FloatArray) -> float:
        """Return the penalty of a unit of weight, in a set the norm's multiplier."""
        if self._penalty.radius is None:
            return self._penalty.l1
        largest = float(np.abs(slope).max(initial=0.0))
        norm = float(np.abs(point.parameters).sum())
        if norm == 0.0:
            return _FIRST_PENALTY * largest
        multiplier = -float(slope @ point.parameters) / norm
        if self._penalty.is_nonnegative:
            return multiplier
        return max(multiplier, _MIN_PENALTY * largest)

    def _working_columns(
        self, weights: FloatArray, slope: FloatArray, l1: float
    ) -> IntArray:
        """Return the columns with weight, and others that are worth the penalty."""
        used = np.flatnonzero(weights)
        gain = -slope if self._penalty.is_nonnegative else np.abs(slope)
        is_new = (gain > l1) & (weights == 0.0) & self._objective.is_useful(slope)
        steep = np.flatnonzero(is_new)
        most = max(self._objective.min_entering, used.size)
        if steep.size > most:
            steep = steep[np.argpartition(-gain[steep], most - 1)[:most]]
        return np.union1d(used, steep)

    def _scaled_to_radius(self, weights: FloatArray, last: FloatArray) -> FloatArray:
        """Scale weights to the surface of a set, unless they are far inside a ball."""
        radius, norm = self._penalty.radius, float(np.abs(weights).sum())
        if radius is None:
            return weights
        if self._penalty.is_nonnegative:
            return weights * (radius / norm) if norm > 0.0 else last
        return weights * (radius / norm) if norm > _FAR_INSIDE * radius else weights

    def scaled_to_surface(self, point: Point, value: float) -> tuple[Point, float]:
        """Return the point on the surface of the ball, if that is lower."""
        radius = self._penalty.radius
        norm = float(np.abs(point.parameters).sum())
        if radius is None or value >= 0.0 or not 0.0 < norm < radius:
            return point, value
        # the risk is positively homogeneous
        factor = radius / norm
        return Point(*(factor * part for part in point)), factor * value

    def _learn(self, length: float) -> None:
        """Damp the next step less after a long one, and more after a short one."""
        if length > 0.9:
            factor = 0.5
        elif length > 0.3:
            factor = 1.0
        else:
            factor = 2.0 if length > 0.05 else 5.0
        damping = self._damping * factor
        self._damping = min(max(damping, self._objective.min_damping), _MAX_DAMPING)
