r"""Training: convex problems round by round, each with a certified gap.

The objective is a difference of convex functions. A round replaces the subtracted one
by its tangent, and solves the remaining convex problem,

.. math:: \min_w \; \tfrac12 \|w\|^2 + \frac CM \sum_m
          \max_z \big( b_m(z) + \langle a_m(z), w \rangle \big)
          - \langle \hat a_m, w \rangle ,

by Frank-Wolfe: an iteration ranks all graphs, which gives a plane below the risk of
each, and takes block-coordinate steps over the planes kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.graphs._plane_kernels import ascend
from aucmax.graphs.graph_problem import Counts, GraphProblem, GraphScores
from aucmax.solvers.solver import Progress, StoppingRule

LOSSES = ("consistent", "fixed", "ramp")
_TIGHTENING = 4.0  # of the tolerance, while the metric still moves
_EDGE_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)  # tried at the start
_MAX_PLANES = 50  # per graph
_MAX_NUMBERS = 2**26  # in the planes of all graphs: half a gigabyte
_MAX_SWEEPS = 2000
_MAX_SHARE_LEFT = 0.1  # of the gap, that steps over known planes may leave
_STEP_TO_OPTIMUM = 0.5  # from the best weights to the optimum over known planes


class ConvexSolution(NamedTuple):
    """The solution of one round; `history` includes earlier rounds."""

    weights: FloatArray  # the best found
    value: float  # the convex objective there
    gap: float  # that minus a certified lower bound
    converged: bool  # whether the gap is within the tolerance
    history: list[Progress]


class RoundsSolution(NamedTuple):
    """The solution of all rounds."""

    weights: FloatArray  # the best ones
    objective: float  # the objective itself there, not the convex bound of it
    last: ConvexSolution  # the last convex problem
    n_rounds: int  # convex problems solved
    settled: bool  # whether the last round no longer lowered the objective


class Tangent(NamedTuple):
    """A tangent of the concave part."""

    weights: FloatArray  # where it touches
    counts: Counts  # its slope: the chains that are subtracted there
    objective: float  # the objective there


def tangent_at(
    problem: GraphProblem, weights: FloatArray, loss: str, C: float
) -> Tangent:
    """Return the tangent that touches at the weights."""
    scores = problem.scores(weights)
    taken = _concave(problem, scores, loss)
    counts = problem.loss_augmented_chains(scores)
    losses = problem.losses(counts)
    risks = (
        losses
        + problem.chain_scores(counts, scores)
        - problem.chain_scores(taken, scores)
    )
    objective = 0.5 * (weights @ weights) + C * risks.mean()
    return Tangent(weights, taken, float(objective))


def best_start(
    problem: GraphProblem, of_nodes: FloatArray, loss: str, C: float
) -> Tangent:
    """Start at weights of nodes, with the edge strength of the lowest objective."""
    # rounds find a local optimum only, and edge weights of 0 may be one
    batch = problem.batch
    per_node = 2.0 * float(batch.edge_features.sum()) / batch.n_nodes
    spread = float(np.std(batch.node_features @ of_nodes))
    strengths = _EDGE_STRENGTHS if per_node > 0.0 and spread > 0.0 else (0.0,)
    tried = []
    for strength in strengths:
        weights = np.full(problem.n_parameters, strength * spread / (per_node or 1.0))
        weights[: of_nodes.size] = of_nodes
        tried.append(tangent_at(problem, weights, loss, C))
    return min(tried, key=lambda tangent: tangent.objective)


def minimize_in_rounds(
    solver: FrankWolfe,
    start: Tangent,
    loss: str,
    stopping: StoppingRule,
    max_rounds: int,
    metric_tol: float | None = None,
) -> RoundsSolution:
    """Replace the concave part by its tangent, minimise, and repeat."""
    # The tangent lies above, so the objective never rises. With metric_tol, settled
    # rounds continue with a tighter tolerance until the metric changes by at most that.
    # At a limit, the last settled weights are the solution.
    stopping, was_stopped = _remember_answer(stopping)
    problem = solver.problem
    weights, tangent, objective = start
    history: list[Progress] = []
    reached: RoundsSolution | None = None
    losses: FloatArray | None = None
    n_rounds = 0
    while True:
        linear = problem.features(tangent).mean(axis=0)
        convex = solver.minimize(linear, weights, stopping, history)
        history = convex.history
        if loss != "fixed" or reached is None:
            n_rounds += 1
        if loss == "fixed":  # the problem stays the same with a tighter tolerance
            found, settled = convex.value, True
        else:
            scores = problem.scores(convex.weights)
            tangent = _concave(problem, scores, loss)
            # how far the old tangent lies above the concave part here
            excess = (
                problem.chain_scores(tangent, scores).mean() - linear @ convex.weights
            )
            found = convex.value - solver.C * max(float(excess), 0.0)
            settled = found >= objective - stopping.tol * max(found, stopping.floor)
        if found < objective or loss == "fixed":
            weights, objective = convex.weights, found
        if settled and convex.converged:
            reached = RoundsSolution(weights, objective, convex, n_rounds, True)
            if metric_tol is None:
                return reached
            before, losses = losses, problem.prediction_losses(weights)
            if before is not None and np.abs(losses - before).mean() <= metric_tol:
                return reached
            stopping = replace(stopping, tol=stopping.tol / _TIGHTENING)
        is_last = n_rounds >= max_rounds and loss != "fixed"
        is_over = is_last or _is_over(stopping, history) or was_stopped()
        if is_over or (settled and not convex.converged):
            if reached is None:
                return RoundsSolution(weights, objective, convex, n_rounds, settled)
            last = reached.last._replace(history=history)
            return reached._replace(last=last, n_rounds=n_rounds)


def _remember_answer(stopping: StoppingRule) -> tuple[StoppingRule, Callable[[], bool]]:
    """Remember whether the callback returned true: that stops all rounds."""
    callback = stopping.callback
    if callback is None:
        return stopping, lambda: False
    answers = [False]

    def report(progress: Progress) -> object:
        answers[0] = bool(callback(progress))
        return answers[0]

    return replace(stopping, callback=report), lambda: answers[0]


def _concave(problem: GraphProblem, scores: GraphScores, loss: str) -> Counts:
    """Return the chains of the subtracted part."""
    if loss == "ramp":
        return problem.best_chains(scores)
    return problem.consistent_chains(scores)


def _is_over(stopping: StoppingRule, history: list[Progress]) -> bool:
    last = history[-1]
    late = stopping.max_time is not None and last.seconds >= stopping.max_time
    return late or last.n_iter >= stopping.max_iter


class FrankWolfe:
    """The convex problem of a round, by Frank-Wolfe over planes that are kept.

    Finding the best chain of a graph costs far more than a step, so each is kept as a
    plane below the risk of its graph. An iteration finds new planes of all graphs,
    which gives the value, and then takes block-coordinate steps over all known planes:
    graph by graph, from the lowest plane in use to the highest, with exact line search.
    The shares of the planes bound the optimum from below. The next weights are halfway
    from the best ones to the optimum over these; from `first_bounded` on they are >= 0.
    """

    def __init__(self, problem: GraphProblem, C: float, first_bounded: int) -> None:
        self.problem = problem
        self.C = C
        self.first_bounded = first_bounded
        n_graphs, n = problem.n_graphs, problem.n_parameters
        capacity = max(2, min(_MAX_PLANES, _MAX_NUMBERS // (n_graphs * n)))
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
        """Minimise with ``-linear`` for the concave part; continue the history."""
        watch, problem = stopping.watch(history), self.problem
        planes = self._slopes, self._offsets, self._shares, self._counts
        weights, best = start, start
        value, bound = np.inf, 0.0  # no risk is negative
        while True:
            counts = problem.loss_augmented_chains(problem.scores(weights))
            slopes, losses = problem.features(counts), problem.losses(counts)
            insert_planes(*planes, slopes, losses)
            risk = (losses + slopes @ weights).mean() - linear @ weights
            here = float(0.5 * (weights @ weights) + self.C * risk)
            if here < value:
                best, value = weights, here
            slope = self._mixed_slope() - linear
            enough = _MAX_SHARE_LEFT * max(
                value - bound, stopping.tol * max(value, stopping.floor)
            )
            bounds = self.C, self.first_bounded, enough / self.C, _MAX_SWEEPS
            ascend(*planes, slope, *bounds)
            goal = weights_at(self._mixed_slope() - linear, self.C, self.first_bounded)
            offset = np.einsum("mp,mp->", self._offsets, self._shares)
            dual = self.C * offset / len(self._shares) - 0.5 * (goal @ goal)
            bound = max(bound, float(dual))
            if watch.should_stop(problem.n_passes, value, bound):
                break
            weights = best + _STEP_TO_OPTIMUM * (goal - best)
        gap = max(value - bound, 0.0)
        return ConvexSolution(best, value, gap, watch.converged, watch.history)

    def _mixed_slope(self) -> FloatArray:
        mixed = np.einsum("mp,mpd->d", self._shares, self._slopes)
        return np.asarray(mixed / len(self._shares))


def weights_at(slope: FloatArray, C: float, first_bounded: int) -> FloatArray:
    """Return the weights that minimise the penalty plus C times a plane."""
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
    """Add a plane to each graph; a full one drops, or mixes, those of least share."""
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
