r"""Two small convex programs over a simplex, solved by one interior-point method.

    game:        min over w of  max_k (A w)_k
    projection:  min over w of  1/2 sum_i c_i (w_i - center_i)^2   with   A w <= level

w runs over the probability simplex; A has one row a cut and one column a vertex. Both
are one problem of complementary variables: x * y = 0, x = (w, mu) and y = (z, s) >= 0,

    z = c (w - center) + A' mu - lam,      s = v - A w,      sum(w) = 1

In the game c = 0 and v is free, so that sum(mu) = 1; in the projection v is the level.
An iteration solves a system as large as the number of cuts, O(n_cuts^2 n_vertices).

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

from aucmax._validation import FloatArray

__all__ = ["Game", "Iterate", "play_game", "project_below_level"]

_MAX_ITER = 30  # about 6 from a good start, 15 from a bad one
_BACKOFF = 0.995  # of the way to the boundary
_RIDGES = (0.0, 1e-14, 1e-11, 1e-7)  # of each pivot, where equal cuts make it 0
_SMALL_PRODUCT = 200_000  # multiplications for which BLAS wakes no threads
_SPREAD = 0.1  # of a game's start goes to all vertices and cuts
_ROOM = 0.3  # of the distance between its bounds is left on both sides of them
_BEYOND = 1.05  # how far a projection's start is on the way from center to level
_PULL = 0.01  # of the multipliers that a projection ends with, to start with
_STILL = 1e-16  # a squared distance so small is none
_ROUNDING = 1e-10  # by which shares may miss the sum 1 before they are made to
_DROPPED = (1.0, 0.1, 1e-2, 1e-3, 1e-4)  # see _sparsest

_sum = np.add.reduce  # x.sum() takes longer to find this than to add
_min = np.minimum.reduce
_max = np.maximum.reduce


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


class Game(NamedTuple):
    """A game as far as it was played.

    Attributes
    ----------
    shares : ndarray of shape (n_vertices,)
        A point of the simplex, where no cut is above `top`.
    multipliers : ndarray of shape (n_cuts,)
        A point of the simplex, whose mixed cut is nowhere below `bottom`.
    top, bottom : float
        Bounds of the game's value.
    path : list of (float, Iterate)
        The way from the inside to the solution, each point after its highest cut.
    """

    shares: FloatArray
    multipliers: FloatArray
    top: float
    bottom: float
    path: list[tuple[float, Iterate]]


def play_game(
    A: FloatArray,
    shares: FloatArray,
    multipliers: FloatArray,
    *,
    ceiling: float,
    accuracy: float,
) -> Game:
    """Play cuts against vertices.

    Ends when ``top - bottom <= accuracy * (ceiling - bottom)``, or `bottom` reaches the
    ceiling, or rounding allows no more. The bounds hold, and shares and multipliers are
    points of a simplex, whatever the accuracy reached.

    Parameters
    ----------
    A : ndarray of shape (n_cuts, n_vertices)
        Each cut at each vertex.
    shares, multipliers : ndarray of shape (n_vertices,) and (n_cuts,)
        Points of a simplex to start from: the better, the fewer iterations.
    ceiling : float
        What the game's value is compared with.
    accuracy : float
        The share of its distance to the ceiling that need not be known.
    """
    N = A.shape[1]
    top, bottom = float(_max(A @ shares)), float(_min(multipliers @ A))
    game = Game(shares, multipliers, top, bottom, [])
    with np.errstate(all="ignore"):  # unsound iterates are recognised
        program = _Program(A)
        iterate = _start_of_game(program, shares, multipliers)
        for _ in range(_MAX_ITER):
            to_ceiling = ceiling - game.bottom
            if to_ceiling <= 0.0 or game.top - game.bottom <= accuracy * to_ceiling:
                break
            if iterate is None or not iterate.is_sound:
                break
            w, mu = iterate.x[:N], iterate.x[N:]
            total_w, total_mu = _sum(w), _sum(mu)
            top = float(_max(iterate.heights) / total_w)
            bottom = float(_min(iterate.edges) / total_mu)
            game.path.append((top, iterate))
            if top < game.top:
                game = game._replace(top=top, shares=w / total_w)
            if bottom > game.bottom:
                game = game._replace(bottom=bottom, multipliers=mu / total_mu)
            iterate = program.after(iterate)
    return game


def project_below_level(
    A: FloatArray,
    level: float,
    center: FloatArray,
    curvature: FloatArray,
    start: Iterate,
    *,
    slack: float,
    accuracy: float,
) -> FloatArray:
    """Find a point of the simplex near `center` where all cuts are below the level.

    Ends when no cut is more than `slack` above the level and half the squared distance
    is known to a relative `accuracy`, or rounding allows no more. What comes out is a
    point of the simplex in any case, also where no point is below the level.

    Parameters
    ----------
    A : ndarray of shape (n_cuts, n_vertices)
        Each cut at each vertex.
    level : float
        The height to go below.
    center : ndarray of shape (n_vertices,)
        The point of the simplex to stay near.
    curvature : ndarray of shape (n_vertices,)
        The price c of moving each share, nonnegative.
    start : Iterate
        A point of the path of a game with this A, best the first below the level.
    slack, accuracy : float
        How closely to solve it. The slack, above 0, should be about a tenth of how far
        the level is below the highest cut at the center.
    """
    N = A.shape[1]
    w, z = start.x[:N], start.y[:N]
    if _max(A @ center) <= level:
        return center
    with np.errstate(all="ignore"):  # unsound iterates are recognised
        program = _Program(A, curvature, center, level)
        iterate: Iterate | None = _start_of_projection(program, center, start, slack)
        for _ in range(_MAX_ITER):
            if iterate is None or not iterate.is_sound:
                break
            w, z = iterate.x[:N], iterate.y[:N]
            enough = accuracy * program.price(w) + _STILL
            if (
                iterate.product <= enough
                and _max(iterate.heights) <= level + slack
                and abs(1.0 - _sum(w)) <= _ROUNDING
            ):
                missing = program.missing_in_z(iterate)
                if missing @ missing <= enough:
                    break
            iterate = program.after(iterate)
        return _sparsest(A, w, z, level + slack)


class _Program:
    """The game, or with a level, a center and a curvature the projection."""

    def __init__(
        self,
        A: FloatArray,
        curvature: FloatArray | float = 0.0,
        center: FloatArray | float = 0.0,
        level: float | None = None,
    ) -> None:
        self.A = A
        self.curvature = curvature
        self.center = center
        self.is_game = level is None
        self.level = 0.0 if level is None else level
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
        length *= _BACKOFF
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

    def __init__(self, program: _Program, at: Iterate) -> None:
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
    n_rows = max(_SMALL_PRODUCT // (K * N), 8)
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


def _start_of_game(
    program: _Program, shares: FloatArray, multipliers: FloatArray
) -> Iterate | None:
    """Spread a part of a start over all vertices and cuts, most of it over the best.

    In the middle of the way to a solution, shares are inverse to reduced costs and
    multipliers to slacks.
    """
    heights, edges = program.A @ shares, multipliers @ program.A
    room = _ROOM * (_max(heights) - _min(edges))
    if not room > 0.0:
        return None
    w = _partly_spread(shares, edges - _min(edges) + room)
    mu = _partly_spread(multipliers, _max(heights) - heights + room)
    heights, edges = program.A @ w, mu @ program.A
    room = _ROOM * (_max(heights) - _min(edges))
    lam, v = float(_min(edges) - room), float(_max(heights) + room)
    y = np.concatenate([edges - lam, v - heights])
    return program.at(np.concatenate([w, mu]), y, lam, v)


def _partly_spread(point: FloatArray, costs: FloatArray) -> FloatArray:
    spread = 1.0 / costs
    mixed: FloatArray = (1.0 - _SPREAD) * point + (_SPREAD / _sum(spread)) * spread
    return mixed


def _start_of_projection(
    program: _Program, center: FloatArray, start: Iterate, slack: float
) -> Iterate:
    """Move a point of a game's path towards the center, to just below the level.

    A projection's multipliers add up to about the squared distance to the center
    divided by how far the level is below it; smaller ones are the better start. Reduced
    costs go with them.
    """
    N = program.ones_N.size
    at_center = program.A @ center
    above = _max(at_center) - program.level
    fall = _max(at_center) - _max(start.heights)
    part = min(_BEYOND * above / fall, 1.0) if fall > 0.0 else 1.0
    w = center + part * (start.x[:N] - center)
    heights = at_center + part * (start.heights - at_center)
    pull = _PULL * (2.0 * program.price(w) + _STILL) / slack
    z = pull * np.maximum(start.y[:N], slack)
    s = np.maximum(program.level - heights, slack)
    x, y = np.concatenate([w, pull * start.x[N:]]), np.concatenate([z, s])
    iterate = program.at(x, y, 0.0, program.level)
    lam = -(w @ program.missing_in_z(iterate)) / _sum(w)
    return iterate._replace(lam=float(lam))


def _sparsest(A: FloatArray, w: FloatArray, z: FloatArray, height: float) -> FloatArray:
    """Drop shares that are on their way to 0, as many as leave all cuts below a height.

    Of a share and its reduced cost, which in a projection have one unit, one is 0 in
    the end; so a share is dropped that is small next to its reduced cost.
    """
    for factor in _DROPPED:
        kept = np.where(w > factor * z, w, 0.0)
        if _sum(kept) > 0.0 and _max(A @ kept) <= height * _sum(kept):
            break
    else:
        kept = w
    shares: FloatArray = kept / _sum(kept)
    return shares
