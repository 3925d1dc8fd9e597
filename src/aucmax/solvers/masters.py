r"""The mixture of cuts that bounds the objective best, and the next point of a bundle.

Any shares :math:`\lambda` of the cuts, a point of the simplex, give a line below the
risk, and the regularizer turns a line into a lower bound. Over the shares that bound is
concave but has kinks, such as those of a dual norm. So a smooth function is maximised,

.. math:: \min_w \; \Omega(w) + C \sum_k \lambda_k (o_k + \langle a_k, w \rangle)
          + \frac{1}{2 \tau} \|w - c\|^2 ,

near a center c. The minimiser is the proximal operator at
:math:`c - \tau C \sum_k \lambda_k a_k`, and :math:`C (o_k + \langle a_k, w \rangle)`
are the slopes. A few Newton steps, each a quadratic program over the simplex, raise it.

A quadratic regularizer (L2) needs no center: it is minimised with the highest cut.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import ProximalRegularizer, QuadraticRegularizer
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.inner.simplex_qp import minimize_on_simplex
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.solver import require

_MAX_STEPS_PER_BOUND = 12  # Newton steps
_MIN_RISE = 0.05  # share of the gap; less is not worth a Newton step
_MAX_HIDDEN_SHARE = 0.5  # of the gap; a proximal term that hides more is too strong
_MIN_HIDDEN_SHARE = 0.1  # of the gap; a proximal term that hides less is too weak
_TAU_GROWTH = 3.0  # factor where the proximal term is made weaker
_TAU_DECAY = 1.3  # divisor where it is made stronger
_FIRST_TAU_PER_WEIGHT = 10.0  # times the largest weight
_MIN_SLOPE = 1e-16  # share of the value; less is rounding
_RIDGE = 1e-14  # share of the mean curvature, added where cuts are alike
_MAX_TRIES = 6  # steps tried per Newton step, and as many after a failure
_MAX_FINAL_SLOPE = 0.3  # share of the slope at the start of a Newton step
_SHORTENING = 0.1  # factor per try after a failure
_MAX_FACTOR = 1e100  # products of two larger numbers overflow
_MIN_SCALE = 1e-8  # of a curvature by a measured one
_MIN_PROMISE = 0.5  # share of the gap; if a proposal promises less, tau grows
_MAX_PROMISE = 0.75  # share of the gap; if it promises more, tau shrinks
_TAU_FACTOR = 1.5  # by which tau grows or shrinks
_MAX_STEPS_PER_PROPOSAL = 40  # Newton steps
_MIN_DUAL_GAP = 0.1  # share of the promised decrease; less does not matter
_MIN_RELATIVE_DUAL_GAP = 1e-12  # share of the value; less is rounding
_MAX_HIDDEN_DECREASE = 0.5  # share of the decrease; if more is hidden, the bound lags


class Mixture(NamedTuple):
    """Shares of the cuts, and all that follows from them."""

    shares: FloatArray  # nonnegative and of sum 1
    slope: FloatArray  # of the mixed cuts, times C
    parameters: FloatArray  # the minimiser near the center
    heights: FloatArray  # of the cuts there, times C
    value: float  # the minimum
    highest: float  # the same with the highest cut for the mixture: never less


@dataclass
class NearModel:
    """The regularizer, the cuts and a proximal term: a function of the cuts' shares."""

    regularizer: ProximalRegularizer
    cuts: Cuts
    C: float
    center: FloatArray  # where the proximal term is 0
    tau: float  # how far from the center the minimiser may be
    floor: float = 0.0  # of C times the risk
    _measured: tuple[FloatArray, FloatArray] | None = field(default=None, init=False)

    def at(self, shares: FloatArray, slope: FloatArray | None = None) -> Mixture:
        """Mix the cuts; their mixed slope, times C, need not be computed again."""
        if slope is None:
            slope = self.C * self.cuts.mixed(shares)
        with np.errstate(over="ignore", invalid="ignore"):  # too far away: not taken
            parameters = self.regularizer.prox(self.center - self.tau * slope, self.tau)
            moved = parameters - self.center
            price = self.regularizer.value(parameters)
            price += float(moved @ moved) / (2.0 * self.tau)
            heights = self.C * self.cuts.heights(parameters)
            value = price + float(shares @ heights)
            highest = price + float(heights.max())
        return Mixture(shares, slope, parameters, heights, value, highest)

    def bound(self, mixture: Mixture) -> float:
        """Return the lower bound of the objective that a mixture gives."""
        constant = self.C * float(self.cuts.offsets @ mixture.shares) - self.floor
        return self.floor + self.regularizer.lower_bound(constant, mixture.slope)

    def higher(self, mixture: Mixture) -> Mixture | None:
        """Return a higher mixture, or None where only rounding is left to gain."""
        curvature = self._curvature(mixture)
        shares = mixture.shares
        goal = minimize_on_simplex(
            curvature, mixture.heights + curvature @ shares, shares
        )
        direction = goal - shares
        slope = -float(mixture.heights @ direction)
        falling = direction < 0.0
        if slope >= -_MIN_SLOPE * abs(mixture.value) or not falling.any():
            return None
        longest = float((shares[falling] / -direction[falling]).min())
        turn = self.C * self.cuts.mixed(direction)

        def moved(length: float) -> Mixture:
            there = np.maximum(shares + length * direction, 0.0)
            total = there.sum()
            return self.at(there / total, (mixture.slope + length * turn) / total)

        best, shortest = mixture, longest
        search = LineSearch(
            slope,
            longest=longest,
            accuracy=_MAX_FINAL_SLOPE,
            max_evaluations=_MAX_TRIES,
        )
        while search.is_open:
            shortest = min(shortest, search.length)
            trial = moved(search.length)
            best = trial if trial.value > best.value else best
            search.report(-float(trial.heights @ direction))
        for _ in range(_MAX_TRIES):
            # a slope that has changed its sign says little where there are kinks
            if best is not mixture:
                break
            shortest *= _SHORTENING
            trial = moved(shortest)
            best = trial if trial.value > best.value else best
        if best is mixture:
            return None
        self._measured = best.shares - shares, mixture.heights - best.heights
        return best

    def _curvature(self, mixture: Mixture) -> FloatArray:
        """Estimate the curvature over the shares."""
        # Weights of 0 stay 0 in a neighbourhood. The others move at most as fast as the
        # point that the proximal operator is applied to; the last step measured it.
        used = np.flatnonzero(mixture.parameters)
        curvature: FloatArray = (self.tau * self.C**2) * self.cuts.gram_over(used)
        if self._measured is not None:
            _correct(curvature, *self._measured)
        diagonal = np.diag_indices_from(curvature)
        curvature[diagonal] += _RIDGE * float(np.trace(curvature)) / len(self.cuts)
        return curvature


