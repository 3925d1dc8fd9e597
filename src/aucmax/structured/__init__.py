"""Rank the nodes of a graph: scores of nodes, and of neighbours together."""

from aucmax.structured import inference, total_variation
from aucmax.structured.batch import GraphBatch
from aucmax.structured.graph import Graph, as_graph, grid_edges
from aucmax.structured.graph_ranker import GraphRanker
from aucmax.structured.inference import Ranking, rank
from aucmax.structured.program import ProgramSolution, solve_program

__all__ = [
    "Graph",
    "GraphBatch",
    "GraphRanker",
    "ProgramSolution",
    "Ranking",
    "as_graph",
    "grid_edges",
    "inference",
    "rank",
    "solve_program",
    "total_variation",
]
