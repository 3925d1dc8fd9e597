"""The convex problem of a round, by cutting planes below the mean of all risks."""

from dataclasses import replace

import numpy as np

from aucmax._validation import FloatArray
from aucmax.regularizers import L2, BoundedL2
from aucmax.risks.base import Support
from aucmax.solvers import BundleSolver, Point, Progress, Start, StoppingRule
from aucmax.structured.problem import GraphProblem, GraphScores
from aucmax.structured.rounds import Convex

__all__ = ["Bundle", "GraphObjective"]


class GraphObjective:
    r"""The mean risk of graphs, with the concave part linear in the weights.

    Its scores are those of all nodes, those of all pairs, and the value of the linear
    part.

    Parameters
    ----------
    problem : GraphProblem
        The labelled graphs.
    falling : ndarray of shape (n_parameters,)
        The slope of what is taken away.
    C : float
        The weight of the risk.
    """

    least_risk = 0.0
    is_smoothable = False

    def __init__(self, problem: GraphProblem, falling: FloatArray, C: float) -> None:
        self.problem = problem
        self.falling = falling
        self.C = C

    @property
    def n_passes(self) -> float:
        """How often best chains of all graphs were found."""
        return self.problem.n_passes

    @property
    def n_parameters(self) -> int:
        """Number of weights of nodes and edges."""
        return self.problem.n_parameters

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters."""
        nodes, pairs = self.problem.scores(parameters)
        taken = [self.falling @ parameters]
        return Point(parameters, np.concatenate([nodes, pairs, taken]))

    def risk_value(self, point: Point) -> float:
        """Evaluate the risk."""
        return self.support(point).value

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk, and its slope over scores."""
        n_nodes = self.problem.batch.n_nodes
        scores = GraphScores(point.scores[:n_nodes], point.scores[n_nodes:-1])
        losses, counts = self.problem.augmented(scores)
        slope = np.concatenate([counts.nodes, counts.edges, [0.0]])
        slope /= self.problem.n_graphs
        slope[-1] = -1.0
        offset = float(losses.mean())
        return Support(offset + float(slope @ point.scores), slope, offset)

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over parameters."""
        batch = self.problem.batch
        slope, n_nodes = support.subgradient, batch.n_nodes
        nodes = slope[:n_nodes] @ batch.node_features
        edges = slope[n_nodes:-1] @ batch.edge_features
        pulled: FloatArray = np.concatenate([nodes, edges])
        pulled += slope[-1] * self.falling
        return pulled


class Bundle:
    """One cut below the mean risk an iteration, and a line search.

    Parameters
    ----------
    problem : GraphProblem
        The labelled graphs.
    regularization : float
        The price of the weights.
    first_bounded : int
        Weights from this one on are not below 0.
    """

    def __init__(
        self, problem: GraphProblem, regularization: float, first_bounded: int
    ) -> None:
        self.problem = problem
        self.regularization = regularization
        self.regularizer: L2 | BoundedL2 = L2()
        if first_bounded < problem.n_parameters:
            self.regularizer = BoundedL2(first_bounded)

    def minimize(
        self,
        linear: FloatArray,
        start: FloatArray,
        stopping: StoppingRule,
        history: list[Progress],
    ) -> Convex:
        """Minimise with the concave part replaced by ``-linear``, a row a graph."""
        scale = self.regularization
        objective = GraphObjective(self.problem, linear.mean(axis=0), 1.0 / scale)
        begin = Start(objective.at(start), history=history)
        solver = BundleSolver(_in_units(stopping, scale))
        found = solver.minimize(objective, self.regularizer, begin)
        fresh = [_scaled(step, scale) for step in found.history[len(history) :]]
        return Convex(
            found.point.parameters,
            scale * found.value,
            scale * found.gap,
            found.converged,
            [*history, *fresh],
        )


def _scaled(step: Progress, scale: float) -> Progress:
    return step._replace(value=scale * step.value, gap=scale * step.gap)


def _in_units(stopping: StoppingRule, scale: float) -> StoppingRule:
    """Return the rule for an objective divided by the scale; it tells of the whole."""
    callback = stopping.callback
    if callback is None:
        return replace(stopping, floor=stopping.floor / scale)
    return replace(
        stopping,
        floor=stopping.floor / scale,
        callback=lambda step: callback(_scaled(step, scale)),
    )
