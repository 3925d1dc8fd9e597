"""A convex quadratic over the probability simplex, solved by its active set."""

import numpy as np

from aucmax._validation import FloatArray
from aucmax.solvers.inner._simplex_kernels import active_set

__all__ = ["minimize_on_simplex"]


def minimize_on_simplex(
    matrix: FloatArray, linear: FloatArray, start: FloatArray
) -> FloatArray:
    r"""Minimise :math:`\frac12 x^T Q x - b^T x` over :math:`x \ge 0, \sum x = 1`.

    A primal active-set method: minimise over the coordinates in use as if they were
    free, walk there until one of them reaches zero and leaves, then admit the
    coordinate that promises most. It ends when none promises more than rounding, and
    always with a point of the simplex. Made for tens or hundreds of coordinates, a
    positive semidefinite Q, and a start that is nearly optimal, as a bundle method has
    them.

    A Cholesky factor of the curvature follows the coordinates in use, so that a step
    costs :math:`O(k n)` with n of the k coordinates in use, and the start
    :math:`O(n^3)`. A coordinate whose curvature is lost in rounding, given the others,
    as of equal or flat cuts, stays out of the factor: a walk along the direction that
    has no curvature ends with one coordinate less.
    """
    k = linear.size
    x = np.array(start, dtype=np.float64)
    active_set(
        np.require(matrix, np.float64, ("C", "W")),  # one kind of array, one kernel
        np.require(linear, np.float64, ("C", "W")),
        x,
        np.empty(k, dtype=np.int64),
        np.empty((k, k)),
        np.empty(k),
        np.empty(k),
    )
    total: float = x.sum()
    return x / total
