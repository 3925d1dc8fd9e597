"""The columns of a table as a graph: raw cells in, the matrix of a model out."""

from typing import Any, TypeAlias

import numpy as np
import onnx

from aucmax.onnx.onnx_graph import TREES, OnnxGraph
from aucmax.tables import TableEncoder
from aucmax.tables._scaling import KNEE, LARGEST, binary_exponent

Column: TypeAlias = dict[str, Any]  # the fitted state of one column


def add_table(
    graph: OnnxGraph, encoder: TableEncoder, view: str, array: str | None = None
) -> str:
    """Return the matrix of a view, of one input per raw column or of an array."""
    if encoder.scales_ is not None:
        width = int(encoder.n_features_in_)
        raise TypeError(
            f"a model of {width} sparse columns cannot be exported to ONNX; use "
            "aucmax.save and aucmax.load instead."
        )
    blocks = []
    for column in encoder.columns_:
        name, kind = column["name"], column["kind"]
        if kind == "date":
            raise TypeError(
                f"column {name!r} holds dates, which cannot be exported to ONNX; fit a "
                "model to separate columns of year, month and so on."
            )
        if array is None:
            cells = graph.input(name, 1, is_text=kind != "number")
        else:
            place = encoder.feature_names_in_.tolist().index(name)
            cells = graph.add("Gather", array, graph.constant([place]), axis=1)
        blocks += _ADD[kind, view](graph, cells, column)
    return graph.add("Concat", *blocks, axis=1)


def _number_for_lines(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    """Compress and standardise as in ``aucmax/tables/_scaling.py``.

    Missing values are at the center, and marked if training had any.
    """
    is_missing = graph.add("IsNaN", cells)
    blocks = []
    if column["deviation"] > 0:
        filled = graph.add("Where", is_missing, graph.number(column["center"]), cells)
        halves = graph.add("Mul", filled, graph.number(0.5))
        shifted = graph.add("Sub", halves, graph.number(column["center"] / 2))
        ratio = graph.add("Div", shifted, graph.number(column["half_spread"]))
        ratio = graph.clipped(ratio, -LARGEST, LARGEST)
        size = graph.add("Abs", ratio)
        order = graph.add("Log", graph.add("Div", size, graph.number(KNEE)))
        height = graph.add("Add", order, graph.number(1.0))
        height = graph.add("Mul", height, graph.number(KNEE))
        far = graph.add("Mul", graph.add("Sign", ratio), height)
        is_far = graph.add("Greater", size, graph.number(KNEE))
        squashed = graph.add("Where", is_far, far, ratio)
        centered = graph.add("Sub", squashed, graph.number(column["mean"]))
        blocks.append(graph.add("Div", centered, graph.number(column["deviation"])))
    if column["has_missing"]:
        blocks.append(graph.add("Cast", is_missing, to=onnx.TensorProto.DOUBLE))
    return blocks


def _number_for_trees(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    factor = np.ldexp(1.0, -binary_exponent(column["half_spread"]))
    values = graph.add("Mul", cells, graph.number(factor))
    return [graph.clipped(values, -LARGEST, LARGEST)]


def _category_for_lines(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    n_words = len(column["categories"]) + column["has_other"]
    width = n_words + column["has_missing"]
    places = graph.constant(np.arange(width, dtype=np.int64)[None, :])
    is_at = graph.add("Equal", _codes(graph, cells, column), places)
    return [graph.add("Cast", is_at, to=onnx.TensorProto.DOUBLE)]


def _category_for_trees(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    n_words = len(column["categories"]) + column["has_other"]
    # one place further for each code: the first is for -1, the last for missing values
    numbers = np.array([np.nan, *range(n_words), np.nan])
    codes = _codes(graph, cells, column)
    places = graph.add("Add", codes, graph.constant(np.array([1])))
    return [_looked_up(graph, places, numbers)]


def _codes(graph: OnnxGraph, cells: str, column: Column) -> str:
    """Map words to numbers: categories, then other, then missing; -1 for none."""
    n, has_other = len(column["categories"]), bool(column["has_other"])
    words = {word: k for k, word in enumerate(column["categories"])}
    words.setdefault("", n + has_other if column["has_missing"] else -1)
    return _numbered(graph, cells, words, n if has_other else -1)


def _target_mean(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    shares = np.array([*column["shares"], column["overall"]])
    words = {word: k for k, word in enumerate(column["words"])}
    places = _numbered(graph, cells, words, len(words))
    scaled = (shares - column["overall"]) / column["deviation"]
    return [_looked_up(graph, places, scaled)]


def _numbered(graph: OnnxGraph, cells: str, words: dict[str, int], default: int) -> str:
    return graph.add(
        "LabelEncoder",
        cells,
        domain=TREES,
        keys_strings=list(words),
        values_int64s=list(words.values()),
        default_int64=default,
    )


def _looked_up(graph: OnnxGraph, places: str, numbers: Any) -> str:
    return graph.add("Gather", graph.constant(numbers), places, axis=0)


_ADD = {
    ("number", "linear"): _number_for_lines,
    ("number", "trees"): _number_for_trees,
    ("category", "linear"): _category_for_lines,
    ("category", "trees"): _category_for_trees,
    ("target mean", "linear"): _target_mean,
    ("target mean", "trees"): _target_mean,
}
#: The views of a table that can be exported.
ENCODED = {view for _, view in _ADD}