def _correct(curvature: FloatArray, move: FloatArray, fall: FloatArray) -> None:
    """Scale a curvature and make it exact along a move, where slopes fell so (BFGS)."""
    expected = curvature @ move
    square = float(move @ expected)
    measured = float(move @ fall)
    if 0.0 < square < _MAX_FACTOR and 0.0 < measured < _MAX_FACTOR:
        scale = min(max(measured / square, _MIN_SCALE), 1.0)
        curvature *= scale
        curvature -= np.outer(expected, expected) * (scale / square)
        curvature += np.outer(fall, fall) / measured


class CutCertificate:
    """The lower bound of the mixture of cuts that bounds best; cuts keep its shares."""

    # tau grows until the proximal term hides little of the gap; the last mixture has
    # its minimum near the center, the best point, at parameters
    def __init__(
        self,
        regularizer: ProximalRegularizer,
        cuts: Cuts,
        C: float,
        floor: float = 0.0,  # of C times the risk
    ) -> None:
        self._regularizer = regularizer
        self._cuts = cuts
        self._C = C
        self._tau = 0.0
        self.bound = self._floor = floor
        self.parameters: FloatArray

    def improve(self, center: FloatArray, value: float) -> float:
        """Return the best bound so far, given the best point and the value there."""
        if self._tau == 0.0:
            # a start that is not the origin may be near the optimum
            far = _FIRST_TAU_PER_WEIGHT * float(np.abs(center).max())
            step = step_to_zero(self._cuts, self._C, value - self._floor)
            self._tau = max(step, far)
        model = NearModel(
            self._regularizer, self._cuts, self._C, center, self._tau, self._floor
        )
        mixture = model.at(self._cuts.multipliers)
        known = model.bound(mixture)
        enough = _MIN_RISE * (value - max(known, self.bound))
        for _ in range(_MAX_STEPS_PER_BOUND):
            is_solved = mixture.highest - mixture.value <= enough
            higher = None if is_solved else model.higher(mixture)
            if higher is None:
                break
            mixture = higher
        found = model.bound(mixture)
        self._steer(is_solved, hidden=mixture.value - found, gap=value - found)
        self.parameters = mixture.parameters
        if found >= known:
            self._cuts.share_out(mixture.shares)
        self.bound = max(self.bound, found, known)
        return self.bound

    def _steer(self, is_solved: bool, hidden: float, gap: float) -> None:
        """Let tau grow until the proximal term hides little of the gap."""
        if hidden > _MAX_HIDDEN_SHARE * gap:
            self._tau *= _TAU_GROWTH
        elif not is_solved:
            self._tau /= _TAU_GROWTH
        elif hidden < _MIN_HIDDEN_SHARE * gap:
            self._tau /= _TAU_DECAY


