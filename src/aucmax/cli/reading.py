"""Read the rows that the user names: a table or an svmlight file."""

import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import click

from aucmax.cli.output import Console
from aucmax.exceptions import PositiveClassWarning, TooManyValuesError


class KnownColumns(NamedTuple):
    """Facts about the columns of a file before it is read."""

    text_columns: Collection[str] = ()
    decimal: str = "."


class RowColumns(NamedTuple):
    """Names of the columns of row weights, groups, times, and censored times."""

    weight: str | None = None
    groups: str | None = None
    time: str | None = None
    duration: str | None = None


_NO_COLUMNS = RowColumns()
# the fields of `Data` with a value per row, in the order of the roles of columns
_PER_ROW = ("labels", "queries", "weights", "groups", "times", "durations")
_NOTHING_KNOWN = KnownColumns()


@dataclass(frozen=True)
class Data:
    """Rows of a file."""

    rows: Any  # without target and queries once these are split off
    labels: Any = None
    target: str | None = None  # its name; svmlight files have none
    queries: Any = None
    query_column: str | None = None  # also none for svmlight
    weights: Any = None
    groups: Any = None
    times: Any = None
    durations: Any = None
    row_columns: RowColumns = _NO_COLUMNS
    n_left_out: int = 0  # rows without a target
    decimal: str = "."  # the decimal mark of the file
    written: Any = None  # columns of the file as they are written there

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    def named_columns(self) -> Any:
        """Columns by name; of an svmlight file only the queries have one."""
        if self.labels is None:
            return self.rows
        return {} if self.queries is None else {"qid": self.queries}

    @property
    def column_names(self) -> list[str]:
        """Names of these columns."""
        columns = self.named_columns()
        return list(columns if isinstance(columns, dict) else columns.columns)

    @property
    def known_columns(self) -> KnownColumns:
        """Facts by which other rows are read."""
        import polars as pl

        schema = getattr(self.rows, "schema", {})  # a sparse matrix has none
        strings = [name for name, dtype in schema.items() if dtype == pl.String]
        return KnownColumns(strings, self.decimal)

    @property
    def target_name(self) -> str:
        """How to call the target in messages."""
        return "the label" if self.target is None else f"column {self.target!r}"

    @property
    def query_name(self) -> str:
        """How to call the queries in messages."""
        return "the file" if self.query_column is None else f"{self.query_column!r}"

    def encode(self, models: Sequence[str], positive: str | None) -> Any:
        """Return the target for these models: two classes, or levels."""
        from aucmax.model_selection.models import (
            LEVEL_MODELS,
            learns_levels,
            require_survival,
        )
        from aucmax.tables import encode_target

        if self.durations is not None:
            require_survival(models)
            return self._encode_survival(pos_label=positive)
        encode = partial(
            encode_target,
            self.labels,
            name=self.target_name,
            allow_levels=learns_levels(models, self.queries is not None),
            qid=self.queries,
            qid_name=self.query_name,
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PositiveClassWarning)
                target = encode(positive)
            if positive is None and _is_reversed(target):
                target = encode(target.grading.negatives[0])
        except TooManyValuesError as error:
            advice = "Use --positive VALUE to rank one value above all others"
            if error.may_be_levels:
                learners = ", ".join(LEVEL_MODELS)
                advice += (
                    "; if they are levels of relevance, name a model that learns them: "
                    f"{learners} (auto with queries only)"
                )
            raise click.ClickException(f"{error.problem}. {advice}.") from error
        return self._describe_rows(target)

    def match(self, grading: Any) -> Any:
        """Return the target by what its values meant in training."""
        from aucmax.tables.target_encoding import match_target

        if self.durations is not None:
            return self._encode_survival(grading=grading)
        target = match_target(
            self.labels,
            grading,
            name=self.target_name,
            qid=self.queries,
            qid_name=self.query_name,
        )
        return self._describe_rows(target)

    def _encode_survival(self, **codes: Any) -> Any:
        from aucmax.tables.target_encoding import encode_survival

        target = encode_survival(
            self.labels,
            self.durations,
            **codes,
            names=(self.target_name, f"column {self.row_columns.duration!r}"),
            option="--positive",
            qid=self.queries,
            qid_name=self.query_name,
        )
        return self._describe_rows(target)

    def _describe_rows(self, target: Any) -> Any:
        from aucmax.tables import describe_rows

        weight, groups, time = (f"column {name!r}" for name in self.row_columns[:3])
        return describe_rows(
            target,
            sample_weight=self.weights,
            groups=self.groups,
            times=self.times,
            names={"sample_weight": weight, "groups": groups, "times": time},
        )

    def without_gaps(self) -> "Data":
        """Leave out the rows without a target, or without a duration."""
        import polars as pl

        if not isinstance(self.labels, pl.Series):
            return self
        gaps = _is_missing(self.labels)
        if self.durations is not None:
            gaps |= _is_missing(self.durations)
        if not gaps.any() or gaps.all():
            return self  # a target without any value is an error later
        kept: dict[str, Any] = {
            name: column.filter(~gaps)
            for name in ("rows", *_PER_ROW)
            if (column := getattr(self, name)) is not None
        }
        return replace(self, n_left_out=int(gaps.sum()), **kept)

    def describe(self, target: Any) -> str:
        """Describe how many rows and queries there are, and what is positive."""
        if target.is_graded:
            levels = ", ".join(f"{k}: {n}" for k, n in target.level_counts.items())
            text = f"{self.n_rows} rows, levels of {self.target_name} {levels}"
        elif target.is_survival:
            text = (
                f"{self.n_rows} rows, {target.n_positive} of them with an event "
                f"({self.target_name} is {_shown(target.grading.positive)}), observed "
                f"for up to {target.durations.max():g} "
                f"(column {self.row_columns.duration!r})"
            )
        else:
            negatives = " or ".join(map(_shown, target.grading.negatives[:3]))
            more = " or others" if len(target.grading.negatives) > 3 else ""
            text = (
                f"{self.n_rows} rows, {target.n_positive} of them positive "
                f"({self.target_name} is {_shown(target.grading.positive)}, not "
                f"{negatives}{more})"
            )
        if target.queries is not None and target.is_survival:
            text += f", {target.n_queries} strata"
        elif target.queries is not None:
            what = "two levels" if target.is_graded else "both classes"
            text += (
                f", {target.n_queries} queries, {target.n_usable_queries} of them with "
                f"{what}"
            )
        return text


