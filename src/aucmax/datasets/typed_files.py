"""Tables whose columns have types: Parquet, Feather, JSON lines, spreadsheets."""

import importlib
import io
import json
import logging
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from zipfile import BadZipFile

from aucmax._core.memory import require_memory
from aucmax.datasets.archives import check_spreadsheet
from aucmax.datasets.encodings import read_text_chunks
from aucmax.datasets.opening import (
    MEMORY_OF_TEXT,
    PathLike,
    Piped,
    compression_of,
    read_chunks,
    read_content,
    size_on_disk,
)
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TYPED_READERS", "read_excel", "refusing"]

_ZIP = b"PK\x03\x04"
_MEMORY_OF_A_NUMBER, _MEMORY_OF_A_STRING = 8, 32


# from the names of all columns to those that are wanted
Selection: TypeAlias = Callable[[Sequence[str]], list[str]]


def _read_parquet(path: PathLike, compression: str, select: Selection) -> Any:
    import polars as pl

    source = _whole_or_path(path, compression)
    with refusing(path, "Parquet"):
        return _collect(path, pl.scan_parquet(source, glob=False), select)


def _read_feather(path: PathLike, compression: str, select: Selection) -> Any:
    import polars as pl

    source = _whole_or_path(path, compression)
    with refusing(path, "Feather"):
        return _collect(path, pl.scan_ipc(source, glob=False), select)


def _collect(path: PathLike, rows: "pl.LazyFrame", select: Selection) -> "pl.DataFrame":
    import polars as pl

    schema = rows.collect_schema()
    wanted = select(schema.names())
    n_rows = int(rows.select(pl.len()).collect().item())
    needed = n_rows * sum(memory_of_a_cell(schema[name]) for name in wanted)
    require_memory(path, needed, size_on_disk(path))
    return rows.select(wanted).collect()


def memory_of_a_cell(dtype: Any) -> int:
    """Estimate the bytes of a cell of a frame."""
    return _MEMORY_OF_A_STRING if dtype.to_python() is str else _MEMORY_OF_A_NUMBER


def _whole_or_path(path: PathLike, compression: str) -> Any:
    """Return what polars reads from: the file itself, or its bytes if packed."""
    if compression_of(path, compression) or isinstance(path, Piped):
        content = read_content(path, compression)
        if content:
            return content
    elif next(read_chunks(path, compression), b""):
        return Path(path)
    raise DataFileError(f"{path}: the file is empty.")


def _read_jsonl(path: PathLike, compression: str, select: Selection) -> Any:
    import polars as pl

    content = b"".join(read_text_chunks(path, compression))
    if not content.strip():
        raise DataFileError(f"{path}: the file is empty.")
    try:
        with refusing(path, "JSON lines"):
            source = io.BytesIO(content)
            schema = pl.scan_ndjson(source, infer_schema_length=None).collect_schema()
            # each line may name columns that no other has
            of_a_row = sum(map(memory_of_a_cell, schema.dtypes()))
            needed = MEMORY_OF_TEXT * len(content) + of_a_row * content.count(b"\n")
            require_memory(path, needed, size_on_disk(path))
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
                "text per cell, so write their parts as columns of their own."
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


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        key = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {key!r} occurs {keys.count(key)} times")
    return dict(pairs)


def read_excel(
    path: PathLike, compression: str, sheet: str | None
) -> tuple["pl.DataFrame", list[str]]:
    """Return a sheet of a spreadsheet, the first by default, and what is to be said."""
    import polars as pl

    fastexcel = _fastexcel(path)
    content = read_content(path, compression)
    if not content:
        raise DataFileError(f"{path}: the file is empty.")
    if content.startswith(_ZIP):
        _check_bomb(path, content)
    with refusing(path, "spreadsheet", fastexcel.FastExcelError):
        book = fastexcel.read_excel(content)
        names = book.sheet_names
    if sheet is not None and sheet not in names:
        raise DataFileError(f"{path}: no sheet {sheet!r}; there are {_listed(names)}.")
    with refusing(path, "spreadsheet", fastexcel.FastExcelError):
        frame = pl.read_excel(
            content,
            sheet_name=names[0] if sheet is None else sheet,
            engine="calamine",
            infer_schema_length=None,
            raise_if_empty=False,
        )
    rest = [] if sheet is not None else names[1:]
    remarks = [f"read the first sheet, not {_listed(rest)}"] if rest else []
    return frame, remarks


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:8]))
    return f"{shown}, ..." if len(names) > 8 else shown


def _check_bomb(path: PathLike, content: bytes) -> None:
    try:
        check_spreadsheet(path, io.BytesIO(content), size_on_disk(path))
    except (
        BadZipFile,
        RuntimeError,
        NotImplementedError,
        OSError,
        zlib.error,
    ) as error:
        raise DataFileError(f"{path}: not a readable spreadsheet: {error}.") from error


def _fastexcel(path: PathLike) -> Any:
    # it logs which columns are empty; without a handler Python would print that
    logging.getLogger("fastexcel").addHandler(logging.NullHandler())
    try:
        return importlib.import_module("fastexcel")
    except ModuleNotFoundError as error:
        raise DataFileError(
            f"{path}: reading spreadsheets needs a package: pip install "
            "'aucmax[excel]'; or save the sheet as CSV."
        ) from error


@contextmanager
def refusing(path: PathLike, kind: str, *more: type[Exception]) -> Iterator[None]:
    """Raise DataFileError for what a reader of another library raises."""
    import polars as pl

    # a panic of polars is no Exception
    panic: Any = pl.exceptions.PanicException
    errors = (pl.exceptions.PolarsError, panic, OSError, *more)
    try:
        yield
    except errors as error:
        why = str(error).partition("\n")[0]
        raise DataFileError(f"{path}: not a readable {kind} file: {why}") from error


TYPED_READERS = {
    "parquet": _read_parquet,
    "feather": _read_feather,
    "jsonl": _read_jsonl,
}
