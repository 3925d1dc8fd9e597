"""The rows of a fit of trees, part by part, checked where they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.features import explain_non_finite
from aucmax._core.validation import FloatArray, check_qid
from aucmax.dask.features import as_matrix
from aucmax.dask.parts import Part, check_lengths, check_weights, naming_partition

__all__ = ["Block", "Contents", "as_block", "look_at"]


@dataclass(frozen=True)
class Block:
    """Rows of a part; labels and queries as the user has them."""

    number: int
    features: Any
    labels: NDArray[Any]
    weights: FloatArray | None
    queries: NDArray[Any] | None


@dataclass(frozen=True)
class Contents:
    """What is in a part: the labels of rows with any weight, and the queries."""

    n_rows: int
    labels: NDArray[Any]
    queries: NDArray[Any]


def as_block(
    part: Part, number: int, n_columns: int, dtype: np.dtype[Any], names: Any
) -> Block:
    """Return the rows of a part as XGBoost takes them; gaps may be there."""
    check_lengths(part, number)
    features = as_matrix(part["X"], number, n_columns, dtype)
    weights = part.get("sample_weight")
    with naming_partition(number):
        values = features if isinstance(features, np.ndarray) else features.data
        if np.isinf(values).any():
            raise ValueError(explain_non_finite(features, names, gaps=True))
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            weights = check_weights(weights) if weights.size else weights
    return Block(
        number,
        features,
        np.asarray(part["y"]),
        weights,
        np.asarray(part["qid"]) if "qid" in part else None,
    )


def look_at(block: Block) -> Contents:
    """Say what is in a part."""
    labels, queries = block.labels, block.queries
    if block.weights is not None:
        labels = labels[block.weights > 0.0]
    with naming_partition(block.number):
        return Contents(
            block.labels.size,
            _distinct(labels, "y"),
            _distinct(np.zeros(0) if queries is None else queries, "qid"),
        )


def _distinct(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return what occurs; a missing value is refused."""
    if values.size == 0:
        return values
    codes = check_qid(values, values.size, name).codes
    return values[np.unique(codes, return_index=True)[1]]
