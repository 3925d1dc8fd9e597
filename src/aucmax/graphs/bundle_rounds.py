"""The convex problem of a round, by cutting planes below the mean of all risks."""

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.graphs.problem import GraphProblem, GraphScores
from aucmax.graphs.rounds import ConvexSolution, ConvexSolver
from aucmax.regularizers import L2, BoundedL2
from aucmax.risks.contract import Support
from aucmax.solvers import BundleSolver, Point, Progress, Start, StoppingRule

__all__ = ["Bundle", "GraphObjective"]


class GraphObjective:
    """The mean risk of graphs, with the concave part linear in the weights.

    Its scores are those of all nodes, those of all pairs, and the value of the linear
    part, whose slope is `falling`.
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


class Bundle(ConvexSolver):
    """One cut below the mean risk per iteration, and a line search."""

    def minimize(
        self,
        linear: FloatArray,
        start: FloatArray,
        stopping: StoppingRule,
        history: list[Progress],
    ) -> ConvexSolution:
        """Cut and search the line in turn, with ``-linear`` for the concave part."""
        objective = GraphObjective(self.problem, linear, self.C)
        regularizer: L2 | BoundedL2 = L2()
        if self.first_bounded < self.problem.n_parameters:
            regularizer = BoundedL2(self.first_bounded)
        begin = Start(objective.at(start), history=history)
        found = BundleSolver(stopping).minimize(objective, regularizer, begin)
        return ConvexSolution(
            found.point.parameters,
            found.value,
            found.gap,
            found.converged,
            found.history,
        )
