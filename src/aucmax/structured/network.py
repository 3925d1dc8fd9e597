"""Which nodes are joined: found out once, for many problems on the same edges."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from aucmax._validation import FloatArray, IntArray
from aucmax.structured._flow_kernels import (
    adjacency,
    fill_blocks,
    split_into_blocks,
)
from aucmax.structured._precise_kernels import forest_prox, settle_blocks

__all__ = ["Network"]

_SMALLEST_SHARE_OF_TREES = 0.2  # of all edges
_LARGEST_EXPONENT = 900  # of two, in values: then sums of 2**31 of them do not overflow


class Network:
    """Edges between nodes, ready for total variation; an edge may occur repeatedly.

    Components without cycles are solved by dynamic programming, unless they are few,
    the others by divide and conquer with maximum flows.
    """

    def __init__(self, edges: IntArray, n_nodes: int) -> None:
        # a kernel compiles once more for a read-only array
        edges = np.require(edges, requirements="W")
        self.edges = edges
        self.n_nodes = n_nodes
        is_small = max(n_nodes, 2 * len(edges)) < 2**30
        kind = np.int32 if is_small else np.int64  # large graphs wait for memory
        self._arcs = adjacency(edges.astype(kind, copy=False), n_nodes)
        order, offsets, component = self._components(edges)
        n_edges = np.bincount(component[edges[:, 0]], minlength=offsets.size - 1)
        has_cycle = n_edges >= np.diff(offsets)
        # trees that are few go with the others, rather than have their loops compiled
        if n_edges[~has_cycle].sum() < _SMALLEST_SHARE_OF_TREES * len(edges):
            has_cycle = n_edges > 0
        self._in_tree = ~has_cycle[component[edges[:, 0]]]
        on_cycles = np.repeat(has_cycle, np.diff(offsets))
        self._order = order[on_cycles].astype(kind)
        sizes = np.diff(offsets)[has_cycle]
        self._offsets = np.concatenate([[0], np.cumsum(sizes)])

    def prox(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the minimiser: see :func:`~aucmax.structured.total_variation.prox`."""
        excess = _excess(values)
        values, weights = np.ldexp(values, -excess), np.ldexp(weights, -excess)
        x: FloatArray = values.copy()
        if self._in_tree.any():
            x = forest_prox(values, self.edges[self._in_tree], weights[self._in_tree])
        if self._order.size:
            begin, head, twin, edge = self._arcs
            room = weights[edge]
            split_into_blocks(self._order, self._offsets, x, begin, head, twin, room)
            x = settle_blocks(x, values, self.edges, weights)
        return np.ldexp(x, excess)

    def residual(
        self, x: FloatArray, values: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return what the best flow for x leaves of the values, less x.

        Between different values of x the flow is as large as may be, from the higher
        to the lower; among equal ones it is the one that evens the rest out.
        """
        excess = _excess(x, values, weights)
        x, values = np.ldexp(x, -excess), np.ldexp(values, -excess)
        weights = np.ldexp(weights, -excess)
        first, second = self.edges.T
        rise = x[first] - x[second]
        flow = weights * np.sign(rise)
        rest = values - np.bincount(first, flow, self.n_nodes)
        rest += np.bincount(second, flow, self.n_nodes)
        joined = rise == 0.0
        order, offsets, _ = self._components(self.edges[joined])
        begin, head, twin, edge = self._arcs
        room = np.where(joined[edge], weights[edge], 0.0)
        targets, order = x[order[offsets[:-1]]], order.astype(head.dtype)
        fill_blocks(order, offsets, rest, targets, begin, head, twin, room)
        return np.ldexp(rest - x, excess)

    def _components(self, edges: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Return the nodes component by component, where each starts, and whose."""
        n = self.n_nodes
        if len(edges) == 0:
            everyone = np.arange(n)
            return everyone, np.arange(n + 1), everyone
        ones = np.ones(len(edges), dtype=np.int8)
        matrix = sparse.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n))
        count, labels = connected_components(matrix, directed=False)
        component = labels.astype(np.int64)
        order = np.argsort(component, kind="stable")
        sizes = np.bincount(component, minlength=count)
        return order, np.concatenate([[0], np.cumsum(sizes)]), component


def _excess(*arrays: FloatArray) -> int:
    """Return by which power of two to scale down, so that no sum can overflow."""
    _, exponent = np.frexp(max(np.abs(array).max(initial=0.0) for array in arrays))
    return max(int(exponent) - _LARGEST_EXPONENT, 0)
