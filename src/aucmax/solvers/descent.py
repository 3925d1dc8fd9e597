r"""Descent on a smooth risk, convex or not, from several starts abreast.

An iteration costs one pass for all starts together: their directions are multiplied
with the data at once, lines are searched in score space, where a point costs a sort and
no pass, and the slopes found there are pulled back at once.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import QuadraticRegularizer
from aucmax.risks.contract import Support
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.solver import (
    Objective,
    Point,
    Solution,
    Start,
    StoppingRule,
    require,
    slope_along,
)

_MEMORY = 10  # pairs of steps and changes of slope that a quasi-Newton step knows
_MAX_TRIALS = 12  # points on one line
_SUFFICIENT_DECREASE = 1e-4  # share of the promised decrease that a step must bring
_STEEPEST_END = 0.9  # share of the slope at the start that may be left at its end
_MIN_TURN = 1e-12  # relative: below it, a change of slope is rounding
_FIRST_STEP = 0.1  # length of the first step, relative to the start
_MAX_SCALINGS = 6  # of a start by a factor of 4, for the best scale


class BatchObjective(Objective, Protocol):
    """An objective that multiplies its data with several vectors in one pass."""

    @property
    def is_smooth(self) -> bool:
        """Whether the risk has a gradient everywhere."""

    @property
    def relative_error(self) -> float:
        """By how much the risk may be off, as a share of it."""

    def scores_of(self, parameters: FloatArray) -> FloatArray:
        """Score each row of parameters: the forward half of a pass."""

    def slopes_of(self, subgradients: FloatArray) -> FloatArray:
        """Pull each row of slopes over scores back: the backward half."""


class Descent:
    """One start on its way down.

    A quadratic regularizer is part of what quasi-Newton steps (L-BFGS) minimise; any
    other one ends a gradient step with its proximal map. The value falls with every
    step, so that the last point is the best. `gradient` is that of C times the risk and
    of a quadratic regularizer; `gain` is by how much the last step lowered the value.
    """

    def __init__(
        self, objective: BatchObjective, regularizer: Any, start: Point
    ) -> None:
        self._prox: Callable[[FloatArray, float], FloatArray] | None = None
        if not hasattr(regularizer, "curvature"):
            require(regularizer, "prox", "a descent", "Try L2.")
            self._prox = regularizer.prox
        self._objective = objective
        self._regularizer = regularizer
        self.point, self.value, self.support = start, *self._evaluate(start)
        self.gradient = np.zeros_like(start.parameters)
        self.gain = np.inf
        self._turns: deque[tuple[FloatArray, FloatArray]] = deque(maxlen=_MEMORY)
        self._last = start.parameters

    def scale(self) -> None:
        """Move along the ray to the best scale, within a factor of 2: no pass."""
        start = self.point
        slope = slope_along(
            start, start, self.support, self._objective, self._regularizer
        )
        factor = 4.0 if slope < 0.0 else 0.25
        n_steps = 0
        while n_steps < _MAX_SCALINGS and self._has_scaled(factor):
            n_steps += 1
        # the best scale is within a factor of 4, on one side where none was passed
        if not self._has_scaled(factor**0.5) and n_steps:
            self._has_scaled(factor**-0.5)

    def _has_scaled(self, factor: float) -> bool:
        """Multiply the parameters if that leads down."""
        parameters, scores = self.point
        return self._has_moved_to(Point(factor * parameters, factor * scores))

    def _has_moved_to(self, point: Point) -> bool:
        """Move to a point if it is allowed and lower."""
        # the prox with a step of 0 leaves all points alone but those off a ball
        if self._prox is not None and not np.array_equal(
            self._prox(point.parameters, 0.0), point.parameters
        ):
            return False
        value, support = self._evaluate(point)
        if value < self.value:
            self.point, self.value, self.support = point, value, support
            return True
        return False

    def learn(self, slope: FloatArray) -> None:
        """Take in the slope of the risk at the point, pulled back."""
        gradient = self._objective.C * slope
        if self._prox is None:
            gradient += self._regularizer.gradient(self.point.parameters)
        step = self.point.parameters - self._last
        turn = gradient - self.gradient
        size = float(np.linalg.norm(step) * np.linalg.norm(turn))
        if np.isfinite(self.gain) and step @ turn > _MIN_TURN * size:
            self._turns.append((step, turn))
        self.gradient = gradient

    def direction(self) -> FloatArray:
        """Return where to go: to a model's minimum, from here."""
        if self._prox is None:
            return self._quasi_newton()
        size, here = self._step_size(), self.point.parameters
        return self._prox(here - size * self.gradient, size) - here

    def step(self, direction: Point) -> None:
        """Search the line for a point that is low enough: no pass."""
        start, value = self.point, self.value
        promised = self._promised(direction)
        self._last = start.parameters
        if not promised < 0.0:
            self.gain = 0.0
            return
        shortest, longest, length = 0.0, np.inf, 1.0
        for _ in range(_MAX_TRIALS):
            point = start.moved(direction, length)
            reached, support = self._evaluate(point)
            if reached < self.value:
                self.point, self.value, self.support = point, reached, support
            if reached > value + _SUFFICIENT_DECREASE * length * promised:
                longest = length
            elif self._prox is None and _STEEPEST_END * promised > slope_along(
                direction, point, support, self._objective, self._regularizer
            ):
                shortest = length
            else:
                break
            is_bracketed = longest < np.inf
            length = 0.5 * (shortest + longest) if is_bracketed else 2.0 * length
        self.gain = value - self.value

    def _evaluate(self, point: Point) -> tuple[float, Support]:
        support = self._objective.support(point)
        price = self._regularizer.value(point.parameters)
        return price + self._objective.C * support.value, support

    def _quasi_newton(self) -> FloatArray:
        """Return minus an estimate of the inverse Hessian times the gradient."""
        goal, shares = self.gradient.copy(), []
        for step, turn in reversed(self._turns):
            share = (step @ goal) / (step @ turn)
            shares.append(share)
            goal -= share * turn
        goal *= self._step_size()
        for (step, turn), share in zip(self._turns, reversed(shares), strict=True):
            goal += (share - (turn @ goal) / (step @ turn)) * step
        return -goal

    def _step_size(self) -> float:
        """Return how far to follow the gradient, by the curvature seen last."""
        if self._turns:
            step, turn = self._turns[-1]
            return float(step @ turn) / float(turn @ turn)
        size = float(np.linalg.norm(self.gradient)) or 1.0
        length = _FIRST_STEP * float(np.linalg.norm(self.point.parameters))
        return (length or 1.0) / size

    def _promised(self, direction: Point) -> float:
        """Return the change of a linear risk along a direction, price included."""
        change = float(self.gradient @ direction.parameters)
        if self._prox is None:
            return change
        here, price = self.point.parameters, self._regularizer.value
        return change + float(price(here + direction.parameters) - price(here))


