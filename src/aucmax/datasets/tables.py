"""Tables with named columns: CSV, TSV and Parquet files as polars frames."""

import io
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucmax._forks import require_polars_threads
from aucmax.datasets.delimited import Layout, check_delimited
from aucmax.datasets.names import near_names
from aucmax.datasets.opening import (
    PathLike,
    compression_of,
    file_format,
    read_chunks,
    read_text_chunks,
    require_file,
)
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

#: Cells of a text file that mean "missing", whatever the column; spaces around them
#: do not count. In other spellings ("none", "na") they may be words of their own.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL",
    "Null", "null", "None",
)  # fmt: skip

COLUMNS_AT_ONCE = 64

_SEPARATORS = {"csv": None, "tsv": "\t"}


def load_table(
    path: PathLike,
    *,
    columns: Sequence[str] | None = None,
    optional: Collection[str] = (),
    text_columns: Collection[str] = (),
    missing: Collection[str] = MISSING,
    format: str = "auto",
    compression: str = "auto",
    separator: str | None = None,
    quote_char: str | None = '"',
    has_header: bool = True,
) -> "pl.DataFrame":
    r"""Read a CSV, TSV or Parquet file, plain or compressed, as a polars frame.

    A column of a text file becomes Int64 if all its cells are integers, Float64 if all
    are numbers (wherever the first fraction appears) or missing, and otherwise stays
    text: dates, ``true`` and ``false`` too. Spaces around a cell are dropped. Fields in
    quotes may hold separators and line breaks. Blank lines are skipped, except that
    within a table of one column they are missing cells. A row with too many or
    too few fields is an error, never filled up.

    Parquet columns keep their types; NaN becomes null, as in text files.

    Parameters
    ----------
    path : str or Path
        The file.
    columns : sequence of str, optional
        The columns to read, in this order. By default all.
    optional : collection of str
        Those among `columns` that may be absent from the file and are then left out,
        such as the target when rows are only to be scored.
    text_columns : collection of str
        Columns to keep as text even if they look like numbers, such as codes with
        leading zeros. Names that the file does not have are ignored.
    missing : collection of str
        The cells of a text file that become null; by default `MISSING`.
    format : {"auto", "csv", "tsv", "parquet"}
        "auto" goes by the file name, see `FORMATS`.
    compression : {"auto", "none", "gzip", "bzip2", "xz", "zstd"}
        "auto" goes by the file name, see `COMPRESSIONS`.
    separator : str, optional
        One ASCII character; by default a comma for CSV, a tab for TSV.
    quote_char : str or None
        One ASCII character; None if a quote has no special meaning.
    has_header : bool
        If False, the columns are called column_1, column_2, ...

    Returns
    -------
    polars.DataFrame
        At least one row.

    Raises
    ------
    DataFileError
        If the file cannot be read. The message names file, line and column.

    Notes
    -----
    A text file is read twice, once to check it and once to parse it. At the peak this
    takes about five times the size of the text in memory; Parquet takes less.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from aucmax.datasets import load_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "visits.csv"
    ...     _ = path.write_text("age,clinic\n41,north\n?,south\n")
    ...     load_table(path).rows()
    [(41, 'north'), (None, 'south')]
    """
    require_polars_threads()
    require_file(path)
    kind = file_format(path) if format == "auto" else format
    if kind == "parquet":
        return _read_parquet(path, columns, optional, compression)
    if kind not in _SEPARATORS:
        raise DataFileError(
            f"{path}: {kind!r} is not a format of tables; those are "
            f"{', '.join(_SEPARATORS)} and parquet"
            + (" (load_svmlight reads it)." if kind in ("svmlight", "letor") else ".")
        )
    _check_character("separator", separator)
    _check_character("quote_char", quote_char)
    separator = separator or _SEPARATORS[kind]
    texts = read_text_chunks(path, compression)
    # a plain file is parsed where it lies, a compressed one from memory
    kept: list[bytes] | None = [] if compression_of(path, compression) else None
    layout = check_delimited(
        path,
        texts if kept is None else _keeping(texts, kept),
        separator=separator,
        quote_char=quote_char,
        has_header=has_header,
    )
    wanted = _select(path, layout.names, columns, optional)
    source = Path(path) if kept is None else b"".join(kept)
    frame = _parse(path, source, layout, separator or ",", wanted)
    return _typed(frame, set(text_columns), list(missing))


