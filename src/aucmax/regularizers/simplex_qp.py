"""A convex quadratic over the probability simplex, solved by its active set."""

import numpy as np

from aucmax._validation import FloatArray

__all__ = ["minimize_on_simplex"]

_ROUNDING = 4.0 * float(np.finfo(np.float64).eps)


def minimize_on_simplex(
    matrix: FloatArray, linear: FloatArray, start: FloatArray
) -> FloatArray:
    r"""Minimise :math:`\frac12 x^T Q x - b^T x` over :math:`x \ge 0, \sum x = 1`.

    A primal active-set method: minimise over the coordinates in use as if they were
    free, walk there until one of them reaches zero and leaves, then admit the
    coordinate that promises most. It ends when none promises more than rounding. Made
    for tens or hundreds of coordinates and a start that is nearly optimal, as a bundle
    method has them.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
        The positive semidefinite matrix Q.
    linear : ndarray of shape (k,)
        The vector b.
    start : ndarray of shape (k,)
        A point of the simplex.

    Returns
    -------
    ndarray of shape (k,)
        A minimiser, up to rounding; a point of the simplex in any case.
    """
    x = start.copy()
    used = x > 0.0
    magnitude = np.abs(matrix)
    largest = float(np.abs(linear).max())
    # each round ends on a better face; only rounding could make the rounds go on
    for _ in range(2 * linear.size + 20):
        x, used = _minimize_on_face(matrix, linear, x, used)
        slope = matrix @ x - linear
        best = int(np.argmin(slope))
        noise = _ROUNDING * (float((magnitude @ x).max()) + largest)
        if used[best] or x @ slope - slope[best] <= noise:
            break
        used[best] = True
    total: float = x.sum()
    return x / total


def _minimize_on_face(
    matrix: FloatArray,
    linear: FloatArray,
    x: FloatArray,
    used: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> tuple[FloatArray, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Minimise over the used coordinates, dropping those that reach zero."""
    while True:
        free = np.flatnonzero(used)
        goal = _stationary_point(matrix[np.ix_(free, free)], linear[free])
        here = x[free]
        falling = goal < 0.0
        if not falling.any():
            x = np.zeros_like(x)
            x[free] = goal
            return x, used
        steps = here[falling] / (here[falling] - goal[falling])
        step = float(steps.min())
        here = here + step * (goal - here)
        leaving = free[falling][steps <= step]
        x = np.zeros_like(x)
        x[free] = np.maximum(here, 0.0)
        x[leaving] = 0.0
        used = used.copy()
        used[leaving] = False


def _stationary_point(matrix: FloatArray, linear: FloatArray) -> FloatArray:
    """Minimise the quadratic subject to the sum alone, ``sum(x) = 1``."""
    k = linear.size
    if k == 1:
        return np.ones(1)
    system = np.zeros((k + 1, k + 1))
    system[:k, :k] = matrix
    # equal cuts, or flat ones, would make the system singular
    largest = float(np.abs(linear).max())
    diagonal = np.arange(k)
    system[diagonal, diagonal] *= 1.0 + _ROUNDING
    system[diagonal, diagonal] += _ROUNDING * largest
    # scaled like the rest, so that the system stays well balanced
    border = max(float(np.abs(matrix).max()), largest, 1e-300)
    system[k, :k] = system[:k, k] = border
    right = np.append(linear, border)
    try:
        return np.linalg.solve(system, right)[:k]
    except np.linalg.LinAlgError:
        nearest: FloatArray = np.linalg.lstsq(system, right)[0]
        return nearest[:k]