class Source(NamedTuple):
    """A file, a folder or a pattern of files, and its decimal mark."""

    path: Path
    decimal: str | None = None

    @property
    def stem(self) -> str:
        """Name without folder, kind and compression."""
        from aucmax.datasets import COMPRESSIONS

        name = self.path.name
        if name == "-":
            return "stdin"
        if not self.path.exists():  # a pattern
            name = re.sub(r"[-_.]*[*?\[\]]+[-_.]*", ".", name).lstrip(".") or "table"
        if self.path.suffix.lower() in COMPRESSIONS:
            name = Path(name).stem
        return Path(name).stem

    @property
    def files(self) -> list[Path]:
        """The file, or those of a folder or a pattern."""
        from aucmax.datasets.opening import find_files

        return [Path(str(file)) for file in find_files(self.path)]

    def read(self, known: KnownColumns = _NOTHING_KNOWN) -> Data:
        """Read all rows."""
        from aucmax.datasets import load_table

        if self._is_svmlight:
            return self._read_svmlight()
        # what a model knows as text stays text, even if new rows are numbers only
        decimal, texts = self.decimal or known.decimal, known.text_columns
        rows = load_table(self.path, decimal=decimal, text_columns=texts)
        return Data(rows, decimal=decimal)

    def blocks(self, known: KnownColumns, keep: Collection[str]) -> Iterator[Data]:
        """Read rows in blocks, with columns as they are written in the file."""
        from aucmax.datasets.loading import read_blocks

        if self._is_svmlight:
            yield self._read_svmlight()
            return
        decimal, texts = self.decimal or known.decimal, known.text_columns
        options: Any = {"decimal": decimal, "text_columns": texts}
        for rows, written in read_blocks(self.path, keep, **options):
            yield Data(rows, written=written)

    @property
    def _is_svmlight(self) -> bool:
        from aucmax.datasets.opening import file_format

        return file_format(self.files[0]) in ("svmlight", "letor")

    def _read_svmlight(self) -> Data:
        from aucmax.datasets import load_svmlight

        if len(self.files) > 1:
            raise click.UsageError(
                f"{self.path}: svmlight files have no named columns and are read one "
                "at a time; name one file."
            )
        rows, labels, queries = load_svmlight(self.files[0])
        return Data(rows, _as_written(labels), queries=queries)


def _is_reversed(target: Any) -> bool:
    """Guess whether the negative of two strings is the event: by name, or rarer."""
    positive = target.grading.positive
    if not isinstance(positive, str):
        return False
    from aucmax._core.validation import reads_like_event

    is_event = reads_like_event(target.grading.negatives[0])
    if is_event != reads_like_event(positive):
        return is_event
    return bool(target.n_negative < target.n_positive)


