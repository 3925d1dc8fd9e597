r"""Which mixture of cuts bounds the objective best.

Any shares :math:`\lambda` of the cuts, a point of the simplex, give a line below the
risk, and the regularizer turns a line into a lower bound. Over the shares that bound is
concave but has kinks, such as those of a dual norm. So what is maximised is smooth,

.. math:: \min_w \; \Omega(w) + C \sum_k \lambda_k (o_k + \langle a_k, w \rangle)
          + \frac{1}{2 \tau} \|w - c\|^2 ,

near a center c. The minimiser is the proximal operator at
:math:`c - \tau C \sum_k \lambda_k a_k`, and :math:`C (o_k + \langle a_k, w \rangle)`
are the slopes. A few Newton steps, each a quadratic program over the simplex, raise it.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import ProximalRegularizer
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.inner.simplex_qp import minimize_on_simplex
from aucmax.solvers.line_search import LineSearch

__all__ = ["CutCertificate", "Mixture", "NearModel", "step_to_zero"]

_MOST_STEPS = 12  # Newton steps per bound
_SMALLEST_RISE = 0.05  # share of the gap; less is not worth a Newton step
_LARGEST_HIDDEN_SHARE = 0.5  # of the gap; a proximal term that hides more is too strong
_SMALLEST_HIDDEN_SHARE = 0.1  # of the gap; a proximal term that hides less is too weak
_TAU_GROWTH = 3.0  # factor where the proximal term is made weaker
_TAU_DECAY = 1.3  # divisor where it is made stronger
_FIRST_TAU_PER_WEIGHT = 10.0  # times the largest weight
_SMALLEST_SLOPE = 1e-16  # share of the value; less is rounding
_RIDGE = 1e-14  # share of the mean curvature, added where cuts are alike
_MOST_TRIES = 6  # steps tried per Newton step, and as many after a failure
_LARGEST_FINAL_SLOPE = 0.3  # share of the slope at the start of a Newton step
_SHORTENING = 0.1  # factor per try after a failure
_LARGEST_FACTOR = 1e100  # products of two larger numbers overflow
_SMALLEST_SCALE = 1e-8  # of a curvature by a measured one


class Mixture(NamedTuple):
    """Shares of the cuts, and all that follows from them.

    `highest` is what the minimum would be with the highest cut in place of the mixture:
    no less, and equal for the best mixture.
    """

    shares: FloatArray  # nonnegative and of sum 1
    slope: FloatArray  # of the mixed cuts, times C
    parameters: FloatArray  # the minimiser near the center
    heights: FloatArray  # of the cuts there, times C
    value: float  # the minimum
    highest: float


@dataclass
class NearModel:
    """The regularizer, the cuts and a proximal term: a function of the cuts' shares."""

    regularizer: ProximalRegularizer
    cuts: Cuts
    C: float
    center: FloatArray  # where the proximal term is 0
    tau: float  # how far from the center the minimiser may be
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
        constant = self.C * float(self.cuts.offsets @ mixture.shares)
        return self.regularizer.lower_bound(constant, mixture.slope)

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
        if slope >= -_SMALLEST_SLOPE * abs(mixture.value) or not falling.any():
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
            accuracy=_LARGEST_FINAL_SLOPE,
            max_evaluations=_MOST_TRIES,
        )
        while search.is_open:
            shortest = min(shortest, search.length)
            trial = moved(search.length)
            best = trial if trial.value > best.value else best
            search.report(-float(trial.heights @ direction))
        for _ in range(_MOST_TRIES):
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
        """Estimate the curvature over the shares.

        Weights that are 0 stay so in a neighbourhood. The others move at most as fast
        as the point that the proximal operator is applied to: how much slower, the last
        step has shown.
        """
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
    if 0.0 < square < _LARGEST_FACTOR and 0.0 < measured < _LARGEST_FACTOR:
        scale = min(max(measured / square, _SMALLEST_SCALE), 1.0)
        curvature *= scale
        curvature -= np.outer(expected, expected) * (scale / square)
        curvature += np.outer(fall, fall) / measured


class CutCertificate:
    r"""The lower bound of the mixture of cuts that bounds best; cuts keep its shares.

    The center is the best point, and :math:`\tau` grows until the proximal term hides
    little of the gap. The objective is nowhere below `bound`; the last mixture has its
    minimum near the center at `parameters`.
    """

    def __init__(self, regularizer: ProximalRegularizer, cuts: Cuts, C: float) -> None:
        self._regularizer = regularizer
        self._cuts = cuts
        self._C = C
        self._tau = 0.0
        self.bound = 0.0
        self.parameters: FloatArray

    def improve(self, center: FloatArray, value: float) -> float:
        """Return the best bound so far, the latest cut considered.

        The best point is the `center`, with the objective `value`.
        """
        if self._tau == 0.0:
            # a start that is not the origin may be near the optimum
            far = _FIRST_TAU_PER_WEIGHT * float(np.abs(center).max())
            self._tau = max(step_to_zero(self._cuts, self._C, value), far)
        model = NearModel(self._regularizer, self._cuts, self._C, center, self._tau)
        mixture = model.at(self._cuts.multipliers)
        known = model.bound(mixture)
        enough = _SMALLEST_RISE * (value - max(known, self.bound))
        for _ in range(_MOST_STEPS):
            is_solved = mixture.highest - mixture.value <= enough
            higher = None if is_solved else model.higher(mixture)
            if higher is None:
                break
            mixture = higher
        found = model.bound(mixture)
        self._steer(is_solved, hidden=mixture.value - found, room=value - found)
        self.parameters = mixture.parameters
        if found >= known:
            self._cuts.share_out(mixture.shares)
        self.bound = max(self.bound, found, known)
        return self.bound

    def _steer(self, is_solved: bool, hidden: float, room: float) -> None:
        """Let tau grow until the proximal term hides little of the gap."""
        if hidden > _LARGEST_HIDDEN_SHARE * room:
            self._tau *= _TAU_GROWTH
        elif not is_solved:
            self._tau /= _TAU_GROWTH
        elif hidden < _SMALLEST_HIDDEN_SHARE * room:
            self._tau /= _TAU_DECAY


def step_to_zero(cuts: Cuts, C: float, value: float) -> float:
    """Return the tau with which the latest cut promises to remove all of a value."""
    slope = C * cuts.gradients[-1]
    square = float(slope @ slope)
    return value / square if square > 0.0 and value > 0.0 else 1.0
