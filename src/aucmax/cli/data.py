"""Read what the user names: a table with its target, or an svmlight file."""

import warnings
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.exceptions import DataFileError

__all__ = ["Data", "Source", "data_argument", "split_target", "target_options"]


@dataclass(frozen=True)
class Data:
    """Rows of a file.

    Attributes
    ----------
    rows : polars.DataFrame or csr_matrix
        The columns, without the target once it is split off.
    labels : polars.Series, ndarray or None
        The target.
    target : str or None
        Its name; svmlight files have none.
    """

    rows: Any
    labels: Any = None
    target: str | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    def describe_classes(self, negative: Any, positive: Any) -> str:
        """Say which value of the target is positive."""
        return f"{self.target_name} is {_shown(positive)}, not {_shown(negative)}"

    @property
    def target_name(self) -> str:
        """How to call the target in messages."""
        return "the label" if self.target is None else f"column {self.target!r}"


class Source(NamedTuple):
    """A file and how to read it."""

    path: Path
    format: str | None = None
    separator: str | None = None

    @property
    def stem(self) -> str:
        """Name without folder, kind and compression."""
        from aucmax.datasets import COMPRESSIONS

        name = self.path.name
        if self.path.suffix.lower() in COMPRESSIONS:
            name = Path(name).stem
        return Path(name).stem

    def read(self, text_columns: Collection[str] = ()) -> Data:
        """Read the file; the labels of svmlight rows come with it.

        Columns that a model knows as texts must stay texts, even if new rows happen
        to hold numbers only.
        """
        from aucmax import datasets

        kind = self.format or datasets.file_format(self.path)
        if kind in ("svmlight", "letor"):
            return self._read_svmlight()
        try:
            frame = datasets.load_table(
                self.path,
                format=kind,
                separator=self.separator,
                text_columns=text_columns,
            )
        except DataFileError as error:
            message = str(error).replace("pass separator=", "use --separator ")
            raise click.ClickException(message) from error
        return Data(frame)

    def _read_svmlight(self) -> Data:
        from aucmax import datasets

        rows, labels, queries = datasets.load_svmlight(self.path)
        if queries is not None:
            warnings.warn(
                f"{self.path} names queries; all rows are ranked together",
                stacklevel=2,
            )
        return Data(rows, labels)


def split_target(
    data: Data, source: Source, target: str | None, drop: Sequence[str] = ()
) -> Data:
    """Take the target column, and columns that shall not be used, off a table."""
    from aucmax.tabular._frames import list_names, near_names

    if data.labels is not None:
        if target is not None or drop:
            raise click.UsageError(
                f"{source.path} is an svmlight file: the first number of a row is the "
                "target and columns have no names; leave out --target and --drop."
            )
        return data
    columns = data.rows.columns
    if target is None:
        raise click.UsageError(
            f"which column of {source.path} is the target? Name it with --target."
            f"{list_names(columns)}"
        )
    for name in (target, *drop):
        if name not in columns:
            raise click.ClickException(
                f"{source.path} has no column {name!r}.{near_names(name, columns)}"
            )
    if target in drop:
        raise click.UsageError(f"{target!r} is the target, so --drop it not.")
    return Data(data.rows.drop(target, *drop), data.rows[target], target)


def data_argument(command: Callable[..., None]) -> Callable[..., None]:
    """Add the argument DATA with the options of its format; the command gets `data`."""

    @click.argument("path", metavar="DATA", type=click.Path(path_type=Path))
    @click.option(
        "--format",
        type=click.Choice(["csv", "tsv", "parquet", "svmlight"]),
        help="What DATA is, if its name does not tell.",
    )
    @click.option(
        "--separator",
        metavar="CHARACTER",
        callback=_check_separator,
        help="What divides the columns of a text table, if it is no comma (.csv) or "
        "tab (.tsv).",
    )
    @wraps(command)
    def wrapped(
        *args: Any,
        path: Path,
        format: str | None,
        separator: str | None,
        **options: Any,
    ) -> None:
        command(*args, data=Source(path, format, separator), **options)

    return wrapped


def _check_separator(
    _: click.Context, __: click.Parameter, value: str | None
) -> str | None:
    if value in ("tab", "\\t"):
        return "\t"
    if value is not None and (len(value) != 1 or not value.isascii()):
        raise click.BadParameter(f"one plain character is needed, got {value!r}.")
    return value


def target_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--target``, ``--positive`` and ``--drop``."""
    for option in (
        click.option(
            "--drop",
            multiple=True,
            metavar="COLUMN",
            help="Leave a column out; may be repeated.",
        ),
        click.option(
            "--positive",
            metavar="VALUE",
            help="The target value to rank on top [default: 1, yes, true, ... or the "
            "rarer of two texts].",
        ),
        click.option(
            "--target",
            metavar="COLUMN",
            help="The column to predict; svmlight files need none.",
        ),
    ):
        command = option(command)
    return command


def _shown(value: Any) -> str:
    """Write a value as in the file: svmlight labels are floats, but 1 is not 1.0."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else repr(value)
