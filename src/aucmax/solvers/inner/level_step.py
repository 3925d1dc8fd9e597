"""Cuts against the vertices of a hull: a bound, and a point on a level set.

The hull is that of the origin and the unit vectors of either or of one sign, times a
radius. A price for a unit of weight is one more number in the table of cuts.
"""

from typing import NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.regularizers.regularizer import Hull
from aucmax.solvers.inner.simplex_programs import Game, play_game, project_below_target

_MAX_VERTICES_AT_ONCE = 400  # with more, a part of them is at work
_ENTERING_VERTICES = 100  # per round
_MAX_VERTICES_OF_CENTER = 200  # at work from the beginning
_MAX_ROUNDS = 30  # in which vertices enter
_ACCURACY_OF_BOUND = 0.1  # share of the gap, to which the model's minimum is found
_MAX_EXCESS = 0.1  # share of the gap, by which a cut may stay above the target
_ACCURACY_OF_DISTANCE = 0.3  # relative, of half the squared distance to the center


class MasterSolution(NamedTuple):
    """The minimiser of a regularizer plus a piecewise-linear model of the risk."""

    parameters: FloatArray  # where the model's minimum lies
    multipliers: FloatArray  # the cuts' shares there: nonnegative, of sum 1
    lower_bound: float  # the minimum, from the dual: a bound of the true objective


def level_step(
    hull: Hull,
    gradients: FloatArray,
    offsets: FloatArray,
    multipliers: FloatArray,
    center: FloatArray,
    value: float,
    fraction: float,
) -> MasterSolution:
    r"""Bound the model from below, and project a point onto one of its level sets.

    The model is the highest cut, :math:`\max_k (o_k + \langle a_k, w \rangle)`, plus
    the price of the weights. Its minimum over the hull is a matrix game of cuts against
    vertices; the bound is never below that of the `multipliers` given. The target lies
    a `fraction` of the gap below `value`, the objective at the best point, `center`.
    Both are approximate, by a tenth of the gap, which halves the time. Of many vertices
    only those enter that are needed: O(n_cuts * n_parameters) per round.
    """
    table = _Table(gradients, offsets, hull)
    known = table.lowest_point(multipliers)
    gap = value - known
    if not gap > 0.0:
        return MasterSolution(center, multipliers, known)
    table.measure(value, gap)
    game = table.play(multipliers, center)
    bottom = table.lowest_point(game.multipliers)
    if bottom > -1.0:
        multipliers = game.multipliers
    bottom = max(bottom, -1.0)
    target = fraction * bottom
    shares = game.shares
    below = [iterate for top, iterate in game.path if top <= target]
    if bottom < 0.0 and below:
        shares = project_below_target(
            table.matrix,
            target,
            table.shares_of(center),
            table.curvature,
            below[0],
            slack=-_MAX_EXCESS * bottom,
            accuracy=_ACCURACY_OF_DISTANCE,
        )
    return MasterSolution(table.mixture(shares), multipliers, value + gap * bottom)