def descend(objective: BatchObjective, descents: Sequence[Descent]) -> None:
    """Take one step with each descent, for one pass over the data."""
    directions = np.array([descent.direction() for descent in descents])
    scores = objective.scores_of(directions)
    for descent, *direction in zip(descents, directions, scores, strict=True):
        descent.step(Point(*direction))
    pull_back(objective, descents)


def pull_back(objective: BatchObjective, descents: Sequence[Descent]) -> None:
    """Let each descent know the slope where it is, for half a pass."""
    slopes = np.array([descent.support.subgradient for descent in descents])
    for descent, slope in zip(descents, objective.slopes_of(slopes), strict=True):
        descent.learn(slope)


@dataclass(frozen=True)
class DescentSolver:
    r"""Minimise a smooth convex risk and a quadratic regularizer by L-BFGS.

    An objective with the curvature :math:`\kappa` of its regularizer is nowhere more
    than :math:`\|g\|^2 / (2 \kappa)` below its value where its gradient is g: that,
    and what the risk may be off, is the certified gap. One pass per iteration; the line
    search needs sorts only. Needs a `curvature` of the regularizer.

    References
    ----------
    .. [1] D. C. Liu, J. Nocedal. On the limited memory BFGS method for large scale
       optimization. Mathematical Programming 45 (1989).
    """

    stopping: StoppingRule

    def minimize(
        self,
        objective: BatchObjective,
        regularizer: QuadraticRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """See :meth:`Solver.minimize`."""
        if not objective.is_smooth:
            raise IncompatibleError(
                "a descent needs a risk with a gradient everywhere, such as that of "
                "loss='logistic'. Try solver='auto'."
            )
        require(
            regularizer,
            "curvature",
            "the certificate of a descent",
            "Try solver='bundle'.",
        )
        if start is None:
            start = Start(objective.at(np.zeros(objective.n_parameters)))
        watch = self.stopping.watch(start.history)
        descent = Descent(objective, regularizer, start.point)
        pull_back(objective, [descent])
        while True:
            square = float(descent.gradient @ descent.gradient)
            gap = square / (2.0 * regularizer.curvature)
            gap += objective.relative_error * abs(descent.value)
            is_done = watch.should_stop(objective, descent.value, descent.value - gap)
            if is_done or descent.gain == 0.0:  # no step leads further down
                break
            descend(objective, [descent])
        no_cuts = Cuts(objective.n_parameters)
        return watch.solution(descent.point, descent.value, gap, no_cuts)
