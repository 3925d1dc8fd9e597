"""Encode a column as a target: two classes, or levels of relevance."""

from collections.abc import Mapping
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
    y: object,
    pos_label: object = None,
    *,
    time: object = None,
    sample_weight: object = None,
    qid: object = None,
    groups: object = None,
    times: object = None,
    allow_levels: bool = False,
    grading: Grading | None = None,
    names: Mapping[str, str] | None = None,
) -> Target:
    """Encode a column as 0 and 1, or as levels of relevance.

    Parameters
    ----------
    y : polars.Series or array-like of shape (rows,), or Target
        Numbers, booleans or strings; or events and times, as
        :func:`aucmax.metrics.survival_target` makes them. A target is returned
        unchanged.
    pos_label : optional
        The positive value, as in the table or as text; all others are negative. By
        default the second of two values in sorted order, and of events 1.
    time : polars.Series or array-like of shape (rows,), optional
        Of censored times: how long each row was observed. `y` is then the event.
    sample_weight : polars.Series or array-like of shape (rows,), optional
        Weight of each row, above 0.
    qid : polars.Series or array-like of shape (rows,), optional
        The query of each row, or the stratum of censored times: numbers or strings.
    groups : polars.Series or array-like of shape (rows,), optional
        The group of each row, such as the patient: numbers or strings. No group is
        split between training and test.
    times : polars.Series or array-like of shape (rows,), optional
        The time of each row: numbers or dates.
    allow_levels : bool, default=False
        Whether more than two whole numbers from 0 are taken for levels of relevance.
    grading : optional
        The ``grading`` of another target: the values mean what they meant there, 1 is
        "1", and unknown values are errors.
    names : mapping of str to str, optional
        Names in messages, by the names of the parameters.

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
        A value is missing or unusable: `pos_label` does not occur, a weight is not
        above 0, a time cannot be read, there is a single group, or one per row.

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
    columns = (sample_weight, qid, groups, times)
    if isinstance(y, Target):
        if any(one is not None for one in (pos_label, time, *columns)):
            raise ValueError(
                "y is an encoded target, which has its positive value, queries, "
                "weights, groups and times; leave out sample_weight, qid, groups and "
                "times, or pass them to encode_target."
            )
        return y
    called = _Names(names or {})
    if is_survival_target(y):
        y, time = split_target(y)
        called = _Names({"y": "event", **called})
    name = called["y"]
    values = _as_series(y, name)
    n_rows = len(values)
    is_survival = time is not None
    _reject_missing(
        values, name, "fill it in" if is_survival else "fill in their class"
    )
    values = _one_spelling_per_value(values)
    counted = _counts(values)
    if is_survival:
        grading = grading or _event_code(counted, pos_label, called)
    elif grading is None:
        grading = _grade(counted, pos_label, called, n_rows, allow_levels)
    else:
        grading = _with_new_levels(grading, counted)
    _reject_unknown(counted, grading, name)
    levels = [grading.by_text[as_text(value)] for value, _ in counted]
    labels = values.replace_strict(
        [value for value, _ in counted], levels, return_dtype=pl.Int64
    ).to_numpy()
    if not is_survival and len(set(levels)) == 1:
        raise NotEnoughClassesError(
            f"all {n_rows} rows have {name} = {counted[0][0]!r}, which is one class: "
            "the area under the ROC curve needs rows of both classes."
        )
    target = Target(
        labels,
        grading,
        queries=_numbered(
            qid, "stratum" if is_survival else "query", called["qid"], n_rows
        ),
        weights=_weights(sample_weight, called["sample_weight"], n_rows),
        groups=_groups(groups, called["groups"], n_rows),
        times=None if times is None else read_moments(times, called["times"], n_rows),
        durations=_durations(time, called["time"], labels),
    )
    if is_survival and not target.n_positive:
        raise NotEnoughClassesError(
            f"none of the {n_rows} rows has an event ({name} = "
            f"{grading.positive!r}): there is nothing to rank."
        )
    if not is_survival and target.n_usable_queries == 0:
        raise NotEnoughClassesError(
            f"none of the {target.n_queries} queries of {called['qid']} has rows with "
            f"different values of {name}: there is nothing to rank within them. Check "
            "that it identifies queries and not rows."
        )
    return target


class _Names(dict[str, str]):
    """Names of columns in messages, by default those of the parameters."""

    def __missing__(self, name: str) -> str:
        return name


def _one_spelling_per_value(series: pl.Series) -> pl.Series:
    """Return strings in one spelling if some differ by their spelling only."""
    if series.dtype.is_temporal():
        raise ValueError(
            f"{series.name} holds dates or times, not classes; compare them with a day "
            "of your choice, which gives True and False."
        )
    if series.dtype != pl.String:
        return series
    spelled = one_spelling(series.str.strip_chars())
    return spelled if spelled.n_unique() < series.n_unique() else series


def _grade(
    counted: list[tuple[Any, int]],
    pos_label: object,
    called: _Names,
    n_rows: int,
    allow_levels: bool,
) -> Grading:
    """Return two classes, by `pos_label` or in sorted order, or levels."""
    if pos_label is None and len(counted) > 2:
        return _levels(counted, called["y"], allow_levels)
    top = len(counted) - 1
    if pos_label is not None and len(counted) > 1:
        top = _find_value(counted, pos_label, called)
    elif len(counted) > 1:
        (negative, _), (positive, count) = counted
        warn_of_positive_class(negative, positive, count / n_rows)
    negatives = [value for k, (value, _) in enumerate(counted) if k != top]
    return Grading.two_classes(negatives, counted[top][0])


def _event_code(
    counted: list[tuple[Any, int]], pos_label: object, called: _Names
) -> Grading:
    """Return which code is the event: 1, or `pos_label`; all others are censored."""
    by_text = {as_text(value): value for value, _ in counted}
    if pos_label is not None:
        event = counted[_find_value(counted, pos_label, called)][0]
    elif by_text.keys() <= {"0", "1", "true", "false"}:
        event = by_text.get("1", by_text.get("true", True))
    else:
        raise ValueError(
            f"{called['y']} has the codes {_list_counts(counted)}: which is the event? "
            f"Name it with {called['pos_label']}; all other codes then count as "
            "censored. Competing risks are not supported."
        )
    negatives = [value for value, _ in counted if value != event]
    return Grading.two_classes(negatives or [type(event)(0)], event)


def _with_new_levels(grading: Grading, counted: list[tuple[Any, int]]) -> Grading:
    """Return levels of training with those of new rows; classes are unchanged."""
    if not (grading.is_graded and _are_levels(counted)):
        return grading
    levels = tuple(sorted({*grading.values, *(int(value) for value, _ in counted)}))
    return Grading(levels, levels)


def _durations(
    values: object, name: str, events: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    if values is None:
        return None
    series = _as_series(values, name, events.size)
    _reject_missing(series, name, "fill it in")
    if series.dtype == pl.String or series.dtype.is_temporal():
        raise ValueError(
            f"{name} must hold durations as numbers, such as the days until the event "
            f"or until censoring, got {series[0]!r}."
        )
    try:
        return check_survival(events, series.to_numpy())[1]
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def read_moments(
    values: object, name: str = "times", n_rows: int | None = None
) -> NDArray[np.float64]:
    """Return times as numbers: numbers unchanged, dates in microseconds since 1970."""
    series = _as_series(values, name, n_rows)
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


def _weights(values: object, name: str, n_rows: int) -> NDArray[np.float64] | None:
    if values is None:
        return None
    series = _as_series(values, name, n_rows)
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


def _groups(values: object, name: str, n_rows: int) -> NDArray[np.int64] | None:
    groups = _numbered(values, "group", name, n_rows)
    if groups is None:
        return None
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
        *first, last = map(repr, grading.values)
        raise ValueError(
            f"{name} has values that did not occur in training "
            f"({_list_counts(unknown)}); the model knows {', '.join(first)} and "
            f"{last}."
        )


def _numbered(
    values: object, what: str, name: str, n_rows: int
) -> NDArray[np.int64] | None:
    """Return the place of each row's value, such as its query, in sorted order."""
    if values is None:
        return None
    series = _as_series(values, name, n_rows)
    _reject_missing(series, name, f"fill in their {what}")
    if series.dtype == pl.String:
        series = one_spelling(series.str.strip_chars())
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
        and 0 <= value < 2**53
        and float(value).is_integer()
        for value, _ in counted
    )


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _find_value(counted: list[tuple[Any, int]], wanted: object, called: _Names) -> int:
    """Return the index of a value that may have another spelling."""
    words = [as_text(value) for value, _ in counted]
    for spell in (str, str.lower, _number):
        candidates, key = [spell(word) for word in words], spell(as_text(wanted))
        if key is not None and candidates.count(key) == 1:
            return candidates.index(key)
    raise ValueError(
        f"{called['pos_label']}: {wanted!r} does not occur in {called['y']}, which has "
        f"{_list_counts(counted)}."
    )


def _as_series(values: object, name: str, n_rows: int | None = None) -> pl.Series:
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
        series = series.cast(pl.String)
        series = series.set(series.str.strip_chars() == "", None)
    if len(series) == 0:
        raise ValueError(f"{name} is empty: there are no rows.")
    if n_rows is not None and len(series) != n_rows:
        raise ValueError(f"{name} has {len(series)} rows, but the target has {n_rows}.")
    return series


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
