"""Read and write tables with named columns, as polars frames."""

import warnings
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aucmax._core.atomic import atomic_output
from aucmax._core.parameters import check_names
from aucmax._core.threads import require_polars_threads
from aucmax.datasets import opening
from aucmax.datasets.column_names import drop_index, name_columns, near_names
from aucmax.datasets.decimal_marks import Decimals, type_columns
from aucmax.datasets.opening import FORMATS, PathLike
from aucmax.datasets.text_tables import Selection, check_encoding, read_text_table
from aucmax.datasets.typed_files import TYPED_READERS, read_excel, usual_integers
from aucmax.exceptions import DataFileError, DataFileWarning

if TYPE_CHECKING:
    import polars as pl

#: Cells of text files that are missing values in any column; spaces around them are
#: ignored. Other spellings ("none", "na") may be words of their own.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "-NaN", "-nan", "NULL",
    "Null", "null", "None",
)  # fmt: skip

_SEPARATORS = {"csv": None, "tsv": "\t"}
_FINDABLE = ("separator", "decimal", "encoding")


def load_table(
    path: PathLike,
    *,
    columns: Sequence[str] | None = None,
    optional: Collection[str] = (),
    text_columns: Collection[str] = (),
    verbatim: Mapping[str, str] | None = None,
    missing: Collection[str] = MISSING,
    format: str = "auto",
    compression: str = "auto",
    separator: str | None = None,
    decimal: str | Decimals = "auto",
    encoding: str = "auto",
    quote_char: str | None = '"',
    has_header: bool = True,
    sheet: str | None = None,
) -> "pl.DataFrame":
    r"""Read a table from CSV, TSV, Parquet, Feather, JSON lines or a spreadsheet.

    The result is a polars frame. A `DataFileWarning` reports settings that were
    detected (encoding, separator, decimal commas, an unnamed index).

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
        The file; ``"-"`` for standard input, which is CSV unless `format` is given.
    columns : sequence of str, optional
        The columns to read, in this order. By default all.
    optional : collection of str
        Those among `columns` that the file may lack, such as the target of new rows.
    text_columns : collection of str
        Columns to keep as strings even if they look like numbers, such as codes with
        leading zeros. Unknown names are ignored.
    verbatim : mapping of str to str, optional
        Columns of CSV, TSV or a spreadsheet to copy as strings, exactly as written,
        with the name of each copy. Unknown names are ignored.
    missing : collection of str
        The cells of CSV and TSV that become null; by default `MISSING`.
    format : {"auto", "csv", "tsv", "parquet", "feather", "jsonl", "excel"}
        "auto" goes by the file name, see `FORMATS`.
    compression : {"auto", "none", "gzip", "bzip2", "xz", "zstd", "zip"}
        "auto" goes by the file name, see `COMPRESSIONS`. A zip archive has one file.
    separator : str, optional
        One ASCII character; by default a tab for TSV, and for CSV the one of comma,
        semicolon, tab and bar that gives all of the first rows as many fields.
    decimal : {"auto", ".", ","}
        The decimal mark. "auto": a comma in columns of numbers with decimal commas, if
        columns are not separated by commas; points may then separate thousands. A
        column that fits both marks, such as one with 1.234 alone, is read like the
        others, or with a warning if these do not decide.
    encoding : str
        Encoding of text. "auto": UTF-16 or UTF-32 by its first bytes, else UTF-8, else
        Windows-1252, which includes latin-1.
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
    CSV and TSV are scanned twice, to check and to parse. The peak memory is about five
    times the size of the file; Parquet takes less.

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
    import polars as pl
    import polars.selectors as cs

    check_names("columns", () if columns is None else columns)
    check_names("optional", optional)
    check_names("text_columns", text_columns)
    check_names("missing", missing)
    if not isinstance(verbatim, Mapping | None):
        raise TypeError(f"verbatim must be a mapping of names, got {verbatim!r}.")
    _check_character("separator", separator)
    _check_character("quote_char", quote_char)
    decimals = decimal if isinstance(decimal, Decimals) else Decimals(decimal)
    encoding = check_encoding(encoding)
    path = opening.find_source(path)
    opening.require_file(path)
    kind = opening.file_format(path) if format == "auto" else format
    if kind not in (*TYPED_READERS, *_SEPARATORS, "excel"):
        raise DataFileError(
            f"{path}: {kind!r} is not a format of tables; those are "
            f"{', '.join([*_SEPARATORS, *TYPED_READERS])} and excel"
            + (" (load_svmlight reads it)." if kind in ("svmlight", "letor") else ".")
        )
    if sheet is not None and kind != "excel":
        raise ValueError(f"{path} is not a spreadsheet and has no sheet {sheet!r}.")
    select = partial(_select, path, columns=columns, optional=optional)
    remarks: list[str] = []
    unnamed: list[str] = []
    copies: list[pl.Series] = []
    found: dict[str, str] = {}
    frame: pl.DataFrame
    if kind in TYPED_READERS:
        frame = TYPED_READERS[kind](path, compression, select)
    else:
        if kind == "excel":
            frame, unnamed, remarks = _read_sheet(path, compression, sheet, select)
            mark = None
        else:
            mark = separator or _SEPARATORS[kind]
            frame, unnamed, mark, found = read_text_table(
                path, compression, encoding, mark, quote_char, has_header, select
            )
        copies = _copies(frame, verbatim)
        strings = frame.select(pl.col(pl.String))
        decimals._add(path, strings.drop(text_columns, strict=False), missing, mark)
        commas = decimals._with_commas()
        if commas and decimals.choice == "auto" and kind != "excel":
            found["decimal"] = ","
        typed = type_columns(strings, text_columns, missing, commas)
        frame = frame.with_columns(typed) if strings.width else frame
        remarks += _found_remark(found)
    remarks += decimals._remarks()
    if columns is None:
        frame, more = drop_index(frame, unnamed)
        remarks += more
    if remarks:
        warnings.warn(f"{path}: {'; '.join(remarks)}.", DataFileWarning, stacklevel=2)
    if not frame.height:
        raise DataFileError(f"{path}: the table has no rows.")
    frame = frame.with_columns(map(usual_integers, frame.get_columns()))
    return frame.with_columns(cs.float().fill_nan(None)).hstack(copies)


def _found_remark(found: Mapping[str, str]) -> list[str]:
    what = [f"{name} {found[name]!r}" for name in _FINDABLE if name in found]
    options = ", ".join(f"--{name}" for name in _FINDABLE if name in found)
    return [f"found {', '.join(what)} (to change: {options})"] if what else []


def _copies(
    frame: "pl.DataFrame", names: Mapping[str, str] | None
) -> "list[pl.Series]":
    """Return copies of columns as strings; floats of spreadsheets lose a final .0."""
    import polars as pl
    import polars.selectors as cs

    named = {name: copy for name, copy in (names or {}).items() if name in frame}
    whole = cs.float().cast(pl.String).str.replace(r"\.0$", "")
    copies = frame.select(list(named)).with_columns(whole).cast(pl.String)
    return copies.rename(named).get_columns()


def _read_sheet(
    path: PathLike, compression: str, sheet: str | None, select: Selection
) -> tuple["pl.DataFrame", list[str], list[str]]:
    frame, remarks = read_excel(path, compression, sheet)
    if not frame.height:
        raise DataFileError(f"{path}: the sheet has no rows below the column names.")
    names, unnamed = name_columns([name.strip() for name in frame.columns])
    if len(set(names)) < len(names):
        raise DataFileError(f"{path}: two columns have the same name; rename one.")
    frame.columns = names
    return frame.select(select(names)), unnamed, remarks


def _check_character(name: str, value: str | None) -> None:
    is_one = isinstance(value, str) and len(value) == 1 and value.isascii()
    if value is not None and not is_one:
        raise ValueError(f"{name} must be one ASCII character, got {value!r}.")


def _select(
    path: PathLike,
    names: Sequence[str],
    *,
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
        raise DataFileError(f"{path}: none of the columns {list(columns)!r} exists.")
    return wanted


def save_table(
    frame: "pl.DataFrame", path: str | Path, *, overwrite: bool = False
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
