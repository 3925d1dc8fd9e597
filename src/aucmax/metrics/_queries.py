"""Rows in the order of their queries and scores, and means over queries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.sorting import (
    RowNumbers,
    row_number_type,
    sort_in_groups,
    sort_with_order,
)
from aucmax._core.validation import FloatArray, IntArray, check_qid
from aucmax.exceptions import NotEnoughClassesError


@dataclass(frozen=True)
class QueryOrder:
    """The rows of each query, counted once for any number of rankings."""

    codes: RowNumbers | None  # the number of each row's query; None where all are one
    offsets: IntArray  # sorted, query q owns the rows offsets[q] .. offsets[q + 1] - 1

    def sort(self, values: FloatArray) -> RowNumbers:
        """Return the order by query, then by value; equal values stay put; O(m)."""
        if self.codes is None:
            return sort_with_order(values)[0]
        return sort_in_groups(values, self.codes, self.offsets)


def check_queries(qid: ArrayLike | None, n_rows: int) -> QueryOrder:
    """Check the query ids, or make one query of all rows."""
    queries = None if qid is None else check_qid(qid, n_rows)
    if queries is None or queries.n_queries == 1:
        return QueryOrder(None, np.array([0, n_rows]))
    sizes = np.bincount(queries.codes, minlength=queries.n_queries)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return QueryOrder(queries.codes.astype(row_number_type(n_rows)), offsets)


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
