"""Read what the user names: a table with its target, or an svmlight file."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.exceptions import DataFileError

__all__ = [
    "Data",
    "QueryChoice",
    "Source",
    "data_argument",
    "query_options",
    "split_target",
    "target_options",
]


@dataclass(frozen=True)
class Data:
    """Rows of a file.

    Attributes
    ----------
    rows : polars.DataFrame or csr_matrix
        The columns, without target and queries once these are split off.
    labels : polars.Series, ndarray or None
        The target.
    target : str or None
        Its name; svmlight files have none.
    queries : polars.Series, ndarray or None
        The query of each row.
    query_column : str or None
        Its name; svmlight files have none.
    """

    rows: Any
    labels: Any = None
    target: str | None = None
    queries: Any = None
    query_column: str | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    def named_columns(self) -> dict[str, Any]:
        """Columns by name; of an svmlight file only the queries have one."""
        if self.labels is None:
            return dict(zip(self.rows.columns, self.rows.get_columns(), strict=True))
        return {} if self.queries is None else {"qid": self.queries}

    @property
    def query_name(self) -> str:
        """How to call the queries in messages."""
        return "the file" if self.query_column is None else f"{self.query_column!r}"

    def encode(self, models: Sequence[str], positive: str | None) -> Any:
        """Return the target for these models: two classes, or levels."""
        from aucmax.comparison import LEVEL_MODELS
        from aucmax.tables import encode_target

        try:
            return encode_target(
                self.labels,
                positive,
                name=self.target_name,
                allow_levels=not set(LEVEL_MODELS).isdisjoint(models),
                qid=self.queries,
                qid_name=self.query_name,
            )
        except ValueError as error:
            message = str(error).replace("Pass positive=", "Use --positive VALUE")
            raise click.ClickException(message) from error

    def match(self, model: Any) -> Any:
        """Return the target by what its values meant when a model was fitted."""
        from aucmax.tables import match_target

        return match_target(
            self.labels,
            model.grading_,
            name=self.target_name,
            qid=self.queries,
            qid_name=self.query_name,
        )

    def describe(self, target: Any) -> str:
        """Say how many rows and queries there are, and what is positive."""
        if target.is_graded:
            levels = ", ".join(f"{k}: {n}" for k, n in target.level_counts.items())
            text = f"{self.n_rows} rows, levels of {self.target_name} {levels}"
        else:
            negatives = " or ".join(map(_shown, target.grading.negatives[:3]))
            more = " or others" if len(target.grading.negatives) > 3 else ""
            text = (
                f"{self.n_rows} rows, {target.n_positive} of them positive "
                f"({self.target_name} is {_shown(target.grading.positive)}, not "
                f"{negatives}{more})"
            )
        if target.queries is not None:
            what = "two levels" if target.is_graded else "both classes"
            text += (
                f", {target.n_queries} queries, {target.n_usable_queries} of them with "
                f"{what}"
            )
        return text

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
        return Data(rows, labels, queries=queries)


class QueryChoice(NamedTuple):
    """Which column names the queries, or that none does."""

    column: str | None = None
    is_off: bool = False


def split_target(
    data: Data,
    source: Source,
    target: str | None,
    drop: Sequence[str],
    queries: QueryChoice,
) -> Data:
    """Take target, queries, and columns that shall not be used, off a table."""
    from aucmax.tables._frames import list_names, near_names

    if data.labels is not None:
        if target is not None or drop or queries.column is not None:
            raise click.UsageError(
                f"{source.path} is an svmlight file: the first number of a row is the "
                "target, qid: names its query, and columns have no names; leave out "
                "--target, --qid and --drop."
            )
        return replace(data, queries=None) if queries.is_off else data
    columns = data.rows.columns
    if target is None:
        raise click.UsageError(
            f"which column of {source.path} is the target? Name it with --target."
            f"{list_names(columns)}"
        )
    query = None if queries.is_off else queries.column
    for name in filter(None, (target, query, *drop)):
        if name not in columns:
            raise click.ClickException(
                f"{source.path} has no column {name!r}.{near_names(name, columns)}"
            )
    if target in drop:
        raise click.UsageError(f"{target!r} is the target, so --drop it not.")
    if target == query:
        raise click.UsageError(f"{target!r} is the target; it cannot be --qid, too.")
    unused = {target, query, *drop} - {None}
    return Data(
        data.rows.drop(unused),
        data.rows[target],
        target,
        None if query is None else data.rows[query],
        query,
    )


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


def query_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add ``--qid`` and ``--no-qid``; the command gets `queries`."""

    @click.option(
        "--qid",
        metavar="COLUMN",
        help="The column that names the query of each row: rows are ranked within "
        "their query. svmlight files carry theirs (qid:7).",
    )
    @click.option(
        "--no-qid",
        is_flag=True,
        help="Rank all rows together, though there are queries.",
    )
    @wraps(command)
    def wrapped(*args: Any, qid: str | None, no_qid: bool, **options: Any) -> None:
        if no_qid and qid is not None:
            raise click.UsageError("--no-qid contradicts --qid.")
        command(*args, queries=QueryChoice(qid, no_qid), **options)

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
            help="The target value to rank on top, above all others [default: of two, "
            "1, yes, true, ... or the rarer text].",
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
