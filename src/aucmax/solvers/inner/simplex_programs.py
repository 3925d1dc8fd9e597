"""Two small convex programs over a simplex, solved by one interior-point method.

    game:        min over w of  max_k (A w)_k
    projection:  min over w of  1/2 sum_i c_i (w_i - center_i)^2   with   A w <= target

w runs over the probability simplex; A has one row per cut and one column per vertex.
Both are the equations

    x * y = 0,   x = (w, mu) >= 0,   y = (z, s) >= 0,
    z = c (w - center) + A' mu - lam,      s = v - A w,      sum(w) = 1

with c = 0 and v free, so that sum(mu) = 1, for the game; with v the target for the
projection. A step solves a system of the size of the cuts, O(n_cuts^2 n_vertices).

Legend: w, z = shares of the vertices and their reduced costs; mu, s = multipliers of
the cuts and their slacks; lam = the multiplier of sum(w) = 1; K cuts, N vertices.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dposv, dpotrs

from aucmax._core.validation import FloatArray
from aucmax.solvers.inner.interior_point import Direction, mehrotra_step

_SHARE_OF_STEP = 0.995  # of the way to the boundary, and of a full step
_RIDGES = (0.0, 1e-14, 1e-11, 1e-7)  # shares of a pivot that equal cuts make 0
_MAX_PRODUCT_PER_CALL = 200_000  # multiplications for which BLAS wakes no threads
_MAX_ITER = 30  # about 6 are needed from a good start, 15 from a bad one
_SPREAD_SHARE = 0.1  # share of a game's start that goes to all vertices and cuts
_ROOM_BESIDE_BOUNDS = 0.3  # share of the distance between a game's bounds
_START_BEYOND_TARGET = 1.05  # times the way from the center to the target
_FIRST_SHARE_OF_MULTIPLIERS = 0.01  # of those that a projection ends with
_MIN_SQUARED_DISTANCE = 1e-16  # a smaller one counts as 0
_MAX_ERROR_OF_SUM = 1e-10  # shares that miss 1 by more are not a solution yet
_DROPPED_SHARES = (1.0, 0.1, 1e-2, 1e-3, 1e-4)  # parts of a share's reduced cost

_sum = np.add.reduce  # x.sum() takes longer to find this than to add
_min = np.minimum.reduce
_max = np.maximum.reduce


class SimplexIterate(NamedTuple):
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

    def at(self, x: FloatArray, y: FloatArray, lam: float, v: float) -> SimplexIterate:
        """Complete an iterate."""
        N = self.ones_N.size
        heights, edges = self.A @ x[:N], x[N:] @ self.A
        return SimplexIterate(x, y, lam, v, heights, edges, float(x @ y))

    def price(self, w: FloatArray) -> float:
        """Return half the squared distance to the center."""
        moved = w - self.center
        return float(self.curvature * moved @ moved) / 2.0

    def missing_in_z(self, at: SimplexIterate) -> FloatArray:
        """Return by how much the equation for z is not met."""
        N = self.ones_N.size
        slope: FloatArray = self.curvature * (at.x[:N] - self.center) + at.edges
        return at.y[:N] + at.lam - slope

    def after(self, at: SimplexIterate) -> SimplexIterate | None:
        """Return the iterate after a step, or None where rounding forbids it."""
        newton = _NewtonOfSimplex(self, at)
        if newton.factor is None:
            return None
        (dx, dy, (dlam, dv)), length, _ = mehrotra_step(
            at.x, at.y, newton.direction, one_length=True
        )
        length *= _SHARE_OF_STEP
        return self.at(
            at.x + length * dx,
            at.y + length * dy,
            at.lam + length * dlam,
            at.v + length * dv,
        )


class _NewtonOfSimplex:
    """The equations of a step, factored once for any aim.

    Rid of dz, ds and dw they are, with D = 1 / (c + z/w),

        (A D A' + diag(s/mu)) dmu = dlam A D 1 - dv 1 - r

    bordered by those of sum(dw) and, in the game, sum(dmu), which give dlam and dv.
    """

    def __init__(self, program: SimplexProgram, at: SimplexIterate) -> None:
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

    def direction(self, aim: FloatArray) -> Direction:
        """Return the step that changes x * y by `aim`, to first order."""
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
        return Direction(dx, dy, (dlam, dv))


def _lower_product(AD: FloatArray, A: FloatArray) -> FloatArray:
    """Return ``AD @ A.T``, or its lower triangle with anything above it."""
    # in blocks so small that BLAS wakes no threads, which on a busy machine wait for
    # each other a hundred times as long as the product takes
    K, N = A.shape
    n_rows = max(_MAX_PRODUCT_PER_CALL // (K * N), 8)
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


class Game(NamedTuple):
    """A game as far as it was played."""

    shares: FloatArray  # a point of the simplex, where no cut is above `top`
    multipliers: FloatArray  # one whose mixed cut is nowhere below `bottom`
    top: float
    bottom: float
    path: list[tuple[float, SimplexIterate]]  # heights of the highest cut, and iterates


def play_game(
    A: FloatArray,
    shares: FloatArray,
    multipliers: FloatArray,
    *,
    ceiling: float,
    accuracy: float,
) -> Game:
    """Play cuts against vertices to an accuracy, the ceiling, or rounding."""
    # ends when top - bottom <= accuracy * (ceiling - bottom), or bottom reaches the
    # ceiling; the bounds hold whatever the accuracy reached
    N = A.shape[1]
    top, bottom = float(_max(A @ shares)), float(_min(multipliers @ A))
    game = Game(shares, multipliers, top, bottom, [])
    with np.errstate(all="ignore"):  # unsound iterates are recognised
        program = SimplexProgram(A)
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


def project_below_target(
    A: FloatArray,
    target: float,
    center: FloatArray,
    curvature: FloatArray,
    start: SimplexIterate,
    *,
    slack: float,
    accuracy: float,
) -> FloatArray:
    """Find a point of the simplex near `center` where all cuts are below the target.

    `curvature` is the price of moving each share; `start` a point of the path of a game
    with this A. Ends when no cut is more than `slack` above the target and half the
    squared distance is known to a relative `accuracy`, or rounding allows no more.
    """
    N = A.shape[1]
    w, z = start.x[:N], start.y[:N]
    if _max(A @ center) <= target:
        return center
    with np.errstate(all="ignore"):  # unsound iterates are recognised
        program = SimplexProgram(A, curvature, center, target)
        iterate: SimplexIterate | None = _start_of_projection(
            program, center, start, slack
        )
        for _ in range(_MAX_ITER):
            if iterate is None or not iterate.is_sound:
                break
            w, z = iterate.x[:N], iterate.y[:N]
            enough = accuracy * program.price(w) + _MIN_SQUARED_DISTANCE
            if (
                iterate.product <= enough
                and _max(iterate.heights) <= target + slack
                and abs(1.0 - _sum(w)) <= _MAX_ERROR_OF_SUM
            ):
                missing = program.missing_in_z(iterate)
                if missing @ missing <= enough:
                    break
            iterate = program.after(iterate)
        return _sparsest(A, w, z, target + slack)


def _start_of_game(
    program: SimplexProgram, shares: FloatArray, multipliers: FloatArray
) -> SimplexIterate | None:
    """Spread a part of a start over all vertices and cuts, most of it over the best."""
    # midway to a solution, shares are inverse to reduced costs, multipliers to slacks
    heights, edges = program.A @ shares, multipliers @ program.A
    room = _ROOM_BESIDE_BOUNDS * (_max(heights) - _min(edges))
    if not room > 0.0:
        return None
    w = _partly_spread(shares, edges - _min(edges) + room)
    mu = _partly_spread(multipliers, _max(heights) - heights + room)
    heights, edges = program.A @ w, mu @ program.A
    room = _ROOM_BESIDE_BOUNDS * (_max(heights) - _min(edges))
    lam, v = float(_min(edges) - room), float(_max(heights) + room)
    y = np.concatenate([edges - lam, v - heights])
    return program.at(np.concatenate([w, mu]), y, lam, v)


def _partly_spread(point: FloatArray, costs: FloatArray) -> FloatArray:
    spread = 1.0 / costs
    mixed: FloatArray = (1.0 - _SPREAD_SHARE) * point
    mixed += (_SPREAD_SHARE / _sum(spread)) * spread
    return mixed


def _start_of_projection(
    program: SimplexProgram, center: FloatArray, start: SimplexIterate, slack: float
) -> SimplexIterate:
    """Move a point of a game's path towards the center, to just below the target."""
    # a projection's multipliers add up to about the squared distance to the center
    # divided by how far the target is below it; smaller ones are the better start
    N = program.ones_N.size
    at_center = program.A @ center
    above = _max(at_center) - program.target
    fall = _max(at_center) - _max(start.heights)
    part = min(_START_BEYOND_TARGET * above / fall, 1.0) if fall > 0.0 else 1.0
    w = center + part * (start.x[:N] - center)
    heights = at_center + part * (start.heights - at_center)
    pull = (
        _FIRST_SHARE_OF_MULTIPLIERS
        * (2.0 * program.price(w) + _MIN_SQUARED_DISTANCE)
        / slack
    )
    z = pull * np.maximum(start.y[:N], slack)
    s = np.maximum(program.target - heights, slack)
    x, y = np.concatenate([w, pull * start.x[N:]]), np.concatenate([z, s])
    iterate = program.at(x, y, 0.0, program.target)
    lam = -(w @ program.missing_in_z(iterate)) / _sum(w)
    return iterate._replace(lam=float(lam))


def _sparsest(A: FloatArray, w: FloatArray, z: FloatArray, height: float) -> FloatArray:
    """Drop shares small next to their reduced cost, while cuts stay below a height."""
    for factor in _DROPPED_SHARES:
        kept = np.where(w > factor * z, w, 0.0)
        if _sum(kept) > 0.0 and _max(A @ kept) <= height * _sum(kept):
            break
    else:
        kept = w
    shares: FloatArray = kept / _sum(kept)
    return shares