def _as_written(labels: Any) -> Any:
    """Return labels of svmlight rows as they are written there: 1 is not 1.0."""
    whole = labels.astype(int)
    return whole if (whole == labels).all() else labels


def split_target(
    data: Data,
    path: Path,
    target: str | None,
    qid: str | None = None,
    row_columns: RowColumns = _NO_COLUMNS,
    drop: Sequence[str] = (),
) -> Data:
    """Take the target, the queries and other columns that are not features off."""
    from aucmax.datasets.column_names import near_names

    if data.labels is not None:
        if target is not None or drop or qid is not None or any(row_columns):
            raise click.UsageError(
                f"{path} is an svmlight file: the first number of each row is the "
                "target, qid: names its query, and columns have no names; leave out "
                "the options that name columns."
            )
        return data
    columns = data.rows.columns
    if target is None:
        raise click.UsageError(
            f"which column of {path} is the target? Name it with --target."
            f"{near_names('', columns)}"
        )
    roles = {"the target": target, "--qid": qid}
    roles |= {f"--{name}": column for name, column in row_columns._asdict().items()}
    for name in filter(None, (*roles.values(), *drop)):
        require_column(name, columns, path)
    _reject_two_roles(roles, drop)
    columns_of = dict(zip(_PER_ROW, roles.values(), strict=True))
    values: dict[str, Any] = {
        field: None if name is None else data.rows[name]
        for field, name in columns_of.items()
    }
    rows = data.rows.drop({*roles.values(), *drop} - {None})
    return replace(
        data,
        rows=rows,
        target=target,
        query_column=qid,
        row_columns=row_columns,
        **values,
    )


def _is_missing(column: Any) -> Any:
    import polars as pl

    gaps = column.is_null()
    if column.dtype == pl.String:
        gaps |= (column.str.strip_chars() == "").fill_null(True)
    elif column.dtype.is_float():
        gaps |= column.is_nan().fill_null(True)
    return gaps


def known_columns(model: Any) -> KnownColumns:
    """Return which columns a model takes for strings, and how others are written."""
    columns = model.encoders_[0].columns_
    strings = [column["name"] for column in columns if column["kind"] != "number"]
    return KnownColumns(strings, model.file_roles_["decimal"])


def read_known(
    source: Source,
    model: Any,
    target: str | None,
    qid: str | None,
    weight: str | None,
) -> Data:
    """Read test rows; target and queries are those of training, unless named."""
    rows, path = source.read(known_columns(model)), source.path
    known, row_columns = model.file_roles_, RowColumns(weight)
    if rows.labels is not None:
        # columns beyond those of training may be a thousand million
        rows = replace(rows, rows=model.encoders_[0].frame(rows.rows))
        return split_target(rows, path, target, qid, row_columns)
    column = qid or known["query"]
    if qid is None and column not in (None, *rows.rows.columns):
        raise click.ClickException(
            f"{path} has no column {column!r}, which named the queries at training; "
            "name another with --qid."
        )
    row_columns = row_columns._replace(duration=known["duration"])
    return split_target(rows, path, target or known["target"], column, row_columns)


def take_column(data: Data, name: str | None, path: Path) -> Any:
    """Return a column of the rows by its name; None without a name."""
    if name is None:
        return None
    if data.target is None:
        raise click.UsageError(f"{path} has no named columns; --by needs a table.")
    require_column(name, data.rows.columns, path)
    return data.rows[name]


def drop_unknown(data: Data, console: Console) -> Data:
    """Leave out rows without a target, with a note."""
    data = data.without_gaps()
    if data.n_left_out:
        n_all, duration = data.n_rows + data.n_left_out, data.row_columns.duration
        console.note(
            f"{data.target_name}{'' if duration is None else f' or {duration!r}'} is "
            f"missing in {data.n_left_out} of {n_all} rows: they are left out"
        )
    return data


def _reject_two_roles(roles: dict[str, str | None], drop: Sequence[str]) -> None:
    taken: dict[str, str] = {}
    for role, name in roles.items():
        if name is None:
            continue
        if name in drop:
            raise click.UsageError(f"{name!r} is {role}; it cannot be dropped.")
        if name in taken:
            raise click.UsageError(
                f"{name!r} is {taken[name]}; it cannot be {role} as well."
            )
        taken[name] = role


def require_column(name: str, columns: Sequence[str], path: Path) -> None:
    """Reject a column that is not there, with those that may have been meant."""
    from aucmax.datasets.column_names import near_names

    if name not in columns:
        hint = near_names(name, columns)
        raise click.ClickException(f"{path} has no column {name!r}.{hint}")


def _shown(value: Any) -> str:
    """Write a value as in the file: svmlight labels are floats, but 1 is not 1.0."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else repr(value)
