"""Rows in memory, on disk or on workers, behind one interface.

Solvers and hypotheses read the data by products, or by a function of each block of
rows. They never ask where the rows are, except to choose a method by `on_workers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.mapped import is_mapped, map_blocks, row_blocks
from aucmax._core.products import product
from aucmax._core.validation import IntArray


class RowMatrix(ABC):
    """The rows of a matrix, wherever they are."""

    shape: tuple[int, int]
    dtype: Any
    is_sparse: bool
    on_workers = False  # then products are few, and no row comes to this process
    prefers_cells = False  # whether the rows are so many that scores should not travel

    @abstractmethod
    def matvec(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return ``X @ weights`` in float64."""

    @abstractmethod
    def rmatvec(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Return ``X.T @ of_rows`` in float64."""

    @abstractmethod
    def map_rows(self, function: Callable[..., Any], **options: Any) -> NDArray[Any]:
        """Return ``function(block, **options)``, which has one value per row."""

    @abstractmethod
    def reduce_rows(
        self, function: Callable[..., Any], of_rows: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Return ``function(block, of_rows=..., **options)`` of each block.

        Rows whose `of_rows` is 0 or False must not count: a block may have rows that
        are not of this matrix.
        """

    @abstractmethod
    def transform(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return a matrix of the results of ``function(block, **options)``."""

    @abstractmethod
    def take(self, rows: IntArray) -> Any:
        """Return some rows, in any order, as a matrix in memory."""

    @abstractmethod
    def locate(self, block: int) -> tuple[str, int]:
        """Return how a message begins that concerns a block, and its first row."""


class MemoryRows(RowMatrix):
    """An array, or a sparse matrix."""

    def __init__(self, X: Any) -> None:
        self._X = X
        self.shape, self.dtype = X.shape, X.dtype
        self.is_sparse = sparse.issparse(X)

    def matvec(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return ``X @ weights`` in float64."""
        return product(self._X, weights)

    def rmatvec(self, of_rows: NDArray[Any]) -> NDArray[Any]:
        """Return ``X.T @ of_rows`` in float64."""
        return product(self._X.T, of_rows)

    def map_rows(self, function: Callable[..., Any], **options: Any) -> NDArray[Any]:
        """Call the function with all rows."""
        return np.asarray(function(self._X, **options))

    def reduce_rows(
        self, function: Callable[..., Any], of_rows: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call the function with all rows."""
        return [function(self._X, of_rows=of_rows, **options)]

    def transform(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return another matrix in memory."""
        return function(self._X, **options)

    def take(self, rows: IntArray) -> Any:
        """Return some rows, in any order."""
        return self._X[rows]

    def locate(self, block: int) -> tuple[str, int]:
        """Return nothing to begin with: there is one block."""
        return "", 0


class DiskRows(MemoryRows):
    """A memory map, of which a few megabytes are read at a time."""

    def map_rows(self, function: Callable[..., Any], **options: Any) -> NDArray[Any]:
        """Call the function with a few megabytes of rows at a time."""
        blocks = row_blocks(self._X)
        return np.concatenate([function(self._X[rows], **options) for rows in blocks])

    def reduce_rows(
        self, function: Callable[..., Any], of_rows: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call the function with a few megabytes of rows at a time."""
        return [
            function(self._X[rows], of_rows=of_rows[rows], **options)
            for rows in row_blocks(self._X)
        ]

    def transform(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return another memory map."""
        return map_blocks(self._X, partial(function, **options))

    def locate(self, block: int) -> tuple[str, int]:
        """Return the first row of a block."""
        return "", row_blocks(self._X)[block].start


def as_row_matrix(X: Any) -> RowMatrix:
    """Return the rows of a matrix that a fit has checked."""
    if isinstance(X, RowMatrix):
        return X
    return DiskRows(X) if is_mapped(X) else MemoryRows(X)
