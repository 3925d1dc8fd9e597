"""Tables in several files: find the files and check that their columns match."""

from collections.abc import Mapping, Sequence
from glob import escape, glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aucmax.datasets.column_names import near_names
from aucmax.datasets.opening import FORMATS, STANDARD_INPUT, file_format
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

# what programs that write folders leave beside the parts
_LITTER = (".", "_")


def find_files(path: str | Path) -> list[Path]:
    """Return the file, or the sorted files of a folder or a pattern with ``*``."""
    whole = Path(path)
    if str(path) == STANDARD_INPUT:
        return [whole]
    if whole.is_dir():
        return _files_in(whole)
    if whole.exists() or not has_magic(str(path)):
        return [whole]  # opening it fails if there is no such file
    found = sorted(Path(name) for name in glob(str(path), recursive=True))
    files = [one for one in found if one.is_file()]
    if not files:
        folders = " (only folders do)" if found else ""
        hint = _near_files(whole)
        raise DataFileError(f"no file matches {str(path)!r}{folders}.{hint}")
    return files


def _files_in(folder: Path) -> list[Path]:
    entries = sorted(folder.iterdir())
    files = [p for p in entries if p.is_file() and not p.name.startswith(_LITTER)]
    if files:
        return files
    if any(one.is_dir() for one in entries):
        pattern = str(Path(escape(str(folder))) / "**" / "*.parquet")
        raise DataFileError(
            f"{folder}: the folder contains folders but no files; name the files by a "
            f"pattern: {pattern!r}."
        )
    raise DataFileError(f"{folder}: the folder has no files.")


def _near_files(pattern: Path) -> str:
    folder = pattern.parent
    if has_magic(str(folder)) or not folder.is_dir():
        return ""
    names = [one.name for one in sorted(folder.iterdir()) if one.suffix in FORMATS]
    return near_names(pattern.name, names, or_list=False)


def common_format(files: Sequence[Path], format: str = "auto") -> str:
    """Return the format of all files; raise an error if they differ."""
    if format != "auto":
        return format
    kinds = [file_format(file) for file in files]
    for file, kind in zip(files, kinds, strict=True):
        if kind != kinds[0]:
            raise DataFileError(
                f"{file} is {kind}, but {files[0]} is {kinds[0]}; all files of a table "
                f"must have one format. Use a pattern such as '*.{kinds[0]}'."
            )
    return kinds[0]


def common_schema(
    files: Sequence[Path], schemas: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a type per column that fits all files; text and numbers do not mix."""
    first = schemas[0]
    common = dict(first)
    typed_by = dict.fromkeys(first, files[0])
    for file, schema in zip(files[1:], schemas[1:], strict=True):
        _check_names(file, schema, files[0], first)
        for name, dtype in schema.items():
            joint = _joint(common[name], dtype)
            if joint is None:
                raise DataFileError(
                    f"{file}: column {name!r} holds {_in_words(dtype)}, but "
                    f"{_in_words(common[name])} in {typed_by[name]}; use one type."
                )
            if joint != common[name]:
                common[name], typed_by[name] = joint, file
    return {name: _kept(dtype) for name, dtype in common.items()}


def _check_names(
    file: Path, schema: Mapping[str, Any], first: Path, known: Mapping[str, Any]
) -> None:
    for name in known:
        if name not in schema:
            hint = near_names(name, list(schema), or_list=False)
            raise DataFileError(
                f"{file} has no column {name!r}, which {first} has.{hint} All files of "
                "a table must have the same columns."
            )
    for name in schema:
        if name not in known:
            raise DataFileError(
                f"{file} has a column {name!r}, which {first} does not have. All files "
                "of a table must have the same columns."
            )


def _joint(one: Any, other: Any) -> Any:
    """Return a type that fits both columns, or None."""
    import polars as pl

    one, other = _kept(one), _kept(other)
    if one == other or other == pl.Null:
        return one
    if one == pl.Null:
        return other
    if not (one.is_numeric() and other.is_numeric()):
        return None
    return pl.Int64() if one.is_integer() and other.is_integer() else pl.Float64()


def _kept(dtype: "pl.DataType") -> Any:
    """Return the type to read a column as: categories and wide integers are text."""
    import polars as pl

    is_wide = str(dtype) in ("Int128", "UInt128")
    return pl.String() if dtype in (pl.Categorical, pl.Enum) or is_wide else dtype


def _in_words(dtype: Any) -> str:
    import polars as pl

    if dtype == pl.String:
        return "strings"
    return f"numbers ({dtype})" if dtype.is_numeric() else f"values of type {dtype}"
