"""The columns of a table as a graph: raw cells in, the matrix of a model out."""

from itertools import product
from typing import Any, TypeAlias

import numpy as np
import onnx
import polars as pl

from aucmax.datasets.loading import MISSING
from aucmax.onnx.onnx_graph import TREES, OnnxGraph
from aucmax.tables import TableEncoder
from aucmax.tables._cells import read_words
from aucmax.tables._columns import restore
from aucmax.tables._scaling import KNEE, LARGEST, binary_exponent

Column: TypeAlias = dict[str, Any]  # the fitted state of one column

# white space at the ends of a cell, which polars strips; StringSplit only blanks
_SPACE = r"[\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}"
_SPACE += r"\x{205F}\x{3000}]"
# true and false in any case, and the bits that stand for them
_BOOLEANS = ["1", "0", *map("".join, product("tT", "rR", "uU", "eE"))]
_BOOLEANS += map("".join, product("fF", "aA", "lL", "sS", "eE"))


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
            cells = cells if kind == "number" else _in_one_spelling(graph, cells)
        else:
            place = encoder.feature_names_in_.tolist().index(name)
            cells = graph.add("Gather", array, np.array([place]), axis=1)
        blocks += _ADD[kind, view](graph, cells, column)
    return graph.add("Concat", *blocks, axis=1)


def _number_for_lines(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    """Compress and standardise as in ``aucmax/tables/_scaling.py``.

    Missing values are at the center, and marked if training had any.
    """
    is_missing = graph.add("IsNaN", cells)
    blocks = []
    if column["deviation"] > 0:
        filled = graph.add("Where", is_missing, column["center"], cells)
        halves = graph.add("Mul", filled, 0.5)
        shifted = graph.add("Sub", halves, column["center"] / 2)
        ratio = graph.add("Div", shifted, column["half_spread"])
        ratio = graph.clipped(ratio, -LARGEST, LARGEST)
        size = graph.add("Abs", ratio)
        order = graph.add("Log", graph.add("Div", size, KNEE))
        height = graph.add("Add", order, 1.0)
        height = graph.add("Mul", height, KNEE)
        far = graph.add("Mul", graph.add("Sign", ratio), height)
        is_far = graph.add("Greater", size, KNEE)
        squashed = graph.add("Where", is_far, far, ratio)
        centered = graph.add("Sub", squashed, column["mean"])
        blocks.append(graph.add("Div", centered, column["deviation"]))
    if column["has_missing"]:
        blocks.append(graph.add("Cast", is_missing, to=onnx.TensorProto.DOUBLE))
    return blocks


def _number_for_trees(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    factor = np.ldexp(1.0, -binary_exponent(column["half_spread"]))
    values = graph.add("Mul", cells, factor)
    return [graph.clipped(values, -LARGEST, LARGEST)]


def _category_for_lines(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    n_words = len(column["categories"]) + column["has_other"]
    width = n_words + column["has_missing"]
    places = np.arange(width, dtype=np.int64)[None, :]
    words, learned = _spellings(column)
    codes = _numbered(graph, cells, words, learned.codes(read_words(words)))
    is_at = graph.add("Equal", codes, places)
    return [graph.add("Cast", is_at, to=onnx.TensorProto.DOUBLE)]


def _looked_up(graph: OnnxGraph, cells: str, column: Column) -> list[str]:
    words, learned = _spellings(column)
    (numbers,) = learned.transform(read_words(words), "trees")
    places = _numbered(graph, cells, words, np.arange(len(words)))
    return [graph.add("Gather", numbers, places, axis=0)]


def _spellings(column: Column) -> tuple[pl.Series, Any]:
    """Return known words, missing values, booleans and a new word; and the column."""
    if column["kind"] == "category":
        column = column | {"share_other": 1.0}  # so that new words cause no warning
    words: list[str] = column.get("words") or column["categories"]
    spellings = dict.fromkeys([*words, *MISSING, *_BOOLEANS])
    return pl.Series([*spellings, max(spellings) + "x"]), restore(column)


def _numbered(graph: OnnxGraph, cells: str, words: pl.Series, numbers: Any) -> str:
    """Replace words by numbers, and others by the number of the last word."""
    return graph.add(
        "LabelEncoder",
        cells,
        domain=TREES,
        keys_strings=words[:-1].to_list(),
        values_int64s=numbers[:-1].tolist(),
        default_int64=int(numbers[-1]),
    )


def _in_one_spelling(graph: OnnxGraph, cells: str) -> str:
    """Strip blanks, and write 10.0 as "10", as `category_words` does.

    Other white space at the ends of a cell, such as a tab, cannot be stripped: the
    scores of these rows are NaN.
    """
    if cells in graph.words:
        return graph.words[cells]
    # StringSplit returns no column if no row has a word, so one more row has
    row = np.array([["-"]], dtype=object)
    padded = graph.add("Concat", cells, row, axis=0)
    bare = _first_part(graph, padded, delimiter="", maxsplit=0)
    digits = _first_part(graph, bare, delimiter=".")
    is_whole = graph.add("RegexFullMatch", bare, pattern=r"[+-]?[0-9]+\.0+")
    ends = (np.array([end]) for end in (0, -1, 0))
    words = graph.add("Slice", graph.add("Where", is_whole, digits, bare), *ends)
    pattern = f"(?s){_SPACE}.*|.*{_SPACE}"
    graph.unscored.append(graph.add("RegexFullMatch", words, pattern=pattern))
    graph.words[cells] = words
    return words


def _first_part(graph: OnnxGraph, cells: str, **options: Any) -> str:
    parts = graph.add("StringSplit", cells, **options)
    return graph.add("Gather", parts, np.array(0), axis=-1)


_ADD = {
    ("number", "linear"): _number_for_lines,
    ("number", "trees"): _number_for_trees,
    ("category", "linear"): _category_for_lines,
    ("category", "trees"): _looked_up,
    ("target mean", "linear"): _looked_up,
    ("target mean", "trees"): _looked_up,
}
#: The views of a table that can be exported.
ENCODED = {view for _, view in _ADD}
