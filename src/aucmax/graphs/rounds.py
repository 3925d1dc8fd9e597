"""Difference of convex functions: round by round, a convex problem each."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.graphs.problem import Counts, GraphProblem, GraphScores
from aucmax.solvers.contract import Progress, StoppingRule

__all__ = [
    "LOSSES",
    "ConvexSolution",
    "ConvexSolver",
    "RoundsSolution",
    "Tangent",
    "best_start",
    "minimize_in_rounds",
    "tangent_at",
]

LOSSES = ("consistent", "fixed", "ramp")
_TIGHTENING = 4.0  # of the tolerance, while the metric still moves
_EDGE_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)  # tried at the start


class ConvexSolution(NamedTuple):
    """The solution of one round; `history` includes earlier rounds."""

    weights: FloatArray  # the best found
    value: float  # the convex objective there
    gap: float  # that minus a certified lower bound
    converged: bool  # whether the gap is within the tolerance
    history: list[Progress]


class ConvexSolver(ABC):
    """Minimises the convex problem of a round.

    C is the weight of the mean risk. Weights from `first_bounded` on are not below 0.
    """

    def __init__(self, problem: GraphProblem, C: float, first_bounded: int) -> None:
        self.problem = problem
        self.C = C
        self.first_bounded = first_bounded

    @abstractmethod
    def minimize(
        self,
        linear: FloatArray,
        start: FloatArray,
        stopping: StoppingRule,
        history: list[Progress],
    ) -> ConvexSolution:
        """Minimise with the concave part of the mean risk replaced by ``-linear``.

        Iterations and time go on from those of the history.
        """


class RoundsSolution(NamedTuple):
    """What the rounds have found."""

    weights: FloatArray  # the best ones
    objective: float  # the objective itself there, not the convex bound of it
    last: ConvexSolution  # the last convex problem
    n_rounds: int  # convex problems solved
    settled: bool  # whether a further round had nothing to gain


class Tangent(NamedTuple):
    """Where the concave part is replaced by a tangent.

    Attributes
    ----------
    weights : ndarray of shape (n_parameters,)
        Where it touches.
    counts : Counts
        Its slope: the chains that the concave part takes away there.
    objective : float
        The objective there.
    """

    weights: FloatArray
    counts: Counts
    objective: float


def tangent_at(
    problem: GraphProblem, weights: FloatArray, loss: str, C: float
) -> Tangent:
    """Return the tangent that touches at the weights."""
    scores = problem.scores(weights)
    taken = _concave(problem, scores, loss)
    losses, counts = problem.augmented(scores)
    risks = losses + problem.worth(counts, scores) - problem.worth(taken, scores)
    objective = 0.5 * (weights @ weights) + C * risks.mean()
    return Tangent(weights, taken, float(objective))


def best_start(
    problem: GraphProblem, of_nodes: FloatArray, loss: str, C: float
) -> Tangent:
    """Start at weights of nodes, with edges of the strength that suits them best.

    Rounds find a local optimum only, and without any pull of the edges there may be
    one. The strengths tried give a node's edges together some multiple of what the
    scores of nodes differ by.
    """
    batch = problem.batch
    pull = 2.0 * float(batch.edge_features.sum()) / batch.n_nodes
    spread = float(np.std(batch.node_features @ of_nodes))
    strengths = _EDGE_STRENGTHS if pull > 0.0 and spread > 0.0 else (0.0,)
    tried = []
    for strength in strengths:
        weights = np.full(problem.n_parameters, strength * spread / (pull or 1.0))
        weights[: of_nodes.size] = of_nodes
        tried.append(tangent_at(problem, weights, loss, C))
    return min(tried, key=lambda tangent: tangent.objective)


def minimize_in_rounds(
    solver: ConvexSolver,
    start: Tangent,
    loss: str,
    stopping: StoppingRule,
    max_rounds: int,
    metric_tol: float | None = None,
) -> RoundsSolution:
    """Replace the concave part by its tangent, minimise, and begin again.

    The tangent lies above, so the objective never rises. With `metric_tol`, what has
    settled goes on with a tighter tolerance until the metric of the training graphs
    moves by no more, on average over them. If that takes too long, the last that had
    settled is the solution.
    """
    stopping, is_asked = _listening(stopping)
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
        if loss == "fixed":  # a tighter tolerance is no other problem
            found, settled = convex.value, True
        else:
            scores = problem.scores(convex.weights)
            tangent = _concave(problem, scores, loss)
            # how far the old tangent lies above the concave part, which the new touches
            excess = problem.worth(tangent, scores).mean() - linear @ convex.weights
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
        is_over = is_last or _is_over(stopping, history) or is_asked()
        if is_over or (settled and not convex.converged):
            if reached is None:
                return RoundsSolution(weights, objective, convex, n_rounds, settled)
            last = reached.last._replace(history=history)
            return reached._replace(last=last, n_rounds=n_rounds)


def _listening(stopping: StoppingRule) -> tuple[StoppingRule, Callable[[], bool]]:
    """Keep in mind whether the callback has asked to stop: not one round, but all."""
    callback = stopping.callback
    if callback is None:
        return stopping, lambda: False
    answers = [False]

    def report(progress: Progress) -> object:
        answers[0] = bool(callback(progress))
        return answers[0]

    return replace(stopping, callback=report), lambda: answers[0]


def _concave(problem: GraphProblem, scores: GraphScores, loss: str) -> Counts:
    if loss == "ramp":
        return problem.predicted(scores)
    return problem.consistent(scores)


def _is_over(stopping: StoppingRule, history: list[Progress]) -> bool:
    last = history[-1]
    late = stopping.max_time is not None and last.seconds >= stopping.max_time
    return late or last.n_iter >= stopping.max_iter
