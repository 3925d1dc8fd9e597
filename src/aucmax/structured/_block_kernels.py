# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""The values of known blocks, as exact as a float can be."""

import numpy as np
from numba import njit

from aucmax.structured._precise_kernels import add, inlined, quotient

__all__ = ["settle_blocks"]


@njit(cache=True, nogil=True)
def settle_blocks(x, values, edges, weights):
    """Return a solution without the rounding errors of its making, for any graph.

    A block, joined nodes of equal x, is worth the mean of its values, less the weights
    of its edges to lower blocks, plus those to higher ones. With sums kept to twice the
    usual precision, blocks worth the same are bit-equal, wherever they are. Neighbours
    that change places were parted by rounding alone, and become one block.
    """
    block = np.arange(x.size)
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        if x[i] == x[j]:
            _unite(block, i, j)
    is_settled = False
    while not is_settled:
        worth = _block_worths(x, values, edges, weights, block)
        is_settled = True
        for e in range(edges.shape[0]):
            i, j = edges[e, 0], edges[e, 1]
            rise = worth[_find(block, i)] - worth[_find(block, j)]
            if (x[i] > x[j] and rise < 0.0) or (x[i] < x[j] and rise > 0.0):
                _unite(block, i, j)
                is_settled = False
    for i in range(x.size):
        block[i] = _find(block, i)
    return worth[block]


@njit(cache=True, nogil=True)
def _block_worths(x, values, edges, weights, block):
    """Return what each block is worth, at the node that stands for it."""
    total, rest, size = np.zeros(x.size), np.zeros(x.size), np.zeros(x.size)
    for i in range(x.size):
        a = _find(block, i)
        total[a], rest[a] = add(total[a], rest[a], values[i], 0.0)
        size[a] += 1.0
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        a, b = _find(block, i), _find(block, j)
        if a != b:
            flow = weights[e] if x[i] > x[j] else -weights[e]
            total[a], rest[a] = add(total[a], rest[a], -flow, 0.0)
            total[b], rest[b] = add(total[b], rest[b], flow, 0.0)
    for a in range(x.size):
        if size[a] > 0.0:
            total[a] = quotient(total[a], rest[a], size[a])
    return total


@inlined
def _find(block, i):
    """Return the node that stands for the block of node i; shorten the way to it."""
    while block[i] != i:
        block[i] = block[block[i]]
        i = block[i]
    return i


@inlined
def _unite(block, i, j):
    """Make one block of two; the smaller number stands for it."""
    a, b = _find(block, i), _find(block, j)
    if a < b:
        block[b] = a
    else:
        block[a] = b
