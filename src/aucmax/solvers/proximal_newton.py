"""Proximal Newton steps on a smoothed risk, over all columns or the few that matter."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import FloatArray, IntArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import (
    ProximalRegularizer,
    QuadraticRegularizer,
    SparseRegularizer,
)
from aucmax.risks.contract import Support
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.descent import corrected_solve
from aucmax.solvers.l1_quadratic import minimize_l1_quadratic
from aucmax.solvers.risk_objective import (
    MAX_WIDTH,
    MIN_NARROWING,
    MIN_TOL_OF_SMOOTHING,
    WIDTH_AT_A_START,
    LinearObjective,
    RiskObjective,
    begin,
    lost_by_smoothing,
    narrowing,
    search_line,
    value_at,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, require
from aucmax.solvers.sparsity import drop_negligible_weights

_MAX_ROWS = {"sparse": 20_000, "dense": 5_000}  # of columns at work, kept in memory
# In units of a bound, by which it may be too high: of a narrow window the ends are
# rounded, and so are the shares of the pairs inside.
_ROUNDING = 1e-9
_MIN_LENGTH = 1e-6  # of a step; a shorter one finds the objective rising
_MAX_STEPS = 20  # of one width, or of one sample of twice the rows of the last

# Of a sampled Hessian. Measured on 20,000 x 30 rows at C from 1 to 10^4 and on ranges:
_OUTDATED_WIDTH = 0.15  # share of the width of a sample; .05 takes a fifth more passes
_MIN_SAMPLED_WIDTH = 0.25  # a narrower window may hold no pairs
_MIN_SAMPLED_ROWS = 700  # per class; with many columns, five rows per column

# Of a working set. Measured on 300 to 4,000 rows and on margins:
_FIRST_WIDTH_PER_RANGE = 0.3  # of the scores that the steepest column alone gives
_FIRST_DAMPING = 1e-3  # share of the mean curvature; .01 is as good
_DAMPING_WHEN_NARROWED = 100.0  # times the least; else the next step is short
_MODEL_ERROR_PER_GAP = 0.1  # of gradients, per L1 penalty and relative gap
_MIN_PENALTY = 1e-3  # share of the largest gradient, for weights of a given norm
_FAR_INSIDE = 0.5  # share of the radius; weights of such a norm need no penalty


def suits_column_steps(objective: RiskObjective, tol: float) -> bool:
    """Return whether steps over few columns are meant for an objective."""
    if objective.forms_columns:  # cutting planes over all of them would be too long
        return True
    if as_row_matrix(objective.X).on_workers:  # the rows are too many
        return False
    max_rows = _MAX_ROWS["sparse" if sparse.issparse(objective.X) else "dense"]
    return bool(objective.n_rows <= max_rows and tol >= MIN_TOL_OF_SMOOTHING)


@dataclass(frozen=True)
class ProximalNewtonSolver:
    """Minimise a risk plus L2, L1 or elastic net, or over an L1 ball or simplex.

    Each iteration minimises a quadratic model of the smoothed risk plus the
    regularizer (Lee, Sun, Saunders, SIAM Journal on Optimization 24, 2014) and searches
    the line to that minimiser in score space: one pass. The width of the smoothing
    falls with the gap; gradients are those of planes below the unsmoothed risk, which
    certify the gap. For L2 the model is :class:`SampledHessian`, for the others
    :class:`WorkingSet`. Sets are for margin risks (positively homogeneous), whose
    optimum in a ball lies on its surface unless it is 0.
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: Any,
        regularizer: Any,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; the risk can be smoothed."""
        _check_abilities(objective, regularizer)
        C = objective.C
        model: SampledHessian | WorkingSet
        threads: AbstractContextManager[None]
        if isinstance(regularizer, QuadraticRegularizer):
            model, threads = SampledHessian(objective, regularizer), nullcontext()
        else:
            model, threads = WorkingSet(objective, regularizer), one_blas_thread()
        point, monitor, cuts = begin(
            self.stopping, objective, regularizer, start, model.max_cuts
        )
        bound = objective.least_value
        if len(cuts) > 0:
            bound = max(bound, _mixture_bound(cuts, objective, regularizer))
        is_warm = point.parameters.any()
        best_value = value_at(point, objective, regularizer) if is_warm else inf
        best = point
        # a narrow window around 0 holds no pairs, so that L2 alone has any curvature
        is_near = is_warm or (len(cuts) > 0 and isinstance(model, SampledHessian))
        width = model.first_width(point) * (WIDTH_AT_A_START if is_near else 1.0)
        n_steps = 0
        plane = objective.support(point, width)
        with threads:
            while True:
                value = regularizer.value(point.parameters) + C * plane.value
                scaled, value = _scaled_to_surface(point, value, model.radius)
                if value < best_value:
                    best, best_value = scaled, value
                gradient = objective.pull_back(plane)
                latest = _add_cut(cuts, gradient, plane, objective, regularizer, bound)
                bound = max(bound, latest)
                is_over = monitor.should_stop(objective.n_passes, best_value, bound)
                if is_over or np.count_nonzero(point.parameters) > model.max_columns:
                    break
                scale = max(abs(best_value), self.stopping.floor)
                gap = (best_value - bound) / scale if scale else 1.0
                lost = C * lost_by_smoothing(plane, point)
                latest_gap = max(value - latest, self.stopping.tol * scale)
                factor = 1.0
                if lost > model.max_smoothing_loss * latest_gap:
                    factor = narrowing(lost, model.smoothing_loss * latest_gap)
                elif n_steps >= _MAX_STEPS:
                    factor = MIN_NARROWING
                direction = model.step(point, C * gradient, width, factor, gap)
                width *= factor
                n_steps = n_steps + 1 if factor == 1.0 else 0
                if not direction.parameters.any():  # nothing to gain at this width
                    n_steps = _MAX_STEPS
                slope = model.slope(direction)
                candidate, plane, length = search_line(
                    *(point, direction, objective, regularizer, width),
                    *(model.longest, slope),
                )
                # a step of no length would put all its columns in use
                point, plane = (
                    (candidate, plane)
                    if length > _MIN_LENGTH
                    else (point, objective.support(point, width))
                )
                model.learn(length)
        if isinstance(model, WorkingSet):
            # columns are exact up to constants, and sums of steps lose digits
            best = objective.at(best.parameters)
        best_value = value_at(best, objective, regularizer)
        gap = max(best_value - bound, 0.0)
        solution = monitor.solution(best, best_value, gap, cuts)
        return drop_negligible_weights(solution, objective, regularizer, self.stopping)


def _check_abilities(objective: RiskObjective, regularizer: object) -> None:
    others = "solver='auto', 'bundle' and 'subgradient' take any."
    if not isinstance(regularizer, QuadraticRegularizer):
        require(
            regularizer,
            "weight_penalty",
            "Newton's method",
            "In AUCSVC it takes L2, L1 and elastic net, without a radius; " + others,
        )
    radius = getattr(regularizer, "radius", None)
    objective.require_certifiable("Newton steps", bounded=radius is None)
    if radius is not None and np.isfinite(objective.risk.least_value):
        raise IncompatibleError(
            f"Newton steps support {type(regularizer).__name__} with margin risks "
            f"only; {others}"
        )
    if not objective.risk.can_be_smoothed:
        raise IncompatibleError(
            "Newton steps need a risk that can be smoothed, by methods smoothed and "
            "curvature. In AUCSVC that is bound='tight' with fpr_range=(0, b) and "
            f"tpr_range=(c, 1); {others}"
        )


def _mixture_bound(
    cuts: Cuts, objective: RiskObjective, regularizer: ProximalRegularizer
) -> float:
    """Return the lower bound that the cuts' dual variables certify."""
    constant = objective.C * float(cuts.offsets @ cuts.multipliers)
    gradient = objective.C * cuts.mixed(cuts.multipliers)
    bound = objective.lower_bound(regularizer, constant, gradient)
    return bound - _ROUNDING * abs(bound)


