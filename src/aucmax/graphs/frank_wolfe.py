r"""Block-coordinate Frank-Wolfe for structured risks, with a certified gap.

.. math:: \min_w \; \tfrac12 \|w\|^2 + \frac CM \sum_m
          \max_z \big( b_m(z) + \langle a_m(z), w \rangle \big)
          - \langle \hat a_m, w \rangle
"""

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.graphs._plane_kernels import ascend
from aucmax.graphs.problem import GraphProblem
from aucmax.graphs.rounds import ConvexSolution, ConvexSolver
from aucmax.solvers.contract import Progress, StoppingRule

__all__ = ["FrankWolfe", "insert_planes", "weights_at"]

_MOST_PLANES = 50  # per graph
_MOST_NUMBERS = 2**26  # in the planes of all graphs: half a gigabyte
_MOST_SWEEPS = 2000
_LARGEST_SHARE_LEFT = 0.1  # of the gap, still to be gained on known planes
_STEP_TO_OPTIMUM = 0.5  # as a share of the way: there, known planes say too little


class FrankWolfe(ConvexSolver):
    """Frank-Wolfe over the graphs' planes, each found once and kept.

    Finding the best chain of a graph costs far more than a step, so each is kept as a
    plane below the risk of its graph. An iteration finds new planes of all graphs at
    the present weights, which gives the value there, and then takes
    block-coordinate steps over all known planes: graph by graph, from the lowest plane
    in use to the highest, with exact line search. The shares of the planes bound the
    optimum from below. The next planes are found halfway between the best weights
    and those that the known planes make best.
    """

    def __init__(self, problem: GraphProblem, C: float, first_bounded: int) -> None:
        super().__init__(problem, C, first_bounded)
        n_graphs, n = problem.n_graphs, problem.n_parameters
        capacity = max(2, min(_MOST_PLANES, _MOST_NUMBERS // (n_graphs * n)))
        self._slopes = np.zeros((n_graphs, capacity, n))
        self._offsets = np.zeros((n_graphs, capacity))
        self._shares = np.zeros((n_graphs, capacity))
        self._counts = np.zeros(n_graphs, dtype=np.int64)

    def minimize(
        self,
        linear: FloatArray,
        start: FloatArray,
        stopping: StoppingRule,
        history: list[Progress],
    ) -> ConvexSolution:
        """Find planes and mix them in turn, with ``-linear`` for the concave part."""
        watch = stopping.watch(history)
        weights, best = start, start
        value, bound = np.inf, 0.0  # no risk is negative
        while True:
            here = self._touch(weights, linear)
            if here < value:
                best, value = weights, here
            slope = self._mixed_slope() - linear
            enough = _LARGEST_SHARE_LEFT * max(
                value - bound, stopping.tol * max(value, stopping.floor)
            )
            ascend(
                self._slopes,
                self._offsets,
                self._shares,
                self._counts,
                slope,
                self.C,
                self.first_bounded,
                enough / self.C,
                _MOST_SWEEPS,
            )
            slope = self._mixed_slope() - linear
            goal = weights_at(slope, self.C, self.first_bounded)
            offset = np.einsum("mp,mp->", self._offsets, self._shares)
            dual = self.C * offset / len(self._shares) - 0.5 * (goal @ goal)
            bound = max(bound, float(dual))
            if watch.says_stop(self.problem, value, bound):
                break
            weights = best + _STEP_TO_OPTIMUM * (goal - best)
        gap = max(value - bound, 0.0)
        return ConvexSolution(best, value, gap, watch.converged, watch.history)

    def _touch(self, weights: FloatArray, linear: FloatArray) -> float:
        """Find the planes that touch the risk at these weights; return the value."""
        problem = self.problem
        losses, counts = problem.augmented(problem.scores(weights))
        slopes = problem.features(counts)
        insert_planes(
            self._slopes, self._offsets, self._shares, self._counts, slopes, losses
        )
        risk = (losses + slopes @ weights).mean() - linear @ weights
        return float(0.5 * (weights @ weights) + self.C * risk)

    def _mixed_slope(self) -> FloatArray:
        mixed = np.einsum("mp,mpd->d", self._shares, self._slopes)
        return np.asarray(mixed / len(self._shares))


def weights_at(slope: FloatArray, C: float, first_bounded: int) -> FloatArray:
    """Return the weights that minimise the price plus C times a plane."""
    weights = -C * slope
    np.maximum(weights[first_bounded:], 0.0, out=weights[first_bounded:])
    return weights


def insert_planes(
    slopes: FloatArray,
    offsets: FloatArray,
    shares: FloatArray,
    counts: IntArray,
    new_slopes: FloatArray,
    new_offsets: FloatArray,
) -> None:
    """Add a plane to each graph; a full one gives up, or mixes, what it needs least."""
    graphs, capacity = np.arange(len(shares)), shares.shape[1]
    at = np.where(counts < capacity, counts, shares.argmin(axis=1))
    m = np.flatnonzero(shares[graphs, at] > 0.0)
    if m.size:  # each of their planes is in use: mix the two with the smallest shares
        one, two = np.argsort(shares[m], axis=1, kind="stable")[:, :2].T
        total = shares[m, one] + shares[m, two]
        part = shares[m, one] / total
        slopes[m, two] += part[:, np.newaxis] * (slopes[m, one] - slopes[m, two])
        offsets[m, two] += part * (offsets[m, one] - offsets[m, two])
        shares[m, two] = total
    slopes[graphs, at], offsets[graphs, at] = new_slopes, new_offsets
    shares[graphs, at] = counts == 0  # the first plane has the whole share
    np.minimum(counts + 1, capacity, out=counts)
