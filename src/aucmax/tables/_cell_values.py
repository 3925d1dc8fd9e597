"""Read raw cells as numbers, strings and dates, with a mask of those that are not."""

import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax.datasets import MISSING

# largest share of other words in a column of numbers or dates, at fit and at scoring
STRAY_SHARE = 0.1

# missing values in columns of numbers or dates, in any case; the last six may be
# categories in a column of words
MISSING_WORDS = sorted(
    {word.lower() for word in MISSING} | {"nil", "-", "--", ".", "missing", "unknown"}
)

# year first: unambiguous, so all of them are tried; others stay text
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M",
    "%Y-%m-%dT%H:%M",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M",
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
)

# how numbers and dates look that are not parsed, as text has them
_DISGUISED = {
    "numbers with a currency sign, a percent sign, decimal commas or separators of "
    "thousands": r"^[-+]?\s?[$€£¥]?\s?[-+]?[0-9]+([.,][0-9]{3})*([.,][0-9]+)?"
    r"\s?[%€$£¥]?$",
    "dates that are not written year first": r"^[0-9]{1,2}[./-]([0-9]{1,2}|[A-Za-z]{3})"
    r"[./-][0-9]{2,4}( .*)?$",
}


class Cells(NamedTuple):
    """The values of a column, and a mask of the cells that hold something else."""

    values: NDArray[Any]  # float64 with NaN, or datetime64[us] with NaT
    strays: NDArray[np.bool_]  # the filled cells that could not be read

    @property
    def n_read(self) -> int:
        """Number of cells that hold a value."""
        return int(np.count_nonzero(~np.isnan(self.values)))

    @property
    def share_read(self) -> float:
        """Share of the filled cells that could be read; 0 if none is filled."""
        n_filled = self.n_read + int(np.count_nonzero(self.strays))
        return self.n_read / n_filled if n_filled else 0.0

    @property
    def is_mostly_read(self) -> bool:
        """Whether the strays are few enough to count as missing."""
        return self.share_read >= 1 - STRAY_SHARE


def read_texts(series: pl.Series) -> pl.Series:
    """Return cells as stripped strings; empty ones are missing."""
    try:
        text = series.cast(pl.String).str.strip_chars()
    except pl.exceptions.PolarsError as error:
        raise ValueError(
            f"column {series.name!r} holds {series.dtype} cells, which are neither "
            "numbers, strings nor dates; split them into several columns."
        ) from error
    return text.set(text == "", None)


def one_spelling(text: pl.Series) -> pl.Series:
    """Return one spelling: True is "true", 10.0 is "10"; codes such as 007 stay."""
    lower = text.str.to_lowercase()
    text = lower.zip_with(lower.is_in(["true", "false"]), text)
    return text.str.replace(r"^([+-]?[0-9]+)\.0+$", "${1}")


def category_words(series: pl.Series) -> pl.Series:
    """Return cells as categories in one spelling; missing values are null."""
    if series.dtype == pl.Null:  # such as the row that checks a loaded model
        return series.cast(pl.String)
    words = one_spelling(read_texts(series))
    return words.set(words.is_in(list(MISSING)), None)


def is_plain(series: pl.Series) -> bool:
    """Return whether cells are single values: no lists, objects or bytes."""
    return not (series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary))


def is_duration(series: pl.Series) -> bool:
    """Return whether cells are durations or times of day, which become seconds."""
    return series.dtype in (pl.Duration, pl.Time)


def read_numbers(series: pl.Series) -> Cells:
    """Return cells as float64; empty cells, NaN and MISSING_WORDS are missing."""
    if series.dtype == pl.Duration:
        unit: Any = series.dtype
        per_second = {"ms": 1e3, "us": 1e6, "ns": 1e9}[unit.time_unit]
        return _all_read(series.to_physical() / per_second)
    if series.dtype == pl.Time:
        return _all_read(series.cast(pl.Int64) / 1e9)
    if series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        return _all_read(series)
    text = _without_missing_words(read_texts(series))
    values = text.cast(pl.Float64, strict=False)
    strays = (text.is_not_null() & values.is_null()).to_numpy()
    return Cells(values.to_numpy(), strays)


def disguise(texts: pl.Series) -> str:
    """Return which form of numbers or dates nearly all texts have; else nothing."""
    filled = _without_missing_words(read_texts(texts)).drop_nulls()
    for name, pattern in _DISGUISED.items():
        n_marked = filled.str.contains("[^0-9]").sum()
        n_matching = int(filled.str.contains(pattern).sum())
        if n_marked and n_matching >= (1 - STRAY_SHARE) * filled.len():
            return name
    return ""


def read_dates(series: pl.Series) -> Cells:
    """Return cells as times in UTC, read year first."""
    if series.dtype in (pl.Date, pl.Datetime):
        moments = _in_utc(series.cast(pl.Datetime("us", _time_zone(series))))
        return Cells(moments.to_numpy(), np.zeros(len(series), dtype=np.bool_))
    text = _without_missing_words(read_texts(series))
    nothing = pl.Series(series.name, [None] * len(text), dtype=pl.Datetime("us"))
    moments = nothing
    for date_format in DATE_FORMATS:
        open_cells = text.is_not_null() & moments.is_null()
        if not open_cells.any():
            break
        parsed = text.str.to_datetime(date_format, strict=False, time_unit="us")
        moments = moments.zip_with(~open_cells, _in_utc(parsed))
    # "1.2.24" read with a four-digit year would be the first century
    moments = nothing.zip_with(moments.dt.year() < 1000, moments)
    strays = (text.is_not_null() & moments.is_null()).to_numpy()
    return Cells(moments.to_numpy(), strays)


def settle_strays(series: pl.Series, cells: Cells, kind: str) -> str | None:
    """Raise for a column of `kind` with too many strays; describe a few strays."""
    n_strays = int(cells.strays.sum())
    if n_strays == 0:
        return None
    row = int(np.argmax(cells.strays))
    found = f"row {row + 1} has {series[row]!r}"
    n_filled = n_strays + cells.n_read
    if not cells.is_mostly_read:
        raise ValueError(
            f"column {series.name!r} holds {kind}, but {found} ({n_strays} of its "
            f"{n_filled} filled cells are not); correct them or leave them empty."
        )
    return (
        f"column {series.name!r} holds {kind}: {n_strays} of its {n_filled} filled "
        f"cells treated as missing (the first: {found})"
    )


def warn_of_strays(series: pl.Series, cells: Cells, kind: str) -> None:
    """Call :func:`settle_strays` and issue its note as a warning."""
    note = settle_strays(series, cells, kind)
    if note is not None:
        warnings.warn(note, UserWarning, stacklevel=2)


def _all_read(series: pl.Series) -> Cells:
    # integers and floats straight to numpy: casting thousands of columns is slow
    if not (series.dtype.is_integer() or series.dtype.is_float()):
        series = series.cast(pl.Float64)
    values = series.to_numpy().astype(np.float64)
    return Cells(values, np.zeros(len(series), dtype=np.bool_))


def _without_missing_words(text: pl.Series) -> pl.Series:
    return text.set(text.str.to_lowercase().is_in(MISSING_WORDS), None)


def _time_zone(series: pl.Series) -> str | None:
    return series.dtype.time_zone if isinstance(series.dtype, pl.Datetime) else None


def _in_utc(moments: pl.Series) -> pl.Series:
    if _time_zone(moments) is None:
        return moments
    return moments.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
