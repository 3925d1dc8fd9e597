"""A gate before LightGBM's parser, which trusts every number in a model text.

An index out of range in a model text makes LightGBM read or write outside its
arrays, and a loop in a tree makes it run for ever. The check here accepts what
LightGBM 4 writes, and nothing that could do either.
"""

import json
import re

from aucmax._core.strict_json import json_depth
from aucmax.trees.booster_tree import (
    INTEGERS,
    check_tree,
    parse_fields,
    parse_integer,
)

__all__ = ["check_booster_text", "column_ranges"]

MAX_TEXT_BYTES = 2**29
MAX_TREES = 1_000_000
MAX_CLASSES = 10_000
MAX_FEATURES = 10_000_000

_REQUIRED = {
    "version",
    "num_class",
    "num_tree_per_iteration",
    "label_index",
    "max_feature_idx",
    "feature_names",
    "feature_infos",
    "tree_sizes",
}
_OPTIONAL = {"objective", "average_output", "monotone_constraints"}
_ONE_SCORE = {
    "binary",
    "cross_entropy",
    "cross_entropy_lambda",
    "fair",
    "gamma",
    "huber",
    "lambdarank",
    "mape",
    "poisson",
    "quantile",
    "rank_xendcg",
    "regression",
    "regression_l1",
    "tweedie",
}
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


def column_ranges(text: str) -> list[str]:
    """Return what LightGBM knows of each column's values.

    That is ``"[low:high]"``, ``"0:1:2"`` for categories, and ``"none"`` where there is
    nothing to split.
    """
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
    missing = sorted(_REQUIRED - fields.keys())
    unknown = sorted(fields.keys() - _REQUIRED - _OPTIONAL)
    if missing or unknown:
        raise ValueError(
            f"its header lacks {missing[0]!r}"
            if missing
            else f"its header has the unknown key {unknown[0][:40]!r}"
        )
    return fields


def _check_header(fields: dict[str, str]) -> int:
    """Check the header but for the sizes; return the number of features."""
    if fields["version"] != "v4":
        raise ValueError(f"its version is {fields['version'][:20]!r}, not 'v4'")
    if fields.get("average_output", "") != "":
        raise ValueError("average_output takes no value")
    n_classes = parse_integer("num_class", fields["num_class"], 1, MAX_CLASSES)
    per_round = fields["num_tree_per_iteration"]
    parse_integer("num_tree_per_iteration", per_round, n_classes, n_classes)
    last = parse_integer("max_feature_idx", fields["max_feature_idx"], 0, MAX_FEATURES)
    parse_integer("label_index", fields["label_index"], 0, 2**31 - 1)
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
        check_tree(block[len(start) : -2], n_features)
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
