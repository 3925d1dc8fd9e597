# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
r"""Block-coordinate Frank-Wolfe for the mean of many maxima of cutting planes.

.. math:: \min_w \; \Omega(w) + \frac CM \sum_m
          \max_z \big( b_m(z) + \langle a_m(z), w \rangle \big)

Finding the highest plane of a block costs far more than a step, so each is kept. The
dual variables of the planes sum to 1 in each block, and their mixture bounds the
optimum from below.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from aucmax._core.compiled import njit
from aucmax._core.validation import FloatArray
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule

_MAX_PLANES = 50  # per block
_MAX_NUMBERS = 2**26  # in the planes of all blocks: half a gigabyte
_MAX_SWEEPS = 2000
_N_HALVINGS = 35  # of a step, to 3e-11 of the longest one
_MAX_SHARE_LEFT = 0.1  # of the gap, that steps over known planes may leave
_STEP_TO_OPTIMUM = 0.5  # from the best parameters to the optimum over known planes


class BlockObjective(Protocol):
    """C times the mean of risks, one per block, each a maximum of planes.

    A difference of convex functions subtracts one whose tangents go through the origin.
    """

    C: float
    n_blocks: int
    n_parameters: int
    n_passes: float

    def at(self, parameters: FloatArray) -> Point:
        """Return the point of these parameters."""

    def cutting_planes(self, point: Point) -> tuple[FloatArray, FloatArray]:
        """Return gradient and offset of each block's highest plane at a point."""

    def concave_gradient(self, point: Point) -> FloatArray:
        """Return the gradient of the function that is subtracted."""


@dataclass(frozen=True)
class TangentL2:
    r"""L2 less a linear function, for parameters that are partly not negative.

    .. math:: \Omega(w) = \tfrac12 \|w\|^2 - \langle c, w \rangle,
              \qquad w_j \ge 0 \text{ for } j \ge k
    """

    first_bounded: int  # k
    linear: FloatArray | float = 0.0  # c

    def value(self, parameters: FloatArray) -> float:
        """Return the penalty of these parameters."""
        return float(0.5 * (parameters @ parameters) - (self.linear * parameters).sum())

    def minimizer(self, gradient: FloatArray) -> FloatArray:
        """Return the minimizer of the penalty plus a linear function."""
        parameters = self.linear - gradient
        bounded = parameters[self.first_bounded :]
        np.maximum(bounded, 0.0, out=bounded)
        return np.asarray(parameters)


