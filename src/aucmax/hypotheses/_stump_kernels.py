"""A compiled sweep over sorted columns."""

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def stump_edges(row_weights, total, order, starts, middles, firsts, edges):
    """Fill `edges` with ``H.T @ row_weights`` of all stumps, column by column.

    Column c keeps its rows with a value below the block of zeros in
    ``order[starts[c]:middles[c]]`` and those above it in ``order[middles[c]: starts[c +
    1]]``, both ascending. A row is stored as ``~row`` where a threshold follows on the
    side of the zeros. The thresholds ascend, from number ``firsts[c]`` on.
    """
    for c in range(middles.size):
        k, below = firsts[c], 0.0
        for i in range(starts[c], middles[c]):
            row = order[i]
            below += row_weights[max(row, ~row)]
            if row < 0:
                edges[k] = total - 2.0 * below
                k += 1
        k, above = firsts[c + 1], 0.0
        for i in range(starts[c + 1] - 1, middles[c] - 1, -1):
            row = order[i]
            above += row_weights[max(row, ~row)]
            if row < 0:
                k -= 1
                edges[k] = 2.0 * above - total
