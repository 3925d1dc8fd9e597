"""A quasi-Newton method on the smoothed risk, certified by cuts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import QuadraticRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.risk_objective import (
    MAX_WIDTH,
    LinearObjective,
    begin,
    height,
    lost_by_smoothing,
    narrowed,
    slope_along,
)
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, require

_WIDTH_AT_A_START = 0.5  # first width at a good start, which a wider one would leave
_MUCH_NARROWER = 0.95  # share of the last width
_MAX_SMOOTHING_LOSS = 0.01  # share of the gap; measured: less needs fewer passes
_MAX_STEPS_PER_SAMPLE = 10  # of the rows, before a larger one is drawn
_OUTDATED_WIDTH = 0.15  # share of the width at which a sample was drawn
_MAX_GAP_WITHOUT_SAMPLE = 10.0  # times the tolerance
_MIN_SAMPLED_WIDTH = 0.25  # a narrower window may hold no pairs
_MAX_WIDTH_RATIO = 4.0  # of two gradients that are compared


@dataclass(frozen=True)
class SmoothedNewtonSolver:
    """Minimise a risk plus L2 by Newton steps on the smoothed risk.

    The width of the smoothing falls with the gap. The Hessian is that of a sample of
    the rows, corrected by limited-memory BFGS; gradients are slopes of lines below the
    unsmoothed risk, which certify the gap. One pass per iteration, O(n_parameters^2).
    """

    stopping: StoppingRule
    memory: int = 10  # past steps that correct the curvature
    max_cuts: int = 20  # cuts that certify the gap

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`; for L2 and a risk that can be smoothed."""
        _check_abilities(objective, regularizer)
        C = objective.C
        width = MAX_WIDTH if start is None else _WIDTH_AT_A_START
        point, watch, cuts = begin(
            self.stopping, objective, regularizer, start, self.max_cuts
        )
        metric = _Metric(objective, regularizer.curvature, self.memory)
        support = objective.support(point, width)
        best, best_value = point, np.inf

        def smoothed_value(point: Point, support: Support) -> float:
            return regularizer.value(point.parameters) + C * height(support, point)

        while True:
            value = regularizer.value(point.parameters) + C * support.value
            if value < best_value:
                best, best_value = point, value
            pulled = objective.pull_back(support)
            cuts.add(pulled, support)
            lower_bound = cuts.minimize(regularizer, C).lower_bound
            lower_bound = max(lower_bound, C * objective.risk.least_value)
            if watch.should_stop(objective.n_passes, best_value, lower_bound):
                break
            gradient = regularizer.gradient(point.parameters) + C * pulled
            gap = (best_value - lower_bound) / best_value
            wide = width
            width = self._narrowed(wide, point, support, C / best_value, gap)
            if width < _MUCH_NARROWER * wide and not best.parameters.any():
                # where no weights are better than 0, the risk is a cone around it, and
                # what minimises it smoothed shrinks with the width: no pass
                smaller = Point(*(width / wide * part for part in point))
                there = objective.support(smaller, width)
                here = objective.support(point, width)
                if smoothed_value(smaller, there) < smoothed_value(point, here):
                    point, support = smaller, there
                    metric.forget()
                    continue
            worth_a_sample = gap > _MAX_GAP_WITHOUT_SAMPLE * self.stopping.tol
            step = metric.step(point, gradient, wide, worth_a_sample)
            origin, direction = point, objective.at(step)
            search = LineSearch(float(gradient @ step), accuracy=0.9, max_evaluations=6)
            while search.is_open:
                point = origin.moved(direction, search.length)
                support = objective.support(point, width)
                search.report(
                    slope_along(direction, point, support, objective, regularizer)
                )
        # on the way a bound on the risk was enough
        exact = regularizer.value(best.parameters) + C * objective.risk_value(best)
        return watch.solution(best, exact, max(exact - lower_bound, 0.0), cuts)

    def _narrowed(
        self, width: float, point: Point, support: Support, scale: float, gap: float
    ) -> float:
        """Shrink the width until smoothing is a small part of the gap that remains."""
        lost = scale * lost_by_smoothing(support, point)
        allowed = _MAX_SMOOTHING_LOSS * max(self.stopping.tol, min(gap, 1.0))
        return narrowed(width, lost, allowed)


def _check_abilities(objective: LinearObjective, regularizer: object) -> None:
    others = "solver='auto', 'bundle' and 'subgradient' take any."
    needed = "In AUCSVC that is penalty='l2' without a radius;"
    require(regularizer, "curvature", "Newton steps", f"{needed} {others}")
    objective.require_certifiable("Newton steps")
    if not objective.risk.can_be_smoothed:
        raise IncompatibleError(
            "Newton steps need a risk that can be smoothed, by methods smoothed and "
            "curvature. In AUCSVC that is bound='tight' with fpr_range=(0, b) and "
            f"tpr_range=(c, 1); {others}"
        )


class _Metric:
    """The inverse Hessian as known so far: a factored sample, and recent steps."""

    def __init__(
        self, objective: LinearObjective, curvature: float, memory: int
    ) -> None:
        self._objective = objective
        self._curvature = curvature
        self._memory = memory
        self._rows_per_class = max(700, 5 * objective.n_parameters)
        self._sampled_width = np.inf
        self._age = 0
        self._solve: Callable[[FloatArray], FloatArray]
        self.forget()

    def forget(self) -> None:
        """Drop what past steps have shown."""
        self._pairs: list[tuple[FloatArray, FloatArray]] = []
        self._last: tuple[FloatArray, FloatArray, float] | None = None

    def step(
        self, point: Point, gradient: FloatArray, width: float, worth_a_sample: bool
    ) -> FloatArray:
        """Return the quasi-Newton step from here."""
        self._age += 1
        outdated = worth_a_sample and width < _OUTDATED_WIDTH * self._sampled_width
        if self._age > _MAX_STEPS_PER_SAMPLE:
            self._rows_per_class *= 2
            self._sample(point, width)
        elif outdated or self._sampled_width == np.inf:
            self._sample(point, width)
        elif self._last is not None and self._last[2] <= _MAX_WIDTH_RATIO * width:
            moved = point.parameters - self._last[0]
            turned = gradient - self._last[1]
            if moved @ turned > 0.0:
                self._pairs = [*self._pairs[1 - self._memory :], (moved, turned)]
        self._last = point.parameters, gradient, width
        direction = -self._corrected_solve(gradient)
        if gradient @ direction < 0.0:
            return direction
        self.forget()
        return -self._solve(gradient)

    def _sample(self, point: Point, width: float) -> None:
        n = self._objective.n_parameters
        hessian = self._objective.curvature(
            point, max(width, _MIN_SAMPLED_WIDTH), self._rows_per_class
        )
        hessian *= self._objective.C
        hessian[np.diag_indices(n)] += self._curvature
        try:
            factor = cho_factor(hessian, overwrite_a=True)
        except LinAlgError:
            factor = cho_factor(self._curvature * np.eye(n))
        self._solve = lambda vector: cho_solve(factor, vector)
        self._sampled_width = width
        self._age = 0
        self.forget()

    def _corrected_solve(self, vector: FloatArray) -> FloatArray:
        """Apply the inverse Hessian by the two loops of limited-memory BFGS."""
        shares = []
        for moved, turned in reversed(self._pairs):
            share = (moved @ vector) / (moved @ turned)
            vector = vector - share * turned
            shares.append(share)
        vector = self._solve(vector)
        for (moved, turned), share in zip(self._pairs, reversed(shares), strict=True):
            vector = vector + moved * (share - (turned @ vector) / (moved @ turned))
        return vector
