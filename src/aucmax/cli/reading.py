"""Read the rows that the user names: a table or an svmlight file."""

import re
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import click

from aucmax.cli.options import flag
from aucmax.cli.output import Console
from aucmax.exceptions import PositiveClassWarning, TooManyValuesError

_TIME_UNITS = ("hour", "day", "week", "month", "year")


@dataclass(frozen=True)
class Data:
    """Rows of a file; columns that are not features are apart, by their roles.

    The roles are target, qid, sample_weight, groups, times and duration. Columns of
    svmlight files have no names.
    """

    rows: Any
    names: Mapping[str, str] = field(default_factory=dict)  # by role
    values: Mapping[str, Any] = field(default_factory=dict)  # per row, by role
    n_left_out: int = 0  # rows without a target
    read_options: Mapping[str, str] = field(default_factory=dict)
    written: Any = None  # columns of the file as they are written there

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.rows.shape[0])

    @property
    def is_svmlight(self) -> bool:
        """Whether the columns have no names."""
        return bool(self.values) and not self.names

    def named_columns(self) -> Any:
        """Columns by name; of an svmlight file only the queries have one."""
        if not self.is_svmlight:
            return self.rows
        return {name: self.values[name] for name in ("qid",) if name in self.values}

    @property
    def text_columns(self) -> list[str]:
        """Names of the columns of strings."""
        import polars as pl

        schema = {} if self.is_svmlight else self.rows.schema
        return [name for name, dtype in schema.items() if dtype == pl.String]

    def name_of(self, role: str) -> str:
        """Return how messages call the column of a role."""
        if self.is_svmlight:
            return "the label" if role == "target" else "the file"
        return f"column {self.names.get(role)!r}"

    @property
    def order(self) -> str:
        """The quantity that rows are ranked by, for titles."""
        target = self.name_of("target")
        if "duration" not in self.values:
            return target
        return f"how early the event comes ({target}, time: {self.name_of('duration')})"

    @property
    def time_unit(self) -> str:
        """The unit that the name of the duration column contains, such as "days"."""
        name = (self.names.get("duration") or "").lower()
        return next((f"{unit}s" for unit in _TIME_UNITS if unit in name), "")

    def encode(self, models: Sequence[str], pos_label: str | None) -> Any:
        """Return the target for these models: two classes, or levels."""
        from aucmax.model_selection.models import (
            LEVEL_MODELS,
            learns_levels,
            require_survival,
        )

        if "duration" in self.values:
            require_survival(models)
            return self._encode(pos_label=pos_label)
        allow_levels = learns_levels(models, "qid" in self.values)
        encode = partial(self._encode, allow_levels=allow_levels)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PositiveClassWarning)
                target = encode(pos_label=pos_label)
            if pos_label is None and _is_reversed(target):
                target = encode(pos_label=target.grading.negatives[0])
        except TooManyValuesError as error:
            advice = "Use --pos-label VALUE to rank one value above all others"
            if error.may_be_levels:
                learners = ", ".join(LEVEL_MODELS)
                advice += (
                    "; if they are levels of relevance, name a model that learns them: "
                    f"{learners} (auto with queries only)"
                )
            raise click.ClickException(f"{error.problem}. {advice}.") from error
        return target

    def match(self, grading: object) -> Any:
        """Return the target by what its values meant in training."""
        return self._encode(grading=grading)

    def _encode(self, **options: Any) -> Any:
        """Return the encoded target with its queries, weights, groups and times."""
        from aucmax.tables import encode_target

        roles = {"y": "target", "time": "duration"}
        roles |= {role: role for role in ("sample_weight", "qid", "groups", "times")}
        columns: dict[str, Any] = {k: self.values.get(v) for k, v in roles.items()}
        names = {parameter: self.name_of(role) for parameter, role in roles.items()}
        names["pos_label"] = "--pos-label"
        return encode_target(**columns, **options, names=names)

    def describe(self, target: Any) -> str:
        """Describe how many rows and queries there are, and what is positive."""
        name, grading = self.name_of("target"), target.grading
        if target.is_graded:
            levels = ", ".join(f"{k}: {n}" for k, n in target.level_counts.items())
            text = f"{self.n_rows} rows, levels of {name} {levels}"
        elif target.is_survival:
            text = (
                f"{self.n_rows} rows, {target.n_positive} of them with an event "
                f"({name} is {_shown(grading.positive)}), observed for up to "
                f"{target.durations.max():g} ({self.name_of('duration')})"
            )
        else:
            negatives = " or ".join(map(_shown, grading.negatives[:3]))
            more = " or others" if len(grading.negatives) > 3 else ""
            text = (
                f"{self.n_rows} rows, {target.n_positive} of them positive "
                f"({name} is {_shown(grading.positive)}, not {negatives}{more})"
            )
        if target.queries is not None and target.is_survival:
            return f"{text}, {target.n_queries} strata"
        if target.queries is None:
            return text
        classes = "two levels" if target.is_graded else "both classes"
        text += f", {target.n_queries} queries, {target.n_usable_queries} of them with "
        return text + classes


