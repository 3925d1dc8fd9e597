"""Tables whose columns have types: Parquet, Feather, JSON lines, spreadsheets."""

import io
import json
import logging
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from inspect import signature
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import polars as pl

from aucmax.datasets import opening
from aucmax.datasets.column_names import list_names, name_columns
from aucmax.datasets.memory import require_memory
from aucmax.datasets.opening import MEMORY_OF_TEXT, ZIP_ERRORS, PathLike, Piped
from aucmax.datasets.text_tables import Selection, read_text
from aucmax.exceptions import DataFileError

_ZIP = b"PK\x03\x04"
# where a cell of a sheet is, such as r="B12", or a row; at most 40 bytes are between
# its first and its last
_PLACE = re.compile(rb"""\br\s{0,9}=\s{0,9}["']([A-Z]{0,3})(\d{1,7})""")
_PLACE_BYTES = 40
# The reader of spreadsheets fills the rectangle from the first cell to the last.
_MEMORY_OF_A_SHEET_CELL = 40
_MEMORY_OF_A_NUMBER, _MEMORY_OF_A_STRING = 8, 32


def _read_columns(
    scan: str, kind: str, path: PathLike, compression: str, select: Selection
) -> pl.DataFrame:
    """Read a file by one of polars' scans, which read only the wanted columns."""
    source = _whole_or_path(path, compression)
    with rejecting(path, kind):
        options: dict[str, Any] = {"glob": False}
        if "glob" not in signature(getattr(pl, scan)).parameters:  # older polars
            options = {}
            if isinstance(source, Path) and set("*?[") & set(str(source)):
                source = source.read_bytes()  # only a path can match several files
        rows: pl.LazyFrame = getattr(pl, scan)(source, **options)
        schema = rows.collect_schema()
        wanted = select(schema.names())
        n_rows = int(rows.select(pl.len()).collect().item())
        needed = n_rows * sum(memory_of_a_cell(schema[name]) for name in wanted)
        require_memory(path, needed, opening.size_on_disk(path))
        return rows.select(wanted).collect()


def read_parquet_block(path: PathLike, start: int, n_rows: int) -> pl.DataFrame:
    """Read some consecutive rows of a Parquet file."""
    opening.require_file(path)
    with rejecting(path, "Parquet"):
        rows = pl.scan_parquet(_whole_or_path(path, "none"), glob=False)
        return rows.slice(start, n_rows).collect()


def memory_of_a_cell(dtype: Any) -> int:
    """Estimate the bytes of a cell of a frame."""
    return _MEMORY_OF_A_STRING if dtype.to_python() is str else _MEMORY_OF_A_NUMBER


def _whole_or_path(path: PathLike, compression: str) -> Any:
    """Return the source for polars: the path, or the bytes if compressed."""
    if opening.compression_of(path, compression) or isinstance(path, Piped):
        source: Any = opening.read_content(path, compression)
    else:
        source = Path(path) if opening.size_on_disk(path) else b""
    if source == b"":
        raise DataFileError(f"{path}: the file is empty.")
    return source


def _read_jsonl(path: PathLike, compression: str, select: Selection) -> Any:

    content, _ = read_text(path, compression)
    if not content.strip():
        raise DataFileError(f"{path}: the file is empty.")
    try:
        with rejecting(path, "JSON lines"):
            source = io.BytesIO(content)
            schema = pl.scan_ndjson(source, infer_schema_length=None).collect_schema()
            # each line may name columns that no other has
            row_bytes = sum(map(memory_of_a_cell, schema.dtypes()))
            needed = MEMORY_OF_TEXT * len(content) + row_bytes * content.count(b"\n")
            require_memory(path, needed, opening.size_on_disk(path))
            frame = pl.read_ndjson(source, schema=schema)
    except DataFileError as error:
        raise _first_bad_line(path, content) or error from error
    # no key is repeated if each line has each key, and there are no more
    n_nulls = content.count(b'":null') + content.count(b'": null')
    has_all = sum(frame.null_count().row(0)) == n_nulls
    has_each_once = has_all and content.count(b'":') == frame.height * frame.width
    if not has_each_once and (flaw := _first_bad_line(path, content)):
        raise flaw
    frame = frame.select(select(frame.columns))
    for name, dtype in frame.schema.items():
        if dtype.is_nested():
            raise DataFileError(
                f"{path}: {name!r} holds lists or objects; a table needs one number or "
                "string per cell, so write their parts as separate columns."
            )
    return frame


