"""Check LightGBM model text before LightGBM parses it, which trusts every number.

An index out of range makes LightGBM read or write outside its arrays, and a cycle in a
tree makes it loop forever. The check accepts models with one score per row, as LightGBM
4 writes them for arrays, and nothing that could do either.
"""

import math
import re
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager

from aucmax.exceptions import ModelFileError

MAX_TEXT_BYTES = 2**29
MAX_FEATURES = 10_000_000
MAX_LEAVES = 131_072  # LightGBM's own limit for num_leaves
MAX_TREE_DEPTH = 4096  # LightGBM walks some trees recursively
_MAX_COUNT = 2**31 - 1

_HEADER_KEYS = {
    "version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx",
    "feature_names", "feature_infos", "tree_sizes",
}  # fmt: skip
_OPTIONAL_HEADER_KEYS = {"objective", "average_output", "monotone_constraints"}
_OBJECTIVES = {
    "binary", "cross_entropy", "cross_entropy_lambda", "fair", "gamma", "huber",
    "lambdarank", "mape", "poisson", "quantile", "rank_xendcg", "regression",
    "regression_l1", "tweedie",
}  # fmt: skip
_OPTION = re.compile(r"(?!num_class)[a-z_]{1,40}(?::[0-9][0-9.e+-]{0,30})?")
#: one value per column, in each of these lines of the header
_COLUMN_VALUES = {
    "feature_names": re.compile(r"[^ ]+"),
    "feature_infos": re.compile(
        r"none|\[[-+.0-9aefin]+:[-+.0-9aefin]+\]|-?[0-9]+(?::-?[0-9]+)*"
    ),
    "monotone_constraints": re.compile(r"-1|0|1"),
}
_PARAMETER = re.compile(r'\[[a-z][a-z0-9_]{0,60}: [^\\":={}\x00-\x1f]*\]')
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f]")
_END_OF_TREES = b"end of trees\n"
_TAIL = re.compile(
    r"(?:\nfeature_importances:\n(?P<importances>(?:[^\n]+=[0-9]+\n)*))?"
    r"(?:\nparameters:\n(?P<parameters>(?:\[[^\n]*\]\n)*)\nend of parameters\n)?"
    r"(?:\npandas_categorical:(?:null|\[\])\n)?"
)

_INTEGER = r"-?(?:0|[1-9][0-9]{0,9})"
_NUMBER = r"-?[0-9]{1,20}(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]{1,3})?"
# "x <= inf" is how LightGBM writes the split between missing and not missing
_BOUND = rf"(?:{_NUMBER}|-?inf)"
# gains and inner values are never used to predict, and may overflow in honest models
_ANY_NUMBER = rf"(?:{_NUMBER}|-?inf|-?nan)"
_INTEGERS, _NUMBERS, _BOUNDS, _ANY_NUMBERS = (
    re.compile(f"{one}(?: {one})*") for one in (_INTEGER, _NUMBER, _BOUND, _ANY_NUMBER)
)

#: num_leaves - 1 entries each
_SPLIT_KEYS = {
    **dict.fromkeys(("split_feature", "decision_type", "internal_count"), _INTEGERS),
    **dict.fromkeys(("left_child", "right_child"), _INTEGERS),
    **dict.fromkeys(("split_gain", "internal_value", "internal_weight"), _ANY_NUMBERS),
    "threshold": _BOUNDS,
}
#: num_leaves entries each
_LEAF_KEYS = {
    "leaf_value": _NUMBERS,
    "leaf_weight": _ANY_NUMBERS,
    "leaf_count": _INTEGERS,
}
_CATEGORY_KEYS = {"cat_boundaries", "cat_threshold"}
_TREE_KEYS = {"num_leaves", "num_cat", "is_linear", "shrinkage"}
_TREE_KEYS |= _SPLIT_KEYS.keys() | _LEAF_KEYS.keys()


def check_booster_text(text: str) -> int:
    r"""Return the number of columns, or raise ValueError if the text is not harmless.

    The text is in format v4, as of ``Booster.model_to_string()``. Counts must match the
    lists they announce; every split and leaf must be reached once from its root;
    features, children and category sets must be in range; leaf values finite and
    thresholds numbers; keys known and unique; the sizes of the trees those of the text.
    Linear trees and several scores per row are not supported. Costs time proportional
    to the length of the text.

    Examples
    --------
    >>> from aucmax.persistence.booster_text import check_booster_text
    >>> check_booster_text("tree\nversion=v4\n")
    Traceback (most recent call last):
      ...
    ValueError: not a valid LightGBM model text: its header does not end
    """
    with _located("not a valid LightGBM model text: "):
        return _check_text(text)