def step_to_zero(cuts: Cuts, C: float, value: float) -> float:
    """Return the tau with which the latest cut promises to remove all of a value."""
    slope = C * cuts.gradients[-1]
    square = float(slope @ slope)
    return value / square if square > 0.0 and value > 0.0 else 1.0


class Proposal(NamedTuple):
    """The proposal of a model of the objective, made of cuts and the regularizer."""

    parameters: FloatArray  # where the model is low
    lower_bound: float  # the true objective is nowhere below it
    promise: float  # the objective there, according to the model


def master_for(
    regularizer: Any, cuts: Cuts, C: float, floor: float = 0.0
) -> "_ExactMaster | _ProximalMaster":
    """Choose the master problem that a regularizer allows."""
    if isinstance(regularizer, QuadraticRegularizer):
        return _ExactMaster(regularizer, cuts, C)
    for ability in ("prox", "lower_bound"):
        require(regularizer, ability, "a cutting-plane method", "Try L2.")
    return _ProximalMaster(regularizer, cuts, C, floor)


class _ExactMaster(NamedTuple):
    """The model alone."""

    regularizer: QuadraticRegularizer
    cuts: Cuts
    C: float

    def propose(self, center: FloatArray, value: float) -> Proposal:
        solution = self.cuts.minimize(self.regularizer, self.C)
        bound = solution.lower_bound
        return Proposal(solution.parameters, bound, bound)


class _ProximalMaster:
    """The model near the center, for a proposal; less near, for a bound."""

    # tau is steered so that a proposal promises about half of the gap; where its shares
    # bound the optimum badly, a certificate finds others
    def __init__(
        self, regularizer: ProximalRegularizer, cuts: Cuts, C: float, floor: float
    ) -> None:
        self._regularizer = regularizer
        self._cuts = cuts
        self._C = C
        self._tau = 0.0
        self._certificate = CutCertificate(regularizer, cuts, C, floor)
        self._bound = self._floor = floor
        self._is_lagging = True

    def propose(self, center: FloatArray, value: float) -> Proposal:
        if self._tau == 0.0:
            self._tau = step_to_zero(self._cuts, self._C, value - self._floor)
        if self._is_lagging:
            bound = self._certificate.improve(center, value)
            self._bound = max(self._bound, bound)
        model = NearModel(
            self._regularizer, self._cuts, self._C, center, self._tau, self._floor
        )
        near = self._solved(model)
        bound = model.bound(near)
        self._bound = max(self._bound, bound)
        hidden, decrease = near.value - bound, value - near.value
        self._is_lagging = hidden > _MAX_HIDDEN_DECREASE * decrease
        self._steer((value - near.highest) / ((value - self._bound) or 1.0))
        return Proposal(near.parameters, self._bound, near.highest)

    def _solved(self, model: NearModel) -> Mixture:
        """Raise the shares' value until it is close to what the point costs."""
        cuts = self._cuts
        mixture = model.at(cuts.multipliers)
        at_center = self._regularizer.value(model.center)
        at_center += self._C * float(cuts.heights(model.center).max())
        for _ in range(_MAX_STEPS_PER_PROPOSAL):
            enough = _MIN_DUAL_GAP * (at_center - mixture.highest)
            enough = max(enough, _MIN_RELATIVE_DUAL_GAP * abs(at_center))
            if mixture.highest - mixture.value <= enough:
                break
            higher = model.higher(mixture)
            if higher is None:
                break
            mixture = higher
        cuts.share_out(mixture.shares)
        return mixture

    def _steer(self, promised: float) -> None:
        """Let tau follow the share of the gap that a proposal promises to close."""
        if promised < _MIN_PROMISE:
            self._tau *= _TAU_FACTOR
        elif promised > _MAX_PROMISE:
            self._tau /= _TAU_FACTOR
