"""Graphs in which some neighbours repel each other: a linear program for each."""

from collections.abc import Iterator, Sequence

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.graphs.batch import GraphBatch
from aucmax.graphs.program import ProgramSolution, solve_program
from aucmax.metrics.top_sets import TopSets

__all__ = ["solve_repelling"]


def solve_repelling(
    batch: GraphBatch,
    unary: FloatArray,
    pair_weights: FloatArray,
    top_sets: Sequence[TopSets],
    *,
    nested: bool,
    positives_first: BoolArray | None = None,
) -> Iterator[tuple[slice, slice, ProgramSolution]]:
    """Solve the graphs with a negative pair weight; tell their nodes and edges.

    With `positives_first`, only rankings count in which these nodes come first.
    """
    repels = np.flatnonzero(pair_weights < 0.0)
    owners = np.searchsorted(batch.edge_offsets, repels, side="right") - 1
    for m in np.unique(owners):
        nodes = slice(*batch.node_offsets[m : m + 2].tolist())
        edges = slice(*batch.edge_offsets[m : m + 2].tolist())
        solution = solve_program(
            unary[nodes],
            batch.edges[edges] - nodes.start,
            pair_weights[edges],
            top_sets=top_sets[m],
            nested=nested,
            task="rank" if positives_first is None else "consistent",
            labels=None if positives_first is None else positives_first[nodes],
        )
        yield nodes, edges, solution
