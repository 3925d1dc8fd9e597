"""What labelled graphs are checked for, beyond each graph by itself."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.validation import (
    BoolArray,
    check_binary_labels,
    labels_among,
    reject_missing_labels,
    reject_unreadable,
)
from aucmax.graphs.batch import GraphBatch

__all__ = ["check_edge_features", "check_labels", "check_sizes"]

_LARGEST_FEATURE = 1e100  # so that squares, and their sums, do not overflow


def check_labels(
    y: Sequence[ArrayLike],
    batch: GraphBatch,
    classes: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], BoolArray]:
    """Return the two classes, and which nodes of all graphs are positive."""
    if not isinstance(y, Iterable):
        raise TypeError(
            "y must be a list with one array of labels per graph, got a "
            f"{type(y).__name__}."
        )
    parts = [_as_array(part, f"y[{m}]") for m, part in enumerate(y)]
    if len(parts) != batch.n_graphs:
        raise ValueError(
            f"y has {len(parts)} entries for {batch.n_graphs} graphs; each graph needs "
            "one array of labels."
        )
    sizes = np.diff(batch.node_offsets)
    for m, part in enumerate(parts):
        if part.shape != (sizes[m],):
            raise ValueError(
                f"y[{m}] has shape {part.shape}, but X[{m}] has {sizes[m]} nodes; each "
                "node needs one label."
            )
        if part.dtype.kind == "f" and not np.isfinite(part).all():
            node = int(np.argmin(np.isfinite(part)))
            raise ValueError(
                f"y[{m}] is {part[node]} in row {node}; a graph is learned whole, so "
                "each node needs a label."
            )
        reject_missing_labels(part, f"y[{m}]")
    if classes is None:
        return check_binary_labels(np.concatenate(parts), "y")
    known = [labels_among(classes, part, f"y[{m}]") for m, part in enumerate(parts)]
    return classes, np.concatenate(known)


def _as_array(labels: ArrayLike, name: str) -> NDArray[Any]:
    reject_unreadable(labels, name)
    try:
        return np.asarray(labels)
    except ValueError as error:
        raise ValueError(f"{name} is not one label per node: {error}") from None


def check_edge_features(batch: GraphBatch) -> None:
    """Refuse negative features, which could make a pair weight negative."""
    is_negative = batch.edge_features < 0.0
    if is_negative.any():
        edge, column = (int(place) for place in np.argwhere(is_negative)[0])
        m = int(np.searchsorted(batch.edge_offsets, edge, "right")) - 1
        raise ValueError(
            f"edge features must not be negative with pair_weights='nonnegative', but "
            f"X[{m}] has {batch.edge_features[edge, column]} at edge "
            f"{edge - batch.edge_offsets[m]}, column {column}. Shift or split the "
            "column, or set pair_weights='free', which solves a linear program "
            "per graph with a negative pair weight."
        )


def check_sizes(batch: GraphBatch) -> None:
    """Refuse features whose products overflow."""
    for name in ("node_features", "edge_features"):
        largest = np.abs(getattr(batch, name)).max(initial=0.0)
        if largest > _LARGEST_FEATURE:
            raise ValueError(
                f"{name} are up to {largest:.2g}, and products of such numbers "
                "overflow. Scale them first."
            )
