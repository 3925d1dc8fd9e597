"""Read and write tables with named columns, as polars frames."""

import warnings
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import polars.selectors as cs

from aucmax._core.atomic import atomic_output
from aucmax._core.parameters import check_choice, check_names
from aucmax._core.threads import require_polars_threads
from aucmax.datasets import opening
from aucmax.datasets.column_names import drop_index, near_names
from aucmax.datasets.opening import FORMATS, PathLike
from aucmax.datasets.text_tables import (
    check_encoding,
    read_text_table,
    type_columns,
)
from aucmax.datasets.typed_files import (
    TYPED_READERS,
    read_excel,
    read_parquet_block,
    usual_integers,
)
from aucmax.exceptions import DataFileError, DataFileWarning

#: Cells of text files that are missing values in any column; spaces around them are
#: ignored. Other spellings ("none", "na") may be words of their own.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL",
    "Null", "null", "None",
)  # fmt: skip

_SEPARATORS = {"csv": None, "tsv": "\t"}
_ROWS_PER_BLOCK = 100_000  # of a Parquet file that is scored


def load_table(
    path: PathLike,
    *,
    columns: Sequence[str] | None = None,
    text_columns: Collection[str] = (),
    missing: Collection[str] = MISSING,
    format: str = "auto",
    compression: str = "auto",
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "auto",
    quote_char: str | None = '"',
    has_header: bool = True,
    sheet: str | None = None,
) -> pl.DataFrame:
    r"""Read a table from CSV, TSV, Parquet, Feather, JSON lines or a spreadsheet.

    The result is a polars frame. A `DataFileWarning` reports settings that were
    detected (encoding, separator, an unnamed index), and decimal commas.

    A column of CSV or TSV becomes Int64 if all cells are integers, Float64 if all are
    numbers (wherever the first fraction appears) or missing, and otherwise stays
    String: dates, ``true`` and ``false`` too. Spaces around a cell are stripped. Quoted
    fields may contain separators and line breaks. Blank lines are skipped, except in a
    table of one column, where they are missing values. A row with too many or too few
    fields is an error.

    An unnamed first column of distinct integers is an index and left out, and so are
    unnamed empty columns; other unnamed columns are called column_3 and so on.

    Columns of Parquet, Feather and JSON lines keep their types; NaN becomes null, as in
    CSV. Strings of a spreadsheet are treated like those of CSV.

    Parameters
    ----------
    path : str or Path
        The file; ``"-"`` for standard input, which is CSV unless `format` is given. A
        folder, or a pattern such as ``"part-*.parquet"``, is read as one table: the
        files must have the same columns, in any order; in a folder, names that begin
        with a dot or an underscore are skipped.
    columns : sequence of str, optional
        The columns to read, in this order. By default all.
    text_columns : collection of str
        Columns to keep as strings even if they look like numbers, such as codes with
        leading zeros. Unknown names are ignored.
    missing : collection of str
        The cells of CSV and TSV that become null; by default the empty cell, ``?``,
        ``NA``, ``N/A``, ``NaN``, ``null``, ``None`` and their usual spellings.
    format : {"auto", "csv", "tsv", "parquet", "feather", "jsonl", "excel"}
        "auto" goes by the file name.
    compression : {"auto", "none", "gzip", "bzip2", "xz", "zstd", "zip"}
        "auto" goes by the file name. A zip archive has one file.
    separator : str, optional
        One ASCII character; by default a tab for TSV, and for CSV the one of comma,
        semicolon, tab and bar that gives all of the first rows as many fields.
    decimal : {".", ","}
        The decimal mark of CSV, TSV and strings of a spreadsheet. With a comma, points
        may separate thousands. Columns that have decimal commas although the mark is a
        point stay text, with a warning.
    encoding : str
        Encoding of text. "auto": UTF-16 or UTF-32 by its byte order mark, else UTF-8,
        else Windows-1252, which includes latin-1.
    quote_char : str or None
        One ASCII character; None if a quote has no special meaning.
    has_header : bool
        If False, the columns are called column_1, column_2, ...
    sheet : str, optional
        The sheet of a spreadsheet, by default the first.

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
    polars reads the files; rows of CSV and TSV are checked first, since polars fills
    short ones. The peak memory is about five times the size of the file; Parquet takes
    less.

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
    options = {name: value for name, value in locals().items() if name != "path"}
    files = opening.find_files(path)
    tables = [read_file(file, **options)[0] for file in files]
    if len(files) == 1:
        return tables[0]

    for file, table in zip(files, tables, strict=True):
        for name in sorted({*tables[0].columns} ^ {*table.columns}):
            has_it, lacks_it = files[0], file
            if name in table.columns:
                has_it, lacks_it = file, files[0]
            raise DataFileError(
                f"{lacks_it} has no column {name!r}, which {has_it} has. All files of "
                "a table must have the same columns."
            )
    if mixed := _columns_of_mixed_types(tables):  # text in one file is text in all
        options["text_columns"] = {*text_columns, *mixed}
        tables = [read_file(file, **options)[0] for file in files]
        for name in _columns_of_mixed_types(tables):
            raise DataFileError(
                f"{path}: column {name!r} is text in some files, and of another type "
                "in others; use one type."
            )
    try:
        ordered = [table.select(tables[0].columns) for table in tables]
        return pl.concat(ordered, how="vertical_relaxed")
    except pl.exceptions.PolarsError as error:
        raise DataFileError(f"{path}: the files do not fit: {error}.") from error


def _columns_of_mixed_types(tables: Sequence[pl.DataFrame]) -> list[str]:
    """Return the columns that are text in some tables, and not in others."""
    return [
        name
        for name in tables[0].columns
        if len({t[name].dtype.to_python() is str for t in tables if t[name].count()})
        > 1
    ]


def read_file(
    path: PathLike,
    *,
    columns: Sequence[str] | None = None,
    text_columns: Collection[str] = (),
    missing: Collection[str] = MISSING,
    format: str = "auto",
    compression: str = "auto",
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "auto",
    quote_char: str | None = '"',
    has_header: bool = True,
    sheet: str | None = None,
    as_written: Collection[str] = (),
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one file as :func:`load_table` does, and some columns as they are written.

    Unknown names among the columns `as_written` are ignored.
    """
    require_polars_threads()

    check_names("columns", () if columns is None else columns)
    check_names("text_columns", text_columns)
    check_names("missing", missing)
    _check_character("separator", separator)
    _check_character("quote_char", quote_char)
    if not isinstance(has_header, bool):
        raise ValueError(f"has_header must be True or False, got {has_header!r}.")
    check_choice("decimal", decimal, (".", ","))
    encoding = check_encoding(encoding)
    path = opening.find_source(path)
    kind = _kind_of(path, format, sheet)
    select = partial(_select, path, columns=columns)
    remarks: list[str] = []
    unnamed: list[str] = []
    if kind in TYPED_READERS:
        frame: pl.DataFrame = TYPED_READERS[kind](path, compression, select)
        written = frame.select(name for name in as_written if name in frame)
    else:
        if kind == "excel":
            frame, unnamed, remarks = read_excel(path, compression, sheet, select)
        else:
            separator = separator or _SEPARATORS[kind]
            frame, unnamed, separator, remarks = read_text_table(
                path, compression, encoding, separator, quote_char, has_header, select
            )
        # floats of spreadsheets lose a final .0
        whole = cs.float().cast(pl.String).str.replace(r"\.0$", "")
        written = frame.select(name for name in as_written if name in frame)
        written = written.with_columns(whole).cast(pl.String)
        strings = frame.select(cs.string())
        typed, more = type_columns(strings, text_columns, missing, decimal, separator)
        frame = frame.with_columns(typed.get_columns())
        remarks += more
    if columns is None:
        frame, more = drop_index(frame, unnamed)
        remarks += more
    if remarks:
        warnings.warn(f"{path}: {'; '.join(remarks)}.", DataFileWarning, stacklevel=3)
    if not frame.height:
        raise DataFileError(f"{path}: the table has no rows.")
    return _usual_cells(frame), written


