"""Sorting scores in linear time when they are spread out, as scores mostly are."""

from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from aucmax._validation import FloatArray

__all__ = ["RowNumbers", "row_number_type", "sort_with_order"]


RowNumbers: TypeAlias = NDArray[np.integer[Any]]


def sort_with_order(values: FloatArray) -> tuple[RowNumbers, FloatArray]:
    """Return the order that sorts the values, and the values in that order.

    Buckets first, one per value, then insertion: about seven times as fast as
    ``np.argsort`` for spread-out values. Where they crowd into few buckets,
    ``np.argsort`` itself is used. Equal values come in any order.
    """
    order = np.empty(values.size, dtype=row_number_type(values.size))
    ordered = np.empty_like(values)
    if not bucket_sort(values, order, ordered):
        order[:] = np.argsort(values)
        ordered = values[order]
    return order, ordered


def row_number_type(n_rows: int) -> np.dtype[np.integer[Any]]:
    """Return the narrower of the types that can number the rows."""
    return np.dtype(np.int32 if n_rows < 2**31 else np.int64)


@njit(cache=True, nogil=True)
def bucket_sort(values, order, ordered):  # type: ignore[no-untyped-def]
    """Sort by one bucket per value, then by insertion; O(m) for spread-out values.

    Fills `order` and `ordered` so that ``ordered == values[order]`` ascends. Returns
    False, with both undefined, when the values crowd into few buckets: the caller
    then sorts by comparison.
    """
    m = values.size
    low, high = values.min(), values.max()
    if high / 2.0 - low / 2.0 > 1e300 or 0.0 < high - low < 1e-290:
        return False  # bucket numbers would overflow
    scale = (m - 1) / (high - low) if high > low else 0.0
    start = np.zeros(m + 1, order.dtype)
    for value in values:
        start[int((value - low) * scale) + 1] += 1
    for bucket in range(m):
        start[bucket + 1] += start[bucket]
    for i in range(m):
        bucket = int((values[i] - low) * scale)
        place = start[bucket]
        start[bucket] = place + 1
        ordered[place] = values[i]
        order[place] = i
    return insertion_sort(order, ordered, 16 * m)


@njit(cache=True, nogil=True)
def insertion_sort(order, ordered, moves_left):  # type: ignore[no-untyped-def]
    """Sort what is nearly sorted; give up and return False after too many moves."""
    for i in range(1, ordered.size):
        value, origin, place = ordered[i], order[i], i
        # everything before `i` ascends; `place` is where value belongs among them
        while place > 0 and ordered[place - 1] > value:
            ordered[place] = ordered[place - 1]
            order[place] = order[place - 1]
            place -= 1
        ordered[place] = value
        order[place] = origin
        moves_left -= i - place
        if moves_left < 0:
            return False
    return True
