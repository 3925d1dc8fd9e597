"""LightGBM's trees as one node of a graph, in double precision.

A split of LightGBM sends x to the left if ``x <= threshold``, or if x, cut to a whole
number, is in the set of a categorical split. NaN counts as 0 where training saw none,
else it goes to the side that training chose, or to the right of a set.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from onnx import numpy_helper

from aucmax.onnx.graph import TREES, Graph
from aucmax.trees.booster_text import parse_fields

__all__ = ["add_trees"]

_AT_MOST, _MEMBER = 0, 6  # ONNX's numbers of the two kinds of splits
_SUM, _AS_IT_IS = 1, 0
_IS_SET, _NAN_GOES_LEFT = 1, 2  # bits of LightGBM's decision_type
_ZERO_IS_MISSING, _NAN_IS_MISSING = 1, 2  # its bits 2 and 3


@dataclass
class _Nodes:
    """The splits and leaves of all trees, in ONNX's columns."""

    feature: list[int] = field(default_factory=list)
    mode: list[int] = field(default_factory=list)
    split: list[float] = field(default_factory=list)
    nan_is_true: list[int] = field(default_factory=list)
    true: list[int] = field(default_factory=list)
    true_is_leaf: list[int] = field(default_factory=list)
    false: list[int] = field(default_factory=list)
    false_is_leaf: list[int] = field(default_factory=list)
    members: list[float] = field(default_factory=list)
    roots: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(
        self,
        feature: int,
        threshold: float,
        members: list[int] | None,
        nan_is_true: bool,
        children: tuple[int, int],
    ) -> None:
        """Append a split; a child below 0 is the leaf -1 - child of this tree."""
        first_node, first_leaf = self.roots[-1], self._first_leaf
        self.feature.append(feature)
        self.mode.append(_AT_MOST if members is None else _MEMBER)
        self.split.append(threshold if members is None else 0.0)
        if members is not None:
            self.members += [*map(float, members), np.nan]  # NaN ends a set
        self.nan_is_true.append(int(nan_is_true))
        for child, places, are_leaves in (
            (children[0], self.true, self.true_is_leaf),
            (children[1], self.false, self.false_is_leaf),
        ):
            places.append(first_leaf - 1 - child if child < 0 else first_node + child)
            are_leaves.append(int(child < 0))

    def start_tree(self, leaf_values: list[float]) -> None:
        """Begin a tree with its leaves."""
        self.roots.append(len(self.feature))
        self._first_leaf = len(self.weights)
        self.weights += leaf_values

    _first_leaf: int = 0


def add_trees(graph: Graph, matrix: str, model_text: str) -> str:
    """Add the trees of a checked LightGBM text; return the sums of their leaves."""
    _, *blocks = model_text.split("\nTree=")
    nodes = _Nodes()
    for block in blocks:
        # the first line is the number of the tree; an empty one ends it
        _add_tree(nodes, parse_fields(block.partition("\n")[2].split("\n\n")[0] + "\n"))
    if not blocks:
        ones = graph.add("ReduceMax", matrix, graph.constant(np.array([1])))
        return graph.add("Sub", ones, ones)
    tensors = {
        "nodes_modes": np.array(nodes.mode, dtype=np.uint8),
        "nodes_splits": np.array(nodes.split),
        "leaf_weights": np.array(nodes.weights),
    }
    if nodes.members:
        tensors["membership_values"] = np.array(nodes.members)
    return graph.add(
        "TreeEnsemble",
        matrix,
        domain=TREES,
        n_targets=1,
        aggregate_function=_SUM,
        post_transform=_AS_IT_IS,
        tree_roots=nodes.roots,
        nodes_featureids=nodes.feature,
        nodes_missing_value_tracks_true=nodes.nan_is_true,
        nodes_truenodeids=nodes.true,
        nodes_trueleafs=nodes.true_is_leaf,
        nodes_falsenodeids=nodes.false,
        nodes_falseleafs=nodes.false_is_leaf,
        leaf_targetids=[0] * len(nodes.weights),
        **{
            name: numpy_helper.from_array(values, name)
            for name, values in tensors.items()
        },
    )


def _add_tree(nodes: _Nodes, fields: dict[str, str]) -> None:
    nodes.start_tree([float(value) for value in fields["leaf_value"].split()])
    if fields["num_leaves"] == "1":
        nodes.add(0, 0.0, None, False, (-1, -1))
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
            raise ValueError("trees that take zeros for gaps cannot be exported.")
        threshold = 0.0 if is_set else float(text)
        members = sets[int(text)] if is_set else None
        if missing == _NAN_IS_MISSING:
            nan_is_left = not is_set and bool(kind & _NAN_GOES_LEFT)
        else:
            nan_is_left = 0 in members if members is not None else threshold >= 0.0
        nodes.add(feature, threshold, members, nan_is_left, (children[0], children[1]))


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
