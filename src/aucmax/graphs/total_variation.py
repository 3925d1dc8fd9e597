"""Total variation on a graph: smooth values along its edges, exactly."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from aucmax._core.validation import FloatArray, IntArray, check_scores
from aucmax.graphs._flow_kernels import split_into_blocks
from aucmax.graphs._graph_checks import check_edge_weights, check_edges

MAX_VALUE = 1e200  # sums of many values and weights stay far from overflow


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

    References
    ----------
    .. [1] D. S. Hochbaum. An efficient algorithm for image segmentation, Markov random
       fields and related problems. Journal of the ACM 48(4), 2001.
    .. [2] A. Chambolle, J. Darbon. On total variation minimization and surface
       evolution using parametric maximum flows. IJCV 84(3), 2009.

    Examples
    --------
    >>> from aucmax.graphs.total_variation import prox
    >>> prox([0.0, 1.0, 5.0], [[0, 1], [1, 2]], [1.0, 1.0]).tolist()
    [1.0, 1.0, 4.0]
    """
    v = check_scores(values, name="values")
    pairs = check_edges(edges, v.size)
    w = check_edge_weights(weights, len(pairs), "weights", hint="")
    largest = max(np.abs(v).max(), w.max(initial=0.0))
    if largest > MAX_VALUE:
        raise ValueError(
            f"values and weights must be at most {MAX_VALUE:g}, got {largest:g}: their "
            "sums overflow. Divide all of them by one number."
        )
    return EdgeNetwork(pairs, v.size).prox(v, w)


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
        self.edges = edges
        self.n_nodes = n_nodes
        self.order, self.offsets = self._components()
        self._arcs = self._list_arcs()

    def prox(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the minimiser: see :func:`prox`."""
        if not len(self.edges):
            return values.copy()
        n, dtype = self.n_nodes, self._arcs.head.dtype
        # a second half of each array, to write parts of blocks to
        state = tuple(
            np.concatenate([array, np.empty_like(array)])
            for array in self.state(values, weights)
        )
        label, queue, part, place = np.empty((4, 2 * n), dtype)
        moved = np.empty(2 * self._arcs.head.size, dtype)
        notes = label, queue, np.zeros(2 * n, dtype=bool), part, place, moved
        todo = np.empty((64, 3), dtype=np.int64)
        block = np.empty(n, dtype=np.int64)
        split_into_blocks(self.offsets, state, notes, todo, block)
        is_start = np.zeros(n, dtype=np.int64)
        is_start[block] = 1
        number = np.empty_like(block)
        number[self.order] = (np.cumsum(is_start) - 1)[block]
        return self._block_values(number, values, weights)

    def state(self, values: FloatArray, weights: FloatArray) -> tuple[Any, ...]:
        """Return what the kernels of flows call the state, before anything flows."""
        arcs = self._arcs
        nodes = np.arange(self.n_nodes, dtype=arcs.head.dtype)
        copies = (array.copy() for array in arcs[:4])
        return (nodes, values[self.order], *copies, weights[arcs.edge])

    def _block_values(
        self, block: IntArray, values: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return the value of each node's block, given that higher ones come first.

        It is the mean of the nodes' values, less the weights of edges to lower blocks,
        plus those of edges to higher ones. Neighbours whose values are in the wrong
        order were separated by rounding alone, and become one block.
        """
        first, second = self.edges.T
        rise = np.sign(block[second] - block[first])
        while True:
            a, b = block[first], block[second]
            flow = np.where(a != b, rise * weights, 0.0)
            remainder = values - np.bincount(first, flow, values.size)
            remainder += np.bincount(second, flow, values.size)
            size = np.bincount(block)
            x: FloatArray = np.bincount(block, remainder) / size
            x += np.bincount(block, remainder - x[block]) / size  # less rounding
            wrong = (a != b) & (rise * (x[a] - x[b]) < 0.0)
            if not wrong.any():
                return x[block]
            joined = (np.ones(np.count_nonzero(wrong)), (a[wrong], b[wrong]))
            matrix = sparse.coo_array(joined, shape=(x.size, x.size))
            _, labels = connected_components(matrix, directed=False)
            block = labels.astype(np.int64)[block]

    def _list_arcs(self) -> _Arcs:
        """Return both directions of the edges between the places of the nodes."""
        n_arcs = 2 * len(self.edges)
        is_small = 2 * max(self.n_nodes, n_arcs) < 2**31
        dtype: Any = np.int32 if is_small else np.int64  # large graphs wait for memory
        place = np.empty(self.n_nodes, dtype=dtype)
        place[self.order] = np.arange(self.n_nodes, dtype=dtype)
        tails = place[self.edges.ravel()]  # of arcs there and back, by edge
        ones, rows = np.ones(n_arcs, dtype=np.int8), np.arange(n_arcs + 1, dtype=dtype)
        # one arc per row: turned over, it lists the arcs of each place, in linear time
        by_arc = sparse.csr_array((ones, tails, rows), shape=(n_arcs, self.n_nodes))
        by_place = by_arc.tocsc()
        listed, begin = by_place.indices.astype(dtype), by_place.indptr.astype(dtype)
        position = np.empty_like(listed)
        position[listed] = np.arange(n_arcs, dtype=dtype)
        head, twin = tails[listed ^ 1], position[listed ^ 1]
        return _Arcs(begin[:-1], begin[1:], head, twin, listed >> 1)

    def _components(self) -> tuple[IntArray, IntArray]:
        """Return the nodes component by component, and where each starts."""
        n = self.n_nodes
        if len(self.edges) == 0:
            return np.arange(n), np.arange(n + 1)
        ones = np.ones(len(self.edges), dtype=np.int8)
        matrix = sparse.coo_array((ones, tuple(self.edges.T)), shape=(n, n))
        count, labels = connected_components(matrix, directed=False)
        sizes = np.bincount(labels, minlength=count)
        return np.argsort(labels, kind="stable"), np.append(0, np.cumsum(sizes))
