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
    "month first": "dates are read with the month first in {n} columns: {names}; write "
    "them year first (2024-01-31) if that is wrong",
    "rare": "{n} columns have rare categories, which share one indicator: {names}",
    "dates": "dates are used by their month, weekday, hour, and days since other "
    "dates, not as numbers, which scores of later rows extrapolate: {names}; pass "
    "times (--time) or absolute_dates=True to use these as well",
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
    decimal_comma: bool | None = None,
) -> ColumnDecision:
    """Learn the type of a column; `decimal_comma` is that of its file, if known."""
    if not _cell_values.is_plain(series):
        kind: Any = series.dtype
        if kind == pl.Object:
            kind = type(next(cell for cell in series if cell is not None)).__name__
        return ColumnDecision(None, f"its cells are of type {kind}")
    if series.null_count() == len(series):
        return ColumnDecision(None, "it is empty")
    if series.dtype in (pl.Date, pl.Datetime):
        return ColumnDecision(Date(series.name, None))
    if series.dtype == pl.String:
        verdict = _learn_written_values(series, bool(decimal_comma))
        if verdict is not None:
            return verdict
    elif series.dtype not in (pl.Boolean, pl.Categorical, pl.Enum):
        return _learn_number(series, _cell_values.read_numbers(series), decimal_comma)
    return _learn_category(series, max_categories, min_frequency)


def _learn_written_values(
    series: pl.Series, decimal_comma: bool
) -> ColumnDecision | None:
    """Learn numbers or dates that are strings; None if they are neither."""
    filled = series.drop_nulls()
    # a column that fails on a sample by far is not worth reading whole
    sample = filled.gather_every(max(1, len(filled) // _SAMPLE))
    for comma in (decimal_comma, not decimal_comma):
        if _cell_values.read_numbers(sample, comma).share_read > _PROMISING:
            numbers = _cell_values.read_numbers(series, comma)
            # integers beyond 64 bits are ids: as floats they would be one
            is_id = filled.str.contains("^[+-]?[0-9]{20,}$").all()
            if numbers.is_mostly_read and not is_id:
                return _learn_number(series, numbers, comma)
    regional = regional_format(sample)
    if _cell_values.read_dates(sample, regional).share_read > _PROMISING:
        dates = _cell_values.read_dates(series, regional)
        if dates.is_mostly_read:
            return _learn_date(series, dates, regional)
    return None


def _learn_number(
    series: pl.Series, cells: _cell_values.Cells, decimal_comma: bool | None
) -> ColumnDecision:
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
    column = Number.learn(series.name, values, decimal_comma, is_duration)
    return ColumnDecision(column, notes={"strays": note} if note else {})


def _is_row_counter(name: str, values: NDArray[np.float64]) -> bool:
    if values.size < _FEW_ROWS or not _COUNTER_NAME.fullmatch(name.strip().lower()):
        return False
    steps = np.diff(values)
    # the training part of a split has gaps, on average no longer than three rows
    return bool(
        (steps > 0).all() and (steps % 1 == 0).all() and steps.sum() < 3 * values.size
    )


def regional_format(series: pl.Series) -> str | None:
    """Return the regional date format that reads the most cells, if any does."""
    sample = _cell_values.read_texts(series).drop_nulls().unique(maintain_order=True)
    counts = {
        date_format: len(parsed) - parsed.null_count()
        for date_format in _cell_values.REGIONAL_DATE_FORMATS
        for parsed in [sample.str.to_datetime(date_format, strict=False)]
    }
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] > 0 else None


def _learn_date(
    series: pl.Series, cells: _cell_values.Cells, regional: str | None
) -> ColumnDecision:
    strays = _cell_values.settle_strays(series, cells, "dates")
    notes = {"strays": strays} if strays else {}
    if regional is not None and _is_ambiguous(series, regional):
        notes["month first"] = (
            f"column {series.name!r}: dates such as {series.drop_nulls()[0]!r} are "
            "read with the month first; write them year first (2024-01-31) if that is "
            "wrong"
        )
    return ColumnDecision(Date(series.name, regional), notes=notes)


def _is_ambiguous(series: pl.Series, regional: str) -> bool:
    if not regional.startswith("%m/%d"):
        return False
    swapped = _cell_values.read_dates(series, regional.replace("%m/%d", "%d/%m"))
    return not swapped.strays.any()


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
