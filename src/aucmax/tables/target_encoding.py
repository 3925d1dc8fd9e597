"""From the values of a column to a target: two classes, or levels of relevance."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax.exceptions import NotEnoughClassesError, TooManyValuesError
from aucmax.tables._labels import as_series, counts, list_counts, refuse_gaps
from aucmax.tables.grading import Grading, as_text
from aucmax.tables.target import Target

__all__ = ["encode_target", "match_target"]

_POSITIVE_WORDS = frozenset(
    {"1", "true", "t", "yes", "y", "positive", "pos", "+", "+1", "case", "event"}
)


def encode_target(
    values: Any,
    positive: Any = None,
    *,
    name: str = "target",
    allow_levels: bool = False,
    qid: Any = None,
    qid_name: str = "qid",
) -> Target:
    """Turn a column into 0 and 1, or into levels of relevance.

    Parameters
    ----------
    values : polars.Series or array-like of shape (rows,), or Target
        Numbers, booleans or texts. A target is returned as it is.
    positive : optional
        The value to rank on top, above all others, as it is in the table or as text.
        Without a choice the command line, like everything that takes raw tables, takes
        the larger of two numbers, the one of two texts that means yes (yes, true,
        positive, ...), else the rarer; estimators in Python take the second label in
        sorted order.
    name : str, default="target"
        Name of the column, for messages.
    allow_levels : bool, default=False
        Whether more than two whole numbers, 0 or above, are taken for levels of
        relevance.
    qid : polars.Series or array-like of shape (rows,), optional
        The query of each row: numbers or texts.
    qid_name : str, default="qid"
        What messages call it.

    Returns
    -------
    target : Target

    Raises
    ------
    NotEnoughClassesError
        All rows have the same value, or all rows of every query.
    TooManyValuesError
        There are more than two values, and they are not levels.
    ValueError
        A value or query is missing, or `positive` does not occur.

    Examples
    --------
    >>> from aucmax.tables import encode_target
    >>> encode_target(["no", "yes", "no"]).labels.tolist()
    [0, 1, 0]
    """
    if isinstance(values, Target):
        if qid is not None or positive is not None:
            raise ValueError(
                "the target is encoded already; pass qid and positive to encode_target."
            )
        return values
    series = as_series(values, name)
    refuse_gaps(series, name, "fill in their class")
    counted = counts(series)
    if len(counted) == 1:
        raise NotEnoughClassesError(
            f"all {len(series)} rows have {name} = {counted[0][0]!r}: there is nothing "
            "to rank. Two different values are needed."
        )
    if positive is None and len(counted) > 2:
        grading = _levels(counted, name, allow_levels)
    else:
        top = _positive(counted, positive, name)
        negatives = [value for k, (value, _) in enumerate(counted) if k != top]
        grading = Grading.two_classes(negatives, counted[top][0])
    return _target(series, grading, name, qid, qid_name)


def match_target(
    values: Any,
    grading: Grading,
    *,
    name: str = "target",
    qid: Any = None,
    qid_name: str = "qid",
) -> Target:
    """Turn the target column of new rows into levels, by what it meant at training.

    Parameters
    ----------
    values : polars.Series or array-like of shape (rows,)
        The true values; 1, 1.0 and "1" are the same.
    grading : Grading
        What the values meant at training. If they were more than two levels, new rows
        may have others, too.
    name : str, default="target"
        Name of the column, for messages.
    qid, qid_name : optional
        As in :func:`encode_target`.

    Returns
    -------
    target : Target

    Raises
    ------
    NotEnoughClassesError
        All rows belong to one class, or all rows of every query.
    ValueError
        A value or query is missing, or a value was not there at training.
    """
    series = as_series(values, name)
    refuse_gaps(series, name, "fill in their class")
    counted = counts(series)
    if grading.is_graded and _are_levels(counted):
        known = {*grading.values, *(int(value) for value, _ in counted)}
        grading = Grading(tuple(sorted(known)), tuple(sorted(known)))
    unknown = [count for count in counted if as_text(count[0]) not in grading.by_text]
    if unknown:
        raise ValueError(
            f"{name} has values that the model was not trained with "
            f"({list_counts(unknown)}); it knows {grading.listed}."
        )
    if len({grading.by_text[as_text(value)] for value, _ in counted}) == 1:
        raise NotEnoughClassesError(
            f"all {len(series)} rows have {name} = {counted[0][0]!r}: the area under "
            "the ROC curve needs rows of both classes."
        )
    return _target(series, grading, name, qid, qid_name)


def _target(
    series: pl.Series, grading: Grading, name: str, qid: Any, qid_name: str
) -> Target:
    distinct = [value for value, _ in counts(series)]
    meant = [grading.by_text[as_text(value)] for value in distinct]
    labels = series.replace_strict(distinct, meant, return_dtype=pl.Int64).to_numpy()
    if qid is None:
        return Target(labels, grading)
    target = Target(labels, grading, _query_numbers(qid, qid_name, labels.size))
    if target.n_usable_queries == 0:
        raise NotEnoughClassesError(
            f"none of the {target.n_queries} queries of {qid_name} has rows with "
            f"different values of {name}: there is nothing to rank within them. Check "
            "that it names queries and not rows."
        )
    return target


def _query_numbers(values: Any, name: str, n_rows: int) -> NDArray[np.int64]:
    series = as_series(values, name)
    if len(series) != n_rows:
        raise ValueError(f"{name} has {len(series)} rows, but the target has {n_rows}.")
    refuse_gaps(series, name, "fill in their query")
    return np.asarray(series.rank("dense").to_numpy(), dtype=np.int64) - 1


def _levels(counted: list[tuple[Any, int]], name: str, allowed: bool) -> Grading:
    may_be_levels = _are_levels(counted)
    if allowed and may_be_levels:
        levels = tuple(int(value) for value, _ in counted)
        return Grading(levels, levels)
    raise TooManyValuesError(
        f"{name} has {len(counted)} different values ({list_counts(counted)}), but "
        + (
            "levels of relevance must be whole numbers, 0 or above"
            if allowed
            else "a ranking needs two"
        ),
        may_be_levels,
    )


def _are_levels(counted: list[tuple[Any, int]]) -> bool:
    return all(
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and value >= 0
        and float(value).is_integer()
        for value, _ in counted
    )


def _positive(counted: list[tuple[Any, int]], positive: Any, name: str) -> int:
    """Index of the positive value; without a choice there are two."""
    words = [as_text(value) for value, _ in counted]
    if positive is not None:
        wanted = as_text(positive)
        folded = [word.lower() for word in words]
        for candidates, key in ((words, wanted), (folded, wanted.lower())):
            if candidates.count(key) == 1:
                return candidates.index(key)
        raise ValueError(
            f"the positive value {positive!r} does not occur in {name}, which has "
            f"{list_counts(counted)}."
        )
    if not isinstance(counted[0][0], str):
        return 1
    speaks = [word.lower() in _POSITIVE_WORDS for word in words]
    if sum(speaks) == 1:
        return speaks.index(True)
    return 0 if counted[0][1] < counted[1][1] else 1
