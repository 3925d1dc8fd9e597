"""Rank the nodes of a graph: scores of nodes, and of neighbours together."""

from aucmax.graphs import inference, total_variation
from aucmax.graphs.graph import Graph, as_graph, grid_edges
from aucmax.graphs.graph_batch import GraphBatch
from aucmax.graphs.graph_ranker import GraphRanker
from aucmax.graphs.inference import GraphRanking, rank
from aucmax.graphs.ranking_program import ProgramSolution, solve_program

__all__ = [
    "Graph",
    "GraphBatch",
    "GraphRanker",
    "GraphRanking",
    "ProgramSolution",
    "as_graph",
    "grid_edges",
    "inference",
    "rank",
    "solve_program",
    "total_variation",
]
