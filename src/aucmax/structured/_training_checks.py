"""What labelled graphs are checked for, beyond each graph by itself."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._validation import BoolArray, check_binary_labels
from aucmax.structured.batch import GraphBatch

__all__ = ["check_edge_features", "check_labels"]


def check_labels(
    labels: Sequence[ArrayLike],
    batch: GraphBatch,
    classes: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], BoolArray]:
    """Return the two classes, and which nodes of all graphs are positive."""
    if not isinstance(labels, Iterable):
        raise TypeError(
            "labels must be a list with one array of labels for each graph, got a "
            f"{type(labels).__name__}."
        )
    parts = [np.asarray(part) for part in labels]
    if len(parts) != batch.n_graphs:
        raise ValueError(
            f"labels has {len(parts)} entries for {batch.n_graphs} graphs; each graph "
            "needs one array of labels."
        )
    sizes = np.diff(batch.node_offsets)
    for m, part in enumerate(parts):
        if part.shape != (sizes[m],):
            raise ValueError(
                f"labels[{m}] has shape {part.shape}, but graphs[{m}] has {sizes[m]} "
                "nodes; each node needs one label."
            )
    joined = np.concatenate(parts)
    if classes is None:
        return check_binary_labels(joined, "labels")
    is_positive = np.asarray(joined == classes[1], dtype=bool)
    is_known = is_positive | (joined == classes[0])
    if not is_known.all():
        node = int(np.argmin(is_known))
        m = int(np.searchsorted(batch.node_offsets, node, "right")) - 1
        raise ValueError(
            f"labels[{m}][{node - batch.node_offsets[m]}] is "
            f"{joined[node : node + 1].tolist()[0]!r}, but the model knows "
            f"{' and '.join(map(repr, classes.tolist()))}."
        )
    return classes, is_positive


def check_edge_features(batch: GraphBatch) -> None:
    """Refuse negative features, which could make a pair weight negative."""
    is_negative = batch.edge_features < 0.0
    if is_negative.any():
        edge, column = (int(place) for place in np.argwhere(is_negative)[0])
        m = int(np.searchsorted(batch.edge_offsets, edge, "right")) - 1
        raise ValueError(
            f"edge features must not be negative with pair_weights='nonnegative', but "
            f"graphs[{m}] has {batch.edge_features[edge, column]} at edge "
            f"{edge - batch.edge_offsets[m]}, column {column}. Shift or split the "
            "column, or set pair_weights='free', which solves a linear program for "
            "each graph with a negative pair weight."
        )