class BlockPlanes:
    """Cutting planes of each block and their dual variables, by block and plane."""

    def __init__(self, n_blocks: int, n_parameters: int) -> None:
        capacity = max(2, min(_MAX_PLANES, _MAX_NUMBERS // (n_blocks * n_parameters)))
        self.gradients = np.zeros((n_blocks, capacity, n_parameters))
        self.offsets = np.zeros((n_blocks, capacity))
        self.multipliers = np.zeros((n_blocks, capacity))
        self.n_planes = 0  # of each block

    def add(self, gradients: FloatArray, offsets: FloatArray) -> None:
        """Add a plane to each block; a full one mixes those of least multipliers."""
        blocks, shares = np.arange(len(offsets)), self.multipliers
        at: Any = self.n_planes
        if at < shares.shape[1]:
            self.n_planes += 1
            shares[:, at] = at == 0  # the first plane has the whole share
        else:
            at, into = np.argsort(shares, axis=1, kind="stable")[:, :2].T
            total = shares[blocks, at] + shares[blocks, into]
            part = shares[blocks, at] / np.where(total > 0.0, total, 1.0)
            for values in (self.gradients, self.offsets):
                difference = values[blocks, at] - values[blocks, into]
                values[blocks, into] += (part * difference.T).T
            shares[blocks, into], shares[blocks, at] = total, 0.0
        self.gradients[blocks, at], self.offsets[blocks, at] = gradients, offsets

    def mixture(self) -> tuple[FloatArray, float]:
        """Return the mean plane over blocks, mixed by the dual variables."""
        shares = self.multipliers / len(self.multipliers)
        gradient = np.einsum("mp,mpd->d", shares, self.gradients)
        return np.asarray(gradient), float(np.einsum("mp,mp->", shares, self.offsets))

    def ascend(self, regularizer: TangentL2, C: float, enough: float) -> None:
        """Step over the planes until they are within `enough` of their optimum."""
        # measured as the mean difference of the highest plane and the mixture
        planes = self.gradients, self.offsets, self.multipliers, self.n_planes
        gradient, scale = C * self.mixture()[0] - regularizer.linear, C / len(planes[0])
        _ascend(*planes, gradient, scale, regularizer.first_bounded, enough)


@njit(cache=True, nogil=True)
def _compare(gradients, offsets, shares, point):
    """Return the highest plane and the lowest in use, their distance, and the mix."""
    top, bottom, highest, lowest, mixed = 0, 0, -np.inf, np.inf, 0.0
    for p in range(offsets.size):
        value = offsets[p]
        for j in range(point.size):
            value += gradients[p, j] * point[j]
        mixed += shares[p] * value
        if value > highest:
            top, highest = p, value
        if shares[p] > 0.0 and value < lowest:
            bottom, lowest = p, value
    return top, bottom, highest - lowest, highest - mixed


@njit(cache=True, nogil=True)
def _set_point(point, gradient, turn, step, first_bounded):
    """Set the minimizer of the penalty plus a plane; return its product with a turn."""
    product = 0.0
    for j in range(point.size):
        value = -gradient[j] - step * turn[j]
        point[j] = value if j < first_bounded or value > 0.0 else 0.0
        product += point[j] * turn[j]
    return product


@njit(cache=True, nogil=True)
def _ascend(
    gradients, offsets, shares, n_planes, gradient, scale, first_bounded, enough
):
    """Move shares from the lowest plane in use to the highest, block by block."""
    # `gradient` is that of the whole objective
    n_blocks, n = shares.shape[0], gradient.size
    point, turn = np.empty(n), np.zeros(n)
    for _ in range(_MAX_SWEEPS):
        missing = 0.0
        for m in range(n_blocks):
            _set_point(point, gradient, turn, 0.0, first_bounded)
            top, bottom, rise, lacks = _compare(
                gradients[m, :n_planes], offsets[m, :n_planes], shares[m], point
            )
            missing += lacks
            if not rise > 0.0:
                continue
            turn[:] = scale * (gradients[m, top] - gradients[m, bottom])
            rise = scale * rise - _set_point(point, gradient, turn, 0.0, first_bounded)
            # search the line: the dual is concave, and grows by `rise` plus the product
            low, high = 0.0, shares[m, bottom]
            step = high
            for _ in range(_N_HALVINGS):
                if rise + _set_point(point, gradient, turn, step, first_bounded) >= 0.0:
                    low = step
                else:
                    high = step
                step = 0.5 * (low + high)
                if low == high:
                    break
            shares[m, top] += step
            shares[m, bottom] -= step
            gradient += step * turn
        if missing <= enough * n_blocks:
            break


@dataclass(frozen=True)
class BlockFrankWolfeSolver:
    """Minimise the mean of blocks of cutting planes plus `TangentL2`.

    An iteration finds the highest plane of all blocks, which gives the value, and then
    takes block-coordinate steps over all known planes: block by block, from the lowest
    plane in use to the highest (Lacoste-Julien et al., ICML 2013). The next parameters
    are halfway from the best ones to the optimum over these planes. Stops when the gap
    is within the tolerance. A start may hold the planes of an earlier solution.
    """

    stopping: StoppingRule

    def minimize(
        self, objective: BlockObjective, regularizer: TangentL2, start: Start
    ) -> Solution:
        """See :meth:`Solver.minimize`; the value is never negative."""
        C, monitor = objective.C, self.stopping.monitor(start.history)
        planes: Any = start.cuts
        if planes is None:
            planes = BlockPlanes(objective.n_blocks, objective.n_parameters)
        best = point = start.point
        value, bound = np.inf, 0.0
        while True:
            gradients, offsets = objective.cutting_planes(point)
            planes.add(gradients, offsets)
            risk = float((offsets + gradients @ point.parameters).mean())
            reached = regularizer.value(point.parameters) + C * risk
            if reached < value:
                best, value = point, reached
            least_gap = self.stopping.tol * max(value, self.stopping.floor)
            enough = _MAX_SHARE_LEFT * max(value - bound, least_gap) / C
            planes.ascend(regularizer, C, enough)
            gradient, offset = planes.mixture()
            goal = regularizer.minimizer(C * gradient)
            dual = regularizer.value(goal) + C * (offset + gradient @ goal)
            bound = max(bound, float(dual))
            if monitor.should_stop(objective.n_passes, value, bound):
                gap = max(value - bound, 0.0)
                return monitor.solution(best, value, gap, planes)
            step = _STEP_TO_OPTIMUM * (goal - best.parameters)
            point = objective.at(best.parameters + step)