def read_blocks(
    path: PathLike, as_written: Collection[str] = (), **options: Any
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield a file as :func:`read_file` does, Parquet in blocks of rows."""
    is_typed = isinstance(path, str | Path) and str(path) != opening.STANDARD_INPUT
    format = options.get("format", "auto")
    if is_typed and format == "auto":
        format = opening.file_format(path)
    if format != "parquet" or opening.compression_of(path):
        yield read_file(path, as_written=as_written, **options)
        return
    start = 0
    while (
        frame := read_parquet_block(path, start, _ROWS_PER_BLOCK)
    ).height or not start:
        if not frame.height:
            raise DataFileError(f"{path}: the table has no rows.")
        yield _usual_cells(frame), frame.select(n for n in as_written if n in frame)
        start += _ROWS_PER_BLOCK


def _usual_cells(frame: pl.DataFrame) -> pl.DataFrame:

    frame = frame.with_columns(map(usual_integers, frame.get_columns()))
    return frame.with_columns(cs.float().fill_nan(None))


def _kind_of(path: PathLike, format: str, sheet: str | None) -> str:
    opening.require_file(path)
    kind = opening.file_format(path) if format == "auto" else format
    if kind not in (*TYPED_READERS, *_SEPARATORS, "excel"):
        raise DataFileError(
            f"{path}: {kind!r} is not a format of tables; those are "
            f"{', '.join([*_SEPARATORS, *TYPED_READERS])} and excel"
            + (" (load_svmlight reads it)." if kind == "svmlight" else ".")
        )
    if sheet is not None and kind != "excel":
        raise ValueError(f"{path} is not a spreadsheet and has no sheet {sheet!r}.")
    return kind


def _check_character(name: str, value: str | None) -> None:
    is_one = isinstance(value, str) and len(value) == 1 and value.isascii()
    if value is not None and not is_one:
        raise ValueError(f"{name} must be one ASCII character, got {value!r}.")


def _select(
    path: PathLike, names: Sequence[str], *, columns: Sequence[str] | None
) -> list[str]:
    if columns is None:
        return list(names)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"columns must name columns, each once, got {columns!r}.")
    for name in columns:
        if name not in names:
            raise DataFileError(f"{path}: no column {name!r}.{near_names(name, names)}")
    return list(columns)


def save_table(
    frame: pl.DataFrame, path: str | Path, *, overwrite: bool = False
) -> None:
    """Write a polars frame to a file that :func:`load_table` reads.

    The file is written whole or not at all.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : str or Path
        Where to write it: ``.csv``, ``.tsv`` or ``.parquet``.
    overwrite : bool, default=False
        Whether a file that is already there may be replaced.

    Raises
    ------
    ValueError
        The name has another ending.
    OSError
        The file cannot be written, or exists and `overwrite` is False.
    """
    require_polars_threads()
    kind = FORMATS.get(Path(path).suffix.lower())
    if kind != "parquet" and kind not in ("csv", "tsv"):
        raise ValueError(f"{path}: tables are written as .csv, .tsv or .parquet.")
    with atomic_output(path, overwrite=overwrite) as file:
        if kind == "parquet":
            frame.write_parquet(file)
        else:
            frame.write_csv(file, separator=_SEPARATORS[kind] or ",")
