"""Total variation on a graph: smooth values along its edges, exactly."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from aucmax._core.validation import BoolArray, FloatArray, IntArray, check_scores
from aucmax.graphs._flow_kernels import fill_blocks, split_into_blocks
from aucmax.graphs._graph_checks import check_edge_weights, check_edges
from aucmax.graphs._precise_kernels import settle_blocks

_MAX_EXPONENT = 900  # of two, in values: then sums of 2**31 of them do not overflow


def prox(values: ArrayLike, edges: ArrayLike, weights: ArrayLike) -> FloatArray:
    r"""Return the exact minimiser of squared distance plus total variation.

    .. math:: \min_x \; \tfrac12 \sum_i (x_i - v_i)^2 + \sum_{(i, j)} w_{ij} |x_i - x_j|

    The solution is piecewise constant: blocks of joined nodes share a value. It holds
    the minimum cuts at every height, hence a whole ranking of the nodes.

    The method is divide and conquer: a maximum flow between the nodes above and below
    the mean of a block cuts it in two, or shows that it has one value. In practice time
    grows little faster than the graph; memory is linear.

    Parameters
    ----------
    values : array-like of shape (n_nodes,)
        The values v to be smoothed.
    edges : array-like of int of shape (n_edges, 2)
        The two nodes of each edge; an edge given twice counts twice.
    weights : array-like of shape (n_edges,)
        The weights w, not negative.

    Returns
    -------
    ndarray of shape (n_nodes,)
        The smoothed values x; bit-equal within a block.

    See Also
    --------
    optimality_gap : A certificate for any candidate.

    References
    ----------
    .. [1] D. S. Hochbaum. An efficient algorithm for image segmentation, Markov random
       fields and related problems. Journal of the ACM 48(4), 2001.
    .. [2] A. Chambolle, J. Darbon. On total variation minimization and surface
       evolution using parametric maximum flows. IJCV 84(3), 2009.

    Examples
    --------
    >>> from aucmax.graphs.total_variation import optimality_gap, prox
    >>> values, edges, weights = [0.0, 1.0, 5.0], [[0, 1], [1, 2]], [1.0, 1.0]
    >>> prox(values, edges, weights).tolist()
    [1.0, 1.0, 4.0]
    >>> optimality_gap([1.0, 1.0, 4.0], values, edges, weights)
    0.0
    """
    v, pairs, w = _checked(values, edges, weights)
    return EdgeNetwork(pairs, v.size).prox(v, w)


def optimality_gap(
    x: ArrayLike, values: ArrayLike, edges: ArrayLike, weights: ArrayLike
) -> float:
    r"""Bound how far x is from the minimum: its value less that of a dual flow.

    With any flow :math:`|f_e| \le w_e` on the edges, and what it leaves of the values,
    :math:`r_i = v_i - \text{outflow}_i`, the value of x is at most

    .. math:: \tfrac12 \|x - r\|^2 + \sum_{e = (i, j)} w_e |x_i - x_j| - f_e (x_i - x_j)

    above the minimum. The flow is chosen so that the second sum is 0, and among nodes
    of equal x by one maximum flow. It is 0 at the solution and only there.

    Parameters
    ----------
    x : array-like of shape (n_nodes,)
        A candidate, compared bit by bit: neighbours that should be equal but differ
        in the last digit have a large gap.
    values, edges, weights : array-like
        As in :func:`prox`.

    Returns
    -------
    float
        Primal value minus dual value, not negative.
    """
    v, pairs, w = _checked(values, edges, weights)
    at = check_scores(x, v.size, name="x")
    rest = EdgeNetwork(pairs, v.size).residual(at, v, w)
    return float(rest @ rest / 2.0)


def _checked(
    values: ArrayLike, edges: ArrayLike, weights: ArrayLike
) -> tuple[FloatArray, IntArray, FloatArray]:
    v = check_scores(values, name="values")
    pairs = check_edges(edges, v.size)
    w = check_edge_weights(weights, len(pairs), "weights", hint="")
    return v, pairs, w


class _Arcs(NamedTuple):
    """Both directions of edges, listed by the place that they leave."""

    begin: IntArray  # of each place, where its arcs begin
    end: IntArray  # and before which they end
    head: IntArray  # of each arc, the place to which it leads
    twin: IntArray  # the opposite arc
    edge: IntArray  # the number of its edge


class EdgeNetwork:
    """Edges between nodes, ready for total variation; an edge may occur repeatedly."""

    def __init__(self, edges: IntArray, n_nodes: int) -> None:
        # a kernel compiles once more for a read-only array
        self.edges = np.require(edges, requirements="W")
        self.n_nodes = n_nodes
        self._order, self._offsets = self._components(self.edges)
        self._arcs = self._arcs_of(np.ones(len(edges), dtype=bool), self._order)

    def prox(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the minimiser: see :func:`prox`."""
        if not len(self.edges):
            return values.copy()
        excess = _excess(values)
        values, weights = np.ldexp(values, -excess), np.ldexp(weights, -excess)
        n, kind = self.n_nodes, self._arcs.head.dtype
        # a second half of each array, to write parts of blocks to
        state = tuple(
            np.concatenate([array, np.empty_like(array)])
            for array in _state(values[self._order], self._arcs, weights)
        )
        label, queue, part, place = np.empty((4, 2 * n), kind)
        moved = np.empty(2 * self._arcs.head.size, kind)
        notes = label, queue, np.zeros(2 * n, dtype=bool), part, place, moved
        todo, solution = np.empty((64, 3), dtype=np.int64), np.empty(n)
        split_into_blocks(self._offsets, state, notes, todo, solution)
        x: FloatArray = np.empty(n)
        x[self._order] = solution  # up to rounding
        block, sums = np.arange(n), np.empty((3, n))
        settle_blocks(x, values, self.edges, weights, block, sums)
        x = sums[0][block]
        return np.ldexp(x, excess)

    def residual(
        self, x: FloatArray, values: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return what the best flow for x leaves of the values, less x."""
        # largest from higher to lower x; among equal ones it evens the rest out
        excess = _excess(x, values, weights)
        x, values = np.ldexp(x, -excess), np.ldexp(values, -excess)
        weights = np.ldexp(weights, -excess)
        first, second = self.edges.T
        rise = x[first] - x[second]
        flow = weights * np.sign(rise)
        rest = values - np.bincount(first, flow, self.n_nodes)
        rest += np.bincount(second, flow, self.n_nodes)
        joined = rise == 0.0
        order, offsets = self._components(self.edges[joined])
        arcs = self._arcs_of(joined, order)
        state = _state(rest[order], arcs, weights)
        label, queue = np.empty((2, order.size), arcs.head.dtype)
        waits = np.zeros(order.size, dtype=bool)
        fill_blocks(offsets, x[order[offsets[:-1]]], state, label, queue, waits)
        rest[order] = state[1]
        return np.ldexp(rest - x, excess)

    def _arcs_of(self, is_used: BoolArray, order: IntArray) -> _Arcs:
        """Return the arcs of some edges between the places of the nodes in order."""
        n_arcs = 2 * int(np.count_nonzero(is_used))
        is_small = max(2 * order.size, 2 * n_arcs) < 2**31
        kind: Any = np.int32 if is_small else np.int64  # large graphs wait for memory
        place = np.empty(self.n_nodes, dtype=kind)
        place[order] = np.arange(order.size, dtype=kind)
        tails = place[self.edges[is_used].ravel()]  # of arcs there and back, by edge
        ones, rows = np.ones(n_arcs, dtype=np.int8), np.arange(n_arcs + 1, dtype=kind)
        # one arc per row: turned over, it lists the arcs of each place, in linear time
        by_arc = sparse.csr_array((ones, tails, rows), shape=(n_arcs, order.size))
        by_place = by_arc.tocsc()
        listed, begin = by_place.indices.astype(kind), by_place.indptr.astype(kind)
        position = np.empty_like(listed)
        position[listed] = np.arange(n_arcs, dtype=kind)
        edge = np.flatnonzero(is_used)[listed >> 1]
        head, twin = tails[listed ^ 1], position[listed ^ 1]
        return _Arcs(begin[:-1], begin[1:], head, twin, edge)

    def _components(self, edges: IntArray) -> tuple[IntArray, IntArray]:
        """Return the nodes component by component, and where each starts."""
        n = self.n_nodes
        if len(edges) == 0:
            return np.arange(n), np.arange(n + 1)
        ones = np.ones(len(edges), dtype=np.int8)
        matrix = sparse.coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n))
        count, labels = connected_components(matrix, directed=False)
        sizes = np.bincount(labels, minlength=count)
        return np.argsort(labels, kind="stable"), np.append(0, np.cumsum(sizes))


def _state(values: FloatArray, arcs: _Arcs, weights: FloatArray) -> tuple[Any, ...]:
    """Return what the kernels of flows call the state, before anything flows."""
    nodes = np.arange(values.size, dtype=arcs.head.dtype)
    return (nodes, values, *(array.copy() for array in arcs[:4]), weights[arcs.edge])


def _excess(*arrays: FloatArray) -> int:
    """Return by which power of two to scale down, so that no sum can overflow."""
    _, exponent = np.frexp(max(np.abs(array).max(initial=0.0) for array in arrays))
    return max(int(exponent) - _MAX_EXPONENT, 0)
