"""Descent on a smooth risk from several starts at once: one pass for all of them."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import QuadraticRegularizer
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.risk_objective import LinearObjective, directional_derivative
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule, require

_MEMORY = 10  # pairs of steps and changes of slope that a quasi-Newton step knows
_MAX_TRIALS = 12  # points on one line
_SUFFICIENT_DECREASE = 1e-4  # share of the predicted decrease that a step must bring
_STEEPEST_END = 0.9  # share of the slope at the start that may be left at its end
_FIRST_STEP = 0.1  # length of the first step, relative to the start
_MAX_SCALINGS = 6  # of a start by a factor of 4, for the best scale


def corrected_solve(
    vector: FloatArray,
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    solve: Callable[[FloatArray], FloatArray],
) -> FloatArray:
    """Apply an inverse Hessian, corrected by steps and changes of gradient (L-BFGS)."""
    factors = []
    for step, change in reversed(pairs):
        factors.append((step @ vector) / (step @ change))
        vector = vector - factors[-1] * change
    vector = solve(vector)
    for (step, change), factor in zip(pairs, reversed(factors), strict=True):
        vector = vector + step * (factor - (change @ vector) / (step @ change))
    return vector


class Descent:
    """One start and its steps, each of which lowers the value by `gain`."""

    # L-BFGS with a quadratic regularizer, which gradient includes; any other one ends a
    # gradient step with its proximal map
    def __init__(
        self, objective: LinearObjective, regularizer: Any, start: Point
    ) -> None:
        self._prox: Callable[[FloatArray, float], FloatArray] | None = None
        if not hasattr(regularizer, "curvature"):
            require(regularizer, "prox", "a descent", "Try L2.")
            self._prox = regularizer.prox
        self._objective = objective
        self._regularizer = regularizer
        self.point, self.value, self.subgradient = start, *self._evaluate(start)
        self.gradient = np.zeros_like(start.parameters)
        self.gain = np.inf
        self._curvature_pairs: deque[tuple[FloatArray, FloatArray]] = deque(
            maxlen=_MEMORY
        )
        self._last = start.parameters

    def scale(self) -> None:
        """Move along the ray to the best scale, within a factor of 2: no pass."""
        start = self.point
        slope = directional_derivative(
            start, start, self.subgradient, self._objective, self._regularizer
        )
        factor = 4.0 if slope < 0.0 else 0.25
        n_steps = 0
        while n_steps < _MAX_SCALINGS and self._try_scale(factor):
            n_steps += 1
        # the best scale is within a factor of 4, on one side where none was passed
        if not self._try_scale(factor**0.5) and n_steps:
            self._try_scale(factor**-0.5)

    def _try_scale(self, factor: float) -> bool:
        """Multiply the parameters if the result is allowed and lower."""
        point = Point(*(factor * part for part in self.point))
        # the prox with a step of 0 leaves all points alone but those off a ball
        if self._prox is not None and not np.array_equal(
            self._prox(point.parameters, 0.0), point.parameters
        ):
            return False
        value, subgradient = self._evaluate(point)
        if value < self.value:
            self.point, self.value, self.subgradient = point, value, subgradient
            return True
        return False

    def learn(self, risk_gradient: FloatArray) -> None:
        """Take in the gradient of the risk over parameters at the point."""
        gradient = self._objective.C * risk_gradient
        if self._prox is None:
            gradient += self._regularizer.gradient(self.point.parameters)
        step = self.point.parameters - self._last
        change = gradient - self.gradient
        if np.isfinite(self.gain) and step @ change > 0.0:
            self._curvature_pairs.append((step, change))
        self.gradient = gradient

    def direction(self) -> FloatArray:
        """Return where to go: to a model's minimum, from here."""
        if self._prox is None:
            return self._quasi_newton()
        size, current = self._step_size(), self.point.parameters
        return self._prox(current - size * self.gradient, size) - current

    def step(self, direction: Point) -> None:
        """Search the line for a point that is low enough: no pass."""
        start, value = self.point, self.value
        predicted = self._predicted_change(direction)
        self._last = start.parameters
        if not predicted < 0.0:
            self.gain = 0.0
            return
        shortest, longest, length = 0.0, np.inf, 1.0
        for _ in range(_MAX_TRIALS):
            point = start.moved(direction, length)
            reached, subgradient = self._evaluate(point)
            if reached < self.value:
                self.point, self.value, self.subgradient = point, reached, subgradient
            if reached > value + _SUFFICIENT_DECREASE * length * predicted:
                longest = length
            elif (
                self._prox is None
                and _STEEPEST_END * predicted
                > directional_derivative(
                    direction, point, subgradient, self._objective, self._regularizer
                )
            ):
                shortest = length
            else:
                break
            is_bracketed = longest < np.inf
            length = 0.5 * (shortest + longest) if is_bracketed else 2.0 * length
        self.gain = value - self.value

    def _evaluate(self, point: Point) -> tuple[float, FloatArray]:
        risk, subgradient = self._objective.risk.value_and_gradient(point.scores)
        penalty = self._regularizer.value(point.parameters)
        return penalty + self._objective.C * risk, subgradient

    def _quasi_newton(self) -> FloatArray:
        """Return minus an estimate of the inverse Hessian times the gradient."""
        size = self._step_size()
        return -corrected_solve(
            self.gradient, self._curvature_pairs, lambda vector: size * vector
        )

    def _step_size(self) -> float:
        """Return how far to follow the gradient, by the curvature seen last."""
        if self._curvature_pairs:
            step, change = self._curvature_pairs[-1]
            return float(step @ change) / float(change @ change)
        size = float(np.linalg.norm(self.gradient)) or 1.0
        length = _FIRST_STEP * float(np.linalg.norm(self.point.parameters))
        return (length or 1.0) / size

    def _predicted_change(self, direction: Point) -> float:
        """Return the change of a linear risk along a direction, penalty included."""
        change = float(self.gradient @ direction.parameters)
        if self._prox is None:
            return change
        current, penalty = self.point.parameters, self._regularizer.value
        moved = current + direction.parameters
        return change + float(penalty(moved) - penalty(current))


