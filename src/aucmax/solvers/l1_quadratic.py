r"""A quadratic function plus an L1 penalty.

.. math:: \min_x \; \tfrac12 x^T H x + c^T x + \lambda \|x\|_1

over all x, or over :math:`x \ge 0`, where :math:`\lambda` may be negative. Sweeps over
the coordinates find which weights are 0, and Newton steps over the others find these.
Each step lowers the function.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from aucmax._core.compiled import njit
from aucmax._core.validation import FloatArray, IntArray

_SWEEPS_PER_ROUND = 12
_MAX_ROUNDS = 100  # of sweeps and a Newton step
_PARTS_OF_A_STEP = (1.0, 0.5, 0.2, 0.05)  # tried, until the function falls
_MAX_PENALTIES = 4  # until weights of the right norm are found
_MAX_MISS_OF_THE_NORM = 0.1  # relative


class _Program:
    """The weights so far, the gradient of the quadratic function there, and steps."""

    def __init__(
        self, H: FloatArray, c: FloatArray, start: FloatArray, is_nonnegative: bool
    ) -> None:
        self.H = np.ascontiguousarray(H)  # sweeps read its rows
        self.x = start.copy()
        self.gradient: FloatArray = H @ start + c
        self.growth = 0.0  # of the norm, per unit by which the penalty falls
        self.is_nonnegative = is_nonnegative
        self._diagonal = H.diagonal().copy()

    def solve(self, penalty: float, tol: float) -> None:
        """Lower until no coordinate misses its optimality condition by more."""
        penalties = penalty, np.inf if self.is_nonnegative else penalty
        for _ in range(_MAX_ROUNDS):
            sweep(
                *(self.H, self._diagonal, self.x, self.gradient),
                *(penalties, _SWEEPS_PER_ROUND),
            )
            used = np.flatnonzero(self.x)
            if used.size == 0:
                return
            is_whole = self._step(used, penalty)
            if is_whole and self._violation(*penalties) <= tol:
                return

    def _violation(self, penalty: float, penalty_below_0: float) -> float:
        """Return by how much a gradient misses what the penalty asks for."""
        signs = np.sign(self.x)
        violation_in_use = np.abs(self.gradient + penalty * signs)
        violation_at_zero = np.maximum(
            -self.gradient - penalty, self.gradient - penalty_below_0
        )
        return float(np.where(signs != 0.0, violation_in_use, violation_at_zero).max())

    def _step(self, used: IntArray, penalty: float) -> bool:
        """Step over the weights in use; return whether it was a full Newton step."""
        rows, old = self.H[used], self.x[used]
        signs, gradient = np.sign(old), self.gradient[used]
        factor = cho_factor(rows[:, used], overwrite_a=True, check_finite=False)
        sides = np.stack([-(gradient + penalty * signs), signs], axis=1)
        step, per_penalty = cho_solve(factor, sides, check_finite=False).T
        self.growth = float(signs @ per_penalty)
        for part in _PARTS_OF_A_STEP:
            new = old + part * step
            crossed = new * signs < 0.0
            new[crossed] = 0.0
            changed = self.gradient + (new - old) @ rows
            rise = 0.5 * float((new - old) @ (gradient + changed[used]))
            rise += penalty * float(np.abs(new).sum() - np.abs(old).sum())
            if rise <= 0.0:
                break
        else:
            # up to the first weight that becomes 0, no sign changes
            lengths = np.full(used.size, np.inf)
            np.divide(-old, step, out=lengths, where=step * signs < 0.0)
            first = int(np.argmin(lengths))
            if not np.isfinite(lengths[first]):  # rounding alone is left
                return True
            new = old + lengths[first] * step
            new[first] = 0.0
            changed = self.gradient + (new - old) @ rows
        self.x[used], self.gradient = new, changed
        return part == 1.0 and not crossed.any()


def minimize_l1_quadratic(
    H: FloatArray,
    c: FloatArray,
    start: FloatArray,
    penalty: float,
    tol: float,
    *,
    norm: float | None = None,
    is_nonnegative: bool = False,
) -> FloatArray:
    """Minimise for a positive definite H; `tol` limits the error of the gradient.

    With a `norm`, the penalty is only a first guess of one that gives weights of about
    that norm.
    """
    program = _Program(H, c, start, is_nonnegative)
    if norm is None:
        program.solve(penalty, tol)
        return program.x
    # the norm falls as the penalty grows, piecewise linearly; callers scale the result
    scale = abs(penalty)
    for left in range(_MAX_PENALTIES - 1, -1, -1):
        program.solve(penalty, tol)
        excess = float(np.abs(program.x).sum()) - norm
        if excess == -norm:  # no weights
            penalty -= 0.5 * scale
            continue
        if abs(excess) <= _MAX_MISS_OF_THE_NORM * norm or not left:
            break
        penalty = max(penalty + excess / program.growth, penalty - 0.5 * scale)
    return program.x


@njit(cache=True, nogil=True)
def sweep(H, diagonal, x, gradient, penalties, n_sweeps):  # type: ignore[no-untyped-def]
    """Minimise along each coordinate, keeping the quadratic function's `gradient`."""
    # penalties of positive and of negative weights
    n = x.size
    above, below = penalties
    for _ in range(n_sweeps):
        for j in range(n):
            target = diagonal[j] * x[j] - gradient[j]
            if target > above:
                new = (target - above) / diagonal[j]
            elif target < -below:
                new = (target + below) / diagonal[j]
            else:
                new = 0.0
            move = new - x[j]
            if move != 0.0:
                x[j] = new
                for i in range(n):
                    gradient[i] += move * H[j, i]
