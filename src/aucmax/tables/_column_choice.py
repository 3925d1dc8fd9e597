"""Decide whether a column holds numbers, dates, categories or nothing useful."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax.tables import _cell_values
from aucmax.tables._column_types import (
    Category,
    Column,
    Date,
    Number,
    reject_infinities,
)

# below this many rows it means nothing that all values differ
_FEW_ROWS = 20

# strings that nearly all differ are names or keys
_KEY_SHARE = 0.9

# sample of cells, and the share that must be readable before all cells are read
_SAMPLE = 1000
_PROMISING = 0.5

# names of row counters; an index without a header has an empty one
_COUNTER_NAME = re.compile(
    r"|#|n[or]|index|unnamed: ?0|column_1|id|.*[_ ]id|row([_ ]?(id|number|n[or]))?"
)


# the summary of notes of one kind about several columns
NOTE_SUMMARIES = {
    "strays": "{n} columns of numbers or dates have other cells, which count as "
    "missing: {names}",
    "disguised": "{n} columns look like numbers or dates of other forms, and each is "
    "text: {names}; write them like 1200.5 and 2024-01-31",
    "rare": "{n} columns have rare categories, which share one indicator: {names}",
    "dates": "dates are used by their month, weekday, hour, and days since other "
    "dates, not as numbers, which scores of later rows extrapolate: {names}; pass "
    "times (--times) or absolute_dates=True to use these as well",
    "absolute dates": "dates are also used as numbers, which scores of later rows "
    "extrapolate: {names}; absolute_dates=False leaves the numbers out",
}


class ColumnDecision(NamedTuple):
    """A learned column, or None and the reason, and notes by their kind."""

    column: Column | None
    reason: str = ""
    notes: Mapping[str, str] = {}


def has_many_words(column: Column, max_categories: int) -> bool:
    """Return whether a column has more categories than indicators."""
    return (
        isinstance(column, Category)
        and column.has_other
        and len(column.categories) == max_categories
    )


def learn_column(
    series: pl.Series,
    max_categories: int,
    min_frequency: int,
) -> ColumnDecision:
    """Learn the type of a column."""
    if not _cell_values.is_plain(series):
        kind: Any = series.dtype
        if kind == pl.Object:
            kind = type(next(cell for cell in series if cell is not None)).__name__
        return ColumnDecision(None, f"its cells are of type {kind}")
    if series.null_count() == len(series):
        return ColumnDecision(None, "it is empty")
    if series.dtype in (pl.Date, pl.Datetime):
        return ColumnDecision(Date(series.name))
    if series.dtype == pl.String:
        verdict = _learn_written_values(series)
        if verdict is not None:
            return verdict
    elif series.dtype not in (pl.Boolean, pl.Categorical, pl.Enum):
        return _learn_number(series, _cell_values.read_numbers(series))
    decision = _learn_category(series, max_categories, min_frequency)
    if series.dtype == pl.String:
        notes = {**decision.notes, **_disguise_note(series)}
        decision = decision._replace(notes=notes)
    return decision


def _learn_written_values(series: pl.Series) -> ColumnDecision | None:
    """Learn numbers or dates that are strings; None if they are neither."""
    filled = series.drop_nulls()
    # a column that fails on a sample by far is not worth reading whole
    sample = filled.gather_every(max(1, len(filled) // _SAMPLE))
    if _cell_values.read_numbers(sample).share_read > _PROMISING:
        numbers = _cell_values.read_numbers(series)
        # integers beyond 64 bits are ids: as floats they would be one
        is_id = filled.str.contains("^[+-]?[0-9]{20,}$").all()
        if numbers.is_mostly_read and not is_id:
            return _learn_number(series, numbers)
    if _cell_values.read_dates(sample).share_read > _PROMISING:
        dates = _cell_values.read_dates(series)
        if dates.is_mostly_read:
            strays = _cell_values.settle_strays(series, dates, "dates")
            notes = {"strays": strays} if strays else {}
            return ColumnDecision(Date(series.name), notes=notes)
    return None


def _disguise_note(series: pl.Series) -> dict[str, str]:
    """Return a note on text that looks like numbers or dates."""
    filled = series.cast(pl.String).drop_nulls()
    sample = filled.gather_every(max(1, len(filled) // _SAMPLE))
    kind = _cell_values.disguise(sample)
    if not kind:
        return {}
    note = (
        f"column {series.name!r} has {kind}, such as {sample[0]!r}, and is text; write "
        f"them like {'2024-01-31' if kind.startswith('dates') else '1200.5'}"
    )
    return {"disguised": note}


def _learn_number(series: pl.Series, cells: _cell_values.Cells) -> ColumnDecision:
    values = cells.values
    if np.isnan(values).all():
        return ColumnDecision(None, "it is empty")
    reject_infinities(series.name, values)
    if (values == values[0]).all():
        if series.n_unique() > 1:
            why = "as float64 all of its numbers are equal; write them as strings"
            return ColumnDecision(None, why)
        return ColumnDecision(None, f"it is {series[0]} in every row")
    if _is_row_counter(series.name, values):
        return ColumnDecision(None, "it only counts the rows")
    note = _cell_values.settle_strays(series, cells, "numbers")
    is_duration = _cell_values.is_duration(series)
    column = Number.learn(series.name, values, is_duration)
    return ColumnDecision(column, notes={"strays": note} if note else {})


def _is_row_counter(name: str, values: NDArray[np.float64]) -> bool:
    if values.size < _FEW_ROWS or not _COUNTER_NAME.fullmatch(name.strip().lower()):
        return False
    steps = np.diff(values)
    # the training part of a split has gaps, on average no longer than three rows
    return bool(
        (steps > 0).all() and (steps % 1 == 0).all() and steps.sum() < 3 * values.size
    )


def _learn_category(
    series: pl.Series, max_categories: int, min_frequency: int
) -> ColumnDecision:
    words = _cell_values.category_words(series)
    filled = words.drop_nulls()
    n_distinct = filled.n_unique()
    if n_distinct == 0:
        return ColumnDecision(None, "it is empty")
    if n_distinct == 1 and len(filled) == len(words):
        return ColumnDecision(None, f"it is {filled[0]!r} in every row")
    if len(filled) >= _FEW_ROWS and n_distinct > _KEY_SHARE * len(filled):
        return ColumnDecision(
            None,
            f"its strings look like names or keys ({n_distinct} different ones in "
            f"{len(filled)} rows)",
        )
    column = Category.learn(series.name, words, max_categories, min_frequency)
    if isinstance(series.dtype, pl.Enum):
        order = _cell_values.category_words(series.dtype.categories).to_list()
        categories = sorted(column.categories, key=order.index)
        column = replace(column, categories=categories, is_ordered=True)
    if not column.categories:
        # a handful of rows, all different: nothing repeats, so nothing can be learned
        return ColumnDecision(
            None, f"none of its strings occurs in {min_frequency} rows"
        )
    n_other = n_distinct - len(column.categories)
    if n_other <= 1:
        return ColumnDecision(column)
    note = (
        f"column {series.name!r} has {n_distinct} categories: the "
        f"{len(column.categories)} most frequent have an indicator each, the others "
        "share one"
    )
    return ColumnDecision(column, notes={"rare": note})
