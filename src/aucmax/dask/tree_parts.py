"""The rows of a fit of trees, part by part, checked where they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._validation import FloatArray, IntArray

__all__ = ["Block", "Contents", "as_block", "look_at", "split_rows"]

_MOST_LABELS = 1000  # different ones in a part; more are no classes


@dataclass(frozen=True)
class Block:
    """Rows of a part, as XGBoost and the risk of pairs take them."""

    features: Any
    labels: NDArray[Any]
    weights: FloatArray | None
    queries: IntArray | None


@dataclass(frozen=True)
class Contents:
    """What is in a part."""

    n_rows: int
    n_columns: int
    labels: NDArray[Any]
    queries: NDArray[Any] | None
    names: list[str] | None


def split_rows(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one dictionary of delayed blocks for each part of X.

    Arrays of known length are cut as X is; frames and series must have its partitions.
    """
    import dask.array as da

    X = columns["X"]
    n_parts = int(X.npartitions)
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have rows and columns, got {X.ndim} dimensions.")
        if X.numblocks[1] > 1:
            raise ValueError(
                f"X is cut into {X.numblocks[1]} blocks of columns; rows must be in "
                'one piece: X.rechunk({0: "auto", 1: -1}).'
            )
    cut: dict[str, list[Any]] = {}
    for name, values in columns.items():
        if values is None:
            continue
        if not hasattr(type(values), "__dask_graph__"):
            raise TypeError(
                f"X is a collection of Dask, but {name} is a {type(values).__name__}; "
                f"cut {name} as X is: dask.array.from_array({name}, X.chunks[0])."
            )
        if _can_be_cut(X) and _can_be_cut(values) and values.chunks[0] != X.chunks[0]:
            if values.shape[0] != X.shape[0]:
                raise ValueError(
                    f"{name} has {values.shape[0]} rows, but X has {X.shape[0]}."
                )
            values = values.rechunk({0: X.chunks[0]})
        blocks = np.ravel(np.array(values.to_delayed(), dtype=object)).tolist()
        if len(blocks) != n_parts:
            raise ValueError(
                f"{name} has {len(blocks)} partitions, but X has {n_parts}; cut both "
                "alike, for instance by taking them from one frame."
            )
        cut[name] = blocks
    return [
        dict(zip(cut, part, strict=True)) for part in zip(*cut.values(), strict=True)
    ]


def _can_be_cut(values: Any) -> bool:
    """Whether the lengths of the blocks are known."""
    return hasattr(values, "chunks") and not np.isnan(values.shape[0])


def look_at(part: Mapping[str, Any], number: int) -> Contents:
    """Check the rows of a part; say what is in it."""
    X, where = part["X"], f"partition {number}"
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    is_sparse, features = sparse.issparse(X), _features(X, where)
    n_rows, n_columns = features.shape
    for name, values in part.items():
        if name != "X" and len(values) != n_rows:
            raise ValueError(
                f"{where} has {n_rows} rows in X and {len(values)} in "
                f"{name}; cut both alike."
            )
    if np.isinf(features.data if is_sparse else features).any():
        raise ValueError(f"{where} of X holds infinity; gaps are NaN.")
    labels = np.unique(np.asarray(part["y"]))
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError(f"{where} of y holds NaN: leave those rows out.")
    if labels.size > _MOST_LABELS:
        raise ValueError(
            f"{where} of y has {labels.size} different values; it should have two "
            "labels, or levels of relevance."
        )
    weights = part.get("sample_weight")
    if weights is not None:
        _check_weights(np.asarray(weights, dtype=np.float64), where)
    queries = np.unique(np.asarray(part["qid"])) if "qid" in part else None
    return Contents(n_rows, n_columns, labels, queries, names)


def as_block(
    part: Mapping[str, Any],
    classes: NDArray[Any] | None,
    queries: Mapping[Hashable, int],
) -> Block:
    """Return the rows with classes and queries by number; levels are numbers."""
    weights, labels = part.get("sample_weight"), np.asarray(part["y"])
    own = None
    if "qid" in part:
        unique, places = np.unique(np.asarray(part["qid"]), return_inverse=True)
        own = np.array([queries[key] for key in unique.tolist()], dtype=np.int64)
        own = own[places] if places.size else own
    return Block(
        _features(part["X"], "X"),
        labels if classes is None else np.searchsorted(classes, labels),
        None if weights is None else np.asarray(weights, dtype=np.float64),
        own,
    )


def _features(X: Any, where: str) -> Any:
    if sparse.issparse(X):
        as_matrix: Any = sparse.csr_matrix  # which XGBoost knows
        return as_matrix(X)
    if hasattr(X, "dtypes") and hasattr(X, "columns"):
        odd = [str(name) for name in X.columns if X[name].dtype.kind not in "fiub"]
        if odd:
            raise TypeError(
                f"{where}: column {odd[0]!r} of X holds {X[odd[0]].dtype} values; "
                "trees on Dask take numbers. Number its categories, or spread them "
                "over columns of zeros and ones."
            )
    found = np.asarray(X)
    if found.dtype.kind not in "fiub":
        raise TypeError(f"{where} of X holds {found.dtype} values, not numbers.")
    return found if found.dtype.kind == "f" else found.astype(np.float64)


def _check_weights(weights: FloatArray, where: str) -> None:
    if not (np.isfinite(weights) & (weights >= 0.0)).all():
        raise ValueError(f"{where} of sample_weight holds a number that is no weight.")
