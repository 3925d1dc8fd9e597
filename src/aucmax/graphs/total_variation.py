r"""Total variation on a graph: smooth values along its edges, exactly.

.. math:: \min_x \; \tfrac12 \sum_i (x_i - v_i)^2 + \sum_{(i, j)} w_{ij} |x_i - x_j|

The solution is piecewise constant: blocks of joined nodes share a value. It holds all
minimum cuts of the graph at once, for every height at which the values could be cut,
which is why a whole ranking of the nodes comes out of it
(:mod:`aucmax.graphs.inference`).
"""

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray, IntArray, check_scores
from aucmax.graphs._graph_checks import check_edge_weights, check_edges
from aucmax.graphs.network import Network

__all__ = ["optimality_gap", "prox", "value"]


def prox(values: ArrayLike, edges: ArrayLike, weights: ArrayLike) -> FloatArray:
    r"""Return the exact minimiser of squared distance plus total variation.

    Chains, trees and forests take dynamic programming, O(n log n). Any other connected
    part takes divide and conquer: a maximum flow between the nodes above and below
    the mean of a block cuts it in two, or shows that it has one value. In practice
    time grows little faster than the graph; memory is linear.

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
    .. [3] V. Kolmogorov, T. Pock, M. Rolinek. Total variation on a tree. SIAM Journal
       on Imaging Sciences 9(2), 2016.

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
    return Network(pairs, v.size).prox(v, w)


def value(
    x: ArrayLike, values: ArrayLike, edges: ArrayLike, weights: ArrayLike
) -> float:
    """Return half the squared distance of x from the values, plus its total variation.

    Parameters
    ----------
    x : array-like of shape (n_nodes,)
        Where to evaluate.
    values, edges, weights : array-like
        As in :func:`prox`.

    Returns
    -------
    float
        What :func:`prox` minimises.
    """
    v, pairs, w = _checked(values, edges, weights)
    at = check_scores(x, v.size, name="x")
    variation = w @ np.abs(at[pairs[:, 0]] - at[pairs[:, 1]])
    return float((at - v) @ (at - v) / 2.0 + variation)


def optimality_gap(
    x: ArrayLike, values: ArrayLike, edges: ArrayLike, weights: ArrayLike
) -> float:
    r"""Bound how far x is from the minimum: its value less that of a dual flow.

    With any flow f on the edges, :math:`|f_e| \le w_e`, and what it leaves of the
    values, :math:`r_i = v_i - \text{outflow}_i`, the value of x is at most

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
    rest = Network(pairs, v.size).residual(at, v, w)
    return float(rest @ rest / 2.0)


def _checked(
    values: ArrayLike, edges: ArrayLike, weights: ArrayLike
) -> tuple[FloatArray, IntArray, FloatArray]:
    v = check_scores(values, name="values")
    pairs = check_edges(edges, v.size)
    w = check_edge_weights(weights, len(pairs), "weights", hint="")
    return v, pairs, w
