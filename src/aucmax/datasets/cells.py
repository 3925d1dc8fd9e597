"""Texts of cells become numbers where a whole column allows it."""

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["type_columns", "usual_integers", "without_missing"]

COLUMNS_AT_ONCE = 64


def type_columns(
    frame: "pl.DataFrame",
    text_columns: Collection[str],
    missing: Collection[str],
    with_commas: Collection[str] = (),
) -> "pl.DataFrame":
    """Turn columns of strings into numbers, all the cells of a column or none.

    Those `with_commas` hold nothing but numbers with decimal commas.
    """
    import polars as pl
    import polars.selectors as cs

    left = frame.get_columns()
    del frame
    typed: list[pl.Series] = []
    while left:
        # some columns at a time, so that texts and numbers are not all held at once
        texts = without_missing(pl.DataFrame(left[:COLUMNS_AT_ONCE]), missing)
        del left[:COLUMNS_AT_ONCE]
        group = [
            cells
            if cells.name in text_columns
            else _numbers(cells, cells.name in with_commas)
            for cells in texts
        ]
        typed.extend(pl.DataFrame(group).with_columns(cs.float().fill_nan(None)))
    return pl.DataFrame(typed)


def without_missing(texts: "pl.DataFrame", missing: Collection[str]) -> "pl.DataFrame":
    """Make null the cells that mean so; drop the spaces around the others."""
    import polars as pl

    texts = texts.select(pl.all().str.strip_chars(" \t\r"))
    return texts.select(
        pl.when(~pl.col(name).is_in(list(missing))).then(pl.col(name)).alias(name)
        for name in texts.columns
    )


def _numbers(cells: "pl.Series", with_commas: bool) -> "pl.Series":
    """Return the numbers that all cells are, or the cells."""
    import polars as pl

    n_missing = cells.null_count()
    if n_missing == cells.len():
        return cells.cast(pl.Float64)
    plain = cells
    if with_commas:
        without = cells.str.replace_all(".", "", literal=True)
        plain = without.str.replace(",", ".", literal=True)
    numbers = plain.cast(pl.Int64, strict=False)
    if numbers.null_count() > n_missing:
        # floats would make one number of different integers beyond 64 bits
        if plain.str.contains("^[+-]?[0-9]+$").all():
            return cells
        numbers = plain.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == n_missing else cells


def usual_integers(cells: "pl.Series") -> "pl.Series":
    """Return integers of 128 bits as ones of 64 bits, or as text if one is larger."""
    import polars as pl

    if str(cells.dtype) not in ("Int128", "UInt128"):
        return cells
    narrow = cells.cast(pl.Int64, strict=False)
    is_exact = narrow.null_count() == cells.null_count()
    return narrow if is_exact else cells.cast(pl.String)