class Source(NamedTuple):
    """A file, a folder or a pattern of files, with parameters of `load_table`."""

    path: Path
    options: Mapping[str, str] = MappingProxyType({})

    @property
    def stem(self) -> str:
        """Name without folder, kind and compression."""
        from aucmax.datasets.opening import COMPRESSIONS

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

    def read(self, text_columns: Collection[str] = (), **options: Any) -> Data:
        """Read all rows; options on the command line come before these."""
        from aucmax.datasets import load_table

        if self._is_svmlight:
            return self._read_svmlight()
        options = {**options, **self.options}
        rows = load_table(self.path, text_columns=text_columns, **options)
        return Data(rows, read_options=options)

    def blocks(self, keep: Collection[str], **options: Any) -> Iterator[Data]:
        """Read rows in blocks, with columns as they are written in the file."""
        from aucmax.datasets.loading import read_blocks

        if self._is_svmlight:
            yield self._read_svmlight()
            return
        for rows, written in read_blocks(
            self.path, keep, **{**options, **self.options}
        ):
            yield Data(rows, written=written)

    @property
    def _is_svmlight(self) -> bool:
        from aucmax.datasets.opening import file_format

        return file_format(self.files[0]) == "svmlight"

    def _read_svmlight(self) -> Data:
        from aucmax.datasets import load_svmlight

        if len(self.files) > 1:
            raise click.UsageError(
                f"{self.path}: svmlight files have no named columns and are read one "
                "at a time; name one file."
            )
        rows, labels, queries = load_svmlight(self.files[0])
        whole = labels.astype(int)  # as written: 1, not 1.0
        values: dict[str, Any] = {
            "target": whole if (whole == labels).all() else labels
        }
        if queries is not None:
            values["qid"] = queries
        return Data(rows, values=values)


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


def split_roles(
    data: Data, path: Path, roles: Mapping[str, str | None], drop: Sequence[str] = ()
) -> Data:
    """Separate the target, the queries and other columns that are not features."""
    from aucmax.datasets.column_names import near_names

    names = {role: name for role, name in roles.items() if name is not None}
    if data.is_svmlight:
        if names or drop:
            raise click.UsageError(
                f"{path} is an svmlight file: the first number of each row is the "
                "target, qid: names its query, and columns have no names; leave out "
                "the options that name columns."
            )
        return data
    columns = data.rows.columns
    if "target" not in names:
        raise click.UsageError(
            f"which column of {path} is the target? Name it with --target."
            f"{near_names('', columns)}"
        )
    role_of: dict[str, str] = {}
    for role, name in names.items():
        require_column(name, columns, path)
        shown = "the target" if role == "target" else flag(role)
        if name in drop:
            raise click.UsageError(f"{name!r} is {shown}; it cannot be dropped.")
        if name in role_of:
            message = f"{name!r} is {role_of[name]}; it cannot be {shown} as well."
            raise click.UsageError(message)
        role_of[name] = shown
    for name in drop:
        require_column(name, columns, path)
    values = {role: data.rows[name] for role, name in names.items()}
    rows = data.rows.drop({*role_of, *drop})
    return replace(data, rows=rows, names=names, values=values)


