"""A gate before LightGBM's parser, which trusts every number in a model text.

An index out of range in a model text makes LightGBM read or write outside its
arrays, and a loop in a tree makes it run for ever. The check here accepts what
LightGBM 4 writes, and nothing that could do either.
"""

import json
import math
import re
from collections.abc import Set
from typing import Any

from aucmax._core.strict_json import json_depth
from aucmax.exceptions import ModelFileError

MAX_TEXT_BYTES = 2**29
MAX_TREES = 1_000_000
MAX_CLASSES = 10_000
MAX_FEATURES = 10_000_000
MAX_LEAVES = 131_072  # LightGBM's own limit for num_leaves
MAX_TREE_DEPTH = 4096  # LightGBM walks some trees recursively

_HEADER_KEYS = {
    "version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx",
    "feature_names", "feature_infos", "tree_sizes",
}  # fmt: skip
_OPTIONAL_HEADER_KEYS = {"objective", "average_output", "monotone_constraints"}
_ONE_SCORE = {
    "binary", "cross_entropy", "cross_entropy_lambda", "fair", "gamma", "huber",
    "lambdarank", "mape", "poisson", "quantile", "rank_xendcg", "regression",
    "regression_l1", "tweedie",
}  # fmt: skip
_MANY_SCORES = {"multiclass", "multiclassova"}
_OPTION = re.compile(r"[a-z_]{1,40}(?::[0-9][0-9.e+-]{0,30})?")
_RANGE = re.compile(r"none|\[[-+.0-9aefin]+:[-+.0-9aefin]+\]|-?[0-9]+(?::-?[0-9]+)*")
_PARAMETER = re.compile(r'\[[a-z][a-z0-9_]{0,60}: [^\\":={}\x00-\x1f]*\]')
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
_END_OF_TREES = b"end of trees\n"
_TAIL = re.compile(
    r"(?:\nfeature_importances:\n(?P<importances>(?:[^\n]+=[0-9]+\n)*))?"
    r"(?:\nparameters:\n(?P<parameters>(?:\[[^\n]*\]\n)*)\nend of parameters\n)?"
    r"(?:\npandas_categorical:(?P<pandas>[^\n]*)\n)?"
)

_INTEGER = r"-?(?:0|[1-9][0-9]{0,9})"
_NUMBER = r"-?[0-9]{1,20}(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,3})?"
INTEGERS = re.compile(rf"{_INTEGER}(?: {_INTEGER})*")
NUMBERS = re.compile(rf"{_NUMBER}(?: {_NUMBER})*")
# "x <= inf" is how LightGBM writes the split between missing and not missing
_BOUND = rf"(?:{_NUMBER}|-?inf)"
BOUNDS = re.compile(rf"{_BOUND}(?: {_BOUND})*")
# gains and inner values are never used to predict, and may overflow in honest models
_ANY_NUMBER = rf"(?:{_NUMBER}|-?inf|-?nan)"
ANY_NUMBERS = re.compile(rf"{_ANY_NUMBER}(?: {_ANY_NUMBER})*")

#: per split: num_leaves - 1 entries each
_SPLIT_KEYS = {
    "split_feature": INTEGERS,
    "split_gain": ANY_NUMBERS,
    "threshold": BOUNDS,
    "decision_type": INTEGERS,
    "left_child": INTEGERS,
    "right_child": INTEGERS,
    "internal_value": ANY_NUMBERS,
    "internal_weight": ANY_NUMBERS,
    "internal_count": INTEGERS,
}
#: per leaf: num_leaves entries each
_LEAF_KEYS = {"leaf_value": NUMBERS, "leaf_weight": ANY_NUMBERS, "leaf_count": INTEGERS}
_OTHER_KEYS = {"num_leaves", "num_cat", "is_linear", "shrinkage"}
_CATEGORY_KEYS = {"cat_boundaries", "cat_threshold"}
_TREE_KEYS = _OTHER_KEYS | _SPLIT_KEYS.keys() | _LEAF_KEYS.keys()


def check_booster_text(text: str) -> None:
    r"""Raise ValueError unless a LightGBM model text is whole and harmless to parse.

    The text is in format v4, as of ``Booster.model_to_string()``. Counts must match the
    lists they announce; every split and leaf must be reached once from its root;
    features, children and category sets must be in range; leaf values finite and
    thresholds numbers; keys known and unique; the sizes of the trees those of the text.
    Linear trees are refused. Costs time proportional to the length of the text.

    Examples
    --------
    >>> from aucmax.trees.booster_text import check_booster_text
    >>> check_booster_text("tree\nversion=v4\n")
    Traceback (most recent call last):
      ...
    ValueError: not a valid LightGBM model text: its header does not end
    """
    try:
        _check_text(text)
    except ValueError as error:
        raise ValueError(f"not a valid LightGBM model text: {error}") from error


