"""Total variation on a graph: smooth values along its edges, exactly."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from aucmax._core.validation import FloatArray, IntArray, check_scores
from aucmax.graphs._flow_kernels import split_into_blocks
from aucmax.graphs._graph_checks import check_edge_weights, check_edges

_MAX_VALUE = 1e200  # sums of many values and weights stay far from overflow


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
    return EdgeNetwork(pairs, np.array([0, v.size])).prox(v, w)


def reject_overflow(*arrays: FloatArray) -> None:
    """Reject numbers whose sums may overflow, and those that are not finite."""
    for numbers in arrays:
        largest = np.abs(numbers).max(initial=0.0)
        if not largest <= _MAX_VALUE:
            raise ValueError(
                f"scores and pair weights must be at most {_MAX_VALUE:g}, got "
                f"{largest:g}: their sums overflow. Divide all of them by one number, "
                "or scale the features down."
            )


class EdgeNetwork:
    """Edges between nodes, ready for total variation; an edge may occur repeatedly."""

    # `arcs` lists both directions of the edges by the node that they leave: of each
    # node where its arcs begin and end, of each arc its head, the opposite arc, and the
    # number of its edge. No edge joins nodes on two sides of an offset

    def __init__(self, edges: IntArray, offsets: IntArray) -> None:
        self.edges = edges
        self.offsets = offsets
        n_nodes = int(offsets[-1])
        n_arcs = 2 * len(edges)
        is_small = 2 * max(n_nodes, n_arcs) < 2**31
        dtype: Any = np.int32 if is_small else np.int64  # large graphs wait for memory
        tails = edges.ravel().astype(dtype)  # of arcs there and back, by edge
        ones, rows = np.ones(n_arcs, dtype=np.int8), np.arange(n_arcs + 1, dtype=dtype)
        # one arc per row: turned over, it lists the arcs of each node, in linear time
        by_arc = sparse.csr_array((ones, tails, rows), shape=(n_arcs, n_nodes))
        by_node = by_arc.tocsc()
        listed, begin = by_node.indices.astype(dtype), by_node.indptr.astype(dtype)
        position = np.empty_like(listed)
        position[listed] = np.arange(n_arcs, dtype=dtype)
        head, twin = tails[listed ^ 1], position[listed ^ 1]
        self.arcs = begin[:-1], begin[1:], head, twin, listed >> 1

    def prox(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the minimiser: see :func:`prox`."""
        reject_overflow(values, weights)
        if not len(self.edges):
            return values.copy()
        n, n_arcs, dtype = values.size, 2 * len(self.edges), self.arcs[2].dtype
        # a second half of each array, to write parts of blocks to
        state = tuple(
            np.concatenate([array, np.empty_like(array)])
            for array in self.state(values, weights)
        )
        label, queue, part, place = np.empty((4, 2 * n), dtype)
        moved = np.empty(2 * n_arcs, dtype)
        workspace = label, queue, np.zeros(2 * n, dtype=bool), part, place, moved
        todo = np.empty((64, 3), dtype=np.int64)
        block = np.empty(n, dtype=np.int64)
        split_into_blocks(self.offsets, state, workspace, todo, block)
        number = np.unique(block, return_inverse=True)[1]
        return self._block_values(number, values, weights)

    def state(self, values: FloatArray, weights: FloatArray) -> tuple[Any, ...]:
        """Return what the kernels of flows call the state, before anything flows."""
        *arcs, edge = self.arcs
        nodes = np.arange(values.size, dtype=edge.dtype)
        return (nodes, values, *arcs, weights[edge])

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
