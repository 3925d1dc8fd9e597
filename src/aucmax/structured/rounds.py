"""Difference of convex functions: round by round, a convex problem each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from aucmax._validation import FloatArray
from aucmax.solvers.base import Progress, StoppingRule
from aucmax.structured.problem import Counts, GraphProblem, GraphScores

__all__ = [
    "LOSSES",
    "Convex",
    "ConvexSolver",
    "Rounds",
    "minimize_in_rounds",
    "start_weights",
]

LOSSES = ("consistent", "fixed", "ramp")
_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)  # of edges, tried at the start


class Convex(NamedTuple):
    """The solution of one round.

    Attributes
    ----------
    weights : ndarray of shape (n_parameters,)
        The best weights found.
    value : float
        The convex objective there.
    gap : float
        That minus a certified lower bound.
    converged : bool
        Whether the gap is within the tolerance.
    history : list of Progress
        One record an iteration, those of earlier rounds included.
    """

    weights: FloatArray
    value: float
    gap: float
    converged: bool
    history: list[Progress]


class ConvexSolver(Protocol):
    """Minimises the convex problem of a round."""

    def minimize(
        self,
        linear: FloatArray,
        start: FloatArray,
        stopping: StoppingRule,
        history: list[Progress],
    ) -> Convex:
        """Minimise with the concave part replaced by ``-linear``, a row a graph."""


@dataclass(frozen=True)
class Rounds:
    """What the rounds have found.

    Attributes
    ----------
    weights : ndarray of shape (n_parameters,)
        The best weights.
    objective : float
        The objective itself there, not the convex bound of it.
    last : Convex
        The last convex problem.
    n_rounds : int
        Convex problems solved.
    settled : bool
        Whether a further round had nothing to gain.
    """

    weights: FloatArray
    objective: float
    last: Convex
    n_rounds: int
    settled: bool


def start_weights(
    problem: GraphProblem, of_nodes: FloatArray, loss: str, regularization: float
) -> FloatArray:
    """Return weights of nodes with edges of the strength that suits them best.

    Rounds find a local optimum only, and without any pull of the edges there may be
    one. The strengths tried give a node's edges together some multiple of what the
    scores of nodes differ by.
    """
    d, batch = problem.n_node_features, problem.batch
    start = np.zeros(problem.n_parameters)
    start[:d] = of_nodes
    pull = 2.0 * float(batch.edge_features.sum()) / batch.n_nodes
    spread = float(np.std(batch.node_features @ of_nodes))
    if not (pull > 0.0 and spread > 0.0):
        return start
    best, lowest = start, np.inf
    for strength in _STRENGTHS:
        tried = start.copy()
        tried[d:] = strength * spread / pull
        _, objective = _tangent_at(problem, tried, loss, regularization)
        if objective < lowest:
            best, lowest = tried, objective
    return best


def minimize_in_rounds(
    problem: GraphProblem,
    solver: ConvexSolver,
    start: FloatArray,
    loss: str,
    regularization: float,
    stopping: StoppingRule,
    max_rounds: int,
) -> Rounds:
    """Replace the concave part by its tangent, minimise, and begin again.

    The tangent lies above, so the objective never rises.
    """
    stopping, is_asked = _listening(stopping)
    weights = start
    tangent, objective = _tangent_at(problem, weights, loss, regularization)
    history: list[Progress] = []
    n_rounds, settled = 0, False
    while True:
        linear = problem.features(tangent)
        convex = solver.minimize(linear, weights, stopping, history)
        history = convex.history
        n_rounds += 1
        if loss == "fixed":
            return Rounds(convex.weights, convex.value, convex, n_rounds, True)
        scores = problem.scores(convex.weights)
        tangent = _concave(problem, scores, loss)
        found = convex.value - _tightening(
            problem, tangent, scores, linear.mean(axis=0) @ convex.weights
        )
        settled = found >= objective - stopping.tol * max(found, stopping.floor)
        if found < objective:
            weights, objective = convex.weights, found
        is_last = n_rounds >= max_rounds or _is_over(stopping, history)
        if settled or is_last or is_asked():
            return Rounds(weights, objective, convex, n_rounds, settled)


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


def _tangent_at(
    problem: GraphProblem, weights: FloatArray, loss: str, regularization: float
) -> tuple[Counts, float]:
    """Return the tangent of the concave part, and the objective."""
    scores = problem.scores(weights)
    tangent = _concave(problem, scores, loss)
    losses, counts = problem.augmented(scores)
    risks = losses + problem.worth(counts, scores) - problem.worth(tangent, scores)
    return tangent, float(regularization / 2 * (weights @ weights) + risks.mean())


def _tightening(
    problem: GraphProblem, tangent: Counts, scores: GraphScores, before: float
) -> float:
    """Return by how much the new tangent lies below the old one, where it touches."""
    now = problem.worth(tangent, scores).mean()
    return float(max(now - before, 0.0))


def _is_over(stopping: StoppingRule, history: list[Progress]) -> bool:
    last = history[-1]
    late = stopping.max_time is not None and last.seconds >= stopping.max_time
    return late or last.n_iter >= stopping.max_iter
