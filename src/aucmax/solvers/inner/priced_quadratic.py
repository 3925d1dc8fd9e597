r"""A quadratic function plus a price for absolute weights.

.. math:: \min_x \; \tfrac12 x^T H x + c^T x + \pi \|x\|_1

Sweeps over the coordinates find which weights are 0, and Newton steps over the others
find these. Each step lowers the function.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from aucmax._core.compiled import njit
from aucmax._core.validation import FloatArray, IntArray

_SWEEPS_PER_ROUND = 12
_MAX_ROUNDS = 100  # of sweeps and a Newton step
_PARTS_OF_A_STEP = (1.0, 0.5, 0.2, 0.05)  # tried, until the function falls
_MAX_PRICES = 4  # until weights of the right norm are found
_MAX_MISS_OF_THE_NORM = 0.1  # relative


class _Program:
    """The weights so far, the slope of the quadratic function there, and steps."""

    def __init__(self, H: FloatArray, c: FloatArray, start: FloatArray) -> None:
        self.H = H
        self.x = start.copy()
        self.slope: FloatArray = H @ start + c
        self.growth = 0.0  # of the norm, per unit by which the price falls
        self._diagonal = H.diagonal().copy()

    def solve(self, price: float, tol: float) -> None:
        """Minimise, until slopes miss the price by a share of it."""
        for _ in range(_MAX_ROUNDS):
            sweep(self.H, self._diagonal, self.x, self.slope, price, _SWEEPS_PER_ROUND)
            used = np.flatnonzero(self.x)
            if used.size == 0:
                return
            is_whole = self._step(used, price)
            if is_whole and self._miss(price) <= tol * price:
                return

    def _miss(self, price: float) -> float:
        """Return by how much a slope misses what the price asks for."""
        signs = np.sign(self.x)
        of_used = np.abs(self.slope + price * signs)
        of_zeros = np.maximum(np.abs(self.slope) - price, 0.0)
        return float(np.where(signs != 0.0, of_used, of_zeros).max())

    def _step(self, used: IntArray, price: float) -> bool:
        """Step over the weights in use; return whether it was a full Newton step."""
        rows, old = self.H[used], self.x[used]
        signs, slope = np.sign(old), self.slope[used]
        factor = cho_factor(rows[:, used], overwrite_a=True, check_finite=False)
        sides = np.stack([-(slope + price * signs), signs], axis=1)
        step, of_price = cho_solve(factor, sides, check_finite=False).T
        self.growth = float(signs @ of_price)
        for part in _PARTS_OF_A_STEP:
            new = old + part * step
            crossed = new * signs < 0.0
            new[crossed] = 0.0
            turned = self.slope + (new - old) @ rows
            fall = 0.5 * float((new - old) @ (slope + turned[used]))
            fall += price * float(np.abs(new).sum() - np.abs(old).sum())
            if fall <= 0.0:
                break
        else:
            # up to the first weight that becomes 0, no sign changes
            ways = np.full(used.size, np.inf)
            np.divide(-old, step, out=ways, where=step * signs < 0.0)
            first = int(np.argmin(ways))
            if not np.isfinite(ways[first]):  # rounding alone is left
                return True
            new = old + ways[first] * step
            new[first] = 0.0
            turned = self.slope + (new - old) @ rows
        self.x[used], self.slope = new, turned
        return part == 1.0 and not crossed.any()


def minimize_at_price(
    H: FloatArray, c: FloatArray, start: FloatArray, price: float, tol: float
) -> FloatArray:
    """Minimise, given what a unit of weight costs; H is positive definite."""
    program = _Program(H, c, start)
    program.solve(price, tol)
    return program.x


def minimize_at_norm(
    H: FloatArray,
    c: FloatArray,
    start: FloatArray,
    norm: float,
    price: float,
    tol: float,
) -> FloatArray:
    """Minimise over weights of about a norm: begin at a price, and correct it."""
    # the norm falls as the price grows, piecewise linearly; callers scale the result
    program = _Program(H, c, start)
    for left in range(_MAX_PRICES - 1, -1, -1):
        program.solve(price, tol)
        found = float(np.abs(program.x).sum())
        if found == 0.0:
            price *= 0.5
            continue
        miss = found - norm
        if abs(miss) <= _MAX_MISS_OF_THE_NORM * norm or not left:
            break
        price = max(price + miss / program.growth, 0.5 * price)
    return program.x


@njit(cache=True, nogil=True)
def sweep(H, diagonal, x, slope, price, n_sweeps):  # type: ignore[no-untyped-def]
    """Minimise a priced quadratic along each coordinate, keeping its `slope`."""
    n = x.size
    for _ in range(n_sweeps):
        for j in range(n):
            pull = diagonal[j] * x[j] - slope[j]
            if pull > price:
                new = (pull - price) / diagonal[j]
            elif pull < -price:
                new = (pull + price) / diagonal[j]
            else:
                new = 0.0
            move = new - x[j]
            if move != 0.0:
                x[j] = new
                for i in range(n):
                    slope[i] += move * H[j, i]
