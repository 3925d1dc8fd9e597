# mypy: allow-untyped-defs, allow-untyped-calls, disallow-untyped-decorators=False
"""Compiled sweep over the pairs of two sorted classes, by score difference."""

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def partners(positives, negatives, difference, above, at_least):
    """Count, for each positive s, the negatives t with s - t > or >= `difference`.

    Both classes ascend. The difference is compared as floats subtract: rounding keeps
    it monotone in s and in t, so those of a row are the first ones, and their numbers
    only grow from row to row. Fills `above` (>) and `at_least` (>=).
    """
    n = negatives.size
    strictly = loosely = 0
    for i in range(positives.size):
        s = positives[i]
        while strictly < n and s - negatives[strictly] > difference:
            strictly += 1
        loosely = max(loosely, strictly)
        while loosely < n and s - negatives[loosely] >= difference:
            loosely += 1
        above[i] = strictly
        at_least[i] = loosely
