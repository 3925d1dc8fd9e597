r"""Compiled sums over all comparable pairs of censored times, through nodes of scores.

The losses that rows of one side add up to are a smooth function of the score of the
other side. It is known at equidistant nodes, to which each row adds its share in the
order of time, and is read between them by a polynomial through the nearest nodes. With
spacing h its error is that of a function with poles at a distance of :math:`\pi`,
about :math:`(h / \pi)^{12} \prod_{k=1}^6 (k - 1/2)^2`, per pair. Cost: m rows times the
number of nodes, and no sort.
"""

# mypy: disable-error-code="no-untyped-def"

import math

import numpy as np

from aucmax._core.compiled import njit
from aucmax._core.validation import FloatArray

N_NEAREST = 12  # nodes of a polynomial
_SHARE_OF_POLES = 2.6e4  # the product above
_MAX_NODES = 400  # with more, merging is as fast
MIN_ROWS = 256  # with fewer, merging is as fast


def node_spacing(accuracy: float) -> float:
    """Return the spacing of nodes for an absolute error per pair."""
    return float(np.pi * (accuracy / _SHARE_OF_POLES) ** (1.0 / N_NEAREST))


def nodes_of(scores: FloatArray, spacing: float) -> tuple[float, int] | None:
    """Return the first node and the number of nodes; None if there are too many."""
    low, high = float(scores.min()), float(scores.max())
    with np.errstate(over="ignore"):
        n_nodes = np.ceil((high - low) / spacing) + N_NEAREST
    if scores.size < MIN_ROWS or not n_nodes <= _MAX_NODES:
        return None
    return low - spacing * (N_NEAREST // 2 - 1), int(n_nodes)


@njit(cache=True, nogil=True)
def sum_on_grid(rows, grid, slopes, curvatures, with_value):
    """Add slopes and curvatures of the pairs of each row; return the sum of losses.

    Those of a row as the later one of its pairs are in [0], as the earlier one in [1].
    `grid` is the first node, the number of nodes and their spacing.
    """
    n_nodes, spacing = grid[1], grid[2]
    growth = np.empty(n_nodes)  # exp(node - first node)
    losses = np.empty(2 * n_nodes)  # of an earlier row k - n_nodes nodes above
    for k in range(n_nodes):
        growth[k] = math.exp(k * spacing)
    for k in range(losses.size):
        gap = (n_nodes - k) * spacing
        losses[k] = max(gap, 0.0) + math.log1p(math.exp(-abs(gap)))
    value = 0.0
    for stratum in range(rows.strata.size - 1):
        first, last = rows.strata[stratum], rows.strata[stratum + 1]
        for side in range(2):  # the rows whose sums are read: later or earlier ones
            sums = np.zeros((3, n_nodes))  # of slopes, curvatures, losses at the nodes
            shares = np.empty(N_NEAREST)
            for step in range(last - first):
                block = first + step if side == 0 else last - 1 - step
                span = rows.blocks[block], rows.blocks[block + 1]
                value += read_block(
                    rows, span, side, grid, sums, shares, slopes, curvatures
                )
                for row in range(span[0], span[1]):
                    weight = rows.later[row] if side else rows.earlier[row]
                    if weight > 0.0:
                        decay = math.exp(grid[0] - rows.scores[row])
                        add_slopes(weight, decay, side, growth, sums)
                    if weight > 0.0 and with_value and side:
                        place = (rows.scores[row] - grid[0]) / spacing
                        add_losses(weight, place, losses, sums, shares)
    return value


@njit(cache=True, nogil=True)
def read_block(rows, span, side, grid, sums, shares, slopes, curvatures):
    """Give the rows of a block their sums, between the nodes; return the losses."""
    value = 0.0
    for row in range(span[0], span[1]):
        weight = rows.earlier[row] if side else rows.later[row]
        if weight == 0.0:
            continue
        nearest = share_out((rows.scores[row] - grid[0]) / grid[2], shares)
        slope = curvature = loss = 0.0
        for k in range(N_NEAREST):
            slope += shares[k] * sums[0, nearest + k]
            curvature += shares[k] * sums[1, nearest + k]
            loss += shares[k] * sums[2, nearest + k]
        slopes[side, row] += weight * slope
        curvatures[side, row] += weight * curvature
        value += weight * loss
    return value


@njit(cache=True, nogil=True)
def add_slopes(weight, decay, side, growth, sums):
    """Add the slopes and curvatures of the pairs of a row with rows at the nodes."""
    for k in range(growth.size):
        q = 1.0 / (1.0 + growth[k] * decay)  # slope if the row at the node is earlier
        sums[0, k] += weight * (q if side else 1.0 - q)
        sums[1, k] += weight * q * (1.0 - q)


@njit(cache=True, nogil=True)
def add_losses(weight, place, losses, sums, shares):
    """Add the losses of the pairs of a later row with rows at the nodes."""
    n_nodes = sums.shape[1]
    nearest = share_out(place, shares)
    for j in range(N_NEAREST):
        part, shift = weight * shares[j], n_nodes - nearest - j
        for k in range(n_nodes):
            sums[2, k] += part * losses[k + shift]


@njit(cache=True, nogil=True)
def share_out(place, shares):
    """Fill in the weights of the nearest nodes in a polynomial; return the first."""
    nearest = max(int(place) - (N_NEAREST // 2 - 1), 0)  # rounding may lower a place
    x = place - nearest
    product = 1.0
    for k in range(N_NEAREST):
        shares[k] = product
        product *= (x - k) / (k + 1.0)
    product = 1.0
    for k in range(N_NEAREST - 1, -1, -1):
        shares[k] *= product
        product *= (k - x) / (N_NEAREST - k)
    return nearest
