# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled total variation, as exact as a float can be: forests, and known blocks.

Sums are kept to twice the usual precision: a number and its rounding error, the rest.

A forest takes dynamic programming. Each tree hangs from a root. Let F_k(t) be the least
that node k and all below it can cost when k takes the value t. Over the edge to its
parent, of weight w_k, it passes on the clipped derivative, so that

    F_k'(t) = t - values_k + sum over its children c of clip(F_c'(t), -w_c, w_c),

a rising, piecewise linear function. It starts with slope 1 on the left, and bends at
*points*: a point, crossed rightwards, adds to slope and offset of the line
slope * t + offset. Clipping drops the points outside [below_k, above_k], where F_k' is
-w_k and w_k, and sets new ones there: point 2k at below_k, point 2k + 1 at above_k. A
subtree holds its points in two pairing heaps, one with the leftmost on top, one with
the rightmost; a point taken off one of them is `gone` for the other, too.

From the right all looks the same with -t for t: offsets change their sign, a point adds
as much to the offset as before, and to the slope what it took away. So one function,
`_crossing`, serves both sides.

Legend: a heap is the number of its top point, or -1; its `side` = (key, child,
sibling), the places of all points as seen from there, and their links. `points` =
(slope, offset, rest of the offset, gone). Offsets sum up many values and weights; with
their rests they give places that are rounded only once, and bit-equal where they are
equal.
"""

import numpy as np

from aucmax._core.compiled import njit

_SPLITTER = 2.0**27 + 1.0  # halves the bits of a float
# side by side in memory: a heap wanders about, and each place is a wait for memory
_LINKED = np.dtype([("key", np.float64), ("child", np.int32), ("sibling", np.int32)])


@njit(cache=True, nogil=True)
def _add(a, a_rest, b, b_rest):
    """Return the sum of two numbers with rests as a number with the rest."""
    s = a + b
    t = s - a
    rest = (a - (s - t)) + (b - t) + (a_rest + b_rest)
    total = s + rest
    return total, rest - (total - s)


@njit(cache=True, nogil=True)
def _quotient(a, a_rest, whole):
    """Return (a + a_rest) / whole, rounded once, for a whole number below 2**27."""
    q = a / whole
    t = _SPLITTER * q
    front = t - (t - q)  # 26 bits, so that its product below is exact
    remainder = ((a - front * whole) - (q - front) * whole) + a_rest
    return q + remainder / whole


@njit(cache=True, nogil=True)
def forest_prox(values, edges, weights):
    r"""Return the x that minimises the sum below, for the edges of a forest.

    .. math:: \tfrac12 \sum_i (x_i - v_i)^2 + \sum_{e = (i, j)} w_e |x_i - x_j|

    `edges` have no cycles, loops or duplicates; `weights` are from 0 to infinity.
    Neighbours that share a value have it bit-equal, as it is handed down from the root.
    Sums over a tree should stay below 1e290, where the arithmetic overflows. Costs
    O(n log n) time and O(n) memory.
    """
    order, parent, weight = _peel(values.size, edges, weights)
    v = values[order]
    _limit_weights(v, parent, weight)
    below, above = _clip_upwards(v, parent, weight)
    x = np.empty_like(v)
    for k in range(v.size - 1, -1, -1):  # the parent, if any, has a larger number
        t = x[order[parent[k]]] if parent[k] >= 0 else below[k]
        t = t if t > below[k] else below[k]
        x[order[k]] = t if t < above[k] else above[k]
    return x


@njit(cache=True, nogil=True)
def _peel(n, edges, weights):
    """Take off leaf after leaf; return the order, and parent and weight by new number.

    A parent has a larger number, or -1 for a root. `links` has the exclusive or of the
    edges left at a node, of a leaf thus the one edge.
    """
    degree, links = np.zeros(n, np.int64), np.zeros(n, np.int64)
    for e in range(edges.shape[0]):
        for i in edges[e]:
            degree[i] += 1
            links[i] ^= e
    order, number = np.empty(n, np.int64), np.full(n, -1)
    parent, weight = np.full(n, -1), np.zeros(n)
    k = 0
    for start in range(n):
        i = start
        while degree[i] == 1:
            e = links[i]
            j = edges[e, 0] + edges[e, 1] - i
            order[k], parent[k], weight[k], number[i] = i, j, weights[e], k
            k += 1
            degree[i] = 0
            degree[j] -= 1
            links[j] ^= e
            i = j
        if degree[i] == 0 and number[i] < 0:
            order[k], number[i] = i, k
            k += 1
    for k in range(n):
        if parent[k] >= 0:
            parent[k] = number[parent[k]]
    return order, parent, weight


@njit(cache=True, nogil=True)
def _limit_weights(v, parent, weight):
    """Lower the weights no flow can use up; cut the edges that are left without any.

    Over an edge flows the sum of v - x below it. As x stays in the range of its tree's
    values, that is at most the range times the nodes below; weights far beyond would
    only swallow the values in sums.
    """
    size, low, high = np.ones(v.size), v.copy(), v.copy()
    for k in range(v.size):
        p = parent[k]
        if p >= 0:
            size[p] += size[k]
            low[p] = low[k] if low[k] < low[p] else low[p]
            high[p] = high[k] if high[k] > high[p] else high[p]
    for k in range(v.size - 1, -1, -1):
        p = parent[k]
        if p >= 0:
            low[k], high[k] = low[p], high[p]
    for k in range(v.size):
        limit = 2.0 * size[k] * (high[k] - low[k])
        weight[k] = limit if weight[k] > limit else weight[k]
        if weight[k] == 0.0:
            parent[k] = -1


@njit(cache=True, nogil=True)
def _clip_upwards(v, parent, weight):
    """Return the range into which each node clips its parent's value; a root its own.

    `load` = the weights of the edges to the children, with `load_rest` their rounding.
    """
    n = v.size
    left, right = _side(n), _side(n)
    m = 2 * n
    points = np.empty(m), np.empty(m), np.empty(m), np.zeros(m, np.bool_)
    left_heap, right_heap = np.full(n, -1), np.full(n, -1)
    load, load_rest = np.zeros(n), np.zeros(n)
    below, above = np.empty(n), np.empty(n)
    for k in range(n):
        p, w = parent[k], weight[k]
        start, rest = _add(-v[k], 0.0, -load[k], -load_rest[k])
        a, below[k] = _crossing(left_heap[k], left, points, 1.0, start, rest, w, 2 * k)
        if p < 0:
            above[k] = below[k]
            continue
        start, rest = _add(v[k], 0.0, -load[k], -load_rest[k])
        b, t = _crossing(right_heap[k], right, points, -1.0, start, rest, w, 2 * k + 1)
        above[k] = -t if -t > below[k] else below[k]  # but for rounding, it is larger
        for point, t in ((2 * k, below[k]), (2 * k + 1, above[k])):
            left[0][point], right[0][point] = t, -t
            a, b = _meld(a, point, left), _meld(b, point, right)
        left_heap[p] = _meld(left_heap[p], a, left)
        right_heap[p] = _meld(right_heap[p], b, right)
        load[p], load_rest[p] = _add(load[p], load_rest[p], w, 0.0)
    return below, above


@njit(cache=True, nogil=True)
def _crossing(heap, side, points, sign, offset, rest, w, new):
    """Come from the left until the function is -w; return the heap left, and the place.

    The function starts with slope 1 and the given offset; sign = -1.0: all is seen from
    the right. Points passed are gone; `new` bends the constant -w into the line there.
    """
    slopes, offsets, rests, gone = points
    slope, last = 1.0, np.inf
    while True:
        while heap >= 0 and gone[heap]:
            heap = _pop(heap, side)
        # among points of the same place, the line is not yet that of the function
        if heap < 0 or side[0][heap] != last:
            rise, rise_rest = _add(offset, rest, w, 0.0)
            place = _quotient(-rise, -rise_rest, slope)
            if heap < 0 or side[0][heap] >= place:
                break
        last = side[0][heap]
        gone[heap] = True
        slope += sign * slopes[heap]
        offset, rest = _add(offset, rest, offsets[heap], rests[heap])
        heap = _pop(heap, side)
    slopes[new], offsets[new], rests[new] = sign * slope, rise, rise_rest
    return heap, place


@njit(cache=True, nogil=True)
def _side(n):
    """Return the keys and links of 2 n points, none of them linked to another."""
    packed = np.empty(2 * n, _LINKED)
    key, child, sibling = packed["key"], packed["child"], packed["sibling"]
    child[:] = -1
    return key, child, sibling


@njit(cache=True, nogil=True)
def _meld(a, b, side):
    """Return the heap of the points of both heaps, either of which may be empty."""
    key, child, sibling = side
    if a < 0 or (b >= 0 and key[b] < key[a]):
        a, b = b, a
    if b >= 0:
        sibling[b] = child[a]
        child[a] = b
    return a


@njit(cache=True, nogil=True)
def _pop(heap, side):
    """Return the heap without its top point: pairs melded first, then all of them."""
    _, child, sibling = side
    following = child[heap]
    pairs = -1
    while following >= 0:
        a = following
        b = sibling[a]
        following = sibling[b] if b >= 0 else -1
        a = _meld(a, b, side)
        sibling[a] = pairs
        pairs = a
    heap = -1
    while pairs >= 0:
        following = sibling[pairs]
        heap = _meld(heap, pairs, side)
        pairs = following
    return heap


@njit(cache=True, nogil=True)
def settle_blocks(x, values, edges, weights, block, sums):
    """Take the rounding errors of its making off a solution, for any graph.

    A block, joined nodes of equal x, is worth the mean of its values, less the weights
    of its edges to lower blocks, plus those to higher ones. With sums kept to twice the
    usual precision, blocks worth the same are bit-equal, wherever they are. Neighbours
    that change places were parted by rounding alone, and become one block.

    `block` has the number of each node, and gets that of the node that represents its
    block; there the first row of `sums` gets what the block is worth.
    """
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        if x[i] == x[j]:
            _unite(block, i, j)
    is_settled = False
    while not is_settled:
        _set_worths(x, values, edges, weights, block, sums)
        is_settled = True
        for e in range(edges.shape[0]):
            i, j = edges[e, 0], edges[e, 1]
            rise = sums[0, _find(block, i)] - sums[0, _find(block, j)]
            if (x[i] > x[j] and rise < 0.0) or (x[i] < x[j] and rise > 0.0):
                _unite(block, i, j)
                is_settled = False
    for i in range(x.size):
        block[i] = _find(block, i)


@njit(cache=True, nogil=True)
def _set_worths(x, values, edges, weights, block, sums):
    """Set what each block is worth; rows of `sums` are total, rest, size on the way."""
    for i in range(x.size):
        sums[0, i] = sums[1, i] = sums[2, i] = 0.0
    for i in range(x.size):
        a = _find(block, i)
        _add_to(sums, a, values[i])
        sums[2, a] += 1.0
    for e in range(edges.shape[0]):
        i, j = edges[e, 0], edges[e, 1]
        a, b = _find(block, i), _find(block, j)
        if a != b:
            flow = weights[e] if x[i] > x[j] else -weights[e]
            _add_to(sums, a, -flow)
            _add_to(sums, b, flow)
    for a in range(x.size):
        if sums[2, a] > 0.0:
            sums[0, a] = _quotient(sums[0, a], sums[1, a], sums[2, a])


@njit(cache=True, nogil=True)
def _add_to(sums, a, more):
    sums[0, a], sums[1, a] = _add(sums[0, a], sums[1, a], more, 0.0)


@njit(cache=True, nogil=True)
def _find(block, i):
    """Return the node that represents the block of node i; shorten the path to it."""
    while block[i] != i:
        block[i] = block[block[i]]
        i = block[i]
    return i


@njit(cache=True, nogil=True)
def _unite(block, i, j):
    """Make one block of two; the smaller number represents it."""
    a, b = _find(block, i), _find(block, j)
    if a < b:
        block[b] = a
    else:
        block[a] = b