def _add_cut(
    cuts: Cuts,
    gradient: FloatArray,
    plane: Support,
    objective: RiskObjective,
    regularizer: Any,
    bound: float,
) -> float:
    """Add a cut; return its bound; the dual variables certify the best one."""
    last = cuts.multipliers
    cuts.add(gradient, plane)
    if isinstance(regularizer, QuadraticRegularizer):
        return cuts.minimize(regularizer, objective.C)[1]
    kept = cuts.multipliers
    cuts.set_multipliers(np.eye(len(cuts))[-1])
    latest = _mixture_bound(cuts, objective, regularizer)
    if latest <= bound and last.size > 0:
        cuts.set_multipliers(kept)
    return latest


def _scaled_to_surface(
    point: Point, value: float, radius: float | None
) -> tuple[Point, float]:
    """Return the point on the surface of a ball, if that is lower."""
    if radius is None or value >= 0.0:
        return point, value
    norm = float(np.abs(point.parameters).sum())
    factor = radius / norm if norm > 0.0 else 1.0
    # the risk is positively homogeneous
    return (Point(*(factor * part for part in point)) if factor > 1.0 else point), (
        max(factor, 1.0) * value
    )


class SampledHessian:
    """The inverse Hessian of a sample of the rows, corrected by recent steps (BFGS)."""

    # O(n_parameters^2) per step
    max_columns = inf
    max_cuts = 20  # measured: 2 take a seventh more passes
    # shares of the gap at which the width is narrowed, and then; .1 takes 1.4x passes
    max_smoothing_loss = smoothing_loss = 0.01
    longest = inf
    radius: float | None = None

    def __init__(
        self, objective: LinearObjective, regularizer: QuadraticRegularizer
    ) -> None:
        self._objective = objective
        self._curvature = regularizer.curvature
        self._rows_per_class = max(_MIN_SAMPLED_ROWS, 5 * objective.n_parameters)
        self._sampled_width = inf
        self._age = 0
        self._factor: Any
        self._pairs: list[tuple[FloatArray, FloatArray]] = []
        self._last: tuple[FloatArray, FloatArray]

    def first_width(self, point: Point) -> float:
        """Return how wide kinks are rounded off at first."""
        return MAX_WIDTH

    def step(
        self,
        point: Point,
        gradient: FloatArray,
        width: float,
        narrowing: float,
        gap: float,
    ) -> Point:
        """Return the quasi-Newton step from a point."""
        gradient = gradient + self._curvature * point.parameters
        is_old = self._age >= _MAX_STEPS
        if is_old:
            self._rows_per_class *= 2
        if is_old or width < _OUTDATED_WIDTH * self._sampled_width:
            wide = max(width, _MIN_SAMPLED_WIDTH)
            hessian = self._objective.curvature(point, wide, self._rows_per_class)
            self._factorize(self._objective.C * hessian)
            self._sampled_width, self._age, self._pairs = width, 0, []
        else:
            moved, change = point.parameters - self._last[0], gradient - self._last[1]
            if moved @ change > 0.0:
                self._pairs.append((moved, change))
        self._last = point.parameters, gradient
        direction = -corrected_solve(gradient, self._pairs, self._solve)
        if not gradient @ direction < 0.0:
            self._pairs, direction = [], -self._solve(gradient)
        return self._objective.at(direction)

    def slope(self, direction: Point) -> float:
        """Return how fast the objective falls where the step begins."""
        return float(self._last[1] @ direction.parameters)

    def learn(self, length: float) -> None:
        """Count the steps with this sample."""
        self._age += 1

    def _solve(self, vector: FloatArray) -> FloatArray:
        return np.asarray(cho_solve(self._factor, vector))

    def _factorize(self, hessian: FloatArray) -> None:
        identity = np.eye(self._objective.n_parameters)
        try:
            self._factor = cho_factor(hessian + self._curvature * identity)
        except LinAlgError:
            self._factor = cho_factor(self._curvature * identity)


