"""Rank the nodes of a graph: scores of nodes, and of neighbours together."""

from aucmax.graphs import total_variation
from aucmax.graphs.graph import Graph, grid_edges
from aucmax.graphs.graph_ranker import GraphRanker
from aucmax.graphs.inference import GraphRanking, rank
from aucmax.graphs.ranking_program import ProgramSolution, solve_program

__all__ = [
    "Graph",
    "GraphRanker",
    "GraphRanking",
    "ProgramSolution",
    "grid_edges",
    "rank",
    "solve_program",
    "total_variation",
]
