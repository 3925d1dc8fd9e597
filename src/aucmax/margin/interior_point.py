r"""The largest margin over all stumps of few rows, from the inside of its program.

With stumps H, masses v of the rows or pairs, and their caps u, the margin is

.. math:: \min_{v, \gamma} \gamma \quad\text{s.t.}\quad |H^T P v| \le \gamma, \;
          E v = 1/2, \; 0 \le v \le u,

and the multipliers a of the edges are the weights of the stumps. Mehrotra's
predictor-corrector method with Gondzio's correctors of centrality; the Newton step is a
system of as many equations as there are rows, since products over all stumps are sums
along thresholds (:class:`StumpGrid`). A corrector costs little next to the factors of
that system, and saves a third of the steps.

Legend for this file: v, t = masses, and what is left of their caps; z, y = prices of
these two; a, s = weights of the stumps of both signs, and by how much their edges stay
below gamma; rho = prices of the totals.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from aucmax._core.validation import FloatArray
from aucmax.hypotheses import StumpGrid
from aucmax.margin.masses import Masses

__all__ = ["Found", "Inside", "Program", "both", "follow_central_path"]

_FIRST_MARGIN = 2.0  # times the largest edge of even masses
_SHARE_OF_WAY = 0.95  # of a step to the nearest bound
_TOTAL = 0.5  # of the masses
_REFINED_FROM = 1e-5  # the gap below which solutions are refined, once; edges are <= 1
_MOST_CORRECTORS = 2  # of centrality, per step
_LONGER = 0.3  # share of the way by which a corrector is to lengthen a step
_LEAST_GAIN = 0.05  # share of the way that makes a corrector worth its price
_LARGEST_IMBALANCE = 10.0  # of a product that vanishes, against the mean aimed at
_LONGEST_IDLE_STREAK = 4  # steps that better neither program


@dataclass(frozen=True)
class Inside:
    """A point inside of the program and of its dual."""

    v: FloatArray
    z: FloatArray
    y: FloatArray
    a: FloatArray  # of shape (2, n_stumps)
    gamma: float
    rho: FloatArray
    s: FloatArray  # of shape (2, n_stumps)
    # what follows from these, and the program
    t: FloatArray
    edges: FloatArray  # of shape (2, n_stumps), of both signs
    value: float  # the margin that the weights have, at least

    @property
    def largest_edge(self) -> float:
        """The largest edge of any stump under the masses."""
        return float(self.edges.max())

    @property
    def weights(self) -> FloatArray:
        """The weights of the stumps, of sum 1 in size; at the start, all are 0."""
        weights = self.a[0] - self.a[1]
        return np.asarray(weights / max(np.abs(weights).sum(), np.finfo(float).tiny))

    @property
    def complementarity(self) -> float:
        """The sum of all products that vanish at a solution."""
        products = np.vdot(self.a, self.s) + np.vdot(self.z, self.v)
        return float(products + np.vdot(self.y, self.t))


class Found(NamedTuple):
    """The best of the points on the way, of either program."""

    weights: FloatArray  # of the stumps
    value: float  # their margin
    row_weights: FloatArray
    largest_edge: float  # of any stump under these row weights


def follow_central_path(
    grid: StumpGrid,
    masses: Masses,
    margin_of: Callable[[FloatArray], float],
    says_stop: Callable[[Found], bool],
) -> Found:
    """Walk towards the solution until told to stop, or rounding allows no more.

    `margin_of` returns the margin of scores.
    """
    program = Program(grid, masses)
    here: Inside | None = program.start()
    found, n_idle = Found(np.empty(0), -np.inf, np.empty(0), np.inf), 0
    with np.errstate(all="ignore"):  # a step that is not finite ends the walk
        while here is not None and n_idle < _LONGEST_IDLE_STREAK:
            n_idle += 1
            margin = margin_of(grid.scores(here.weights))
            if margin > found.value:
                found = found._replace(weights=here.weights, value=margin)
                n_idle = 0
            if here.largest_edge < found.largest_edge:
                rows = masses.to_rows(here.v)
                found = found._replace(row_weights=rows, largest_edge=here.largest_edge)
                n_idle = 0
            if says_stop(found):
                break
            here = program.step(here)
    return found


class Program:
    """The program over the stumps of a grid and the masses, and steps in it."""

    def __init__(self, grid: StumpGrid, masses: Masses) -> None:
        self.grid = grid
        self.masses = masses

    def start(self) -> Inside:
        """Return masses in proportion to their caps, and even weights of stumps."""
        masses, K = self.masses, self.grid.n_stumps
        share = _TOTAL / masses.totals(masses.caps)
        v = masses.caps * masses.spread(share)
        t = masses.caps - v
        edges = self.grid.edges(masses.to_rows(v))
        gamma = _FIRST_MARGIN * max(float(np.abs(edges).max()), 1e-300)
        mu = gamma / (2.0 * K)
        # prices as central as a constant price of each total allows
        y, z = mu / t, mu / v
        count = masses.totals(np.ones_like(v))
        rho = -masses.totals(z - y) / count
        excess = -masses.spread(rho)
        y = np.maximum(y, z - excess)
        a = np.full((2, K), 0.5 / K)
        return self.completed(v, y + excess, y, a, gamma, rho, gamma - both(edges))

    def step(self, here: Inside) -> Inside | None:
        """Take one step; None if rounding has spoiled it."""
        try:
            return self._step(here)
        except (LinAlgError, ValueError):  # SciPy's complaint about NaN
            return None

    def _step(self, here: Inside) -> Inside | None:
        newton = _NewtonSystem(self.grid, self.masses, here)
        targets = -here.a * here.s, -here.z * here.v, -here.y * here.t
        predicted = newton.direction(*targets)
        gap = here.complementarity
        left = sum(map(np.sum, predicted.products(here, *predicted.longest(here, 1.0))))
        mu = (left / gap) ** 3 * gap / (here.a.size + 2 * here.v.size)
        targets = (
            targets[0] + mu - predicted.a * predicted.s,
            targets[1] + mu - predicted.z * predicted.v,
            targets[2] + mu + predicted.y * predicted.v,
        )
        corrected = newton.direction(*targets)
        down, up = corrected.longest(here, _SHARE_OF_WAY)
        for _ in range(_MOST_CORRECTORS):
            products = corrected.products(here, down + _LONGER, up + _LONGER)
            a, z, y = (_into_range(product, mu) for product in products)
            targets = targets[0] + a, targets[1] + z, targets[2] + y
            other = newton.direction(*targets)
            longer = other.longest(here, _SHARE_OF_WAY)
            if sum(longer) < down + up + _LEAST_GAIN:
                break
            corrected, (down, up) = other, longer
        if not (down > 0.0 and up > 0.0):
            return None
        there = self.completed(
            here.v + down * corrected.v,
            here.z + up * corrected.z,
            here.y + up * corrected.y,
            here.a + up * corrected.a,
            here.gamma + down * corrected.gamma,
            here.rho + up * corrected.rho,
            here.s + down * corrected.s,
        )
        inner = (there.v, there.t, there.z, there.y, there.a, there.s)
        return there if all((part > 0.0).all() for part in inner) else None

    def completed(
        self,
        v: FloatArray,
        z: FloatArray,
        y: FloatArray,
        a: FloatArray,
        gamma: float,
        rho: FloatArray,
        s: FloatArray,
    ) -> Inside:
        """Return a point with what follows from it."""
        # totals drift by rounding; masses away from their bounds make up for it
        free = v * (self.masses.caps - v)
        missing = _TOTAL - self.masses.totals(v)
        v = v + free * self.masses.spread(missing / self.masses.totals(free))
        edges = self.grid.edges(self.masses.to_rows(v))
        value = float(_TOTAL * rho.sum() - np.vdot(self.masses.caps, y)) / a.sum()
        return Inside(
            v,
            z,
            y,
            a,
            gamma,
            rho,
            s,
            self.masses.caps - v,
            both(edges),
            value,
        )


@dataclass(frozen=True)
class _Direction:
    v: FloatArray
    z: FloatArray
    y: FloatArray
    a: FloatArray
    s: FloatArray
    gamma: float
    rho: FloatArray

    def longest(self, here: Inside, share: float) -> tuple[float, float]:
        """Return how far masses and prices may go, at most 1."""
        to_bound = min(
            _way(here.v, self.v), _way(here.t, -self.v), _way(here.s, self.s)
        )
        down = min(share * to_bound, 1.0)
        to_bound = min(_way(here.a, self.a), _way(here.z, self.z), _way(here.y, self.y))
        return down, min(share * to_bound, 1.0)

    def products(
        self, here: Inside, down: float, up: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the products that vanish at a solution, after steps of at most 1."""
        down, up = min(down, 1.0), min(up, 1.0)
        return (
            (here.a + up * self.a) * (here.s + down * self.s),
            (here.z + up * self.z) * (here.v + down * self.v),
            (here.y + up * self.y) * (here.t - down * self.v),
        )