class WorkingSet:
    """A quadratic model over the columns with weight, and those that deserve one.

    These are the columns whose gradients are larger than the L1 penalty; in a set, the
    norm's multiplier takes its place. When the width falls, pairs on the smoothed part
    would all leave it at once; the model keeps them there, as if the risk continued as
    a parabola. Memory is O(k^2 + n_rows k) for k dense columns at work.
    """

    max_columns = 3000  # with weight; the solver gives up if there are more
    max_cuts = 2  # the one of the best bound, and the latest
    max_smoothing_loss, smoothing_loss = 0.3, 0.03  # of .05, .02: more passes
    longest = 1.0

    def __init__(
        self, objective: RiskObjective, regularizer: SparseRegularizer
    ) -> None:
        self._objective = objective
        self._penalty = regularizer.weight_penalty()
        self.radius = self._penalty.radius
        self._damping = _FIRST_DAMPING
        self._is_short = False  # the last step
        # where the hinge of a pair has its kink
        margin = objective.risk.line_margin or 0.0
        self._offsets = margin * (~objective.risk.labels).astype(np.float64)

    def first_width(self, point: Point) -> float:
        """Return how wide kinks are rounded off at first."""
        objective = self._objective
        if self.radius is None:
            return MAX_WIDTH
        gradient = objective.pull_back(objective.support(point))
        steepest = np.zeros(gradient.size)
        steepest[np.argmax(np.abs(gradient))] = self.radius
        range_of_scores = float(np.ptp(objective.at(steepest).scores))
        return _FIRST_WIDTH_PER_RANGE * range_of_scores or MAX_WIDTH

    def step(
        self,
        point: Point,
        gradient: FloatArray,
        width: float,
        narrowing: float,
        gap: float,
    ) -> Point:
        """Minimise the model; the width is about to fall by a factor."""
        objective, penalty = self._objective, self._penalty
        direction = np.zeros_like(point.parameters)
        l1 = self._l1_penalty(point, gradient)
        tol = _MODEL_ERROR_PER_GAP * gap
        tol *= max(abs(l1), _MIN_PENALTY * float(np.abs(gradient).max()))
        gradient = gradient + penalty.curvature * point.parameters
        which = self._working_columns(point.parameters, gradient, l1)
        if which.size == 0:
            return Point(direction, np.zeros_like(point.scores))
        weights = point.parameters[which]
        columns = objective.columns(which)
        last = point.scores + self._offsets
        curved = objective.hessian(columns, last, point, width) / narrowing
        hessian = curved[:-1, :-1]
        linear = gradient[which] + (1.0 - narrowing) * curved[:-1, -1]
        diagonal = np.diag_indices(which.size)
        mean = float(np.maximum(hessian[diagonal], 0.0).mean())  # rounding: below 0
        hessian[diagonal] += penalty.curvature + self._damping * mean
        # columns without curvature keep the L1 term only
        least = objective.min_damping * mean
        if mean == 0.0:  # of a linear risk: the set limits steps, or its value, about C
            largest = float(np.abs(gradient).max())
            is_set = self.radius is not None
            least = largest * (
                objective.min_damping if is_set else largest / objective.C
            )
        hessian[diagonal] = np.maximum(hessian[diagonal], least)
        linear -= hessian @ weights
        # in a ball, a positive risk falls towards 0: the surface does not matter
        rises = float(gradient @ point.parameters) > 0.0
        is_free = rises and not penalty.is_nonnegative
        try:
            minimizer = minimize_l1_quadratic(
                *(hessian, linear, weights, l1, tol),
                norm=None if is_free else self.radius,
                is_nonnegative=penalty.is_nonnegative,
            )
        except LinAlgError:
            minimizer = weights
        if self.radius is not None:
            minimizer = self._scaled_to_radius(minimizer, weights, is_free)
        direction[which] = minimizer - weights
        if narrowing < 1.0:  # the model is less true of the narrower window
            least = _DAMPING_WHEN_NARROWED * objective.min_damping
            self._damping = max(self._damping, least)
        return Point(direction, np.asarray(columns @ direction[which]))

    def slope(self, direction: Point) -> None:
        """Return None: the objective has kinks where weights are 0."""

    def learn(self, length: float) -> None:
        """Damp the next step less after a long one, and more after a short one."""
        self._is_short = length <= 0.05
        damping = self._damping * (
            0.5 if length > 0.5 else 5.0 if self._is_short else 2.0
        )
        self._damping = max(damping, self._objective.min_damping)

    def _l1_penalty(self, point: Point, gradient: FloatArray) -> float:
        """Return the penalty of a unit of weight, in a set the norm's multiplier."""
        if self.radius is None:
            return self._penalty.l1
        largest = float(np.abs(gradient).max(initial=0.0))
        norm = float(np.abs(point.parameters).sum())
        if norm == 0.0:
            return 0.5 * largest
        multiplier = -float(gradient @ point.parameters) / norm
        if self._penalty.is_nonnegative:
            return multiplier
        return max(multiplier, _MIN_PENALTY * largest)

    def _working_columns(
        self, weights: FloatArray, gradient: FloatArray, l1: float
    ) -> IntArray:
        """Return the columns with weight, and others that are worth the penalty."""
        used = np.flatnonzero(weights)
        gain = -gradient if self._penalty.is_nonnegative else np.abs(gradient)
        is_new = (gain > l1) & (weights == 0.0) & self._objective.is_useful(gradient)
        steep = np.flatnonzero(is_new)
        most = self._objective.min_entering
        if not self._is_short:  # else the model fails, and more columns cost time only
            most = max(most, used.size)
        if steep.size > most:
            steep = steep[np.argpartition(-gain[steep], most - 1)[:most]]
        return np.union1d(used, steep)

    def _scaled_to_radius(
        self, weights: FloatArray, last: FloatArray, is_free: bool
    ) -> FloatArray:
        """Scale weights to the surface of a set, unless they may stay in a ball."""
        norm, radius = float(np.abs(weights).sum()), self._penalty.radius or 0.0
        if self._penalty.is_nonnegative:
            return weights * (radius / norm) if norm > 0.0 else last
        longest = radius if is_free else _FAR_INSIDE * radius
        return weights if norm <= longest else weights * (radius / norm)