def check_model_text(text: str, n_features: int) -> None:
    """Reject text that LightGBM's parser must not read, or of other columns."""
    n_columns = check_booster_text(text)
    if n_columns != n_features:
        raise ModelFileError(
            f"the LightGBM model is for {n_columns} columns, not for {n_features!r}"
        )


def column_ranges(text: str) -> list[str]:
    """Return each column's ``"[low:high]"``, categories ``"0:1:2"``, or ``"none"``."""
    start = text.index("\nfeature_infos=") + len("\nfeature_infos=")
    return text[start : text.index("\n", start)].split(" ")


def _check_text(text: str) -> int:
    if not isinstance(text, str):
        raise ValueError(f"it is a {type(text).__name__}, not a string")
    if len(text) > MAX_TEXT_BYTES:
        raise ValueError(f"it is longer than {MAX_TEXT_BYTES}")
    if _CONTROL.search(text):
        raise ValueError("it has control characters")
    content = text.encode()  # tree_sizes counts bytes
    header, blank, _ = content.partition(b"\n\n")
    if not blank:
        raise ValueError("its header does not end")
    with _located("in its header, "):
        fields = _check_header(header.decode() + "\n")
    sizes = _integers(fields["tree_sizes"])
    n_features = int(fields["max_feature_idx"]) + 1
    position = len(header) + 2
    for number, size in enumerate(sizes):
        block = content[position : position + size].decode()
        position += size
        start = f"Tree={number}\n"
        if not block.startswith(start) or not block.endswith("\n\n\n"):
            raise ValueError(f"tree {number} is not where tree_sizes puts it")
        with _located(f"in tree {number}, "):
            _check_tree(block[len(start) : -2], n_features)
    if not content.startswith(_END_OF_TREES, position):
        raise ValueError("'end of trees' does not follow the last tree")
    tail = content[position + len(_END_OF_TREES) :].decode()
    _check_tail(tail, set(fields["feature_names"].split(" ")) if sizes else set())
    return n_features


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Say in the message of an error where it is."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{where}{error}") from error


def _check_header(header: str) -> dict[str, str]:
    first_line = "tree\n"
    if not header.startswith(f"{first_line}version=v4\n"):
        raise ValueError("the first lines are not 'tree' and 'version=v4'")
    fields = parse_fields(header[len(first_line) :])
    _check_keys(fields, _HEADER_KEYS, _OPTIONAL_HEADER_KEYS)
    if fields.get("average_output", "") != "":
        raise ValueError("average_output takes no value")
    for key in ("num_class", "num_tree_per_iteration"):
        _parse_integer(key, fields, 1, 1)
    _parse_integer("label_index", fields, 0, _MAX_COUNT)
    last = _parse_integer("max_feature_idx", fields, 0, MAX_FEATURES)
    for key in filter(fields.__contains__, _COLUMN_VALUES):
        values = fields[key].split(" ")
        is_valid = all(map(_COLUMN_VALUES[key].fullmatch, values))
        if len(values) != last + 1 or not is_valid:
            raise ValueError(f"{key} does not have {last + 1} valid entries")
    if len(set(fields["feature_names"].split(" "))) != last + 1:
        raise ValueError("feature_names has a name twice")
    # LightGBM writes as many outputs as the objective states, wherever they fit
    name, *options = fields.get("objective", "binary").split(" ")
    if name not in _OBJECTIVES or not all(map(_OPTION.fullmatch, options)):
        raise ValueError(f"the objective {fields['objective'][:60]!r} is not supported")
    n_trees = len(fields["tree_sizes"].split())
    _check_list("tree_sizes", fields, _INTEGERS, n_trees, (1, MAX_TEXT_BYTES))
    return fields


def _check_keys(fields: dict[str, str], required: Set[str], optional: Set[str]) -> None:
    for key in sorted(required - fields.keys()):
        raise ValueError(f"the key {key!r} is missing")
    for key in sorted(fields.keys() - required - optional):
        raise ValueError(f"the key {key[:40]!r} is unknown")


def _check_tail(tail: str, names: set[str]) -> None:
    """Check the text after the trees: importances, parameters, no pandas categories."""
    sections = _TAIL.fullmatch(tail)
    if sections is None:
        raise ValueError("the text after the trees is not in LightGBM's format")
    for line in (sections["importances"] or "").split("\n")[:-1]:
        if line.rpartition("=")[0] not in names:
            raise ValueError(f"feature_importances has the unknown line {line[:40]!r}")
    for line in (sections["parameters"] or "").split("\n")[:-1]:
        if not _PARAMETER.fullmatch(line) or line == "[linear_tree: 1]":
            raise ValueError(f"the parameter {line[:60]!r} is not allowed")


