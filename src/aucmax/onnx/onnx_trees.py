"""Trees as one node of a graph, in double precision.

A split of LightGBM sends x to the left if ``x <= threshold``, or if x, cut to a whole
number, is in the set of a categorical split. NaN goes to the right of a set. At a
threshold it counts as 0 where training saw none, else it goes to the side that training
chose.
"""

from collections import defaultdict
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
_TENSORS = {"nodes_modes": np.uint8, "nodes_splits": np.float64}
_TENSORS |= {"leaf_weights": np.float64, "membership_values": np.float64}


def add_trees(graph: OnnxGraph, matrix: str, model_text: str) -> str:
    """Add the trees of a checked LightGBM text; return the sums of their leaves."""
    _, *blocks = model_text.split("\nTree=")
    if not blocks:
        ones = graph.add("ReduceMax", matrix, np.array([1]))
        return graph.add("Sub", ones, ones)
    columns: dict[str, Any] = defaultdict(list)  # of all splits and leaves, by name
    for block in blocks:
        # the first line is the number of the tree; an empty one ends it
        fields = parse_fields(block.partition("\n")[2].split("\n\n")[0] + "\n")
        _append_tree(columns, fields)
    return _add_ensemble(graph, matrix, columns)


def add_forest(graph: OnnxGraph, matrix: str, model: Forest) -> str:
    """Add the trees of a forest, which compare in single precision."""
    largest = float(np.finfo(np.float32).max)
    rows = graph.clipped(matrix, -largest, largest)
    for precision in (TensorProto.FLOAT, TensorProto.DOUBLE):
        rows = graph.add("Cast", rows, to=precision)
    is_lone = model.roots_ < 0  # a tree of one leaf gets a split, both ways to the leaf
    new = np.zeros(np.count_nonzero(is_lone))
    roots = model.roots_.astype(np.int64)
    children = np.vstack([model.children_, np.tile(roots[is_lone, None], 2)])
    roots[is_lone] = model.features_.size + np.arange(new.size)
    is_leaf = children < 0
    leaves = np.cumsum(is_leaf).reshape(is_leaf.shape) - 1
    places = np.where(is_leaf, leaves, children)
    columns: dict[str, Any] = {
        "tree_roots": roots,
        "nodes_featureids": np.append(model.features_, new).astype(np.int64),
        "nodes_missing_value_tracks_true": np.append(model.missing_left_, new) > 0,
        "nodes_truenodeids": places[:, 0],
        "nodes_trueleafs": is_leaf[:, 0],
        "nodes_falsenodeids": places[:, 1],
        "nodes_falseleafs": is_leaf[:, 1],
    }
    columns = {name: values.astype(int).tolist() for name, values in columns.items()}
    columns["nodes_modes"] = np.full(len(children), _AT_MOST)
    columns["nodes_splits"] = np.append(model.thresholds_, new)
    columns["leaf_weights"] = model.shares_[-1 - children[is_leaf]] / roots.size
    shares = _add_ensemble(graph, rows, columns)
    return graph.add("Sub", shares, 0.5)


def add_steps(graph: OnnxGraph, values: str, steps: Any) -> str:
    """Add a balanced tree that counts the steps, rising numbers, below each value."""
    columns: dict[str, Any] = defaultdict(list)
    columns["tree_roots"] = [0]
    columns["leaf_weights"] = list(range(len(steps) + 1))

    def append(low: int, high: int) -> tuple[int, int]:
        """Append the nodes of some steps; return the root, and whether it is a leaf."""
        if low == high:
            return low, 1
        middle, place = (low + high) // 2, len(columns["nodes_splits"])
        columns["nodes_featureids"].append(0)
        columns["nodes_modes"].append(_AT_MOST)
        columns["nodes_splits"].append(steps[middle])
        columns["nodes_missing_value_tracks_true"].append(0)
        sides = {"true": (low, middle), "false": (middle + 1, high)}
        for side in sides:
            columns[f"nodes_{side}nodeids"].append(0)  # replaced when it is known
            columns[f"nodes_{side}leafs"].append(0)
        for side, ends in sides.items():
            child, is_leaf = append(*ends)
            columns[f"nodes_{side}nodeids"][place] = child
            columns[f"nodes_{side}leafs"][place] = is_leaf
        return place, 0

    append(0, len(steps))
    counts = _add_ensemble(graph, values, columns)
    return graph.add("Cast", counts, to=TensorProto.INT64)


def _add_ensemble(graph: OnnxGraph, matrix: str, columns: dict[str, Any]) -> str:
    columns["leaf_targetids"] = [0] * len(columns["leaf_weights"])
    for name in _TENSORS.keys() & columns.keys():
        values = np.array(columns[name], dtype=_TENSORS[name])
        columns[name] = numpy_helper.from_array(values, name)
    return graph.add(
        "TreeEnsemble",
        matrix,
        domain=TREES,
        n_targets=1,
        aggregate_function=_SUM,
        post_transform=_AS_IT_IS,
        **columns,
    )


def _append_tree(columns: dict[str, Any], fields: dict[str, str]) -> None:
    first_node, first_leaf = len(columns["nodes_modes"]), len(columns["leaf_weights"])
    columns["tree_roots"].append(first_node)
    columns["leaf_weights"] += [float(value) for value in fields["leaf_value"].split()]
    for feature, threshold, members, nan_is_left, *children in _splits(fields):
        columns["nodes_featureids"].append(feature)
        columns["nodes_modes"].append(_AT_MOST if members is None else _MEMBER)
        columns["nodes_splits"].append(threshold)
        if members is not None:
            columns["membership_values"] += [*members, np.nan]  # NaN ends a set
        columns["nodes_missing_value_tracks_true"].append(int(nan_is_left))
        for side, child in zip(("true", "false"), children, strict=True):
            # a child below 0 is the leaf -1 - child of this tree
            place = first_leaf - 1 - child if child < 0 else first_node + child
            columns[f"nodes_{side}nodeids"].append(place)
            columns[f"nodes_{side}leafs"].append(int(child < 0))


def _splits(fields: dict[str, str]) -> Iterator[tuple[Any, ...]]:
    """Yield feature, threshold, set or None, whether NaN goes left, left, right."""
    if fields["num_leaves"] == "1":
        yield 0, 0.0, None, False, -1, -1
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
        yield feature, threshold, members, is_left and not is_set, *children


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