def check_model_text(text: Any, n_features: int) -> None:
    """Refuse a text that LightGBM's parser must not see, or of other columns."""
    if not isinstance(text, str):
        raise ModelFileError("the LightGBM model is damaged: it has no text")
    check_booster_text(text)
    # the check has made sure that there is one such line
    found = re.search(r"^max_feature_idx=([0-9]+)$", text, re.MULTILINE)
    last = int(found[1]) if found else -1
    if last + 1 != n_features:
        raise ModelFileError(
            f"the LightGBM model is for {last + 1} columns, not for {n_features!r}"
        )


def column_ranges(text: str) -> list[str]:
    """Return each column's ``"[low:high]"``, categories ``"0:1:2"``, or ``"none"``."""
    start = text.index("\nfeature_infos=") + len("\nfeature_infos=")
    return text[start : text.index("\n", start)].split(" ")


def _check_text(text: str) -> None:
    if not isinstance(text, str):
        raise ValueError(f"it is a {type(text).__name__}, not a text")
    if len(text) > MAX_TEXT_BYTES:
        raise ValueError(f"it is longer than {MAX_TEXT_BYTES}")
    if _CONTROL.search(text):
        raise ValueError("it holds control characters")
    content = text.encode()  # tree_sizes counts bytes
    header, blank, _ = content.partition(b"\n\n")
    if not blank:
        raise ValueError("its header does not end")
    fields = _parse_header(header.decode() + "\n")
    n_features = _check_header(fields)
    sizes = _parse_sizes(fields)
    position = len(header) + 2
    for number, size in enumerate(sizes):
        block = content[position : position + size].decode()
        _check_block(block, number, n_features)
        position += size
    if not content.startswith(_END_OF_TREES, position):
        raise ValueError("'end of trees' does not follow the last tree")
    tail = content[position + len(_END_OF_TREES) :].decode()
    _check_tail(tail, set(fields["feature_names"].split(" ")) if sizes else set())


def _parse_header(header: str) -> dict[str, str]:
    first, _, rest = header.partition("\n")
    if first != "tree":
        raise ValueError(f"it starts with {first[:40]!r}, not with 'tree'")
    fields = parse_fields(rest)
    try:
        _check_keys(fields, _HEADER_KEYS, _OPTIONAL_HEADER_KEYS)
    except ValueError as error:
        raise ValueError(f"in its header, {error}") from error
    return fields


def _check_keys(fields: dict[str, str], required: Set[str], optional: Set[str]) -> None:
    missing = sorted(required - fields.keys())
    unknown = sorted(fields.keys() - required - optional)
    if missing:
        raise ValueError(f"the key {missing[0]!r} is missing")
    if unknown:
        raise ValueError(f"the key {unknown[0][:40]!r} is unknown")


def _check_header(fields: dict[str, str]) -> int:
    """Check the header but for the sizes; return the number of features."""
    if fields["version"] != "v4":
        raise ValueError(f"its version is {fields['version'][:20]!r}, not 'v4'")
    if fields.get("average_output", "") != "":
        raise ValueError("average_output takes no value")
    n_classes = _parse_integer("num_class", fields["num_class"], 1, MAX_CLASSES)
    per_round = fields["num_tree_per_iteration"]
    _parse_integer("num_tree_per_iteration", per_round, n_classes, n_classes)
    last = _parse_integer("max_feature_idx", fields["max_feature_idx"], 0, MAX_FEATURES)
    _parse_integer("label_index", fields["label_index"], 0, 2**31 - 1)
    names = fields["feature_names"].split(" ")
    if len(names) != last + 1 or len(set(names)) != len(names) or "" in names:
        raise ValueError(f"feature_names are not {last + 1} different names")
    ranges = fields["feature_infos"].split(" ")
    if len(ranges) != last + 1 or not all(map(_RANGE.fullmatch, ranges)):
        raise ValueError(f"feature_infos are not {last + 1} ranges")
    signs = fields.get("monotone_constraints", "0").split(" ")
    if "monotone_constraints" in fields and (
        len(signs) != last + 1 or not set(signs) <= {"-1", "0", "1"}
    ):
        raise ValueError(f"monotone_constraints are not {last + 1} signs")
    if "objective" in fields:
        _check_objective(fields["objective"], n_classes)
    return last + 1


