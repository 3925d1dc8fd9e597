"""Rows in memory, on disk or on workers, behind one interface.

Solvers and hypotheses read the data by products, or by a function of each block of
rows, wherever the rows are; only the choice of a method depends on `on_workers`.
Products sum float32 exactly, and have equal bits wherever rows lie.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._core.mapped import is_mapped, map_blocks, row_blocks
from aucmax._core.validation import BoolArray, FloatArray, IntArray

_BLOCK = 2**17  # numbers of float32 that are converted at a time
_TILE_SIZE = 65_536  # entries, few enough to stay in the cache until the next read


class RowMatrix(ABC):
    """The rows of a matrix, wherever they are."""

    shape: tuple[int, int]
    dtype: Any
    is_sparse: bool
    on_workers = False  # then products are few, and no row comes to this process

    @abstractmethod
    def matvec(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return ``X @ weights`` in float64."""

    @abstractmethod
    def rmatvec(self, row_values: NDArray[Any]) -> NDArray[Any]:
        """Return ``X.T @ row_values`` in float64."""

    @abstractmethod
    def reduce_rows(
        self, function: Callable[..., Any], row_values: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Return ``function(block, row_values=..., **options)`` of each block."""
        # rows of value 0 or False must not count: a block may have rows of others

    @abstractmethod
    def transform(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return a matrix of the results of ``function(block, **options)``."""

    @abstractmethod
    def take(self, rows: IntArray) -> Any:
        """Return some rows, in any order, as a matrix in memory."""

    @abstractmethod
    def locate(self, block: int) -> tuple[str, int]:
        """Return how a message begins that concerns a block, and its first row."""


class ArrayRows(RowMatrix):
    """An array, a sparse matrix, or a memory map, read a few megabytes at a time."""

    def __init__(self, X: Any) -> None:
        self._X = X
        self.shape, self.dtype = X.shape, X.dtype
        self.is_sparse = sparse.issparse(X)
        self._is_mapped = is_mapped(X)

    def matvec(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return ``X @ weights`` in float64."""
        return product(self._X, weights)

    def rmatvec(self, row_values: NDArray[Any]) -> NDArray[Any]:
        """Return ``X.T @ row_values`` in float64."""
        return product(self._X.T, row_values)

    def reduce_rows(
        self, function: Callable[..., Any], row_values: NDArray[Any], **options: Any
    ) -> list[Any]:
        """Call the function with each block."""
        if not self._is_mapped:
            return [function(self._X, row_values=row_values, **options)]
        return [
            function(self._X[rows], row_values=row_values[rows], **options)
            for rows in row_blocks(self._X)
        ]

    def transform(self, function: Callable[..., Any], **options: Any) -> Any:
        """Return another matrix in memory, or another memory map."""
        if self._is_mapped:
            return map_blocks(self._X, partial(function, **options))
        return function(self._X, **options)

    def take(self, rows: IntArray) -> Any:
        """Return some rows, in any order."""
        return self._X[rows]

    def locate(self, block: int) -> tuple[str, int]:
        """Return the first row of a block; messages have no special beginning."""
        return "", row_blocks(self._X)[block].start if self._is_mapped else 0


def as_row_matrix(X: Any) -> RowMatrix:
    """Return the rows of a matrix that a fit has checked."""
    return X if isinstance(X, RowMatrix) else ArrayRows(X)


def product(matrix: Any, vector: NDArray[Any]) -> NDArray[Any]:
    """Return ``matrix @ vector`` in float64, in which products of float32 are exact."""
    # float32 is converted block by block, so the matrix is never copied as a whole
    is_sparse: bool = sparse.issparse(matrix)
    if matrix.dtype != np.float32 or not (is_sparse or isinstance(matrix, np.ndarray)):
        return np.asarray(matrix @ vector, dtype=np.float64)  # in parts: by each worker
    if is_sparse:
        by_rows, size = matrix.format == "csr", matrix.nnz
    else:
        by_rows, size = matrix.strides[0] >= matrix.strides[1], matrix.size
    length = matrix.shape[0 if by_rows else 1]
    step = max(1, _BLOCK * length // max(size, 1))
    total = np.zeros((matrix.shape[0], *vector.shape[1:]))
    # one buffer for all blocks: Dask's workers return freed memory to the system, and
    # new memory for each block takes several times as long as the product
    buffer = np.empty((0 if is_sparse else min(step, length), size // max(length, 1)))
    for first in range(0, length, step):
        span = slice(first, min(first + step, length))
        if is_sparse:
            block = _sparse_block(matrix, span, by_rows)
        else:
            block = buffer[: span.stop - first]
            block = block if by_rows else block.T
            block[...] = matrix[span] if by_rows else matrix[:, span]
        if by_rows:
            total[span] = block @ vector
        else:
            total += block @ vector[span]
    return total


def _sparse_block(matrix: Any, span: slice, by_rows: bool) -> Any:
    """Return some of the rows, or of the columns, in float64; indices are shared."""
    starts = matrix.indptr[span.start : span.stop + 1]
    entries = slice(starts[0], starts[-1])
    width, other = starts.size - 1, matrix.shape[1 if by_rows else 0]
    return type(matrix)(
        (
            matrix.data[entries].astype(np.float64),
            matrix.indices[entries],
            starts - starts[0],
        ),
        shape=(width, other) if by_rows else (other, width),
    )


def column_ends(X: Any) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of each column, NaN if it has any."""
    chosen = np.ones(X.shape[0], dtype=bool)
    ranges = as_row_matrix(X).reduce_rows(_block_ranges, chosen)
    low = np.min([low for low, _ in ranges], axis=0).astype(np.float64)
    high = np.max([high for _, high in ranges], axis=0).astype(np.float64)
    return low, high


def _block_ranges(X: Any, row_values: BoolArray) -> tuple[NDArray[Any], NDArray[Any]]:
    low = np.full(X.shape[1], np.inf, dtype=X.dtype)
    high = np.full(X.shape[1], -np.inf, dtype=X.dtype)
    if not row_values.all():
        X = X[row_values]
    with np.errstate(invalid="ignore"):  # NaN is explained by the caller
        if X.shape[0] and sparse.issparse(X):
            _sparse_ranges(X, low, high)
        elif X.shape[0]:
            _dense_ranges(X, low, high)
    return low, high


def _dense_ranges(X: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
    for rows, columns in _tiles(X):
        tile = X[rows, columns]
        np.minimum(low[columns], tile.min(axis=0), out=low[columns])
        np.maximum(high[columns], tile.max(axis=0), out=high[columns])


def _tiles(X: Any) -> Iterator[tuple[slice, slice]]:
    """Cut a dense matrix along its memory into small tiles of rows and columns."""
    n_rows, n_columns = X.shape
    is_stored_by_column = X.flags.f_contiguous and not X.flags.c_contiguous
    wide = max(1, _TILE_SIZE // n_rows) if is_stored_by_column else n_columns
    tall = max(1, _TILE_SIZE // wide)
    for left in range(0, n_columns, wide):
        for top in range(0, n_rows, tall):
            yield slice(top, top + tall), slice(left, left + wide)


def summed(X: Any) -> Any:
    """Return a sparse matrix that stores no place twice: X itself if it does not."""
    if not X.has_canonical_format:
        X = X.copy()  # the caller's matrix stays unchanged
        X.sum_duplicates()
    return X


def _sparse_ranges(X: Any, low: NDArray[Any], high: NDArray[Any]) -> None:
    X = summed(X)
    if X.format == "csc":
        n_stored = np.diff(X.indptr)
        filled = np.flatnonzero(n_stored)
        if filled.size:
            low[filled] = np.minimum.reduceat(X.data, X.indptr[filled])
            high[filled] = np.maximum.reduceat(X.data, X.indptr[filled])
    else:
        n_stored = np.bincount(X.indices, minlength=X.shape[1])
        np.minimum.at(low, X.indices, X.data)
        np.maximum.at(high, X.indices, X.data)
    has_zero = n_stored < X.shape[0]
    np.minimum(low, 0.0, out=low, where=has_zero)
    np.maximum(high, 0.0, out=high, where=has_zero)


def linear_scores(X: Any, coef: NDArray[Any], intercept: NDArray[Any]) -> FloatArray:
    """Return the scores of checked rows by weights of shape (1, n_features)."""
    return product(X, coef[0]) + float(intercept[0])


def check_sparse_structure(X: Any, name: str = "X") -> None:
    """Reject a sparse matrix with indices out of range, in one pass over them."""
    is_sparse: bool = sparse.issparse(X)
    kind = X.format if is_sparse else None
    try:
        # SciPy checks another matrix of the same arrays, so that X stays as it is
        if kind == "coo":
            type(X)((X.data, X.coords), shape=X.shape)
        elif kind in ("csr", "csc", "bsr"):
            parts = X.data, X.indices, X.indptr
            type(X)(parts, shape=X.shape).check_format(full_check=True)
    except (ValueError, IndexError) as error:
        raise ValueError(
            f"{name} is a damaged sparse matrix: {error}. Build it again, for example "
            "from its COO form."
        ) from error