def _first_bad_line(path: PathLike, content: bytes) -> DataFileError | None:
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            why = f"not valid JSON ({error})"
        else:
            if isinstance(record, dict):
                continue
            why = f"a {type(record).__name__} instead of an object"
        return DataFileError(
            f"{path}: line {number}: {why}; each line is one row, written like "
            '{"age": 41, "clinic": "north"}.'
        )
    return None


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        key = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {key!r} occurs {keys.count(key)} times")
    return dict(pairs)


def read_excel(
    path: PathLike, compression: str, sheet: str | None, select: Selection
) -> tuple[pl.DataFrame, list[str], list[str]]:
    """Return a sheet, the first by default, its unnamed columns, and remarks."""
    # it logs which columns are empty; without a handler Python would print that
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    fastexcel = opening.import_reader(path, "fastexcel", "spreadsheets", "excel")
    content = opening.read_content(path, compression)
    if not content:
        raise DataFileError(f"{path}: the file is empty.")
    if content.startswith(_ZIP):
        _check_bomb(path, content)
    with rejecting(path, "spreadsheet", fastexcel.FastExcelError):
        book = fastexcel.read_excel(content)
        names = book.sheet_names
    if sheet is not None and sheet not in names:
        raise DataFileError(
            f"{path}: no sheet {sheet!r}; there are {list_names(names, 8)}."
        )
    with rejecting(path, "spreadsheet", fastexcel.FastExcelError):
        frame = pl.read_excel(
            content,
            sheet_name=names[0] if sheet is None else sheet,
            engine="calamine",
            infer_schema_length=None,
            raise_if_empty=False,
        )
    if not frame.height:
        raise DataFileError(f"{path}: the sheet has no rows below the column names.")
    remarks = []
    if sheet is None and len(names) > 1:
        remarks.append(f"read the first sheet, not {list_names(names[1:], 8)}")
    with rejecting(path, "spreadsheet"):  # of two columns with the same name
        frame.columns, unnamed = name_columns([name.strip() for name in frame.columns])
    return frame.select(select(frame.columns)), unnamed, remarks


def _check_bomb(path: PathLike, content: bytes) -> None:
    """Raise DataFileError if a sheet is damaged or takes too much memory."""
    # the directory states true sizes if the checksums are right, so read no more
    file_size = opening.size_on_disk(path)
    try:
        with ZipFile(io.BytesIO(content)) as archive:
            n_bytes = sum(info.file_size for info in archive.infolist())
            require_memory(path, n_bytes, file_size)
            for info in archive.infolist():
                with archive.open(info) as member:
                    cell_bytes = _MEMORY_OF_A_SHEET_CELL * _n_cells(member)
                require_memory(path, n_bytes + cell_bytes, file_size)
    except DataFileError:
        raise
    except (*ZIP_ERRORS, EOFError, OSError, ValueError, zlib.error) as error:
        raise DataFileError(f"{path}: not a readable spreadsheet: {error}.") from error


def _n_cells(member: IO[bytes]) -> int:
    """Count the cells between the first and the last of a sheet, empty ones too."""
    columns: set[bytes] = set()
    rows: set[bytes] = set()
    end = b""
    while chunk := member.read(1 << 20):
        places = _PLACE.findall(end + chunk)
        columns.update(column for column, _ in places)
        rows.update(row for _, row in places)
        end = chunk[-_PLACE_BYTES:]
    numbers = (reduce(lambda n, c: 26 * n + c - 64, name, 0) for name in columns)
    return max(numbers, default=0) * max(map(int, rows), default=0)


def usual_integers(cells: pl.Series) -> pl.Series:
    """Return integers of 128 bits with 64 bits, or as strings if one is larger."""
    if str(cells.dtype) not in ("Int128", "UInt128"):
        return cells
    narrow = cells.cast(pl.Int64, strict=False)
    is_exact = narrow.null_count() == cells.null_count()
    return narrow if is_exact else cells.cast(pl.String)


@contextmanager
def rejecting(path: PathLike, kind: str, *more: type[Exception]) -> Iterator[None]:
    """Raise DataFileError for errors of other libraries."""
    # a panic of polars is not an Exception
    panic: Any = pl.exceptions.PanicException
    errors = (pl.exceptions.PolarsError, panic, OSError, *more)
    try:
        yield
    except errors as error:
        why = str(error).partition("\n")[0]
        raise DataFileError(f"{path}: not a readable {kind} file: {why}") from error


TYPED_READERS: dict[str, Callable[[PathLike, str, Selection], Any]] = {
    "parquet": partial(_read_columns, "scan_parquet", "Parquet"),
    "feather": partial(_read_columns, "scan_ipc", "Feather"),
    "jsonl": _read_jsonl,
}