def _check_objective(objective: str, n_classes: int) -> None:
    """LightGBM writes as many outputs as the objective says, wherever they fit."""
    name, *options = objective.split(" ")
    if not all(map(_OPTION.fullmatch, options)):
        raise ValueError(f"the objective {objective[:60]!r} has unreadable options")
    declared = [option for option in options if option.startswith("num_class:")]
    if name in _MANY_SCORES:
        expected = [f"num_class:{n_classes}"]
    elif name in _ONE_SCORE and n_classes == 1:
        expected = []
    else:
        raise ValueError(
            f"the objective {name[:40]!r} does not go with {n_classes} "
            "classes, or is unknown"
        )
    if declared != expected:
        raise ValueError(
            f"the objective {objective[:60]!r} does not go with num_class={n_classes}"
        )


def _parse_sizes(fields: dict[str, str]) -> list[int]:
    text = fields["tree_sizes"]
    if text and not INTEGERS.fullmatch(text):
        raise ValueError("tree_sizes is not a list of integers")
    sizes = [int(size) for size in text.split()]
    if any(size < 1 for size in sizes) or len(sizes) > MAX_TREES:
        raise ValueError("tree_sizes has an impossible entry, or too many")
    if len(sizes) % int(fields["num_tree_per_iteration"]):
        raise ValueError("the number of trees is no multiple of num_class")
    return sizes


def _check_block(block: str, number: int, n_features: int) -> None:
    start = f"Tree={number}\n"
    if not block.startswith(start) or not block.endswith("\n\n\n"):
        raise ValueError(f"tree {number} does not lie where tree_sizes puts it")
    try:
        _check_tree(block[len(start) : -2], n_features)
    except ValueError as error:
        raise ValueError(f"in tree {number}, {error}") from error


def _check_tail(tail: str, names: set[str]) -> None:
    """Check what may follow the trees: importances, parameters, pandas categories."""
    sections = _TAIL.fullmatch(tail)
    if sections is None:
        raise ValueError("what follows the trees is not what LightGBM writes there")
    for line in (sections["importances"] or "").split("\n")[:-1]:
        if line.rpartition("=")[0] not in names:
            raise ValueError(f"feature_importances has the unknown line {line[:40]!r}")
    for line in (sections["parameters"] or "").split("\n")[:-1]:
        if not _PARAMETER.fullmatch(line) or line == "[linear_tree: 1]":
            raise ValueError(f"the parameter {line[:60]!r} is not allowed")
    _check_pandas(sections["pandas"] or "null")


def _check_pandas(text: str) -> None:
    """Check pandas' categories: null, or a list of lists of plain values."""
    columns = json.loads(text) if json_depth(text.encode()) <= 2 else ""
    if columns is not None and not (
        isinstance(columns, list)
        and all(isinstance(column, list) for column in columns)
        and not any(
            isinstance(item, list | dict) for column in columns for item in column
        )
    ):
        raise ValueError("pandas_categorical is not a list of lists of values")


def _check_tree(block: str, n_features: int) -> None:
    """Check the lines of one tree, from ``num_leaves`` to ``shrinkage``."""
    fields = parse_fields(block)
    _check_keys(fields, _TREE_KEYS, _CATEGORY_KEYS)
    if fields["is_linear"] != "0":
        raise ValueError(
            f"is_linear={fields['is_linear'][:20]}: linear trees are not supported"
        )
    _check_list("shrinkage", fields["shrinkage"], NUMBERS, 1)
    _check_finite("shrinkage", fields["shrinkage"])
    n_leaves = _parse_integer("num_leaves", fields["num_leaves"], 1, MAX_LEAVES)
    n_categorical = _parse_integer("num_cat", fields["num_cat"], 0, n_leaves - 1)
    _check_leaves(fields, n_leaves)
    for key, pattern in _SPLIT_KEYS.items():
        _check_list(key, fields[key], pattern, n_leaves - 1)
    if n_leaves > 1:
        _check_splits(fields, n_features)
        _check_shape(_integers(fields["left_child"]), _integers(fields["right_child"]))
    _check_categories(fields, n_categorical)


def parse_fields(block: str) -> dict[str, str]:
    """Split ``key=value`` lines; a key may occur once."""
    fields: dict[str, str] = {}
    for line in block.split("\n")[:-1]:
        key, equals, value = line.partition("=")
        if key in fields:
            raise ValueError(f"the key {key[:40]!r} occurs twice")
        if not equals and key != "average_output":
            raise ValueError(f"the line {line[:40]!r} is not key=value")
        fields[key] = value
    return fields


