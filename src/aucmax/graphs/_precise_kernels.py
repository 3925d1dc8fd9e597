# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled total variation of known blocks, with sums of twice the usual precision."""

from aucmax._core.compiled import njit

_SPLITTER = 2.0**27 + 1.0  # halves the bits of a float


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
def settle_blocks(x, values, edges, weights, block, sums):
    """Remove the rounding errors of a solution.

    The value of a block, joined nodes of equal x, is the mean of its values, less the
    weights of its edges to lower blocks, plus those to higher ones. Neighbours that
    change places were separated by rounding alone, and become one block. `block` has
    the number of each node, and becomes that of the node that represents its block,
    where the first row of `sums` becomes the value of the block.
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
    """Set the value of each block; rows of `sums` are total, rest and size first."""
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