def _check_character(name: str, value: str | None) -> None:
    if value is not None and (len(value) != 1 or not value.isascii()):
        raise ValueError(f"{name} must be one ASCII character, got {value!r}.")


def _keeping(texts: Iterable[bytes], kept: list[bytes]) -> Iterable[bytes]:
    for text in texts:
        kept.append(text)
        yield text


def _select(
    path: PathLike,
    names: Sequence[str],
    columns: Sequence[str] | None,
    optional: Collection[str],
) -> list[str]:
    if columns is None:
        return list(names)
    if len(set(columns)) < len(columns):
        raise ValueError(f"columns must name each column once, got {columns!r}.")
    known = set(names)
    for name in columns:
        if name not in known and name not in optional:
            raise DataFileError(f"{path}: no column {name!r}.{near_names(name, names)}")
    wanted = [name for name in columns if name in known]
    if not wanted:
        raise DataFileError(f"{path}: there are none of the columns {list(columns)!r}.")
    return wanted


def _parse(
    path: PathLike, source: Any, layout: Layout, separator: str, wanted: list[str]
) -> "pl.DataFrame":
    import polars as pl

    place = {name: i for i, name in enumerate(layout.names)}
    try:
        frame = pl.read_csv(
            source,
            has_header=False,
            schema=dict.fromkeys(layout.names, pl.String()),
            columns=[place[name] for name in wanted],
            skip_lines=layout.skip_lines,
            separator=separator,
            quote_char=layout.quote_char,
            glob=False,
        )
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: {error}") from error
    expected = layout.n_records + layout.n_trailing
    if frame.height != expected:
        raise DataFileError(
            f"{path}: parsed as {frame.height} rows where {expected} were counted; "
            "has the file changed meanwhile?"
        )
    frame = frame.select(wanted).head(layout.n_records)
    if len(layout.names) > 1 and layout.blanks.size:
        keep = pl.Series([True]).new_from_index(0, frame.height)
        keep = keep.scatter(layout.blanks, False)
        frame = frame.filter(keep)
    return frame


def _typed(
    frame: "pl.DataFrame", text_columns: set[str], missing: list[str]
) -> "pl.DataFrame":
    """Turn texts into numbers where a whole column allows it."""
    import polars as pl
    import polars.selectors as cs

    left = frame.get_columns()
    del frame
    typed: list[pl.Series] = []
    while left:
        # some columns at a time, so that texts and numbers are not all held at once
        texts = pl.DataFrame(left[:COLUMNS_AT_ONCE])
        del left[:COLUMNS_AT_ONCE]
        texts = texts.select(pl.all().str.strip_chars(" \t\r"))
        texts = texts.select(
            pl.when(~pl.col(name).is_in(missing)).then(pl.col(name)).alias(name)
            for name in texts.columns
        )
        group = [_column(cells, cells.name in text_columns) for cells in texts]
        typed.extend(pl.DataFrame(group).with_columns(cs.float().fill_nan(None)))
    return pl.DataFrame(typed)


def _column(cells: "pl.Series", is_text: bool) -> "pl.Series":
    import polars as pl

    n_missing = cells.null_count()
    if is_text:
        return cells
    if n_missing == cells.len():
        return cells.cast(pl.Float64)
    for dtype in (pl.Int64, pl.Float64):
        numbers = cells.cast(dtype, strict=False)
        if numbers.null_count() == n_missing:
            return numbers
    return cells


def _read_parquet(
    path: PathLike,
    columns: Sequence[str] | None,
    optional: Collection[str],
    compression: str,
) -> "pl.DataFrame":
    import polars as pl
    import polars.selectors as cs

    chunks = read_chunks(path, compression)
    source: Any = path
    if compression_of(path, compression):
        source = io.BytesIO(b"".join(chunks))
    elif not next(chunks, b""):
        raise DataFileError(f"{path}: the file is empty.")
    try:
        names = list(pl.read_parquet_schema(source))
        wanted = _select(path, names, columns, optional)
        frame = pl.read_parquet(source, columns=wanted, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise DataFileError(f"{path}: not a readable Parquet file: {error}") from error
    if not frame.height:
        raise DataFileError(f"{path}: the table has no rows.")
    return frame.select(wanted).with_columns(cs.float().fill_nan(None))
