"""Trees as one node of a graph, in double precision.

A split of LightGBM sends x to the left if ``x <= threshold``, or if x, cut to a whole
number, is in the set of a categorical split. NaN goes to the right of a set. At a
threshold it counts as 0 where training saw none, else it goes to the side that training
chose.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper

from aucmax.model_selection.forest import Forest
from aucmax.onnx.onnx_graph import TREES, OnnxGraph
from aucmax.persistence.booster_text import parse_fields

_AT_MOST, _MEMBER = 0, 6  # ONNX's numbers of the two kinds of splits
_SUM, _AS_IT_IS = 1, 0
_IS_SET, _NAN_GOES_LEFT = 1, 2  # bits of LightGBM's decision_type
_ZERO_IS_MISSING, _NAN_IS_MISSING = 1, 2  # its bits 2 and 3


def add_trees(graph: OnnxGraph, matrix: str, model_text: str) -> str:
    """Add the trees of a checked LightGBM text; return the sums of their leaves."""
    _, *blocks = model_text.split("\nTree=")
    if not blocks:
        ones = graph.add("ReduceMax", matrix, np.array([1]))
        return graph.add("Sub", ones, ones)
    roots: list[int] = []
    splits: list[tuple[Any, ...]] = []
    leaves: list[float] = []
    for block in blocks:
        # the first line is the number of the tree; an empty one ends it
        fields = parse_fields(block.partition("\n")[2].split("\n\n")[0] + "\n")
        first = len(splits)
        roots.append(first)
        splits += [
            (*split, [k - len(leaves) if k < 0 else k + first for k in children])
            for *split, children in _splits(fields)
        ]
        leaves += map(float, fields["leaf_value"].split())
    features, thresholds, sets, nan_left, children = zip(*splits, strict=True)
    columns = features, thresholds, nan_left, children
    return _add_ensemble(graph, matrix, roots, columns, leaves, sets)


def add_forest(graph: OnnxGraph, matrix: str, model: Forest) -> str:
    """Add the trees of a forest, which compare in single precision."""
    largest = float(np.finfo(np.float32).max)
    rows = graph.clipped(matrix, -largest, largest)
    for precision in (TensorProto.FLOAT, TensorProto.DOUBLE):
        rows = graph.add("Cast", rows, to=precision)
    roots = model.roots_.astype(np.int64)
    is_lone = roots < 0  # a tree of one leaf gets a split, both ways to the leaf
    new = np.zeros(np.count_nonzero(is_lone))
    children = np.vstack([model.children_, np.tile(roots[is_lone, None], 2)])
    roots[is_lone] = model.features_.size + np.arange(new.size)
    one_per_split = model.features_, model.thresholds_, model.missing_left_
    columns = *(np.append(values, new) for values in one_per_split), children
    shares = _add_ensemble(graph, rows, roots, columns, model.shares_ / roots.size)
    return graph.add("Sub", shares, 0.5)


def add_steps(graph: OnnxGraph, values: str, steps: Any) -> str:
    """Add a balanced tree that counts the steps, rising numbers, below each value."""
    depth = len(steps).bit_length()
    n = 2**depth - 1  # the children of split k are 2 k + 1 and 2 k + 2
    order = [np.arange(2**k - 1, n, 2 ** (k + 1)) for k in reversed(range(depth))]
    thresholds = np.append(steps, np.full(n - len(steps), np.inf))
    children = 2 * np.arange(n)[:, None] + [1, 2]
    children = np.where(children < n, children, n - 1 - children)
    leaves = np.minimum(np.arange(n + 1), len(steps))
    columns = np.zeros(n), thresholds[np.concatenate(order)], np.zeros(n), children
    counts = _add_ensemble(graph, values, [0], columns, leaves)
    return graph.add("Cast", counts, to=TensorProto.INT64)


def _add_ensemble(
    graph: OnnxGraph, matrix: str, roots: Any, splits: Any, leaves: Any, sets: Any = ()
) -> str:
    """Add trees of splits: features, thresholds, whether NaN goes left, and children.

    A child below 0 is leaf -1 - child. A set, if it is not None, replaces a threshold.
    """
    features, thresholds, nan_left, children = map(np.asarray, splits)
    is_leaf = children < 0
    modes = np.full(len(children), _AT_MOST, dtype=np.uint8)
    modes[[k for k, members in enumerate(sets) if members is not None]] = _MEMBER
    attributes: dict[str, Any] = {
        "tree_roots": np.asarray(roots),
        "leaf_targetids": np.zeros(len(leaves), dtype=np.int64),
        "nodes_featureids": features.astype(np.int64),
        "nodes_missing_value_tracks_true": nan_left > 0,
    }
    for name, side, is_end in zip(
        ("true", "false"), children.T, is_leaf.T, strict=True
    ):
        attributes[f"nodes_{name}nodeids"] = np.where(is_end, -1 - side, side)
        attributes[f"nodes_{name}leafs"] = is_end
    attributes = {k: v.astype(int).tolist() for k, v in attributes.items()}
    # NaN ends a set
    members = [code for one in sets if one is not None for code in (*one, np.nan)]
    numbers: dict[str, Any] = {
        "nodes_splits": thresholds,
        "leaf_weights": leaves,
        "membership_values": members,
    }
    for name, values in numbers.items():
        if len(values):
            array = np.array(values, dtype=np.float64)
            attributes[name] = numpy_helper.from_array(array, name)
    attributes["nodes_modes"] = numpy_helper.from_array(modes, "nodes_modes")
    return graph.add(
        "TreeEnsemble",
        matrix,
        domain=TREES,
        n_targets=1,
        aggregate_function=_SUM,
        post_transform=_AS_IT_IS,
        **attributes,
    )


def _splits(fields: dict[str, str]) -> Iterator[tuple[Any, ...]]:
    """Yield feature, threshold, set or None, whether NaN goes left, and children."""
    if fields["num_leaves"] == "1":
        yield 0, 0.0, None, False, (-1, -1)
        return
    features, kinds, left, right = (
        [int(number) for number in fields[key].split()]
        for key in ("split_feature", "decision_type", "left_child", "right_child")
    )
    sets = _category_sets(fields)
    for feature, kind, text, *children in zip(
        features, kinds, fields["threshold"].split(), left, right, strict=True
    ):
        is_set, missing = kind & _IS_SET, kind >> 2
        if missing == _ZERO_IS_MISSING:
            raise ValueError("trees that treat zeros as missing cannot be exported.")
        threshold = 0.0 if is_set else float(text)
        members = sets[int(text)] if is_set else None
        knows_nan = missing == _NAN_IS_MISSING
        is_left = bool(kind & _NAN_GOES_LEFT) if knows_nan else threshold >= 0.0
        yield feature, threshold, members, is_left and not is_set, children


def _category_sets(fields: dict[str, str]) -> list[list[int]]:
    """Read the sets of a tree's categorical splits, which are written as bits."""
    if fields["num_cat"] == "0":
        return []
    bounds = [int(number) for number in fields["cat_boundaries"].split()]
    words = np.array(fields["cat_threshold"].split(), dtype=np.uint32)
    return [
        np.flatnonzero(
            np.unpackbits(words[low:high].view(np.uint8), bitorder="little")
        ).tolist()
        for low, high in pairwise(bounds)
    ]
