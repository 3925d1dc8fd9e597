r"""Models of the objective made of cutting planes, and the next point of a bundle.

Any dual variables :math:`\lambda` of the planes, a point of the simplex, give a plane
below the risk, and the regularizer turns a plane into a lower bound. Over the dual
variables that bound is concave but has kinks, such as those of a dual norm. So a smooth
function is maximised,

.. math:: \min_w \; \Omega(w) + C \sum_k \lambda_k (o_k + \langle a_k, w \rangle)
          + \frac{1}{2 \tau} \|w - c\|^2 ,

near a center c. The minimiser is the proximal operator at
:math:`c - \tau C \sum_k \lambda_k a_k`, and :math:`C (o_k + \langle a_k, w \rangle)`
are the derivatives. A few Newton steps, each a quadratic program over the simplex,
raise it.

A quadratic regularizer (L2) needs no center: it is minimised with the highest plane.
"""

from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import ProximalRegularizer, QuadraticRegularizer
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.risk_objective import RiskObjective
from aucmax.solvers.simplex_qp import minimize_on_simplex
from aucmax.solvers.solver import require

_MAX_STEPS = 40  # Newton steps per candidate
_DUAL_ACCURACY = 0.1  # share of the predicted decrease; less does not matter
_DECREASE = 0.75  # share of the gap to predict, by tau; .5 takes as many passes
_MAX_HIDDEN = 20.0  # by the proximal term, in predicted decreases
_TAU_FACTOR = 1.5  # by which tau grows or shrinks; 2 misses gaps of 5e-7
_LARGE_TAU_FACTOR = 3.0  # where tau is far off
_RIDGE = 1e-14  # share of the mean curvature, added where planes are alike


class ModelMinimum(NamedTuple):
    """Where a model of the objective is low."""

    parameters: FloatArray
    lower_bound: float  # the objective is nowhere below it
    predicted: float  # the objective there, according to the model


class ExactModel:
    """The highest plane plus a quadratic regularizer."""

    def __init__(
        self, objective: RiskObjective, regularizer: QuadraticRegularizer, cuts: Cuts
    ) -> None:
        self._objective, self._regularizer, self._cuts = objective, regularizer, cuts

    def minimize(self, center: FloatArray, value: float) -> ModelMinimum:
        """Minimise the model."""
        lowest, value = self._cuts.minimize(self._regularizer, self._objective.C)
        return ModelMinimum(lowest, value, value)


class _Mixture(NamedTuple):
    """Dual variables of the planes, and all that follows from them."""

    multipliers: FloatArray  # nonnegative and of sum 1
    gradient: FloatArray  # of the mixed planes, times C
    parameters: FloatArray  # the minimiser near the center
    heights: FloatArray  # of the planes there, times C
    value: float  # the minimum
    highest: float  # the same with the highest plane for the mixture: never less


