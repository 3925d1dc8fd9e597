"""Trees of XGBoost in LightGBM's model text.

So there is one format of trees to score, to check and to save.
XGBoost sends x to the left if ``float32(x) < t``; LightGBM if ``x <= threshold``, in
double. A double rounds to less than t if it lies below the middle between t and the
float32 before it, or on the middle if that one is even: so every double goes the same
way.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, IntArray

# bits of LightGBM's decision_type
_NAN_GOES_LEFT, _ZERO_IS_MISSING, _NAN_IS_MISSING = 2, 4, 8


def lightgbm_text(booster: Any, n_rows: int, *, zero_is_missing: bool = False) -> str:
    """Return a booster of XGBoost as the model text of LightGBM that scores the same.

    The booster has one score per row, a base score in units of scores, as with a custom
    objective, and no categorical splits. Leaf values are added up in double precision.
    XGBoost stores no counts of rows; they are proportional to the hessians here, with
    `n_rows` at the root, and matter for contributions only. In a sparse matrix XGBoost
    takes absent values as missing, LightGBM as 0: with `zero_is_missing` these agree.
    """
    missing = _ZERO_IS_MISSING if zero_is_missing else _NAN_IS_MISSING
    learner = json.loads(booster.save_raw("json"))["learner"]
    about = learner["learner_model_param"]
    n_features = int(about["num_feature"])
    trees = learner["gradient_booster"]["model"]["trees"]
    # written as a number, or as a list of one
    offset = float(about["base_score"].strip("[]"))
    blocks = [
        f"Tree={number}\n{_tree(tree, n_rows, 0.0 if number else offset, missing)}\n\n"
        for number, tree in enumerate(trees)
    ]
    names = " ".join(f"Column_{k}" for k in range(n_features))
    header = (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={n_features - 1}\nfeature_names={names}\n"
        f"feature_infos={' '.join(['[-inf:inf]'] * n_features)}\n"
        f"tree_sizes={' '.join(str(len(block)) for block in blocks)}\n\n"
    )
    return header + "".join(blocks) + "end of trees\n"


def _tree(tree: Mapping[str, Any], n_rows: int, offset: float, missing: int) -> str:
    """Return the lines of one tree."""
    if any(tree["split_type"]):
        raise ValueError("categorical splits of XGBoost are not supported.")
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    splits, leaves = _nodes(left, right)
    place = np.zeros(left.size, dtype=np.int64)
    place[splits] = np.arange(splits.size)
    place[leaves] = -1 - np.arange(leaves.size)
    values = np.array(tree["split_conditions"], dtype=np.float32)
    gives_left = np.array(tree["default_left"], dtype=np.int64)[splits]
    weights = np.array(tree["sum_hessian"], dtype=np.float64)
    share = weights / weights[0] if weights[0] > 0.0 else np.ones(weights.size)
    counts = np.maximum(np.rint(share * n_rows), 1.0).astype(np.int64)
    gains, inner = np.array(tree["loss_changes"]), np.array(tree["base_weights"])
    fields = {
        "num_leaves": [leaves.size],
        "num_cat": [0],
        "split_feature": np.array(tree["split_indices"])[splits],
        "split_gain": gains[splits],
        "threshold": _thresholds(values[splits]),
        "decision_type": missing + _NAN_GOES_LEFT * gives_left,
        "left_child": place[left[splits]],
        "right_child": place[right[splits]],
        "leaf_value": values[leaves].astype(np.float64) + offset,
        "leaf_weight": weights[leaves],
        "leaf_count": counts[leaves],
        "internal_value": inner[splits],
        "internal_weight": weights[splits],
        "internal_count": counts[splits],
        "is_linear": [0],
        "shrinkage": [1],
    }
    return "".join(f"{key}={_joined(numbers)}\n" for key, numbers in fields.items())


def _nodes(left: IntArray, right: IntArray) -> tuple[IntArray, IntArray]:
    """Return the splits and the leaves in the order of a walk from the root."""
    splits, leaves, waiting = [], [], [0]
    while waiting:
        node = waiting.pop()
        if left[node] < 0:
            leaves.append(node)
        else:
            splits.append(node)
            waiting += [int(right[node]), int(left[node])]
    return np.array(splits, dtype=np.int64), np.array(leaves, dtype=np.int64)


def _thresholds(conditions: Any) -> FloatArray:
    """Return the largest double that float32 rounds to less than each condition."""
    before = np.nextafter(conditions, np.float32(-np.inf))
    middle = (before.astype(np.float64) + conditions.astype(np.float64)) / 2.0
    is_even = before.view(np.int32) % 2 == 0
    thresholds: FloatArray = np.where(is_even, middle, np.nextafter(middle, -np.inf))
    return thresholds


def _joined(numbers: Iterable[Any]) -> str:
    return " ".join(repr(number) for number in np.asarray(numbers).tolist())
