r"""The largest margin over all stumps, by an interior-point method.

With stumps H, masses v of the rows or pairs, and their caps u, the margin is

.. math:: \min_{v, \gamma} \gamma \quad\text{s.t.}\quad |H^T P v| \le \gamma, \;
          E v = 1/2, \; 0 \le v \le u,

and the multipliers a of the edges are the weights of the stumps. The Newton step is a
system of as many equations as there are rows, since products over all stumps are sums
along thresholds (:class:`StumpGrid`), or as there are stumps in use. With many rows,
the path begins with few stumps. Its masses are allowed ones after every step, so that
one sweep over all stumps finds those that would raise the margin, and bounds what all
of them can reach. These join at once: with gamma above their edges, the point is
interior to the larger program, too, and the path continues from there.

Legend for this file: v, t = masses, and what is left of their caps; z, y = prices of
these two; a, s = weights of the stumps of both signs, and by how much their edges stay
below gamma; rho = prices of the totals. In the terms of ``interior_point.py``, x = (v,
t, s) and y = (z, y, a).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses.stump_matrices import StumpGrid
from aucmax.margin.margin_problem import MarginResult
from aucmax.margin.masses import TOTAL, Masses
from aucmax.risks.contract import BoundRisk
from aucmax.solvers.inner.interior_point import Direction, mehrotra_step

_FIRST_MARGIN = 2.0  # times the largest edge of even masses
_SHARE_OF_STEP = 0.95  # of the way to the nearest bound
_MAX_REFINED_GAP = 1e-5  # below which solutions are refined, once; edges are <= 1
_N_CORRECTORS = 2  # of centrality, per step
_MAX_IDLE_STEPS = 4  # that improve neither program, over all stumps
_MAX_IDLE_STEPS_OF_FEW = 15  # the same while stumps join
_FIRST_PER_COLUMN = 8  # thresholds, evenly spread, of the first few stumps
_FIRST_STEPS = 4  # before stumps join: the first masses say little
_PEAKS_PER_COLUMN = 6  # stumps of one column that join at once, at most
_MIN_EXCESS = 0.5  # of an edge left out, in terms of the gap of the program
_MIN_SLACK = 0.1  # of the gap, between the largest edge and gamma, when stumps join
_IDLE_WEIGHT = 0.1  # of the mean: stumps below it may go ...
_IDLE_SLACK = 0.1  # of gamma ... if their edge is that far below it
_MAX_STUMPS = 6000  # whose products with each other are kept


def follow_central_path(
    grid: StumpGrid,
    masses: Masses,
    risk: BoundRisk,
    should_stop: Callable[[MarginResult], bool],
    *,
    few_stumps: bool = False,
) -> MarginResult:
    """Return the best weights on the path; with `few_stumps`, stumps join along it."""
    chosen = _first_stumps(grid) if few_stumps else np.arange(grid.n_stumps)
    program = _Program(grid.some(chosen) if few_stumps else grid, masses)
    here: _Iterate | None = program.start()
    bound, scores = np.inf, np.zeros(risk.labels.size)
    found = MarginResult(None, np.zeros(grid.n_stumps), scores, 0.0, bound)
    max_idle_steps = _MAX_IDLE_STEPS_OF_FEW if few_stumps else _MAX_IDLE_STEPS
    n_steps = n_idle = 0
    with np.errstate(all="ignore"):  # a step that is not finite ends the path
        while here is not None and n_idle < max_idle_steps:
            n_idle += 1
            rows = masses.to_rows(here.v)
            edges = grid.edges(rows) if few_stumps else here.edges[0]
            largest = float(np.abs(edges).max())
            if largest < bound:
                found, bound, n_idle = replace(found, row_weights=rows), largest, 0
            scores = program.grid.scores(here.weights)
            margin = -risk.value(scores)
            if margin > found.margin:
                spread = np.zeros(grid.n_stumps)
                spread[chosen] = here.weights
                found = replace(found, weights=spread, scores=scores, margin=margin)
                n_idle = 0
            found.gap = bound - found.margin
            if should_stop(found):
                break
            excess = largest - here.largest_edge
            gap = here.largest_edge - here.value
            if few_stumps and n_steps >= _FIRST_STEPS and excess > _MIN_EXCESS * gap:
                new = grid.peaks(edges, here.largest_edge, _PEAKS_PER_COLUMN)
                kept = ~_is_idle(here)
                if new.size + np.count_nonzero(kept) > _MAX_STUMPS:
                    break
                before, chosen = chosen, np.union1d(chosen[kept], new)
                program = _Program(grid.some(chosen), masses)
                here = _joined(program, here, before, chosen, edges[chosen], largest)
            here = program.step(here)
            n_steps += 1
    return found


def _first_stumps(grid: StumpGrid) -> IntArray:
    """Return the indices of evenly spread stumps of each column."""
    starts = np.searchsorted(grid.column, np.arange(grid.column.max() + 2))
    shares = np.arange(1, _FIRST_PER_COLUMN + 1) / (_FIRST_PER_COLUMN + 1)
    spread = starts[:-1, None] + np.diff(starts)[:, None] * shares
    return np.unique(spread.astype(np.int64)[np.diff(starts) > 0])


@dataclass(frozen=True)
class _Iterate:
    """An interior point of the program and of its dual."""

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
    def primal(self) -> FloatArray:
        """All variables of the program that are above 0."""
        return _flat(self.v, self.t, self.s)

    @property
    def dual(self) -> FloatArray:
        """Those of the dual, in the same order."""
        return _flat(self.z, self.y, self.a)

    @property
    def largest_edge(self) -> float:
        """The largest edge of any stump under the masses."""
        return float(self.edges.max())

    @property
    def weights(self) -> FloatArray:
        """The weights of the stumps, of sum 1 in size; at the start, all are 0."""
        weights = self.a[0] - self.a[1]
        return np.asarray(weights / max(np.abs(weights).sum(), np.finfo(float).tiny))


def _is_idle(here: _Iterate) -> BoolArray:
    """Return which stumps have little weight, and an edge far from the largest."""
    weight, slack = here.a.max(axis=0), here.s.min(axis=0)
    is_light = weight < _IDLE_WEIGHT * weight.mean()
    return np.asarray(is_light & (slack > _IDLE_SLACK * here.gamma))


class _Program:
    """The program over the stumps of a grid and the masses, and steps in it."""

    def __init__(self, grid: StumpGrid, masses: Masses) -> None:
        self.grid = grid
        self.masses = masses

    def start(self) -> _Iterate:
        """Return masses in proportion to their caps, and even weights of stumps."""
        masses, K = self.masses, self.grid.n_stumps
        share = TOTAL / masses.totals(masses.caps)
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
        return self.completed(v, y + excess, y, a, gamma, rho, gamma - _both(edges))

    def step(self, here: _Iterate) -> _Iterate | None:
        """Take one step; None if rounding has spoiled it."""
        x, y = here.primal, here.dual
        try:
            newton = _NewtonOfStumps(self.grid, self.masses, here, float(x @ y))
            (dx, dy, (dgamma, drho)), down, up = mehrotra_step(
                *(x, y, newton.direction),
                share=_SHARE_OF_STEP,
                n_correctors=_N_CORRECTORS,
            )
        except (LinAlgError, ValueError):  # SciPy's error for NaN
            return None
        if not (down > 0.0 and up > 0.0):
            return None
        v, _, s = newton.parts(x + down * dx)
        z, y, a = newton.parts(y + up * dy)
        there = self.completed(
            v, z, y, a, here.gamma + down * dgamma, here.rho + up * drho, s
        )
        is_inside = (there.primal > 0.0).all() and (there.dual > 0.0).all()
        return there if is_inside else None

    def completed(
        self,
        v: FloatArray,
        z: FloatArray,
        y: FloatArray,
        a: FloatArray,
        gamma: float,
        rho: FloatArray,
        s: FloatArray,
    ) -> _Iterate:
        """Return a point with what follows from it."""
        # totals drift by rounding; masses away from their bounds make up for it
        free = v * (self.masses.caps - v)
        missing = TOTAL - self.masses.totals(v)
        v = v + free * self.masses.spread(missing / self.masses.totals(free))
        edges = _both(self.grid.edges(self.masses.to_rows(v)))
        value = float(TOTAL * rho.sum() - np.vdot(self.masses.caps, y)) / a.sum()
        t = self.masses.caps - v
        return _Iterate(v, z, y, a, gamma, rho, s, t, edges, value)


def _joined(
    program: _Program,
    here: _Iterate,
    before: IntArray,
    chosen: IntArray,
    edges: FloatArray,
    largest: float,
) -> _Iterate:
    """Return the point among the stumps chosen now; new ones begin on its level."""
    gamma = max(here.gamma, largest + _MIN_SLACK * (largest - here.value))
    s = gamma - _both(edges)
    a = np.median(here.a * here.s) / s
    _, place, place_before = np.intersect1d(
        chosen, before, assume_unique=True, return_indices=True
    )
    a[:, place] = here.a[:, place_before]
    total = a.sum()
    return program.completed(
        here.v, here.z / total, here.y / total, a / total, gamma, here.rho / total, s
    )


class _NewtonOfStumps:
    r"""The Newton step's equations at one point, reduced to the rows.

    With :math:`\Theta = (z / v + y / t)^{-1}`, the stumps' ratios :math:`w = a / s` of
    both signs, :math:`M = H (w_+ + w_-) H^T` and :math:`x = P\,dv`,

    .. math:: dv = \Theta \big(r + E^T d\rho + P^T (b\, d\gamma - M x) \big),
              \quad b = H (w_+ - w_-)

    so that x is known from :math:`(I + P \Theta P^T M) x = \ldots`, up to the few
    numbers :math:`d\rho` and :math:`d\gamma`, which the sums of masses and weights fix.
    """

    def __init__(
        self, grid: StumpGrid, masses: Masses, here: _Iterate, gap: float
    ) -> None:
        self.grid, self.masses, self.here = grid, masses, here
        self.is_refined = gap < _MAX_REFINED_GAP
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

    def parts(self, flat: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Split a vector of all variables: two for the masses, one for the stumps."""
        n, shape = self.here.v.size, self.here.v.shape
        stumps = flat[2 * n :].reshape(2, -1)
        return flat[:n].reshape(shape), flat[n : 2 * n].reshape(shape), stumps

    def direction(self, aim: FloatArray) -> Direction:
        """Return the step that changes the products by `aim`, to first order."""
        here, masses, theta = self.here, self.masses, self.theta
        aim_z, aim_y, aim_a = self.parts(aim)
        aim_a = aim_a + here.a * self.misfit
        wanted = aim_a / here.s
        force = aim_z / here.v - aim_y / here.t - self.unbalanced
        force -= masses.margins(self.grid.scores(wanted[0] - wanted[1]))
        weighted = theta * force
        first, pushed = self._solved(masses.to_rows(weighted))
        missing = np.empty(masses.n_totals + 1)
        missing[:-1] = TOTAL - masses.totals(here.v) - masses.totals(weighted)
        missing[:-1] += self.of_totals @ pushed
        missing[-1] = 1.0 - here.a.sum() - wanted.sum() - self.slope @ first
        solution = np.asarray(np.linalg.solve(self.system, missing), dtype=np.float64)
        rho, gamma = solution[:-1], float(solution[-1])
        x = first + self.answers @ solution
        pull = masses.margins(gamma * self.slope - self._product(x))
        v = theta * (force + masses.spread(rho) + pull)
        edges = self.grid.edges(x)  # not of P v: the weights must keep their sum
        s = gamma - _both(edges)
        z = (aim_z - here.z * v) / here.v
        y = (aim_y + here.y * v) / here.t
        a = (aim_a - here.a * s) / here.s
        return Direction(_flat(v, -v, s - self.misfit), _flat(z, y, a), (gamma, rho))

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
        if self.is_refined:
            error = b - x - self.masses.between_rows(self.theta, pushed)
            x = x + self.solve(error)
            pushed = self._product(x)
        return x, pushed


def _both(edges: FloatArray) -> FloatArray:
    """Return the edges of the stumps and of their opposites."""
    return np.stack([edges, -edges])


def _flat(*parts: FloatArray) -> FloatArray:
    return np.concatenate([part.ravel() for part in parts])
