"""Scores that stay on workers, which send sums per cell and receive slopes per cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._core.row_matrix import in_memory_order, product
from aucmax._core.threads import one_blas_thread
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.dask.cluster import HeldParts
from aucmax.dask.tasks import Tasks

_MAX_EMPTY_CELLS = 2**20  # of an array of counts; with more, cells are sorted


class CellCounts(NamedTuple):
    """The cells that have rows, ascending: negative class first, then the positive."""

    places: IntArray  # of a cell: the lowest score in it, divided by the width
    is_positive: BoolArray
    masses: FloatArray
    sums: FloatArray  # of scores


class PartLabels(NamedTuple):
    """Labels and weights of the rows of a part."""

    is_positive: BoolArray
    weight: FloatArray | None

    def cells(self, scores: FloatArray, width: float) -> IntArray:
        """Return the cell of each row: those of the positive class are odd."""
        places: IntArray = np.floor(scores / width).astype(np.int64)
        return 2 * places + self.is_positive


class RowsInCells:
    """Rows in parts whose scores are counted in cells of some width."""

    def __init__(
        self,
        parts: HeldParts,
        is_positive: BoolArray,
        weight: FloatArray | None,
        ends: IntArray,
        width: float,
    ) -> None:
        source = Tasks()
        keys = [
            source.add(
                PartLabels,
                is_positive=is_positive[start:end],
                weight=None if weight is None else weight[start:end],
            )
            for start, end in pairwise(ends)
        ]
        self._parts = parts
        self._labels = HeldParts(source, keys, parts.cluster)
        self.width = width

    def count(self, weights: NDArray[Any]) -> CellCounts:
        """Return the number of rows of each class in each cell of ``X @ weights``."""
        (found,) = self._parts.call(
            _count,
            beside=self._labels,
            shared={"weights": weights, "width": self.width},
            merge=_merged,
        )
        if found is None:
            raise FloatingPointError("a product with the data is not finite")
        keys, masses, sums = found
        is_positive = keys % 2 == 1
        order = np.argsort(is_positive, kind="stable")
        return CellCounts(
            (keys // 2)[order], is_positive[order], masses[order], sums[order]
        )

    def pull_back(
        self, weights: NDArray[Any], counts: CellCounts, slopes: FloatArray
    ) -> FloatArray:
        """Return ``X.T @ g``, where g is a row's weight times the slope of its cell."""
        keys = 2 * counts.places + counts.is_positive
        order = np.argsort(keys)
        shared = {
            "weights": weights,
            "width": self.width,
            "keys": keys[order],
            "slopes": slopes[order],
        }
        total: FloatArray = np.zeros(weights.size)
        for one in self._parts.call(_pull_back, beside=self._labels, shared=shared):
            total += one
        return total


def _scores(part: Any, weights: NDArray[Any]) -> FloatArray:
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return product(part, weights)


def _count(part: Any, labels: PartLabels, shared: dict[str, Any]) -> Any:
    scores = _scores(in_memory_order(part), shared["weights"])
    if not np.isfinite(scores).all():
        return None
    cells, masses = labels.cells(scores, shared["width"]), labels.weight
    return _added(cells, masses, scores if masses is None else masses * scores)


def _merged(found: Sequence[Any]) -> Any:
    if any(one is None for one in found):
        return None
    return _added(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _added(keys: IntArray, masses: FloatArray | None, sums: FloatArray) -> Any:
    """Add up the entries of the same cell; drop cells without weight."""
    low = int(keys.min(initial=0))
    if int(keys.max(initial=0)) - low < keys.size + _MAX_EMPTY_CELLS:
        where, cells = keys - low, None
    else:
        cells, where = np.unique(keys, return_inverse=True)
    mass = np.bincount(where, masses).astype(np.float64, copy=False)
    total = np.bincount(where, sums)
    present = np.flatnonzero(mass)
    chosen = present + low if cells is None else cells[present]
    return chosen, mass[present], total[present]


def _pull_back(part: Any, labels: PartLabels, shared: dict[str, Any]) -> FloatArray:
    part = in_memory_order(part)
    cells = labels.cells(_scores(part, shared["weights"]), shared["width"])
    slopes = _slopes_of_rows(cells, shared["keys"], shared["slopes"])
    if labels.weight is not None:
        slopes = slopes * labels.weight
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        return product(part.T, slopes)


def _slopes_of_rows(cells: IntArray, keys: IntArray, slopes: FloatArray) -> FloatArray:
    """Return the slope of each row's cell; rows without weight may be in none."""
    span = int(keys[-1] - keys[0]) + 1
    if span > _MAX_EMPTY_CELLS:
        return slopes[np.minimum(np.searchsorted(keys, cells), keys.size - 1)]
    table = np.zeros(span)
    table[keys - keys[0]] = slopes
    found: FloatArray = table.take(cells - keys[0], mode="clip")
    return found
