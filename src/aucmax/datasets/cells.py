"""Texts of cells become numbers where a whole column allows it."""

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["has_decimal_commas", "number_words", "type_columns"]

COLUMNS_AT_ONCE = 64

# numbers with a decimal comma; points may separate thousands
_PLAIN = r"^[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?$"
_GROUPED = r"^[+-]?\d{1,3}(\.\d{3})+(,\d+)?$"
_COMMA_NUMBER = f"{_PLAIN}|{_GROUPED}"


def type_columns(
    frame: "pl.DataFrame",
    text_columns: Collection[str],
    missing: Collection[str],
    decimal: str = ".",
) -> "pl.DataFrame":
    """Turn columns of texts into numbers, all the cells of a column or none."""
    import polars as pl
    import polars.selectors as cs

    left = frame.get_columns()
    del frame
    typed: list[pl.Series] = []
    while left:
        # some columns at a time, so that texts and numbers are not all held at once
        texts = _without_missing(pl.DataFrame(left[:COLUMNS_AT_ONCE]), missing)
        del left[:COLUMNS_AT_ONCE]
        group = [
            cells if cells.name in text_columns else _numbers(cells, decimal)
            for cells in texts
        ]
        typed.extend(pl.DataFrame(group).with_columns(cs.float().fill_nan(None)))
    return pl.DataFrame(typed)


def number_words(cells: "pl.Series") -> "pl.Series":
    """Return cells as text, whole numbers without decimals: 10.0 is "10"."""
    import polars as pl

    words = cells.cast(pl.String)
    if not cells.dtype.is_float():
        return words
    whole = cells.cast(pl.Int64, strict=False)  # null beyond 64 bits
    is_whole = (whole.cast(pl.Float64) == cells.cast(pl.Float64)).fill_null(False)
    return whole.cast(pl.String).zip_with(is_whole, words)


def has_decimal_commas(
    frame: "pl.DataFrame", text_columns: Collection[str], missing: Collection[str]
) -> bool:
    """Tell whether some column of texts is one of numbers with decimal commas."""
    for name in frame.columns:
        has_commas = frame[name].str.contains(",", literal=True).any()
        if name in text_columns or not has_commas:
            continue
        present = _without_missing(frame.select(name), missing)[name].drop_nulls()
        if present.len() and present.str.contains(_COMMA_NUMBER).all():
            return True
    return False


def _without_missing(texts: "pl.DataFrame", missing: Collection[str]) -> "pl.DataFrame":
    """Make null the cells that mean so; drop the spaces around the others."""
    import polars as pl

    texts = texts.select(pl.all().str.strip_chars(" \t\r"))
    return texts.select(
        pl.when(~pl.col(name).is_in(list(missing))).then(pl.col(name)).alias(name)
        for name in texts.columns
    )


def _numbers(cells: "pl.Series", decimal: str) -> "pl.Series":
    """Return the numbers that all cells are, or the cells."""
    import polars as pl

    n_missing = cells.null_count()
    if n_missing == cells.len():
        return cells.cast(pl.Float64)
    if decimal == "," and cells.drop_nulls().str.contains(_COMMA_NUMBER).all():
        without = cells.str.replace_all(".", "", literal=True)
        cells = without.str.replace(",", ".", literal=True)
    for dtype in (pl.Int64, pl.Float64):
        numbers = cells.cast(dtype, strict=False)
        if numbers.null_count() == n_missing:
            return numbers
    return cells