def read_training(
    source: Source, roles: Mapping[str, str | None], drop: Sequence[str] = ()
) -> Data:
    """Read rows with their target and other columns that are not features."""
    return split_roles(source.read(), source.path, roles, drop)


def read_options(model: Any) -> dict[str, Any]:
    """Return how to read a table for a model: as its training file was read.

    Text columns of the model stay text, even if new rows hold numbers only.
    """
    columns = model.encoders_[0].columns_
    strings = [column["name"] for column in columns if column["kind"] != "number"]
    return {"text_columns": strings, **model.file_roles_["read_options"]}


def load_model(path: Path) -> Any:
    """Load a model of raw tables; reject any other."""
    from aucmax.persistence import load

    model = load(path)
    if not hasattr(model, "encoders_"):
        raise click.ClickException(
            f"the {type(model).__name__} in {path} cannot prepare the columns of a "
            "table; make a model with 'aucmax fit' or 'aucmax compare'."
        )
    roles: dict[str, Any] = {"model": "the model", "read_options": {}}
    roles |= dict.fromkeys(("target", "qid", "duration"))
    model.file_roles_ = roles | getattr(model, "file_roles_", {})
    return model


def load_with_rows(
    model_path: Path, source: Source, roles: Mapping[str, str | None], console: Console
) -> tuple[Any, Data, Any]:
    """Return a model with test rows and their target.

    The roles of columns are those of training, unless they are named.
    """
    model, path = load_model(model_path), source.path
    data = source.read(**read_options(model))
    if data.is_svmlight:
        # columns beyond those of training may be a thousand million
        data = replace(data, rows=model.encoders_[0].frame(data.rows))
        data = split_roles(data, path, roles)
        return model, data, data.match(model.grading_)
    names = {role: model.file_roles_[role] for role in ("target", "qid", "duration")}
    names |= {role: name for role, name in roles.items() if name is not None}
    if not roles.get("qid") and names["qid"] not in (None, *data.rows.columns):
        raise click.ClickException(
            f"{path} has no column {names['qid']!r}, which named the queries at "
            "training; name another with --qid."
        )
    data = drop_unknown(split_roles(data, path, names), console)
    return model, data, data.match(model.grading_)


def drop_unknown(data: Data, console: Console) -> Data:
    """Leave out rows without a target or a duration, with a note."""
    if data.is_svmlight:
        return data
    names = [role for role in ("target", "duration") if role in data.values]
    is_missing = _is_missing(data.values[names[0]])
    for role in names[1:]:
        is_missing |= _is_missing(data.values[role])
    n_left_out = int(is_missing.sum())
    if n_left_out in (0, data.n_rows):
        return data  # a target without any value is an error later
    shown = " or ".join(map(data.name_of, names))
    console.note(
        f"{shown} is missing in {n_left_out} of {data.n_rows} rows: they are left out"
    )
    values = {role: column.filter(~is_missing) for role, column in data.values.items()}
    rows = data.rows.filter(~is_missing)
    return replace(data, rows=rows, values=values, n_left_out=n_left_out)


def _is_missing(column: Any) -> Any:
    import polars as pl

    is_missing = column.is_null()
    if column.dtype == pl.String:
        is_missing |= (column.str.strip_chars() == "").fill_null(True)
    elif column.dtype.is_float():
        is_missing |= column.is_nan().fill_null(True)
    return is_missing


def take_column(data: Data, name: str | None, path: Path) -> Any:
    """Return a column of the rows by its name; None without a name."""
    if name is None:
        return None
    if not data.names:
        raise click.UsageError(f"{path} has no named columns; --by needs a table.")
    require_column(name, data.rows.columns, path)
    return data.rows[name]


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