def _parse_integer(key: str, text: str, low: int, high: int) -> int:
    """Read one integer between two bounds, inclusive."""
    if not re.fullmatch(_INTEGER, text) or not low <= int(text) <= high:
        raise ValueError(f"{key}={text[:40]} is not an integer from {low} to {high}")
    return int(text)


def _check_finite(key: str, text: str) -> None:
    """Refuse digits that overflow; infinity that is written as such has passed."""
    for number in text.split():
        if math.isinf(float(number)) and not number.endswith("inf"):
            raise ValueError(f"{key} holds {number}, which is not finite")


def _integers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


def _check_list(key: str, text: str, pattern: re.Pattern[str], length: int) -> None:
    actual = text.count(" ") + 1 if text else 0
    if actual != length:
        raise ValueError(f"{key} has {actual} entries where {length} belong")
    if text and not pattern.fullmatch(text):
        raise ValueError(f"{key} is not a list of numbers: {text[:40]!r}")


def _check_leaves(fields: dict[str, str], n_leaves: int) -> None:
    for key, pattern in _LEAF_KEYS.items():
        # a tree without a split has a value, but not always a weight and a count
        if n_leaves > 1 or key == "leaf_value" or fields[key]:
            _check_list(key, fields[key], pattern, n_leaves)
    _check_finite("leaf_value", fields["leaf_value"])
    _check_range("leaf_count", _integers(fields["leaf_count"]), 0, 2**31 - 1)


def _check_range(key: str, numbers: list[int], low: int, high: int) -> None:
    if numbers and not (low <= min(numbers) and max(numbers) <= high):
        raise ValueError(f"{key} has an entry outside {low} to {high}")


def _check_splits(fields: dict[str, str], n_features: int) -> None:
    n_splits = fields["left_child"].count(" ") + 1
    _check_finite("threshold", fields["threshold"])
    _check_range("split_feature", _integers(fields["split_feature"]), 0, n_features - 1)
    _check_range("internal_count", _integers(fields["internal_count"]), 0, 2**31 - 1)
    # bit 0: categorical, bit 1: missing goes left, bits 2 and 3: kind of missing (0-2)
    _check_range("decision_type", _integers(fields["decision_type"]), 0, 11)
    for key in ("left_child", "right_child"):
        # a leaf is written as -1 - leaf; the root is nobody's child
        _check_range(key, _integers(fields[key]), -n_splits - 1, n_splits - 1)


def _check_shape(left: list[int], right: list[int]) -> None:
    """Walk from the root: each split and each leaf must be met exactly once."""
    met_splits, met_leaves = {0}, set[int]()
    level, depth = [0], 0
    while level:
        depth += 1
        if depth > MAX_TREE_DEPTH:
            raise ValueError(f"the tree is deeper than {MAX_TREE_DEPTH}")
        below = []
        for node in level:
            for child in (left[node], right[node]):
                met = met_splits if child >= 0 else met_leaves
                if child in met:
                    raise ValueError(f"the child {child} is reached twice")
                met.add(child)
                if child >= 0:
                    below.append(child)
        level = below
    if len(met_splits) != len(left) or len(met_leaves) != len(left) + 1:
        raise ValueError(
            f"only {len(met_splits)} of {len(left)} splits can be reached from the root"
        )


def _check_categories(fields: dict[str, str], n_categorical: int) -> None:
    """Check the bit sets of categorical splits: threshold is the number of the set."""
    kinds = _integers(fields["decision_type"])
    thresholds = fields["threshold"].split()
    used = sorted(
        threshold for threshold, kind in zip(thresholds, kinds, strict=True) if kind & 1
    )
    if used != sorted(str(number) for number in range(n_categorical)):
        raise ValueError(
            f"num_cat={n_categorical}, but the categorical splits name the sets "
            f"{', '.join(used[:5]) or 'of nobody'}"
        )
    if (n_categorical > 0) != bool(fields.keys() & _CATEGORY_KEYS):
        raise ValueError("cat_boundaries and cat_threshold do not go with num_cat")
    if n_categorical == 0:
        return
    if not fields.keys() >= _CATEGORY_KEYS:
        raise ValueError("one of cat_boundaries and cat_threshold is missing")
    _check_list("cat_boundaries", fields["cat_boundaries"], INTEGERS, n_categorical + 1)
    boundaries = _integers(fields["cat_boundaries"])
    if boundaries[0] != 0 or boundaries != sorted(boundaries):
        raise ValueError("cat_boundaries do not rise from 0")
    _check_list("cat_threshold", fields["cat_threshold"], INTEGERS, boundaries[-1])
    _check_range("cat_threshold", _integers(fields["cat_threshold"]), 0, 2**32 - 1)
