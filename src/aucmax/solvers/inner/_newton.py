r"""Mehrotra's steps for complementary variables over a simplex.

    x * y = 0,   x = (w, mu) >= 0,   y = (z, s) >= 0,
    z = c (w - center) + A' mu - lam,      s = v - A w,      sum(w) = 1

A has one row per cut and one column per vertex. With c = 0 and v free, so that
sum(mu) = 1, this is a matrix game; with v a given target, a projection. A step solves a
system as large as the number of cuts, O(n_cuts^2 n_vertices).

Legend: w, z = shares of the vertices and their reduced costs; mu, s = multipliers of
the cuts and their slacks; lam = the multiplier of sum(w) = 1; K cuts, N vertices.

References
----------
.. [1] S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM
   Journal on Optimization 2 (1992).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv, dpotrs

from aucmax._core.validation import FloatArray

__all__ = ["Iterate", "SimplexProgram"]

_SHARE_OF_WAY_TO_BOUNDARY = 0.995  # of a step
_RIDGES = (0.0, 1e-14, 1e-11, 1e-7)  # shares of a pivot that equal cuts make 0
_LARGEST_PRODUCT_PER_CALL = 200_000  # multiplications for which BLAS wakes no threads

_min = np.minimum.reduce  # x.min() takes longer to find this than to compare


class Iterate(NamedTuple):
    """A point inside, on the way to a solution."""

    x: FloatArray  # w, then mu
    y: FloatArray  # z, then s
    lam: float
    v: float
    heights: FloatArray  # A w
    edges: FloatArray  # A' mu
    product: float  # the inner product of x and y, 0 at the solution

    @property
    def is_sound(self) -> bool:
        """Whether rounding has not spoiled it."""
        return bool(0.0 < self.product < np.inf)


class SimplexProgram:
    """The game, or with a target, a center and a curvature the projection."""

    def __init__(
        self,
        A: FloatArray,
        curvature: FloatArray | float = 0.0,
        center: FloatArray | float = 0.0,
        target: float | None = None,
    ) -> None:
        self.A = A
        self.curvature = curvature
        self.center = center
        self.is_game = target is None
        self.target = 0.0 if target is None else target
        self.ones_K, self.ones_N = np.ones(A.shape[0]), np.ones(A.shape[1])

    def at(self, x: FloatArray, y: FloatArray, lam: float, v: float) -> Iterate:
        """Complete an iterate."""
        N = self.ones_N.size
        heights, edges = self.A @ x[:N], x[N:] @ self.A
        return Iterate(x, y, lam, v, heights, edges, float(x @ y))

    def price(self, w: FloatArray) -> float:
        """Return half the squared distance to the center."""
        moved = w - self.center
        return float(self.curvature * moved @ moved) / 2.0

    def missing_in_z(self, at: Iterate) -> FloatArray:
        """Return by how much the equation for z is not met."""
        N = self.ones_N.size
        slope: FloatArray = self.curvature * (at.x[:N] - self.center) + at.edges
        return at.y[:N] + at.lam - slope

    def after(self, at: Iterate) -> Iterate | None:
        """Return the iterate after Mehrotra's step, or None where rounding forbids it.

        The predictor aims at x * y = 0. How far it gets tells how much of x * y to aim
        at instead; the corrector also takes back the predictor's error of second order.
        """
        newton = _Newton(self, at)
        if newton.factor is None:
            return None
        product = at.x * at.y
        dx, dy, _, _, length = newton.step(-product)
        left = (at.x + length * dx) @ (at.y + length * dy)
        target = (left / at.product) ** 3 * (at.product / product.size)
        dx, dy, dlam, dv, length = newton.step(target - product - dx * dy)
        length *= _SHARE_OF_WAY_TO_BOUNDARY
        return self.at(
            at.x + length * dx,
            at.y + length * dy,
            at.lam + length * dlam,
            at.v + length * dv,
        )


class _Newton:
    """The equations of a step, factored once for any aim.

    Rid of dz, ds and dw they are, with D = 1 / (c + z/w),

        (A D A' + diag(s/mu)) dmu = dlam A D 1 - dv 1 - r

    bordered by those of sum(dw) and, in the game, sum(dmu), which give dlam and dv.
    """

    def __init__(self, program: SimplexProgram, at: Iterate) -> None:
        A = self.A = program.A
        K, N = A.shape
        self.is_game = program.is_game
        self.ones_K, self.ones_N = program.ones_K, program.ones_N
        self.x, self.y = at.x, at.y
        w, mu, z, s = at.x[:N], at.x[N:], at.y[:N], at.y[N:]
        self.missing_in_z = program.missing_in_z(at)
        self.missing_in_s = at.v - at.heights - s
        self.missing_in_w = 1.0 - self.ones_N @ w
        self.missing_in_mu = 1.0 - self.ones_K @ mu

        self.D = w / (z + program.curvature * w)
        self.AD = A * self.D
        system = _lower_product(self.AD, A)
        system.ravel()[:: K + 1] += s / mu
        borders = np.ones((K, 2), order="F")
        self.AD1 = borders[:, 0] = self.AD @ self.ones_N
        self.factor, columns = _solved(system, borders)
        self.from_lam, self.from_v = columns[:, 0], columns[:, 1]
        self.a11 = self.ones_N @ self.D - self.AD1 @ self.from_lam
        self.a12 = self.AD1 @ self.from_v
        self.a22 = -(self.ones_K @ self.from_v)

    def step(
        self, aim: FloatArray
    ) -> tuple[FloatArray, FloatArray, float, float, float]:
        """Return dx, dy, dlam, dv that change x * y by `aim`, and how far they go.

        To first order, that is, and up to a full step that stays inside.
        """
        N = self.D.size
        pull = aim / self.x
        drive = self.missing_in_z + pull[:N]
        right = self.missing_in_s - pull[N:] - self.AD @ drive
        inner = dpotrs(self.factor, right, lower=0)[0]
        b1 = self.missing_in_w - self.D @ drive - self.AD1 @ inner
        if self.is_game:
            b2 = self.missing_in_mu + self.ones_K @ inner
            determinant = self.a11 * self.a22 - self.a12 * self.a12
            dlam = (b1 * self.a22 - self.a12 * b2) / determinant
            dv = (self.a11 * b2 - self.a12 * b1) / determinant
        else:
            dlam, dv = b1 / self.a11, 0.0
        dmu = dlam * self.from_lam - dv * self.from_v - inner
        dw = self.D * (drive - dmu @ self.A + dlam)
        # ds from its own equation, which cuts that differ little make the delicate one
        ds = self.missing_in_s + dv - self.A @ dw
        dz = pull[:N] - self.y[:N] * dw / self.x[:N]
        dx, dy = np.concatenate([dw, dmu]), np.concatenate([dz, ds])
        fastest = min(_min(dx / self.x), _min(dy / self.y), -1.0)
        return dx, dy, dlam, dv, -1.0 / fastest


def _lower_product(AD: FloatArray, A: FloatArray) -> FloatArray:
    """Return ``AD @ A.T``, or its lower triangle with anything above it.

    In blocks so small that BLAS wakes no threads: on a busy machine they wait for each
    other a hundred times as long as the product takes.
    """
    K, N = A.shape
    n_rows = max(_LARGEST_PRODUCT_PER_CALL // (K * N), 8)
    if n_rows >= K:
        whole: FloatArray = AD @ A.T
        return whole
    product = np.zeros((K, K))
    for start in range(0, K, n_rows):
        stop = start + n_rows
        product[start:stop, :stop] = AD[start:stop] @ A[:stop].T
    return product


def _solved(
    system: FloatArray, right: FloatArray
) -> tuple[FloatArray | None, FloatArray]:
    """Factor a positive definite system, given below its diagonal, and solve it."""
    diagonal = system.ravel()[:: system.shape[0] + 1]
    for ridge in _RIDGES:
        diagonal *= 1.0 + ridge
        # transposed, rows are columns as LAPACK wants them, and lower is upper
        factor, solution, failed = dposv(system.T, right, lower=0)
        if not failed:
            return factor, solution
    return None, right