def descend(
    objective: LinearObjective, descents: Sequence[Descent], min_gain: float = 0.0
) -> list[Descent]:
    """Take one step with each descent: one pass; return those that are not done."""
    directions = np.array([descent.direction() for descent in descents])
    scores = objective.scores_of(directions)
    for descent, *direction in zip(descents, directions, scores, strict=True):
        descent.step(Point(*direction))
    pull_back(objective, descents)
    return [one for one in descents if one.gain > min_gain * abs(one.value)]


def pull_back(objective: LinearObjective, descents: Sequence[Descent]) -> None:
    """Give each descent the risk's gradient over parameters, for half a pass."""
    subgradients = np.array([descent.subgradient for descent in descents])
    gradients = objective.gradients_of(subgradients)
    for descent, gradient in zip(descents, gradients, strict=True):
        descent.learn(gradient)


@dataclass(frozen=True)
class DescentSolver:
    r"""Minimise a smooth convex risk plus L2 by L-BFGS (Liu, Nocedal, 1989).

    With the curvature :math:`\kappa` of the regularizer, the objective is nowhere more
    than :math:`\|g\|^2 / (2 \kappa)` below its value where its gradient is g: that,
    plus the error of the risk, is the certified gap. One pass per iteration.
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: LinearObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        objective.require_certifiable("L-BFGS", bounded=False)
        if not objective.risk.is_smooth:
            raise IncompatibleError(
                "L-BFGS needs a smooth risk, such as that of loss='logistic'. Try "
                "solver='auto'."
            )
        require(
            regularizer,
            "curvature",
            "the certificate of a descent",
            "Try solver='bundle'.",
        )
        if start is None:
            start = Start(objective.at(np.zeros(objective.n_parameters)))
        monitor = self.stopping.monitor(start.history)
        descent = Descent(objective, regularizer, start.point)
        pull_back(objective, [descent])
        while True:
            square = float(descent.gradient @ descent.gradient)
            gap = square / (2.0 * regularizer.curvature)
            gap += objective.risk.relative_error * abs(descent.value)
            bound = descent.value - gap
            is_done = monitor.should_stop(objective.n_passes, descent.value, bound)
            if is_done or descent.gain == 0.0:  # no step leads further down
                break
            descend(objective, [descent])
        no_cuts = Cuts(objective.n_parameters)
        return monitor.solution(descent.point, descent.value, gap, no_cuts)
