"""Columns with one value in every row: targets and queries."""

from typing import Any

import numpy as np
import polars as pl

from aucmax._core.threads import require_polars_threads
from aucmax._core.validation import reject_unreadable
from aucmax.datasets.cells import usual_integers

__all__ = ["as_series", "check_length", "counts", "list_counts", "refuse_gaps"]


def as_series(values: Any, name: str) -> pl.Series:
    """Return a column of any kind as a series; NaN and empty texts are gaps."""
    require_polars_threads()
    if isinstance(values, pl.Series):
        series = values
    else:
        reject_unreadable(values, name)
        # numpy alone would make floats of lists with integers beyond 64 bits
        is_list = isinstance(values, list | tuple)
        array = np.asarray(values, dtype=object if is_list else None)
        if array.ndim != 1:
            raise ValueError(
                f"{name} must have one value per row, got the shape {array.shape}."
            )
        series = pl.Series(name, array.tolist(), strict=False)
        if series.dtype == pl.Object or series.dtype.is_nested():
            raise TypeError(
                f"{name} must hold numbers, booleans or texts, got {array[0]!r}."
            )
    series = usual_integers(series)
    if series.dtype.is_float():
        series = series.fill_nan(None)
        if series.is_infinite().any():
            row = int(series.is_infinite().fill_null(False).arg_max() or 0)
            raise ValueError(
                f"{name}, row {row + 1}: {series[row]} is not a finite number; correct "
                "it or remove the row."
            )
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        series = series.cast(pl.String).str.strip_chars()
        series = series.set(series == "", None)
    if len(series) == 0:
        raise ValueError(f"{name} is empty: there are no rows.")
    return series


def check_length(values: Any, name: str, n_rows: int) -> None:
    """Refuse a column with another number of rows than the target."""
    if len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} rows, but the target has {n_rows}.")


def refuse_gaps(series: pl.Series, name: str, remedy: str) -> None:
    """Refuse missing values, with their rows and what to do about them."""
    if series.null_count() == 0:
        return
    rows = (series.is_null().arg_true() + 1).to_list()
    shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    raise ValueError(
        f"{name} is missing in {len(rows)} of {len(series)} rows (row {shown}); remove "
        f"these rows or {remedy}."
    )


def counts(series: pl.Series) -> list[tuple[Any, int]]:
    """Distinct values in ascending order with their counts."""
    counted = series.alias("value").value_counts().sort("value")
    return list(counted.iter_rows())


def list_counts(counted: list[tuple[Any, int]]) -> str:
    """Write values with their counts, or the first of them."""
    shown = ", ".join(f"{value!r}: {count} rows" for value, count in counted[:6])
    return shown + (", ..." if len(counted) > 6 else "")
