"""Newton steps over the few columns that matter, on a smoothed risk."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError

from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import FloatArray, IntArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import PricedWeights, SparseRegularizer
from aucmax.risks._pairs.forms import beside
from aucmax.risks.contract import Support
from aucmax.solvers import risk_objective
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.inner.priced_quadratic import minimize_at_norm, minimize_at_price
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.risk_objective import MAX_WIDTH, RiskObjective
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, inner, require

_MIN_COLUMNS = 400  # of fewer, cutting planes know all at once
_MIN_ROWS_PER_COLUMN = 10  # of tall data, where a pass takes longer than cuts
_MAX_ROWS = {"sparse": 20_000, "dense": 5_000}  # of columns at work, kept in memory
_MIN_TOL = 1e-6  # a smoothed risk is not precise enough for less

_MIN_ENTERING = 300  # columns per step, or as many as are in use
_MAX_SMOOTHING_LOSS = 0.3  # share of the gap of the latest line
_NARROWING = 0.4  # factor of the width, then
_MAX_STEPS_PER_WIDTH = 20  # before it is narrowed anyway
_FIRST_WIDTH_PER_RANGE = 0.3  # of the scores that the steepest column alone gives
_WIDTH_AT_A_START = 0.05  # factor; a wider one would leave a good start
_FIRST_DAMPING = 1e-3  # shares of the mean curvature
MIN_DAMPING, _MAX_DAMPING = 1e-7, 0.1
_MAX_MISS = 0.02  # of slopes from prices, in a quadratic model
_MISS_PER_GAP = 0.1  # the same, per relative gap
_ACCURACY_OF_STEPS = 0.1  # share of the slope that may be left at the end of a step
_MIN_PRICE = 1e-3  # share of the largest slope, for weights of a given norm
# In units of a bound, by which it may be too high: of a narrow window the ends are
# rounded, and so are the shares of the pairs inside.
_ROUNDING = 1e-9
_FAR_INSIDE = 0.5  # share of the radius; weights of such a norm need no price
_FIRST_PRICE = 0.3  # share of the largest slope, before there are weights


def suits_column_steps(X: Any, tol: float) -> bool:
    """Return whether the solver is meant for data of this shape."""
    if as_row_matrix(X).on_workers:  # the rows are too many
        return False
    n_rows, n_columns = X.shape
    max_rows = _MAX_ROWS["sparse" if sparse.issparse(X) else "dense"]
    return bool(
        n_columns >= _MIN_COLUMNS
        and n_rows < _MIN_ROWS_PER_COLUMN * n_columns
        and n_rows <= max_rows
        and tol >= _MIN_TOL
    )


@dataclass(frozen=True)
class ColumnNewtonSolver:
    """Minimise a risk plus an L1 or elastic net penalty, or over an L1 ball.

    Proximal Newton steps (Lee, Sun, Saunders, SIAM Journal on Optimization 24, 2014) on
    the smoothed risk, over the columns that have weight and those whose slopes are
    worth more than their price. A line search in score space finds the step: at most
    one pass per iteration. The width of the smoothing falls with the gap. When it
    falls, pairs on the smoothed part would all leave it at once; the model keeps them
    there, as if the risk continued as a parabola. A ball is for margin risks
    (positively homogeneous), whose optimum lies on its surface unless it is 0. Memory
    is O(k^2 + n_rows k) for k dense columns at work.
    """

    stopping: StoppingRule
    keep_sources: bool = False  # of the line that certifies the gap: its slope
    max_columns: int = 3000  # in use; the solver gives up if there are more
    min_damping: float = MIN_DAMPING  # of the model, in shares of its mean curvature

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
            start = Start(objective.at(np.zeros(objective.n_parameters)))
        watch = self.stopping.watch(start.history)
        model = _Model(objective, regularizer.priced_weights(), self.min_damping)
        certificate = _Certificate(objective, regularizer)
        if start.cuts is not None:
            certificate.take_mixture(start.cuts, self.keep_sources)
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
            on_surface, its_value = model.stretched(point, value)
            if its_value < best_value:
                best, best_value = on_surface, its_value
            bound = certificate.take(support, slope)
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
            accuracy = min(_MAX_MISS, _MISS_PER_GAP * gap)
            step = model.step(point, slope, width, narrowing, accuracy)
            width *= narrowing
            point = model.searched(point, step, width)
        # sums of steps lose digits; a half pass more
        best = objective.at(best.parameters)
        best_value = risk_objective.value_at(best, objective, regularizer)
        cuts = certificate.cuts(self.keep_sources)
        gap = max(best_value - certificate.bound, 0.0)
        return watch.solution(best, best_value, gap, cuts)


def _check_abilities(objective: RiskObjective, regularizer: SparseRegularizer) -> None:
    others = "Try L1, ElasticNet or L1Ball."
    require(regularizer, "priced_weights", "a step over few columns", others)
    has_radius = regularizer.priced_weights().radius is not None
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
        self._radius = regularizer.priced_weights().radius
        self.bound = self._floor = objective.C * objective.risk.least_value
        self._best: tuple[float, FloatArray, Support] | None = None

    def take(self, support: Support, slope: FloatArray) -> float:
        """Return the bound of a line, given its slope over parameters times C."""
        constant = self._objective.C * support.offset
        if self._radius is None:
            rise = self._regularizer.lower_bound(constant - self._floor, slope)
            bound = self._floor + rise
        else:  # the risk may be negative
            bound = constant - self._radius * float(np.abs(slope).max(initial=0.0))
        bound -= _ROUNDING * abs(bound)
        if self._best is None or bound > self._best[0]:
            self._best = bound, slope, support
        self.bound = max(self.bound, bound)
        return bound

    def take_mixture(self, cuts: Cuts, needs_source: bool) -> None:
        """Add the line that the shares of cuts mix, if its source is known."""
        if len(cuts) == 0 or (needs_source and cuts.sources is None):
            return
        source = cuts.mixed_source() if cuts.sources is not None else np.empty(0)
        offset = float(cuts.offsets @ cuts.multipliers)
        slope = self._objective.C * cuts.mixed(cuts.multipliers)
        self.take(Support(offset, source, offset), slope)

    def cuts(self, keep_sources: bool) -> Cuts:
        """Return the line as a cut below the risk."""
        if self._best is None:
            raise AssertionError("at least one line was taken in")
        _, slope, support = self._best
        cuts = Cuts(slope.size, keep_sources=keep_sources)
        cuts.add(slope / self._objective.C, support)
        return cuts


class _Step(NamedTuple):
    """A direction over a few columns."""

    which: IntArray
    direction: FloatArray
    scores: FloatArray
    price: float  # what the regularizer's absolute part grows by


class _Model:
    """Quadratic models of the smoothed risk over columns."""

    def __init__(
        self, objective: RiskObjective, prices: PricedWeights, min_damping: float
    ) -> None:
        self._objective = objective
        self._min_damping = min_damping
        self._prices = prices
        self._damping = _FIRST_DAMPING
        # where the hinge of a pair has its kink
        margin = objective.risk.line_margin or 0.0
        self._lift = margin * (~objective.risk.labels).astype(np.float64)

    def first_width(self, point: Point) -> float:
        """Return how wide kinks are rounded off at first."""
        radius, objective = self._prices.radius, self._objective
        if radius is None:
            return MAX_WIDTH
        slope = objective.pull_back(objective.support(point))
        steepest = objective.columns(np.array([np.argmax(np.abs(slope))]))
        range_of_column = float(steepest.max() - steepest.min())
        return _FIRST_WIDTH_PER_RANGE * radius * range_of_column or MAX_WIDTH

    def step(
        self,
        point: Point,
        slope: FloatArray,
        width: float,
        narrowing: float,
        accuracy: float,
    ) -> _Step:
        """Minimise the model; the width is about to fall by a factor."""
        objective, prices = self._objective, self._prices
        price = self._price(point, slope)
        slope = slope + prices.curvature * point.parameters
        which = _working_columns(
            point.parameters, slope, objective.entering(slope, price)
        )
        weights = point.parameters[which]
        if which.size == 0:
            return _Step(which, weights, np.zeros_like(point.scores), 0.0)
        columns = objective.columns(which)
        form = objective.risk.curvature(point.scores, width)
        curved = objective.C * form(beside(columns, point.scores + self._lift))
        hessian = curved[:-1, :-1] / narrowing
        here = slope[which] + (1.0 / narrowing - 1.0) * curved[:-1, -1]
        n = which.size
        mean = float(np.trace(hessian)) / n
        diagonal = np.diag_indices(n)
        hessian[diagonal] += prices.curvature + self._damping * mean
        # columns that nothing bends are left to their price
        hessian[diagonal] = np.maximum(
            hessian[diagonal], self._min_damping * mean or 1.0
        )
        linear = here - hessian @ weights
        try:
            if prices.radius is None:
                found = minimize_at_price(hessian, linear, weights, price, accuracy)
            else:
                found = minimize_at_norm(
                    hessian, linear, weights, prices.radius, price, accuracy
                )
                found = _of_norm(found, prices.radius)
        except LinAlgError:
            found = weights
        direction = found - weights
        growth = float(np.abs(found).sum() - np.abs(weights).sum())
        scores = np.asarray(columns @ direction)
        return _Step(which, direction, scores, prices.price * growth)

    def searched(self, point: Point, step: _Step, width: float) -> Point:
        """Step to where the objective has nearly stopped falling."""
        if not step.direction.any():
            return point
        objective, which = self._objective, step.which
        curvature = self._prices.curvature
        there = point.parameters.copy()

        def slope_at(length: float) -> float:
            support = objective.support(point_at(length), width)
            weights = point.parameters[which] + length * step.direction
            slope = objective.C * inner(support.subgradient, step.scores)
            return slope + step.price + curvature * float(weights @ step.direction)

        def point_at(length: float) -> Point:
            return Point(there, point.scores + length * step.scores)

        start = slope_at(0.0)
        length = 0.0
        if start < 0.0:
            search = LineSearch(start, longest=1.0, accuracy=_ACCURACY_OF_STEPS)
            while search.is_open:
                length = search.length
                search.report(slope_at(length))
        self._learn(length)
        there[which] += length * step.direction
        if length == 1.0:  # exact zeros
            there[which] = np.where(
                point.parameters[which] == -step.direction, 0.0, there[which]
            )
        return point_at(length)

    def _price(self, point: Point, slope: FloatArray) -> float:
        """Return the price of a unit of weight: in a ball, that of the weights here."""
        if self._prices.radius is None:
            return self._prices.price
        largest = float(np.abs(slope).max(initial=0.0))
        norm = float(np.abs(point.parameters).sum())
        if norm == 0.0:
            return _FIRST_PRICE * largest
        fall = -float(slope @ point.parameters) / norm
        return max(fall, _MIN_PRICE * largest)

    def stretched(self, point: Point, value: float) -> tuple[Point, float]:
        """Return the point on the surface of the ball, if that is lower."""
        radius = self._prices.radius
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
        self._damping = min(max(damping, self._min_damping), _MAX_DAMPING)


def _of_norm(weights: FloatArray, radius: float) -> FloatArray:
    """Scale weights to the surface of a ball, unless they are far inside."""
    norm = float(np.abs(weights).sum())
    return weights * (radius / norm) if norm > _FAR_INSIDE * radius else weights


def _working_columns(
    weights: FloatArray, slope: FloatArray, entering: IntArray
) -> IntArray:
    """Return the columns with weight, and the steepest of those that may enter."""
    used = np.flatnonzero(weights)
    entering = entering[weights[entering] == 0.0]
    most = max(_MIN_ENTERING, used.size)
    if entering.size > most:
        order = np.argpartition(-np.abs(slope[entering]), most - 1)
        entering = entering[order[:most]]
    return np.union1d(used, entering)