class ProximalModel:
    """The highest plane plus a regularizer and a proximal term around a center."""

    def __init__(
        self, objective: RiskObjective, regularizer: ProximalRegularizer, cuts: Cuts
    ) -> None:
        self._objective, self._regularizer, self._cuts = objective, regularizer, cuts
        self._C = objective.C
        self._tau = 0.0  # how far from the center the minimiser may be
        self._bound = objective.least_value
        self._center: FloatArray
        self._measured: tuple[FloatArray, FloatArray] | None = None

    def minimize(self, center: FloatArray, value: float) -> ModelMinimum:
        """Minimise the model near the best point, whose value is given."""
        self._center, self._measured = center, None
        if self._tau == 0.0:
            self._tau = self._first_tau(value)
        mixture = self._mixture(self._cuts.multipliers)
        last_bound = self._lower_bound(mixture)
        at_center = self._regularizer.value(center)
        at_center += self._C * float(self._cuts.values_at(center).max())
        for _ in range(_MAX_STEPS):
            accuracy = _DUAL_ACCURACY * (at_center - mixture.highest)
            if mixture.highest - mixture.value <= accuracy:
                break
            higher = self._raised(mixture)
            if higher is None:
                break
            mixture = higher
        bound = self._lower_bound(mixture)
        if bound >= last_bound:  # the multipliers that are kept certify the best bound
            self._cuts.set_multipliers(mixture.multipliers)
        self._bound = max(self._bound, last_bound, bound)
        self._steer(value, mixture, bound)
        return ModelMinimum(mixture.parameters, self._bound, mixture.highest)

    def _steer(self, value: float, mixture: _Mixture, bound: float) -> None:
        """Let tau follow the share of the gap that a candidate predicts to close."""
        gap, decrease = value - self._bound, value - mixture.highest
        if decrease <= 0.0:  # the dual variables are far from their optimum
            self._tau /= _LARGE_TAU_FACTOR
        elif mixture.value - bound > _MAX_HIDDEN * decrease:
            self._tau *= _LARGE_TAU_FACTOR
        else:
            self._tau *= _TAU_FACTOR if decrease < _DECREASE * gap else 1 / _TAU_FACTOR

    def _first_tau(self, value: float) -> float:
        """Return the tau with which the latest plane removes all of a value."""
        gradient = self._C * self._cuts.gradients[-1]
        square = float(gradient @ gradient)
        if np.isfinite(self._objective.least_value):
            value -= self._objective.least_value
        return value / square if square > 0.0 and value > 0.0 else 1.0

    def _mixture(
        self, multipliers: FloatArray, gradient: FloatArray | None = None
    ) -> _Mixture:
        """Mix the planes; their mixed gradient, times C, need not be computed again."""
        if gradient is None:
            gradient = self._C * self._cuts.mixed(multipliers)
        with np.errstate(over="ignore", invalid="ignore"):  # too far away: not taken
            target = self._center - self._tau * gradient
            parameters = self._regularizer.prox(target, self._tau)
            moved = parameters - self._center
            penalty = self._regularizer.value(parameters)
            penalty += float(moved @ moved) / (2.0 * self._tau)
            heights = self._C * self._cuts.values_at(parameters)
            value = penalty + float(multipliers @ heights)
            highest = penalty + float(heights.max())
        return _Mixture(multipliers, gradient, parameters, heights, value, highest)

    def _lower_bound(self, mixture: _Mixture) -> float:
        """Return the lower bound of the objective that a mixture gives."""
        constant = self._C * float(self._cuts.offsets @ mixture.multipliers)
        return self._objective.lower_bound(
            self._regularizer, constant, mixture.gradient
        )

    def _raised(self, mixture: _Mixture) -> _Mixture | None:
        """Return a higher mixture, or None where only rounding is left to gain."""
        curvature = self._curvature(mixture)
        start = mixture.multipliers
        goal = minimize_on_simplex(
            curvature, mixture.heights + curvature @ start, start
        )
        direction = goal - start
        slope = -float(mixture.heights @ direction)
        falling = direction < 0.0
        if slope >= 0.0 or not falling.any():
            return None
        longest = float((start[falling] / -direction[falling]).min())
        turn = self._C * self._cuts.mixed(direction)

        def mixture_at(length: float) -> _Mixture:
            multipliers = np.maximum(start + length * direction, 0.0)
            total = multipliers.sum()
            gradient = (mixture.gradient + length * turn) / total
            return self._mixture(multipliers / total, gradient)

        best = mixture
        search = LineSearch(slope, longest=longest)
        while search.is_open:
            trial = mixture_at(search.length)
            best = trial if trial.value > best.value else best
            search.report(-float(trial.heights @ direction))
        if best is mixture:
            return None
        self._measured = best.multipliers - start, mixture.heights - best.heights
        return best

    def _curvature(self, mixture: _Mixture) -> FloatArray:
        """Estimate the curvature over the dual variables."""
        # Weights of 0 stay 0 in a neighbourhood. The others move at most as fast as the
        # point that the proximal operator is applied to; the last step measured it.
        gradients = self._cuts.gradients[:, np.flatnonzero(mixture.parameters)]
        curvature: FloatArray = (self._tau * self._C**2) * (gradients @ gradients.T)
        if self._measured is not None:
            _correct(curvature, *self._measured)
        diagonal = np.diag_indices_from(curvature)
        curvature[diagonal] += _RIDGE * float(np.trace(curvature)) / len(self._cuts)
        return curvature


def _correct(curvature: FloatArray, move: FloatArray, fall: FloatArray) -> None:
    """Scale a curvature and make it exact along a move (BFGS)."""
    expected = curvature @ move
    square, measured = float(move @ expected), float(move @ fall)
    if square > 0.0 and measured > 0.0:
        scale = min(measured / square, 1.0)
        curvature *= scale
        curvature -= np.outer(expected, expected) * (scale / square)
        curvature += np.outer(fall, fall) / measured


def bundle_model(
    objective: RiskObjective, regularizer: Any, cuts: Cuts
) -> ExactModel | ProximalModel:
    """Choose the model that a regularizer allows."""
    if isinstance(regularizer, QuadraticRegularizer):
        return ExactModel(objective, regularizer, cuts)
    for ability in ("prox", "lower_bound"):
        require(regularizer, ability, "a cutting-plane method", "Try L2.")
    return ProximalModel(objective, regularizer, cuts)
