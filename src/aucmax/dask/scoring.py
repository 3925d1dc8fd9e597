"""Scores of rows in parts: one task for each part, computed when they are asked for."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import dask.array as da
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from aucmax.dask.features import check_columns
from aucmax.dask.parts import naming_partition
from aucmax.dask.tasks import Tasks

__all__ = ["map_rows"]


def map_rows(model: Any, method: str, X: Any) -> Any:
    """Return what a method of a fitted model says of each row, as an array of Dask."""
    check_is_fitted(model)
    X, _ = check_columns(model, X, fitting=False)
    is_score = method == "decision_function"
    dtype = np.dtype(np.float64) if is_score else model.classes_.dtype
    tasks = Tasks()
    (blocks,) = tasks.take({"X": X})
    name, kept = f"{method}-{uuid4().hex}", tasks.add(_itself, model=model)
    graph = tasks.graph
    for k, block in enumerate(blocks):
        key = tasks.add(_of_block, kept, block, number=k, method=method, dtype=dtype)
        graph[name, k] = key
    chunks = X.chunks[0] if isinstance(X, da.Array) else (np.nan,) * len(blocks)
    return da.Array(graph, name, (chunks,), dtype=dtype)


def _itself(model: Any) -> Any:
    return model


def _of_block(
    model: Any, block: Any, number: int, method: str, dtype: np.dtype[Any]
) -> NDArray[Any]:
    if block.shape[0] == 0:
        return np.zeros(0, dtype)
    with naming_partition(number):
        return np.asarray(getattr(model, method)(block))