class _Table:
    """Cuts at vertices, of which a few are at work."""

    # vertex v is coordinate v % N with sign v // N; sign 2 is the origin
    def __init__(self, gradients: FloatArray, offsets: FloatArray, hull: Hull) -> None:
        self.hull = hull
        self.gradients = gradients
        self.offsets = offsets
        self.unit = hull.radius
        self.n_coordinates = gradients.shape[1]
        self.origin = 2 * self.n_coordinates
        self.vertices = np.arange(0)
        self.matrix = np.empty((offsets.size, 0))

    def measure(self, value: float, gap: float) -> None:
        """Measure heights from `value`, in units of the gap: the last bound is -1."""
        self.offsets = (self.offsets - value) / gap
        self.unit = self.hull.radius / gap

    @property
    def curvature(self) -> FloatArray:
        """The price of moving each share."""
        return np.where(self.vertices == self.origin, 0.0, 1.0)

    def lowest_point(self, multipliers: FloatArray) -> float:
        """Return the minimum of the mixed cut."""
        constant = float(multipliers @ self.offsets)
        return constant + float(self._lower(self._slope(multipliers)).min())

    def play(self, multipliers: FloatArray, center: FloatArray) -> Game:
        """Play the game, with more vertices until no other one matters."""
        self._let_in(self._first_vertices(multipliers, center))
        shares = self.shares_of(center)
        for _ in range(_MAX_ROUNDS):
            game = play_game(
                self.matrix,
                shares,
                multipliers,
                ceiling=0.0,
                accuracy=_ACCURACY_OF_BOUND / 2.0,
            )
            multipliers = game.multipliers
            slope = self._slope(multipliers)
            bottom = multipliers @ self.offsets + self._lower(slope).min()
            if game.top - bottom <= -_ACCURACY_OF_BOUND * bottom:
                break
            more = np.setdiff1d(self._lowest_vertices(slope), self.vertices)
            if more.size == 0:
                break
            self._let_in(more)
            shares = np.concatenate([game.shares, np.zeros(more.size)])
        return game

    def shares_of(self, point: FloatArray) -> FloatArray:
        """Return a point as shares of vertices; the origin, or all, have the rest."""
        signs, coordinates = self._parts(self.vertices)
        shares = np.maximum(point[coordinates] * signs, 0.0) / self.hull.radius
        left = 1.0 - shares.sum()
        if self.hull.is_signed:
            shares[self.vertices == self.origin] = max(left, 0.0)
        elif left > 0.0:
            shares += left / shares.size
        normalized: FloatArray = shares / shares.sum()
        return normalized

    def mixture(self, shares: FloatArray) -> FloatArray:
        """Return the point with these shares of vertices."""
        signs, coordinates = self._parts(self.vertices)
        parts = self.hull.radius * shares * signs
        point: FloatArray = np.zeros(self.n_coordinates)
        np.add.at(point, coordinates, parts)
        return point

    def _first_vertices(self, multipliers: FloatArray, center: FloatArray) -> IntArray:
        """Choose the vertices of the center, and those the last shares find low."""
        N = self.n_coordinates
        n_vertices = 2 * N + 1 if self.hull.is_signed else N
        if n_vertices <= _MAX_VERTICES_AT_ONCE:
            return np.arange(n_vertices)
        used, most = np.flatnonzero(center), _MAX_VERTICES_OF_CENTER
        if used.size > most:
            used = used[np.argpartition(-np.abs(center[used]), most)[:most]]
        held = np.where(center[used] < 0.0, used + N, used)
        low = self._lowest_vertices(self._slope(multipliers))
        chosen = np.union1d(held, low)
        return np.append(chosen, self.origin) if self.hull.is_signed else chosen

    def _let_in(self, vertices: IntArray) -> None:
        signs, coordinates = self._parts(vertices)
        heights = self.gradients[:, coordinates] * (self.unit * signs)
        heights += self.offsets[:, None]
        if self.hull.price:
            heights += self.unit * self.hull.price * np.abs(signs)
        self.matrix = np.hstack([self.matrix, heights])
        self.vertices = np.concatenate([self.vertices, vertices])

    def _slope(self, multipliers: FloatArray) -> FloatArray:
        slope: FloatArray = multipliers @ self.gradients
        slope *= self.unit
        return slope

    def _lower(self, slope: FloatArray) -> FloatArray:
        """Return the height of each coordinate's lower vertex."""
        if not self.hull.is_signed:
            return slope
        return np.minimum(self.unit * self.hull.price - np.abs(slope), 0.0)

    def _lowest_vertices(self, slope: FloatArray) -> IntArray:
        lower = self._lower(slope)
        count = min(_ENTERING_VERTICES, lower.size)
        lowest = np.argpartition(lower, count - 1)[:count]
        if self.hull.is_signed:
            lowest[slope[lowest] > 0.0] += self.n_coordinates
        return lowest

    def _parts(self, vertices: IntArray) -> tuple[FloatArray, IntArray]:
        blocks, coordinates = np.divmod(vertices, self.n_coordinates)
        return np.array([1.0, -1.0, 0.0])[blocks], coordinates
