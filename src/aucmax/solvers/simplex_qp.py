"""A convex quadratic over the probability simplex, solved by its active set.

Legend for this file: Q, b = the quadratic 1/2 x'Qx - b'x; used = the coordinates above
zero, and one that is about to rise; the first n of them are in the factor, the very
first is the anchor p; R = `factor`, that of the curvature among those n, seen from the
anchor:

    H[i, j] = Q[i, j] - Q[i, p] - Q[j, p] + Q[p, p] = (R'R)[i, j],   R upper.

The anchor takes whatever the others give away, so that the sum of x is kept without an
equation of its own. Row r of R belongs to used[r + 1].
"""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dtrsv

from aucmax._core.validation import FloatArray

# A difference below this share of its terms is rounding: four units in the last place.
_MAX_ROUNDING_ERROR = 4.0 * 2.220446049250313e-16
_MIN_PIVOT = 1e-300  # also where all terms are 0


def minimize_on_simplex(
    matrix: FloatArray, linear: FloatArray, start: FloatArray
) -> FloatArray:
    r"""Minimise :math:`\frac12 x^T Q x - b^T x` over :math:`x \ge 0, \sum x = 1`.

    A primal active-set method for tens or hundreds of coordinates, a positive
    semidefinite Q and a nearly optimal start: minimise over the coordinates in use,
    step there until one reaches zero and leaves, then admit the coordinate of the
    lowest gradient. A coordinate whose curvature is lost in rounding, as of equal cuts,
    stays out of the Cholesky factor: a step without curvature drops one coordinate.
    """
    x: FloatArray = np.array(start, dtype=np.float64)
    magnitudes = np.sqrt(np.abs(matrix.diagonal()))  # |Q[i, j]| <= m[i] m[j]
    largest = float(np.abs(linear).max())
    used = np.empty(0, dtype=np.intp)
    is_minimum, last_gap = False, np.inf
    for _ in range(20 * linear.size + 100):  # a limit that only rounding could reach
        gradient = matrix @ x - linear
        if is_minimum:
            best = int(gradient.argmin())
            gap = float(x @ gradient - gradient[best])
            terms = float(x @ magnitudes) * float(magnitudes.max())
            is_new = x[best] == 0.0
            is_stuck = not is_new and gap > 0.5 * last_gap
            if gap <= _MAX_ROUNDING_ERROR * (terms + largest) or is_stuck:
                break  # the slopes in use are equal, and no other is lower
            last_gap = np.inf if is_new else gap
            if is_new:
                used = np.append(used, best)
        elif used.size == 0:
            used = _above_zero(x)
            factor = _factored(matrix, largest, used)
        factor, column = _extended(matrix, largest, used, factor)
        direction = _step_direction(factor, column, gradient[used])
        longest = 1.0 if column is None else np.inf
        step = _step_along(x, used[: direction.size], direction, longest)
        if not step > 0.0:
            break  # only rounding sends a coordinate back that has just come
        stays = x[used] > 0.0
        is_minimum = column is None and bool(stays.all())
        if not is_minimum:
            last_gap = np.inf
            used = used[stays] if stays[0] else used[:0]
            if used.size > 0 and not stays[: factor.shape[0] + 1].all():
                kept = used[: np.count_nonzero(stays[: factor.shape[0] + 1])]
                factor = _factored(matrix, largest, kept)
    total: float = x.sum()
    return x / total


def _above_zero(x: FloatArray) -> NDArray[np.intp]:
    """List the coordinates above zero, with the largest in the first place."""
    used = np.flatnonzero(x > 0.0)
    anchor = int(x[used].argmax())
    used[[0, anchor]] = used[[anchor, 0]]
    return used


def _factored(matrix: FloatArray, largest: float, used: NDArray[np.intp]) -> FloatArray:
    """Return the factor of all that are used, or of none if some depend on others."""
    p, others = used[0], used[1:]
    among = matrix[np.ix_(others, others)]
    curvature = among - matrix[others, p][:, None] - matrix[p, others] + matrix[p, p]
    try:
        lower = np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        return np.empty((0, 0), order="F")
    if (lower.diagonal() ** 2 > _noise(matrix, largest, p, others)).all():
        return np.asfortranarray(lower.T)
    return np.empty((0, 0), order="F")


def _extended(
    matrix: FloatArray, largest: float, used: NDArray[np.intp], factor: FloatArray
) -> tuple[FloatArray, FloatArray | None]:
    """Append coordinates in use to the factor; return the column of a dependent one."""
    while factor.shape[0] + 1 < used.size:
        column, pivot = _next_column(matrix, largest, used, factor)
        if pivot == 0.0:
            return factor, column
        factor = _bordered(factor, column, pivot)
    return factor, None


def _next_column(
    matrix: FloatArray, largest: float, used: NDArray[np.intp], factor: FloatArray
) -> tuple[FloatArray, float]:
    """Return a new coordinate's column of the factor, and the pivot, 0 if lost."""
    n = factor.shape[0] + 1
    p, new, others = used[0], used[n], used[1:n]
    offset = matrix[p, p] - matrix[new, p]
    column = matrix[new, others] - matrix[p, others] + offset
    if n > 1:
        column = dtrsv(factor, column, trans=1)
    square = offset + matrix[new, new] - matrix[new, p] - column @ column
    is_lost = not square > _noise(matrix, largest, p, new)
    return column, 0.0 if is_lost else float(np.sqrt(square))


def _noise(
    matrix: FloatArray, largest: float, p: np.intp, others: NDArray[np.intp] | np.intp
) -> FloatArray:
    ends = matrix[p, p] + matrix[others, others]
    terms = ends + 2.0 * np.abs(matrix[others, p]) + largest
    noise: FloatArray = _MAX_ROUNDING_ERROR * terms + _MIN_PIVOT
    return noise


def _bordered(factor: FloatArray, column: FloatArray, pivot: float) -> FloatArray:
    n = factor.shape[0]
    wider = np.zeros((n + 1, n + 1), order="F")
    wider[:n, :n] = factor
    wider[:n, n] = column
    wider[n, n] = pivot
    return wider


def _step_direction(
    factor: FloatArray, column: FloatArray | None, gradient: FloatArray
) -> FloatArray:
    """Return the step to the minimum, or with a `column` downhill without curvature."""
    n = factor.shape[0]
    goal = gradient[0] - gradient[1 : n + 1] if column is None else -column
    if n > 0:
        goal = dtrsv(factor, goal, trans=1) if column is None else goal
        goal = dtrsv(factor, goal)
    if column is None:
        return np.concatenate(([-goal.sum()], goal))
    direction = np.concatenate(([-1.0 - goal.sum()], goal, [1.0]))
    rise = direction @ (gradient[: direction.size] - gradient[0])
    return -direction if rise > 0.0 else direction


def _step_along(
    x: FloatArray, moving: NDArray[np.intp], direction: FloatArray, longest: float
) -> float:
    """Step, not below zero; return the length, NaN if it is not finite."""
    if not np.isfinite(direction).all():
        return float("nan")
    values = x[moving]
    until_zero = np.full(direction.size, np.inf)
    np.divide(-values, direction, out=until_zero, where=direction < 0.0)
    step = min(longest, float(until_zero.min()))
    x[moving] = np.where(
        until_zero <= step, 0.0, np.maximum(values + step * direction, 0.0)
    )
    return step
