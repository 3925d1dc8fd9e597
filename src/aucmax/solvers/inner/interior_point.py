"""Two small convex programs over a simplex, solved by one interior-point method.

    game:        min over w of  max_k (A w)_k
    projection:  min over w of  1/2 sum_i c_i (w_i - center_i)^2   with   A w <= target

w runs over the probability simplex; A has one row per cut and one column per vertex.
Where the steps come from, and what the letters mean, is told in ``_newton.py``.
"""

from typing import NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.solvers.inner._newton import Iterate, SimplexProgram

__all__ = ["Game", "play_game", "project_below_target"]

_MAX_ITER = 30  # about 6 are needed from a good start, 15 from a bad one
_SPREAD_SHARE = 0.1  # share of a game's start that goes to all vertices and cuts
_ROOM_BESIDE_BOUNDS = 0.3  # share of the distance between a game's bounds
_START_BEYOND_TARGET = 1.05  # times the way from the center to the target
_FIRST_SHARE_OF_MULTIPLIERS = 0.01  # of those that a projection ends with
_SMALLEST_SQUARED_DISTANCE = 1e-16  # a smaller one is none
_LARGEST_ERROR_OF_SUM = 1e-10  # shares that miss 1 by more are not a solution yet
_DROPPED_SHARES = (1.0, 0.1, 1e-2, 1e-3, 1e-4)  # parts of a share's reduced cost

_sum = np.add.reduce  # x.sum() takes longer to find this than to add
_min = np.minimum.reduce
_max = np.maximum.reduce


class Game(NamedTuple):
    """A game as far as it was played.

    `path` is the way from the inside to the solution, each point after its highest cut.
    """

    shares: FloatArray  # a point of the simplex, where no cut is above `top`
    multipliers: FloatArray  # one whose mixed cut is nowhere below `bottom`
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
    """Play cuts against vertices; A has each cut (row) at each vertex (column).

    Ends when ``top - bottom <= accuracy * (ceiling - bottom)``, or `bottom` reaches the
    ceiling, or rounding allows no more. The bounds hold, and shares and multipliers are
    points of a simplex, whatever the accuracy reached. The better those to start from,
    the fewer iterations.
    """
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
    start: Iterate,
    *,
    slack: float,
    accuracy: float,
) -> FloatArray:
    """Find a point of the simplex near `center` where all cuts are below the target.

    A has each cut (row) at each vertex (column); `curvature` is the nonnegative price
    of moving each share; `start` is a point of the path of a game with this A, best the
    first below the target. Ends when no cut is more than `slack` above the target and
    half the squared distance is known to a relative `accuracy`, or rounding allows no
    more. The slack, above 0, should be about a tenth of how far the target is below the
    highest cut at the center. What comes out is a point of the simplex in any case,
    also where no point is below the target.
    """
    N = A.shape[1]
    w, z = start.x[:N], start.y[:N]
    if _max(A @ center) <= target:
        return center
    with np.errstate(all="ignore"):  # unsound iterates are recognised
        program = SimplexProgram(A, curvature, center, target)
        iterate: Iterate | None = _start_of_projection(program, center, start, slack)
        for _ in range(_MAX_ITER):
            if iterate is None or not iterate.is_sound:
                break
            w, z = iterate.x[:N], iterate.y[:N]
            enough = accuracy * program.price(w) + _SMALLEST_SQUARED_DISTANCE
            if (
                iterate.product <= enough
                and _max(iterate.heights) <= target + slack
                and abs(1.0 - _sum(w)) <= _LARGEST_ERROR_OF_SUM
            ):
                missing = program.missing_in_z(iterate)
                if missing @ missing <= enough:
                    break
            iterate = program.after(iterate)
        return _sparsest(A, w, z, target + slack)


def _start_of_game(
    program: SimplexProgram, shares: FloatArray, multipliers: FloatArray
) -> Iterate | None:
    """Spread a part of a start over all vertices and cuts, most of it over the best.

    In the middle of the way to a solution, shares are inverse to reduced costs and
    multipliers to slacks.
    """
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
    program: SimplexProgram, center: FloatArray, start: Iterate, slack: float
) -> Iterate:
    """Move a point of a game's path towards the center, to just below the target.

    A projection's multipliers add up to about the squared distance to the center
    divided by how far the target is below it; smaller ones are the better start.
    Reduced costs go with them.
    """
    N = program.ones_N.size
    at_center = program.A @ center
    above = _max(at_center) - program.target
    fall = _max(at_center) - _max(start.heights)
    part = min(_START_BEYOND_TARGET * above / fall, 1.0) if fall > 0.0 else 1.0
    w = center + part * (start.x[:N] - center)
    heights = at_center + part * (start.heights - at_center)
    pull = (
        _FIRST_SHARE_OF_MULTIPLIERS
        * (2.0 * program.price(w) + _SMALLEST_SQUARED_DISTANCE)
        / slack
    )
    z = pull * np.maximum(start.y[:N], slack)
    s = np.maximum(program.target - heights, slack)
    x, y = np.concatenate([w, pull * start.x[N:]]), np.concatenate([z, s])
    iterate = program.at(x, y, 0.0, program.target)
    lam = -(w @ program.missing_in_z(iterate)) / _sum(w)
    return iterate._replace(lam=float(lam))


def _sparsest(A: FloatArray, w: FloatArray, z: FloatArray, height: float) -> FloatArray:
    """Drop shares that are on their way to 0, as many as leave all cuts below a height.

    Of a share and its reduced cost, which in a projection have one unit, one is 0 in
    the end; so a share is dropped that is small next to its reduced cost.
    """
    for factor in _DROPPED_SHARES:
        kept = np.where(w > factor * z, w, 0.0)
        if _sum(kept) > 0.0 and _max(A @ kept) <= height * _sum(kept):
            break
    else:
        kept = w
    shares: FloatArray = kept / _sum(kept)
    return shares
