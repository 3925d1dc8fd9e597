"""Tables that stay on disk; columns and rows are read when needed."""

import io
import shutil
import tempfile
import warnings
import weakref
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aucmax._core.docstrings import documented
from aucmax._core.mapped import MapWriter, explain_full_disk
from aucmax._core.threads import require_polars_threads
from aucmax.datasets.column_names import near_names
from aucmax.datasets.decimal_marks import Decimals
from aucmax.datasets.loading import load_table
from aucmax.datasets.opening import require_file
from aucmax.datasets.part_files import common_format, common_schema, find_files
from aucmax.datasets.typed_files import memory_of_a_cell, rejecting
from aucmax.exceptions import DataFileError, DataFileWarning

if TYPE_CHECKING:
    import polars as pl

Mask = NDArray[np.bool_]

_MAX_CELLS = 1 << 21  # 16 megabytes of numbers
_MIN_ROWS = 1000


class Piece(NamedTuple):
    """Consecutive rows of one file; can be sent to another process."""

    file: "PartFile"
    start: int  # the first row in the file
    n_rows: int
    schema: Any  # the columns to read, with their types
    kept: Mask | None  # which of the rows count; None for all

    @property
    def height(self) -> int:
        """Number of rows that count."""
        return self.n_rows if self.kept is None else int(np.count_nonzero(self.kept))

    def read(self) -> "pl.DataFrame":
        """Read the rows."""
        import polars as pl
        import polars.selectors as cs

        require_polars_threads()
        with rejecting(self.file.path, "Parquet"):
            rows = pl.scan_parquet(self.file.parquet, glob=False)
            frame = (
                rows.select(list(self.schema))
                .slice(self.start, self.n_rows)
                .collect()
                .cast(self.schema)
                .with_columns(cs.float().fill_nan(None))
            )
        if frame.height != self.n_rows:
            raise DataFileError(
                f"{self.file.path}: {frame.height} rows instead of {self.n_rows}; has "
                "the file changed meanwhile?"
            )
        return frame if self.kept is None else frame.filter(pl.Series(self.kept))


class PartFile(NamedTuple):
    """A file of a table."""

    path: Path  # that the user named
    parquet: Path  # that is read: the same, or its conversion
    n_rows: int


