"""Read raw columns: which hold numbers, dates or words, decided without labels."""

import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.datasets.loading import MISSING

# largest share of other words in a column of numbers or dates, at fit and at scoring
STRAY_SHARE = 0.1

# missing values in columns of numbers or dates, in any case; the last six may be
# categories in a column of words
MISSING_WORDS = sorted(
    {word.lower() for word in MISSING} | {"nil", "-", "--", ".", "missing", "unknown"}
)

# year first: unambiguous, so all of them are tried; others stay text
_DATE_FORMATS = (
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
_YEAR_FIRST = "^[0-9]{4}[-/]"

# forms of numbers and dates that stay text
_UNREAD_FORMS = {
    "numbers with a currency sign, a percent sign, decimal commas or separators of "
    "thousands": r"^[-+]?\s?[$€£¥]?\s?[-+]?[0-9]+([.,][0-9]{3})*([.,][0-9]+)?"
    r"\s?[%€$£¥]?$",
    "dates that are not written year first": r"^[0-9]{1,2}[./-]([0-9]{1,2}|[A-Za-z]{3})"
    r"[./-][0-9]{2,4}( .*)?$",
}

# below this many rows it means nothing that all values differ
FEW_ROWS = 20
# strings that nearly all differ are names or keys
_KEY_SHARE = 0.9
# sample of cells, and the share that must be readable before all cells are read
_SAMPLE = 1000
_PROMISING = 0.5

# names of row counters; an index without a header has an empty one
_COUNTER_NAME = re.compile(
    r"|#|n[or]|index|unnamed: ?0|column_1|id|.*[_ ]id|row([_ ]?(id|number|n[or]))?"
)


class Words(NamedTuple):
    """The words of a column: a code per row, -1 if missing, and the word of each."""

    codes: IntArray
    words: list[str]  # sorted, or in the order of an Enum
    is_ordered: bool = False


#: numbers with NaN, dates in UTC, or words
Cells: TypeAlias = FloatArray | pl.Series | Words


def take_rows(cells: Cells, rows: IntArray | BoolArray) -> Cells:
    """Return the cells of some of the rows, by number or mask."""
    if isinstance(cells, Words):
        return cells._replace(codes=cells.codes[rows])
    part: FloatArray | pl.Series = cells[rows]
    return part


class Parsed(NamedTuple):
    """Parsed strings, and a mask of the filled cells that could not be parsed."""

    values: NDArray[np.float64] | pl.Series  # NaN or null where missing
    strays: BoolArray

    @property
    def n_read(self) -> int:
        """Number of cells that hold a value."""
        if isinstance(self.values, pl.Series):
            return self.values.count()
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


@dataclass(frozen=True)
class TypedTable:
    """A table and its cells by the type of their column, which needs no labels."""

    frame: pl.DataFrame
    cells: Mapping[str, Cells]  # of the columns that can be read
    durations: frozenset[str]  # columns of seconds
    dropped: Mapping[str, str]  # reasons why columns cannot be used
    notes: Mapping[str, Mapping[str, str]]  # by kind and column

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.frame.shape

    def iter_columns(self) -> Iterator[pl.Series]:
        """Yield the raw columns, for a digest."""
        return self.frame.iter_columns()

    def __getitem__(self, rows: NDArray[np.intp]) -> "TypedTable":
        """Return some of the rows; types remain those of all rows."""
        cells = {name: take_rows(cells, rows) for name, cells in self.cells.items()}
        return replace(self, frame=self.frame[rows], cells=cells)


def type_columns(frame: pl.DataFrame) -> TypedTable:
    """Decide the type of each column, and read its cells."""
    cells: dict[str, Cells] = {}
    dropped: dict[str, str] = {}
    notes: dict[str, dict[str, str]] = {"strays": {}, "unread": {}}
    for series in frame.iter_columns():
        name = series.name
        if not is_plain(series):
            dropped[name] = f"its cells are of type {_type_name(series)}"
            continue
        if series.null_count() == len(series):
            dropped[name] = "it is empty"
            continue
        parsed, kind = _parse(series)
        if parsed is not None:
            cells[name] = parsed.values
        else:
            cells[name] = read_words(series)
            if series.dtype == pl.String and (note := _unread_note(series)):
                notes["unread"][name] = note
        if reason := _useless(series, cells[name]):
            dropped[name] = reason
        elif parsed is not None and (note := _describe_strays(series, parsed, kind)):
            notes["strays"][name] = note
    durations = frozenset(s.name for s in frame.iter_columns() if is_duration(s))
    return TypedTable(frame, cells, durations, dropped, notes)


def is_plain(series: pl.Series) -> bool:
    """Return whether cells are single values: no lists, objects or bytes."""
    return not (series.dtype.is_nested() or series.dtype in (pl.Object, pl.Binary))


def _type_name(series: pl.Series) -> str:
    if series.dtype != pl.Object:
        return str(series.dtype)
    return type(next(cell for cell in series if cell is not None)).__name__


def is_duration(series: pl.Series) -> bool:
    """Return whether cells are durations or times of day, which become seconds."""
    return series.dtype in (pl.Duration, pl.Time)


def _parse(series: pl.Series) -> tuple[Parsed | None, str]:
    """Return numbers or dates; None for words."""
    if series.dtype in (pl.Date, pl.Datetime):
        return parse_dates(series), "dates"
    if series.dtype in (pl.Boolean, pl.Categorical, pl.Enum):
        return None, ""
    if series.dtype != pl.String:
        return parse_numbers(series), "numbers"
    filled = series.drop_nulls()
    # a column that fails on a sample by far is not worth reading whole
    sample = filled.gather_every(max(1, len(filled) // _SAMPLE))
    # integers beyond 64 bits are ids: as floats they would be one
    if parse_numbers(sample).share_read > _PROMISING and not bool(
        filled.str.contains("^[+-]?[0-9]{20,}$").all()
    ):
        numbers = parse_numbers(series)
        if numbers.is_mostly_read:
            return numbers, "numbers"
    if parse_dates(sample).share_read > _PROMISING:
        dates = parse_dates(series)
        if dates.is_mostly_read:
            return dates, "dates"
    return None, ""


def _useless(series: pl.Series, cells: Cells) -> str:
    """Return why no model can learn from a column; empty if one may."""
    if isinstance(cells, Words):
        counts = np.bincount(cells.codes + 1, minlength=1)
        n_words, n_filled = len(cells.words), int(counts[1:].sum())
        if n_filled >= FEW_ROWS and n_words > _KEY_SHARE * n_filled:
            return (
                f"its strings look like names or keys ({n_words} different ones in "
                f"{n_filled} rows)"
            )
    elif isinstance(cells, np.ndarray):
        reject_infinities(series.name, cells)
        if (cells == cells[0]).all() and series.n_unique() > 1:
            return "as float64 all of its numbers are equal; write them as strings"
        if _is_row_counter(series.name, cells):
            return "it only counts the rows"
    return ""


def _is_row_counter(name: str, values: FloatArray) -> bool:
    if values.size < FEW_ROWS or not _COUNTER_NAME.fullmatch(name.strip().lower()):
        return False
    steps = np.diff(values)
    # the training part of a split has gaps, on average no longer than three rows
    return bool(
        (steps > 0).all() and (steps % 1 == 0).all() and steps.sum() < 3 * values.size
    )


def reject_infinities(name: str, values: FloatArray) -> None:
    """Raise for the first infinite number, with its row."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"column {name!r}, row {row + 1}: {values[row]} is not finite; use a "
            "finite number or leave the cell empty."
        )


def strip_cells(series: pl.Series) -> pl.Series:
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


def read_words(series: pl.Series) -> Words:
    """Return cells as words in one spelling."""
    is_ordered = isinstance(series.dtype, pl.Enum)
    cells = strip_cells(series)
    spellings = cells.unique().drop_nulls()
    if not spellings.len():
        return Words(np.full(len(series), -1), [], is_ordered)
    spelled = one_spelling(spellings).to_list()
    words = sorted({*spelled} - {*MISSING})
    if isinstance(series.dtype, pl.Enum):
        order = one_spelling(series.dtype.categories.str.strip_chars()).to_list()
        words.sort(key=order.index)
    place = {word: code for code, word in enumerate(words)}
    codes = [place.get(word, -1) for word in spelled]
    row_codes = cells.replace_strict(
        spellings, codes, default=-1, return_dtype=pl.Int64
    )
    return Words(row_codes.to_numpy(), words, is_ordered)


def parse_numbers(series: pl.Series) -> Parsed:
    """Return cells as float64; empty cells, NaN and MISSING_WORDS are missing."""
    if isinstance(series.dtype, pl.Duration):
        per_second = {"ms": 1e3, "us": 1e6, "ns": 1e9}[series.dtype.time_unit]
        return _all_parsed(series.to_physical() / per_second)
    if series.dtype == pl.Time:
        return _all_parsed(series.cast(pl.Int64) / 1e9)
    if series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null):
        return _all_parsed(series)
    text = _without_missing_words(strip_cells(series))
    values = text.cast(pl.Float64, strict=False)
    strays = (text.is_not_null() & values.is_null()).to_numpy()
    return Parsed(values.to_numpy(), strays)


def parse_dates(series: pl.Series) -> Parsed:
    """Return cells as times in UTC, read year first."""
    if series.dtype in (pl.Date, pl.Datetime):
        moments = _in_utc(series.cast(pl.Datetime("us", _time_zone(series))))
        return Parsed(moments, np.zeros(len(series), dtype=np.bool_))
    text = _without_missing_words(strip_cells(series))
    moments = pl.Series(series.name, [None] * len(text), dtype=pl.Datetime("us"))
    unread = text.set(~text.str.contains(_YEAR_FIRST), None)
    for date_format in _DATE_FORMATS:
        if unread.null_count() == len(text):
            break
        read = unread.str.to_datetime(date_format, strict=False, time_unit="us")
        moments = moments.zip_with(read.is_null(), _in_utc(read))
        unread = unread.set(read.is_not_null(), None)
    strays = (text.is_not_null() & moments.is_null()).to_numpy()
    return Parsed(moments, strays)


def read_numbers(series: pl.Series) -> FloatArray:
    """Return cells of a column of numbers; few strays warn, and many raise."""
    parsed = parse_numbers(series)
    _warn_of_strays(series, parsed, "numbers")
    values = np.asarray(parsed.values)
    reject_infinities(series.name, values)
    return values


def read_dates(series: pl.Series) -> pl.Series:
    """Return cells of a column of dates; few strays warn, and many raise."""
    parsed = parse_dates(series)
    _warn_of_strays(series, parsed, "dates")
    return pl.Series(series.name, parsed.values)


def _warn_of_strays(series: pl.Series, parsed: Parsed, kind: str) -> None:
    if note := _describe_strays(series, parsed, kind):
        warnings.warn(note, UserWarning, stacklevel=3)


def _describe_strays(series: pl.Series, parsed: Parsed, kind: str) -> str:
    """Describe strays in a column of `kind`, if there are any; raise for too many."""
    n_strays = int(parsed.strays.sum())
    if n_strays == 0:
        return ""
    row = int(np.argmax(parsed.strays))
    example = f"row {row + 1} has {series[row]!r}"
    n_filled = n_strays + parsed.n_read
    if not parsed.is_mostly_read:
        raise ValueError(
            f"column {series.name!r} holds {kind}, but {example} ({n_strays} of its "
            f"{n_filled} filled cells are not); correct them or leave them empty."
        )
    return (
        f"column {series.name!r} holds {kind}: {n_strays} of its {n_filled} filled "
        f"cells treated as missing (the first: {example})"
    )


def _unread_note(series: pl.Series) -> str:
    """Describe text that looks like numbers or dates of other forms, if it does."""
    cells = series.drop_nulls()
    sample = cells.gather_every(max(1, len(cells) // _SAMPLE))
    filled = _without_missing_words(strip_cells(sample)).drop_nulls()
    for form, pattern in _UNREAD_FORMS.items():
        n_marked = filled.str.contains("[^0-9]").sum()
        n_matching = int(filled.str.contains(pattern).sum())
        if n_marked and n_matching >= (1 - STRAY_SHARE) * filled.len():
            usual = "2024-01-31" if form.startswith("dates") else "1200.5"
            return (
                f"column {series.name!r} has {form}, such as {sample[0]!r}, and is "
                f"text; write them like {usual}"
            )
    return ""


def _all_parsed(series: pl.Series) -> Parsed:
    # integers and floats straight to numpy: casting thousands of columns is slow
    if not (series.dtype.is_integer() or series.dtype.is_float()):
        series = series.cast(pl.Float64)
    values = series.to_numpy().astype(np.float64, copy=False)
    return Parsed(values, np.zeros(len(series), dtype=np.bool_))


def _without_missing_words(text: pl.Series) -> pl.Series:
    return text.set(text.str.to_lowercase().is_in(MISSING_WORDS), None)


def _time_zone(series: pl.Series) -> str | None:
    return series.dtype.time_zone if isinstance(series.dtype, pl.Datetime) else None


def _in_utc(moments: pl.Series) -> pl.Series:
    if _time_zone(moments) is None:
        return moments
    return moments.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
