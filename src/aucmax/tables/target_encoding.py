"""Encode a column as a target: two classes, or levels of relevance."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax._core import validation
from aucmax._core.censored_times import (
    check_survival,
    is_survival_target,
    split_target,
)
from aucmax._core.threads import require_polars_threads
from aucmax._core.validation import warn_of_positive_class
from aucmax.datasets.typed_files import usual_integers
from aucmax.exceptions import NotEnoughClassesError, TooManyValuesError
from aucmax.tables._cells import one_spelling, parse_dates, parse_numbers
from aucmax.tables.frames import series_of_cells
from aucmax.tables.target import Grading, Target, as_text


def encode_target(
    values: Any,
    pos_label: Any = None,
    *,
    name: str = "target",
    allow_levels: bool = False,
    qid: Any = None,
    qid_name: str = "qid",
) -> Target:
    """Encode a column as 0 and 1, or as levels of relevance.

    Parameters
    ----------
    values : polars.Series or array-like of shape (rows,), or Target
        Numbers, booleans or strings. A target is returned unchanged.
    pos_label : optional
        The positive value, as in the table or as text; all others are negative. By
        default the second of two values in sorted order.
    name : str, default="target"
        Name of the column, for messages.
    allow_levels : bool, default=False
        Whether more than two whole numbers from 0 are taken for levels of relevance.
    qid : polars.Series or array-like of shape (rows,), optional
        The query of each row: numbers or strings.
    qid_name : str, default="qid"
        Name of the queries in messages.

    Returns
    -------
    Target

    Raises
    ------
    NotEnoughClassesError
        All rows have the same value, or all rows of every query.
    TooManyValuesError
        There are more than two values, and they are not levels.
    ValueError
        A value or query is missing, or `pos_label` does not occur.

    Warns
    -----
    PositiveClassWarning
        By default the more frequent of two strings is positive, and the other one reads
        like an event: disease, fraud, failure, yes.

    Examples
    --------
    >>> from aucmax.tables import encode_target
    >>> encode_target(["no", "yes", "no"]).labels.tolist()
    [0, 1, 0]
    """
    if isinstance(values, Target):
        if qid is not None or pos_label is not None:
            raise ValueError(
                "the target is already encoded; pass qid and pos_label to "
                "encode_target."
            )
        return values
    if is_survival_target(values):
        return encode_survival(*split_target(values), pos_label, qid=qid)
    series = _as_series(values, name)
    _reject_missing(series, name, "fill in their class")
    if series.dtype.is_temporal():
        raise ValueError(
            f"{name} holds dates or times, not classes; compare them with a day of "
            "your choice, which gives True and False."
        )
    if (
        series.dtype == pl.String
        and one_spelling(series).n_unique() < series.n_unique()
    ):
        series = one_spelling(series)
    counted = _counts(series)
    if len(counted) == 1:
        raise NotEnoughClassesError(
            f"all {len(series)} rows have {name} = {counted[0][0]!r}, which is one "
            "class; rows of two classes are needed to rank one above the other."
        )
    if pos_label is None and len(counted) > 2:
        grading = _levels(counted, name, allow_levels)
    else:
        top = 1
        if pos_label is None:
            (negative, _), (positive, count) = counted
            warn_of_positive_class(negative, positive, count / len(series))
        else:
            top = _find_value(counted, pos_label, name)
        negatives = [value for k, (value, _) in enumerate(counted) if k != top]
        grading = Grading.two_classes(negatives, counted[top][0])
    return _target(series, grading, name, qid, qid_name)


def encode_survival(
    event: Any,
    time: Any,
    pos_label: Any = None,
    *,
    grading: Grading | None = None,
    names: tuple[str, str] = ("event", "time"),
    option: str = "pos_label",
    qid: Any = None,
    qid_name: str = "qid",
) -> Target:
    """Encode events and times; the code of an event is 1, or `pos_label`.

    With the `grading` of training, the codes mean the same, and unknown ones are
    errors.
    """
    name, time_name = names
    codes, durations = _as_series(event, name), _as_series(time, time_name)
    for series, called in ((codes, name), (durations, time_name)):
        _reject_missing(series, called, "fill it in")
    _check_length(durations, time_name, len(codes))
    counted = _counts(codes)
    if grading is None:
        by_text = {as_text(value): value for value, _ in counted}
        if pos_label is None and not by_text.keys() <= {"0", "1", "true", "false"}:
            raise ValueError(
                f"{name} has the codes {_list_counts(counted)}: which is the event? "
                f"Name it with {option}; all other codes then count as censored. "
                "Competing risks are not supported."
            )
        if pos_label is None:
            high = by_text.get("1", by_text.get("true", True))
        else:
            high = counted[_find_value(counted, pos_label, name)][0]
        negatives = [value for value, _ in counted if value != high]
        grading = Grading.two_classes(negatives or [type(high)(0)], high)
    _reject_unknown(counted, grading, name)
    if durations.dtype == pl.String or durations.dtype.is_temporal():
        raise ValueError(
            f"{time_name} must hold durations as numbers, such as the days until the "
            f"event or until censoring, got {durations[0]!r}."
        )
    target = _target(codes, grading, name)
    try:
        _, checked = check_survival(target.labels, durations.to_numpy())
    except ValueError as error:
        raise ValueError(f"{time_name}: {error}") from error
    if not target.n_positive:
        raise NotEnoughClassesError(
            f"none of the {len(codes)} rows has an event ({name} = "
            f"{grading.positive!r}): there is nothing to rank."
        )
    strata = None if qid is None else _numbered(qid, qid_name, len(codes), "stratum")
    return replace(target, durations=checked, queries=strata)


def match_target(
    values: Any,
    grading: Grading,
    *,
    name: str = "target",
    qid: Any = None,
    qid_name: str = "qid",
) -> Target:
    """Turn the target column of new rows into the levels of training; 1 is "1"."""
    if is_survival_target(values):
        return encode_survival(*split_target(values), grading=grading, qid=qid)
    series = _as_series(values, name)
    _reject_missing(series, name, "fill in their class")
    counted = _counts(series)
    if grading.is_graded and _are_levels(counted):
        levels = {*grading.values, *(int(value) for value, _ in counted)}
        grading = Grading(tuple(sorted(levels)), tuple(sorted(levels)))
    _reject_unknown(counted, grading, name)
    if len({grading.by_text[as_text(value)] for value, _ in counted}) == 1:
        raise NotEnoughClassesError(
            f"all {len(series)} rows have {name} = {counted[0][0]!r}: the area under "
            "the ROC curve needs rows of both classes."
        )
    return _target(series, grading, name, qid, qid_name)


def describe_rows(
    target: Target,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    times: Any = None,
    names: Mapping[str, str] | None = None,
) -> Target:
    """Add weights, groups and times to a target.

    Parameters
    ----------
    target : Target
        The target.
    sample_weight : polars.Series or array-like of shape (rows,), optional
        Weight of each row, above 0.
    groups : polars.Series or array-like of shape (rows,), optional
        The group of each row, such as the patient: numbers or strings. No group is
        split between training and test.
    times : polars.Series or array-like of shape (rows,), optional
        The time of each row: numbers or dates.
    names : mapping of str to str, optional
        Names in messages, by the names of the parameters.

    Returns
    -------
    Target

    Raises
    ------
    ValueError
        A value is missing or unusable: a weight that is not above 0, a time that cannot
        be read, a single group, or as many groups as rows.
    """
    called = {name: name for name in ("sample_weight", "groups", "times")}
    called |= names or {}
    n_rows = target.labels.size
    columns: dict[str, Any] = {}
    if sample_weight is not None:
        columns["weights"] = _weights(sample_weight, called["sample_weight"], n_rows)
    if groups is not None:
        columns["groups"] = _groups(groups, called["groups"], n_rows)
    if times is not None:
        moments = read_moments(times, called["times"])
        _check_length(moments, called["times"], n_rows)
        columns["times"] = moments
    return replace(target, **columns)


def read_moments(values: Any, name: str = "times") -> NDArray[np.float64]:
    """Return times as numbers: numbers unchanged, dates in microseconds since 1970."""
    series = _as_series(values, name)
    is_number = series.dtype.is_numeric()
    parsed = parse_numbers(series) if is_number else parse_dates(series)
    if not (is_number or parsed.n_read or series.dtype.is_temporal()):
        parsed = parse_numbers(series)
    moments = parsed.values
    if isinstance(moments, pl.Series):
        moments = moments.to_physical().cast(pl.Float64).to_numpy()
    unknown = ~np.isfinite(moments)
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(
            f"{name} must be a number or a date such as 2024-01-31 in every row, but "
            f"row {row} has {series[row]!r} ({int(unknown.sum())} such rows). Correct "
            "them, or leave these rows out."
        )
    return moments


def _weights(values: Any, name: str, n_rows: int) -> NDArray[np.float64]:
    series = _as_series(values, name)
    _check_length(series, name, n_rows)
    _reject_missing(series, name, "fill in their weight")
    if not series.dtype.is_numeric():
        raise ValueError(f"{name} must hold numbers to be weights, got {series[0]!r}.")
    weights = np.asarray(series.cast(pl.Float64).to_numpy(), dtype=np.float64)
    is_wrong = ~((weights > 0) & np.isfinite(weights))
    if is_wrong.any():
        row = int(np.argmax(is_wrong))
        raise ValueError(
            f"{name} must be finite and above 0 in every row to be a weight, but row "
            f"{row + 1} has {weights[row]:g} ({int(is_wrong.sum())} such rows); remove "
            "these rows or correct them."
        )
    reject_negligible_weights(weights, name)
    return np.asarray(validation.check_sample_weight(weights, n_rows, name))


def _groups(values: Any, name: str, n_rows: int) -> NDArray[np.int64]:
    groups = _numbered(values, name, n_rows, "group")
    n_groups = int(groups.max()) + 1
    if n_groups == 1:
        raise ValueError(
            f"{name} has a single group, but at least two are needed, so that one can "
            "be held out. Leave it out to split the rows themselves."
        )
    if n_groups == n_rows:
        raise ValueError(
            f"{name} has a different group in each of the {n_rows} rows, so it groups "
            "nothing. Use a column that several rows share, or leave it out."
        )
    return groups


def _reject_unknown(
    counted: list[tuple[Any, int]], grading: Grading, name: str
) -> None:
    unknown = [count for count in counted if as_text(count[0]) not in grading.by_text]
    if unknown:
        raise ValueError(
            f"{name} has values that did not occur in training "
            f"({_list_counts(unknown)}); the model knows {grading.listed}."
        )


def _target(
    series: pl.Series, grading: Grading, name: str, qid: Any = None, qid_name: str = ""
) -> Target:
    distinct = [value for value, _ in _counts(series)]
    meant = [grading.by_text[as_text(value)] for value in distinct]
    labels = series.replace_strict(distinct, meant, return_dtype=pl.Int64).to_numpy()
    if qid is None:
        return Target(labels, grading)
    target = Target(labels, grading, _numbered(qid, qid_name, labels.size, "query"))
    if target.n_usable_queries == 0:
        raise NotEnoughClassesError(
            f"none of the {target.n_queries} queries of {qid_name} has rows with "
            f"different values of {name}: there is nothing to rank within them. Check "
            "that it identifies queries and not rows."
        )
    return target


def _numbered(values: Any, name: str, n_rows: int, what: str) -> NDArray[np.int64]:
    series = _as_series(values, name)
    _check_length(series, name, n_rows)
    _reject_missing(series, name, f"fill in their {what}")
    if series.dtype == pl.String:
        series = one_spelling(series)
    elif series.dtype.is_float():
        validation.reject_rounded_ids(series.to_numpy(), name, first_row=1)
    return np.asarray(series.rank("dense").to_numpy(), dtype=np.int64) - 1


def _levels(counted: list[tuple[Any, int]], name: str, allowed: bool) -> Grading:
    may_be_levels = _are_levels(counted)
    if allowed and may_be_levels:
        levels = tuple(int(value) for value, _ in counted)
        return Grading(levels, levels)
    problem = f"{name} has {len(counted)} different values ({_list_counts(counted)})"
    if allowed:
        rule = "levels of relevance must be whole numbers, 0 or above"
        raise TooManyValuesError(f"{problem}, but {rule}", may_be_levels)
    if any(isinstance(v, float) and not v.is_integer() for v, _ in counted):
        problem += ", which look continuous"
    rule = "Only binary classification is supported"
    raise TooManyValuesError(f"{rule}, but {problem}", may_be_levels)


def _are_levels(counted: list[tuple[Any, int]]) -> bool:
    return all(
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value >= 0
        and float(value).is_integer()
        for value, _ in counted
    )


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _find_value(counted: list[tuple[Any, int]], wanted: Any, name: str) -> int:
    """Return the index of a value that may have another spelling."""
    words = [as_text(value) for value, _ in counted]
    for spell in (str, str.lower, _number):
        candidates, key = [spell(word) for word in words], spell(as_text(wanted))
        if key is not None and candidates.count(key) == 1:
            return candidates.index(key)
    raise ValueError(
        f"the positive value {wanted!r} does not occur in {name}, which has "
        f"{_list_counts(counted)}."
    )


def _as_series(values: Any, name: str) -> pl.Series:
    """Return a column of any kind as a series; NaN and empty strings are null."""
    require_polars_threads()
    if isinstance(values, pl.Series):
        series = values
    else:
        validation.reject_unreadable(values, name)
        # numpy alone would make floats of lists with integers beyond 64 bits
        is_list = isinstance(values, list | tuple)
        array = np.asarray(values, dtype=object if is_list else None)
        if array.ndim != 1:
            raise ValueError(
                f"{name} must have one value per row, got the shape {array.shape}."
            )
        if array.dtype.kind in "mM":  # of any unit, which polars has not
            array = array.astype(f"{array.dtype.kind}8[us]")
        series = series_of_cells(name, array.tolist())
        if series.dtype == pl.Object or series.dtype.is_nested():
            raise TypeError(
                f"{name} must hold numbers, booleans or strings, got {array[0]!r}."
            )
    series = usual_integers(series)
    if series.dtype.is_float():
        series = series.fill_nan(None)
        if series.is_infinite().any():
            row = int(series.is_infinite().fill_null(False).arg_max() or 0)
            raise ValueError(
                f"{name}, row {row + 1}: {series[row]} is not a finite number; correct "
                "it or remove the row."
            )
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        series = series.cast(pl.String).str.strip_chars()
        series = series.set(series == "", None)
    if len(series) == 0:
        raise ValueError(f"{name} is empty: there are no rows.")
    return series


def _check_length(values: Any, name: str, n_rows: int) -> None:
    """Reject a column with another number of rows than the target."""
    if len(values) != n_rows:
        raise ValueError(f"{name} has {len(values)} rows, but the target has {n_rows}.")


def _reject_missing(series: pl.Series, name: str, remedy: str) -> None:
    """Reject missing values, with their rows and what to do about them."""
    if series.null_count() == 0:
        return
    rows = (series.is_null().arg_true() + 1).to_list()
    shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    raise ValueError(
        f"{name} is missing in {len(rows)} of {len(series)} rows (row {shown}); remove "
        f"these rows or {remedy}."
    )


def _counts(series: pl.Series) -> list[tuple[Any, int]]:
    """Distinct values in ascending order with their counts."""
    counted = series.alias("value").value_counts().sort("value")
    return list(counted.iter_rows())


def _list_counts(counted: list[tuple[Any, int]]) -> str:
    """Write values with their counts, or the first of them."""
    shown = ", ".join(f"{value!r}: {count} rows" for value, count in counted[:6])
    return shown + (", ..." if len(counted) > 6 else "")


def reject_negligible_weights(
    weights: validation.FloatArray, name: str = "sample_weight"
) -> None:
    """Reject weights above 0 that are lost when all weights are added up."""
    shares = weights / weights.max()
    # 2^-50 of the total weight: less is lost when weights add up
    lost = (weights > 0.0) & (shares < 2.0**-50 * shares.sum())
    if lost.any():
        raise ValueError(
            f"{name} has {np.count_nonzero(lost)} rows with less than 1e-15 of the "
            f"total weight, the first of them row {int(np.argmax(lost))}: they have no "
            "effect in float64. Remove them, or bring weights closer together."
        )
