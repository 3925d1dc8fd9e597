"""Rows in the order of their queries and scores, and means over queries."""

from __future__ import annotations

import numpy as np

from aucmax._validation import FloatArray, IntArray, Queries
from aucmax.exceptions import NotEnoughClassesError


def sort_rows(
    queries: Queries | None, *keys: FloatArray | IntArray
) -> tuple[IntArray, IntArray]:
    """Sort rows by query, then ascending by each key in turn.

    Returns the order and the offsets: query q owns the places
    ``offsets[q] .. offsets[q + 1] - 1`` of the order.
    """
    if queries is None:
        return np.lexsort(keys[::-1]), np.array([0, keys[0].size])
    sizes = np.bincount(queries.codes, minlength=queries.n_queries)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return np.lexsort((*keys[::-1], queries.codes)), offsets


def tie_starts(ranked: FloatArray | IntArray, offsets: IntArray) -> IntArray:
    """Return where each run of equal scores within a query starts."""
    is_start = np.empty(ranked.size, dtype=bool)
    np.not_equal(ranked[1:], ranked[:-1], out=is_start[1:])
    is_start[offsets[:-1]] = True
    return np.flatnonzero(is_start)


def mean_over_queries(
    values: FloatArray, needed: str = "rows of both classes"
) -> float:
    """Average over the queries that have a value; NaN marks those that have none."""
    has_value = ~np.isnan(values)
    if not has_value.any():
        raise NotEnoughClassesError(
            f"None of the {values.size} queries has {needed}, so there is nothing to "
            "average. Check that qid numbers queries, not rows."
        )
    return float(values[has_value].mean())