@documented
@dataclass(frozen=True)
class TableOnDisk:
    """A table in one or more Parquet files that stay on disk.

    Made by :func:`open_table`. Methods are named as those of a polars frame; models and
    the command line accept it in place of a frame.

    Attributes
    ----------
    files : tuple of PartFile
        The files.
    schema : dict of str to polars.DataType
        The columns and their types.
    kept : ndarray of bool, or None
        Which rows of the files count; None for all.
    on_workers : bool
        Whether Dask's workers read the rows; they must have access to the files.
    """

    files: tuple[PartFile, ...]
    schema: dict[str, Any]
    kept: Mask | None = None
    scratch: "Scratch | None" = None  # the folder of converted files
    on_workers: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema)

    @property
    def dtypes(self) -> list[Any]:
        """Types of the columns."""
        return list(self.schema.values())

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.schema)

    @property
    def height(self) -> int:
        """Number of rows."""
        if self.kept is not None:
            return int(np.count_nonzero(self.kept))
        return sum(file.n_rows for file in self.files)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.height, self.width

    def __len__(self) -> int:
        return self.height

    def __getitem__(self, key: Any) -> Any:
        """Read one column by its name, or select rows by ascending numbers."""
        if isinstance(key, str):
            return self.select([key]).collect()[key]
        rows = np.asarray(key)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (np.diff(rows) <= 0).any():
            raise TypeError(
                "rows on disk are selected by ascending numbers without repeats, got "
                f"{key!r}; use collect() for other selections."
            )
        mask = np.zeros(self.height, dtype=np.bool_)
        mask[rows] = True
        return self.filter(mask)

    def select(self, names: Sequence[str]) -> "TableOnDisk":
        """Return the table with only some columns.

        Parameters
        ----------
        names : sequence of str
            Names of columns.
        """
        for name in names:
            if name not in self.schema:
                hint = near_names(name, self.columns)
                raise KeyError(f"there is no column {name!r}.{hint}")
        return replace(self, schema={name: self.schema[name] for name in names})

    def drop(self, names: Collection[str]) -> "TableOnDisk":
        """Return the table without some columns."""
        return self.select([name for name in self.columns if name not in names])

    def filter(self, mask: Any) -> "TableOnDisk":
        """Return the table with only those rows where a mask is true.

        Parameters
        ----------
        mask : array-like of bool of shape (rows,)
            Which rows to keep.
        """
        chosen = np.asarray(mask, dtype=np.bool_)
        if self.kept is not None:
            kept = self.kept.copy()
            kept[kept] = chosen
            chosen = kept
        return replace(self, kept=chosen)

    def iter_columns(self) -> Iterator["pl.Series"]:
        """Yield one column at a time."""
        for name in self.columns:
            yield self[name]

    def iter_slices(self, n_rows: int | None = None) -> Iterator["pl.DataFrame"]:
        """Yield the rows as frames, each from one file.

        Parameters
        ----------
        n_rows : int, optional
            Maximum number of rows per frame; by default some megabytes.
        """
        for piece in self.pieces(n_rows):
            yield piece.read()

    def pieces(self, n_rows: int | None = None) -> list[Piece]:
        """Return the pieces that :meth:`iter_slices` reads, unread."""
        step = n_rows or max(_MIN_ROWS, _MAX_CELLS // max(1, self.width))
        found = []
        for part in self.parts():
            (file,) = part.files
            for start in range(0, file.n_rows, step):
                size = min(step, file.n_rows - start)
                kept = None if part.kept is None else part.kept[start : start + size]
                piece = Piece(file, start, size, self.schema, kept)
                if piece.height:
                    found.append(piece)
        return found

    def parts(self) -> Iterator["TableOnDisk"]:
        """Yield one table per file."""
        before = 0
        for file in self.files:
            after = before + file.n_rows
            kept = None if self.kept is None else self.kept[before:after]
            yield replace(self, files=(file,), kept=kept)
            before = after

    def estimated_size(self) -> int:
        """Estimate the bytes that the rows take in memory, as a frame."""
        return self.height * sum(map(memory_of_a_cell, self.dtypes))

    def collect(self) -> "pl.DataFrame":
        """Read all rows into memory."""
        import polars as pl

        rows = max((file.n_rows for file in self.files), default=1)
        pieces = [piece.read() for piece in self.pieces(max(1, rows))]
        return pl.concat(pieces) if pieces else pl.DataFrame(schema=self.schema)

    def head(self, n: int = 5) -> "pl.DataFrame":
        """Read the first rows.

        Parameters
        ----------
        n : int, default=5
            How many.
        """
        import polars as pl

        pieces, found = iter(self.pieces(max(n, 1))), pl.DataFrame(schema=self.schema)
        while found.height < n and (piece := next(pieces, None)) is not None:
            found = pl.concat([found, piece.read()])
        return found.head(n)

    def mapped(self) -> NDArray[Any]:
        """Write all columns to a temporary file, and return it as a memory map.

        The file is removed with the matrix; the variable ``TMPDIR`` sets its folder.

        Returns
        -------
        ndarray of shape (rows, columns)
            Read-only; float32 if all columns are, else float64. Missing cells are NaN.

        Raises
        ------
        TypeError
            A column holds neither numbers nor booleans.
        OSError
            The disk is full.
        """
        import polars as pl

        for name, dtype in self.schema.items():
            if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
                raise TypeError(
                    f"column {name!r} is of type {dtype}, but a matrix needs numbers. "
                    "Remove it with drop(), or fit a TableModel, which encodes it."
                )
        is_narrow = all(dtype == pl.Float32 for dtype in self.dtypes)
        number = pl.Float32 if is_narrow else pl.Float64
        writer = MapWriter(self.width, np.float32 if is_narrow else np.float64)
        try:
            for piece in self.iter_slices():
                writer.write(piece.cast(number).to_numpy(order="c"))
            return writer.finish()
        finally:
            writer.close()


class Scratch:
    """A temporary folder, removed with the last table that needs it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="aucmax-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)


@documented
def open_table(
    path: str | Path,
    *,
    text_columns: Collection[str] = (),
    format: str = "auto",
    **reading: Any,
) -> TableOnDisk:
    """Open a table that may be larger than memory.

    Parquet files are read in place, some megabytes at a time. Files of other formats
    are read one by one, each whole, and converted to Parquet in a temporary folder that
    is removed with the table.

    Parameters
    ----------
    path : str or Path
        A file, a folder, or a pattern such as ``"part-*.parquet"``. In a folder, names
        that begin with a dot or an underscore are skipped. All files must have one
        format and the same columns, in any order. Numbers may be of different widths.
    text_columns, format : optional
        As in :func:`load_table`.
    **reading
        Further parameters of :func:`load_table`, for files other than Parquet.

    Raises
    ------
    DataFileError
        There is no file, one cannot be read or has other columns than the first, or
        all are empty. The message names the file and the column.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import polars as pl
    >>> from aucmax.datasets import open_table
    >>> with TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         part = pl.DataFrame({"age": [30 + k, 40 + k], "sick": [0, 1]})
    ...         part.write_parquet(Path(folder) / f"part-{k}.parquet")
    ...     table = open_table(folder)
    ...     table.shape, table["age"].to_list(), table.drop(["sick"]).mapped().dtype
    ((6, 2), [30, 40, 31, 41, 32, 42], dtype('float64'))
    """
    require_polars_threads()
    paths = find_files(path)
    kind = common_format(paths, format)
    if kind in ("svmlight", "letor"):
        raise DataFileError(
            f"{path}: {kind} files are read one at a time, into memory; only tables "
            "with named columns can stay on disk or consist of several files."
        )
    if kind == "parquet":
        table = _of_parquet([(one, one) for one in paths])
    else:
        table = _of_others(path, paths, text_columns, {"format": kind, **reading})
    if not table.height:
        raise DataFileError(f"{path}: the table has no rows.")
    return table


def _of_parquet(
    files: Sequence[tuple[Path, Path]], scratch: Scratch | None = None
) -> TableOnDisk:
    import polars as pl

    parts, schemas = [], []
    for path, parquet in files:
        require_file(parquet)
        with rejecting(path, "Parquet"):
            if not parquet.stat().st_size:
                raise DataFileError(f"{path}: the file is empty.")
            rows = pl.scan_parquet(parquet, glob=False)
            schemas.append(rows.collect_schema())
            n_rows = int(rows.select(pl.len()).collect().item())
        parts.append(PartFile(path, parquet, n_rows))
    schema = common_schema([path for path, _ in files], schemas)
    return TableOnDisk(tuple(parts), schema, scratch=scratch)


def _of_others(
    whole: str | Path,
    paths: Sequence[Path],
    text_columns: Collection[str],
    reading: dict[str, Any],
) -> TableOnDisk:
    """Convert each file to Parquet; text in one file is text in all."""
    import polars as pl

    scratch = Scratch()
    files = [(path, scratch.folder / f"{k}.parquet") for k, path in enumerate(paths)]
    decimals = reading.get("decimal", "auto")
    if not isinstance(decimals, Decimals):
        decimals = reading["decimal"] = Decimals(decimals)
    decimals._is_complete = False
    read: list[tuple[set[str], set[str]]] = []
    for path, parquet in files:
        frame = load_table(path, text_columns=text_columns, **reading)
        read.append((_keep(frame, parquet), decimals._with_commas()))
    of_any = set().union(*(own for own, _ in read))
    with_commas = decimals._with_commas()
    for (own, had_commas), (path, parquet) in zip(read, files, strict=True):
        if of_any - own or with_commas != had_commas:
            frame = load_table(path, text_columns={*text_columns, *of_any}, **reading)
            for name in of_any & set(frame.columns):
                if frame[name].null_count() == frame.height:
                    frame = frame.with_columns(pl.col(name).cast(pl.String))
            _keep(frame, parquet)
    decimals._is_complete = True
    if remarks := decimals._remarks():
        warnings.warn(f"{whole}: {'; '.join(remarks)}.", DataFileWarning, stacklevel=3)
    return _of_parquet(files, scratch)


def _keep(frame: "pl.DataFrame", parquet: Path) -> set[str]:
    """Write a part; return the names of its text columns."""
    import polars as pl

    content = io.BytesIO()
    frame.write_parquet(content)
    with explain_full_disk():
        parquet.write_bytes(content.getbuffer())
    return {name for name, dtype in frame.schema.items() if dtype == pl.String}
