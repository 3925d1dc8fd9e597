"""One tree of a LightGBM model text, checked to be a tree."""

import math
import re

__all__ = ["check_tree"]

MAX_LEAVES = 131_072  # LightGBM's own limit for num_leaves
MAX_TREE_DEPTH = 4096  # LightGBM walks some trees recursively

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
_REQUIRED = _OTHER_KEYS | _SPLIT_KEYS.keys() | _LEAF_KEYS.keys()


def check_tree(block: str, n_features: int) -> None:
    """Check the lines ``key=value`` of one tree, from ``num_leaves`` to ``shrinkage``.

    Raises ValueError if the tree is not one that LightGBM writes, or is a linear tree.
    """
    fields = parse_fields(block)
    _check_keys(fields)
    if fields["is_linear"] != "0":
        raise ValueError(
            f"is_linear={fields['is_linear'][:20]}: linear trees are not supported"
        )
    _check_list("shrinkage", fields["shrinkage"], NUMBERS, 1)
    _check_finite("shrinkage", fields["shrinkage"])
    n_leaves = parse_integer("num_leaves", fields["num_leaves"], 1, MAX_LEAVES)
    n_categorical = parse_integer("num_cat", fields["num_cat"], 0, n_leaves - 1)
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


def parse_integer(key: str, text: str, low: int, high: int) -> int:
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


def _check_keys(fields: dict[str, str]) -> None:
    missing = sorted(_REQUIRED - fields.keys())
    unknown = sorted(fields.keys() - _REQUIRED - _CATEGORY_KEYS)
    if missing:
        raise ValueError(f"the key {missing[0]!r} is missing")
    if unknown:
        raise ValueError(f"the key {unknown[0][:40]!r} is unknown")


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
