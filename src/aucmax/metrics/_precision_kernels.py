"""The average precision of each query, in one pass over its ranking."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from aucmax._core.compiled import njit


@njit(cache=True, nogil=True)
def average_precision(order, offsets, scores, relevant, weights, values):
    """Fill in the average precision of each query, NaN without a relevant row.

    order has the rows by query and descending score, query q those from offsets[q] on.
    relevant has the weight of a row that is relevant, 0 otherwise; weights that of any
    row, or nothing where all weigh 1. For ties see ``mean_average_precision``.
    """
    for q in range(offsets.size - 1):
        place, stop = offsets[q], offsets[q + 1]
        total = 0.0
        found = passed = 0.0  # the relevant and the whole weight of the rows before
        while place < stop:
            score, start = scores[order[place]], place
            gain = weight = 0.0
            while place < stop and scores[order[place]] == score:
                gain += relevant[order[place]]
                weight += weights[order[place]] if weights.size else 1.0
                place += 1
            size = place - start
            part = weight / size
            if gain > 0.0:
                others = (size * gain / weight - 1.0) / max(size - 1, 1)
                for i in range(size):
                    precision = found + part * (1.0 + i * others)
                    total += gain / size * precision / (passed + part * (i + 1))
            found += gain
            passed += weight
        values[q] = total / found if found > 0.0 else np.nan