def _check_tree(block: str, n_features: int) -> None:
    """Check the lines of one tree, from ``num_leaves`` to ``shrinkage``."""
    fields = parse_fields(block)
    _check_keys(fields, _TREE_KEYS, _CATEGORY_KEYS)
    if fields["is_linear"] != "0":
        raise ValueError(
            f"is_linear={fields['is_linear'][:20]}: linear trees are not supported"
        )
    n_leaves = _parse_integer("num_leaves", fields, 1, MAX_LEAVES)
    n_categorical = _parse_integer("num_cat", fields, 0, n_leaves - 1)
    ranges = {
        "split_feature": (0, n_features - 1),
        # bit 0: categorical, bit 1: missing goes left, bits 2 and 3: missing type (0-2)
        "decision_type": (0, 11),
        # a leaf is written as -1 - leaf; the root has no parent
        "left_child": (-n_leaves, n_leaves - 2),
        "right_child": (-n_leaves, n_leaves - 2),
        "internal_count": (0, _MAX_COUNT),
        "leaf_count": (0, _MAX_COUNT),
    }
    _check_list("shrinkage", fields, _NUMBERS, 1)
    for key, pattern in _LEAF_KEYS.items():
        # a tree without a split has a value, but not always a weight and a count
        if n_leaves > 1 or key == "leaf_value" or fields[key]:
            _check_list(key, fields, pattern, n_leaves, ranges.get(key))
    for key, pattern in _SPLIT_KEYS.items():
        _check_list(key, fields, pattern, n_leaves - 1, ranges.get(key))
    if n_leaves > 1:
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


def _parse_integer(key: str, fields: Mapping[str, str], low: int, high: int) -> int:
    """Read one integer between two bounds, inclusive."""
    text = fields[key]
    if not re.fullmatch(_INTEGER, text) or not low <= int(text) <= high:
        raise ValueError(f"{key}={text[:40]} is not an integer from {low} to {high}")
    return int(text)


def _integers(text: str) -> list[int]:
    return [int(number) for number in text.split()]


def _check_list(
    key: str,
    fields: Mapping[str, str],
    pattern: re.Pattern[str],
    length: int,
    limits: tuple[int, int] | None = None,
) -> None:
    """Check the number of entries, their form, and their limits."""
    text = fields[key]
    actual = text.count(" ") + 1 if text else 0
    if actual != length:
        raise ValueError(f"{key} has {actual} entries instead of {length}")
    if not text:
        return
    if not pattern.fullmatch(text):
        raise ValueError(f"{key} is not a list of numbers: {text[:40]!r}")
    if limits is not None:
        low, high = limits
        numbers = _integers(text)
        if min(numbers) < low or max(numbers) > high:
            raise ValueError(f"{key} has an entry outside {low} to {high}")
    elif pattern is not _ANY_NUMBERS:
        for number in text.replace("inf", "0").split():
            if math.isinf(float(number)):
                raise ValueError(f"{key} has {number}, which is not finite")


def _check_shape(left: list[int], right: list[int]) -> None:
    """Check that children form one tree, each after its parent."""
    n_splits = len(left)
    if sorted([*left, *right]) != [*range(-1 - n_splits, 0), *range(1, n_splits)]:
        raise ValueError("the children are not those of one tree")
    depths = [1] * n_splits
    for node, children in enumerate(zip(left, right, strict=True)):
        if depths[node] > MAX_TREE_DEPTH:
            raise ValueError(f"the tree is deeper than {MAX_TREE_DEPTH}")
        for child in children:
            if 0 <= child <= node:
                raise ValueError("the children are not those of one tree")
            if child > 0:
                depths[child] = depths[node] + 1


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
            f"{', '.join(used[:5]) or 'of no split'}"
        )
    _check_keys(fields, _CATEGORY_KEYS if n_categorical else set(), _TREE_KEYS)
    if n_categorical == 0:
        return
    _check_list("cat_boundaries", fields, _INTEGERS, n_categorical + 1)
    ends = _integers(fields["cat_boundaries"])
    if ends[0] != 0 or ends != sorted(ends):
        raise ValueError("cat_boundaries do not ascend from 0")
    _check_list("cat_threshold", fields, _INTEGERS, ends[-1], (0, 2**32 - 1))
