"""Check and score features in chunks of an array or partitions of a frame."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from aucmax._core.row_matrix import check_sparse_structure
from aucmax.dask.cluster import Cluster, HeldParts
from aucmax.dask.matrix import PartedMatrix, in_memory_order
from aucmax.dask.partitions import declared, naming_partition
from aucmax.dask.tasks import Tasks, itself


def check_parted_features(estimator: Any, X: Any) -> PartedMatrix:
    """Check training data in parts, and return them as a matrix."""
    X, dtype = check_columns(estimator, X, fitting=True)
    is_array = isinstance(X, da.Array)
    n_columns, tasks = int(estimator.n_features_in_), Tasks()
    (blocks,) = tasks.take({"X": X})
    parts = [
        tasks.add(as_matrix, block, number=k, n_columns=n_columns, dtype=dtype)
        for k, block in enumerate(blocks)
    ]
    matrix = PartedMatrix(
        HeldParts(tasks, parts, Cluster()),
        X.chunks[0] if is_array and not np.isnan(X.shape[0]) else None,
        n_columns,
        dtype,
        is_array and sparse.issparse(X._meta),
    )
    if matrix.shape[0] == 0:
        raise ValueError("X has no rows in any partition; at least one is needed.")
    return matrix


def check_columns(estimator: Any, X: Any, *, fitting: bool) -> tuple[Any, Any]:
    """Check the columns of features in parts; return them, and their common type."""
    if isinstance(X, da.Array):
        X = declared("X", _in_row_chunks(X))
        dtype = X.dtype
        example: Any = np.zeros((1, int(X.shape[1])))
    else:
        X = _encoded_frame(X)
        dtype = np.result_type(*(_numeric(*one) for one in X.dtypes.items()))
        example = type(X._meta)(np.zeros((1, len(X.columns))), columns=X.columns)
    validate_data(estimator, example, reset=fitting, dtype=None)
    return X, np.dtype(dtype if dtype == np.float32 else np.float64)


def _in_row_chunks(X: Any) -> Any:
    """Reject an array that is not two-dimensional, or cut between columns."""
    if X.ndim != 2:
        raise ValueError(
            f"X must have rows and columns, got an array of {X.ndim} dimensions. "
            "Reshape your data, for example with X.reshape(-1, 1)."
        )
    if X.numblocks[1] != 1:
        raise ValueError(
            f"X is cut into {X.numblocks[1]} chunks of columns; a row must be in one "
            "chunk. Use X.rechunk({1: -1})."
        )
    if X.dtype.kind not in "fiub":
        raise TypeError(
            f"X must hold real numbers, got dtype {X.dtype}. Encode it as numbers "
            "first."
        )
    return X


def _encoded_frame(X: Any) -> Any:
    """Return a frame of numbers, with one column per known category."""
    import dask.dataframe as dd

    if X.ndim != 2:
        raise ValueError("X must be a frame or a two-dimensional array, got a series.")
    categories = [name for name, dtype in X.dtypes.items() if dtype == "category"]
    for name in categories:
        if not X[name].cat.known:
            raise ValueError(
                f"the categories of column {name!r} of X are not known: call "
                "X.categorize() first."
            )
    return dd.get_dummies(X, columns=categories) if categories else X


def _numeric(name: Any, dtype: Any) -> np.dtype[Any]:
    numpy_dtype = getattr(dtype, "numpy_dtype", dtype)
    if getattr(numpy_dtype, "kind", "O") not in "fiub":
        raise TypeError(
            f"column {name!r} of X has type {dtype}; it must hold numbers or "
            f"categories. Use X[{name!r}].astype('category') and X.categorize(), or "
            "drop it."
        )
    result: np.dtype[Any] = np.dtype(numpy_dtype)
    return result


def as_matrix(block: object, number: int, n_columns: int, dtype: np.dtype[Any]) -> Any:
    """Return a block as a dense or CSR matrix."""
    with naming_partition(number):
        if sparse.issparse(block):
            check_sparse_structure(block)
            rows: Any = block
            return rows.tocsr().astype(dtype, copy=False)
        if hasattr(block, "to_numpy"):
            matrix = block.to_numpy(dtype=dtype, na_value=np.nan)
        else:
            matrix = np.asarray(block, dtype=dtype)
        if matrix.ndim != 2 or matrix.shape[1] != n_columns:
            raise ValueError(
                f"the block has shape {matrix.shape}, but X has {n_columns} columns."
            )
        return in_memory_order(matrix)  # once, not in each pass


def map_rows(model: Any, method: str, X: Any) -> Any:
    """Return the result of a model's method for each row, as a Dask array."""
    check_is_fitted(model)
    X, _ = check_columns(model, X, fitting=False)
    is_score = method == "decision_function"
    dtype = np.dtype(np.float64) if is_score else model.classes_.dtype
    tasks = Tasks()
    (blocks,) = tasks.take({"X": X})
    name, kept = f"{method}-{uuid4().hex}", tasks.add(itself, value=model)
    graph = tasks.graph
    for k, block in enumerate(blocks):
        key = tasks.add(_of_block, kept, block, number=k, method=method, dtype=dtype)
        graph[name, k] = key
    chunks = X.chunks[0] if isinstance(X, da.Array) else (np.nan,) * len(blocks)
    return da.Array(graph, name, (chunks,), dtype=dtype)


def _of_block(
    model: Any, block: Any, number: int, method: str, dtype: np.dtype[Any]
) -> NDArray[Any]:
    if block.shape[0] == 0:
        return np.zeros(0, dtype)
    with naming_partition(number):
        return np.asarray(getattr(model, method)(block))