def _into_range(products: FloatArray, mu: float) -> FloatArray:
    """Return what brings products near mu, but lowers none by much."""
    most = _LARGEST_IMBALANCE * mu
    near = np.clip(products, mu / _LARGEST_IMBALANCE, most)
    return np.asarray(np.maximum(near - products, -most))


def both(edges: FloatArray) -> FloatArray:
    """Return the edges of the stumps and of their opposites."""
    return np.stack([edges, -edges])


def _way(place: FloatArray, direction: FloatArray) -> float:
    """Return how far it is to the first bound; NaN if that is not known."""
    fastest = float((direction / place).min())
    if fastest >= 0.0:
        return np.inf
    return -1.0 / fastest


class _NewtonSystem:
    r"""The Newton step's equations at one point, reduced to the rows.

    With :math:`\Theta = (z / v + y / t)^{-1}`, the stumps' ratios :math:`w = a / s` of
    both signs, :math:`M = H (w_+ + w_-) H^T` and :math:`x = P\,dv`,

    .. math:: dv = \Theta \big(r + E^T d\rho + P^T (b\, d\gamma - M x) \big),
              \quad b = H (w_+ - w_-)

    so that x is known from :math:`(I + P \Theta P^T M) x = \ldots`, up to the few
    numbers :math:`d\rho` and :math:`d\gamma`, which the sums of masses and weights fix.
    """

    def __init__(self, grid: StumpGrid, masses: Masses, here: Inside) -> None:
        self.grid, self.masses, self.here = grid, masses, here
        ratios = here.a / here.s
        self.theta = 1.0 / (here.z / here.v + here.y / here.t)
        self.ratios = ratios.sum(axis=0)
        self.slope = grid.scores(ratios[0] - ratios[1])
        self.solve = masses.solver(self.theta, grid, self.ratios)
        n = masses.n_totals
        units = np.eye(n)
        self.of_totals = np.stack(
            [masses.to_rows(self.theta * masses.spread(unit)) for unit in units]
        )
        known = *self.of_totals, masses.between_rows(self.theta, self.slope)
        self.answers, resistance = self._solved(np.column_stack(known))
        resistance[:, n] -= self.slope
        # rows: the totals, and the sum of the stumps' weights
        self.system = np.empty((n + 1, n + 1))
        self.system[:n] = -self.of_totals @ resistance
        for k, unit in enumerate(units):
            self.system[:n, k] += masses.totals(self.theta * masses.spread(unit))
        self.system[n] = self.slope @ self.answers
        self.system[n, n] -= ratios.sum()
        self.misfit = here.s - (here.gamma - here.edges)  # by rounding
        scores = grid.scores(here.a[0] - here.a[1])
        self.unbalanced = (
            masses.margins(scores) - masses.spread(here.rho) - here.z + here.y
        )

    def _product(self, x: FloatArray) -> FloatArray:
        """Return M x, with more digits than the matrix itself has."""
        columns = [
            self.grid.scores(self.ratios * self.grid.edges(column))
            for column in np.atleast_2d(x.T)
        ]
        return np.array(columns).T.reshape(x.shape)

    def _solved(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the x with (I + P Theta P^T M) x = b, of many columns, and M x."""
        x = self.solve(b)
        pushed = self._product(x)
        if self.here.complementarity < _REFINED_FROM:
            error = b - x - self.masses.between_rows(self.theta, pushed)
            x = x + self.solve(error)
            pushed = self._product(x)
        return x, pushed

    def direction(
        self, target_a: FloatArray, target_z: FloatArray, target_y: FloatArray
    ) -> _Direction:
        """Return the step that changes the products by the targets, to first order."""
        here, masses, theta = self.here, self.masses, self.theta
        target_a = target_a + here.a * self.misfit
        wanted = target_a / here.s
        force = target_z / here.v - target_y / here.t - self.unbalanced
        force -= masses.margins(self.grid.scores(wanted[0] - wanted[1]))
        weighted = theta * force
        first, pushed = self._solved(masses.to_rows(weighted))
        missing = np.empty(masses.n_totals + 1)
        missing[:-1] = _TOTAL - masses.totals(here.v) - masses.totals(weighted)
        missing[:-1] += self.of_totals @ pushed
        missing[-1] = 1.0 - here.a.sum() - wanted.sum() - self.slope @ first
        solution = np.asarray(np.linalg.solve(self.system, missing), dtype=np.float64)
        rho, gamma = solution[:-1], float(solution[-1])
        x = first + self.answers @ solution
        pull = masses.margins(gamma * self.slope - self._product(x))
        v = theta * (force + masses.spread(rho) + pull)
        edges = self.grid.edges(x)  # not of P v: the weights must keep their sum
        s = gamma - both(edges)
        return _Direction(
            v,
            (target_z - here.z * v) / here.v,
            (target_y + here.y * v) / here.t,
            (target_a - here.a * s) / here.s,
            s - self.misfit,
            gamma,
            rho,
        )
