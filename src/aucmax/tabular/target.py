"""The column to predict: two values, one of them positive."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax.exceptions import NotEnoughClassesError

__all__ = ["Target", "encode_target", "match_target"]

_POSITIVE_WORDS = frozenset(
    {"1", "true", "t", "yes", "y", "positive", "pos", "+", "+1", "case", "event"}
)


@dataclass(frozen=True)
class Target:
    """Labels as 0 and 1 with the values they stand for.

    Attributes
    ----------
    labels : ndarray of int64 of shape (rows,)
        1 where the row is positive.
    classes : tuple
        The negative and the positive value, as they are in the table.
    """

    labels: NDArray[np.int64]
    classes: tuple[Any, Any]

    @property
    def n_positive(self) -> int:
        """Number of positive rows."""
        return int(self.labels.sum())

    @property
    def n_negative(self) -> int:
        """Number of negative rows."""
        return self.labels.size - self.n_positive

    def usable_folds(self, wanted: int) -> int:
        """Return `wanted`, or the most folds that a small class allows."""
        most = min(self.n_positive, self.n_negative) // 2
        return max(2, min(wanted, most))

    def check_folds(self, n_folds: int) -> None:
        """Refuse folds with fewer than two rows of a class: no variance is known."""
        smaller = min(self.n_positive, self.n_negative)
        if n_folds < 2:
            raise ValueError(f"at least 2 folds are needed, got {n_folds}.")
        if smaller < 2 * n_folds:
            which = "positive" if smaller == self.n_positive else "negative"
            advice = (
                f"use {smaller // 2} folds or fewer"
                if smaller >= 4
                else "more of them are needed to compare models"
            )
            raise ValueError(
                f"there are {smaller} {which} rows, but {n_folds} folds need "
                f"{2 * n_folds}, two in each; {advice}."
            )


def encode_target(values: Any, positive: Any = None, *, name: str = "target") -> Target:
    """Turn a column with two values into 0 and 1.

    Parameters
    ----------
    values : polars.Series or array-like of shape (rows,)
        Numbers, booleans or texts.
    positive : optional
        The value to rank on top, as it is in the table or as text. Without it: the
        larger of two numbers, the one of two texts that says so (yes, true,
        positive, ...), else the rarer.
    name : str, default="target"
        Name of the column, for messages.

    Returns
    -------
    target : Target

    Raises
    ------
    NotEnoughClassesError
        All rows have the same value.
    ValueError
        A value is missing, there are more than two, or `positive` is none of them.
    """
    series = _as_series(values, name)
    _refuse_gaps(series, name)
    counts = _counts(series)
    if len(counts) == 1:
        raise NotEnoughClassesError(
            f"all {len(series)} rows have {name} = {counts[0][0]!r}: there is nothing "
            "to rank. Two different values are needed."
        )
    if len(counts) > 2:
        raise ValueError(
            f"{name} has {len(counts)} different values ({_list(counts)}), but a "
            "ranking needs two. Make a column that says which rows are positive."
        )
    top = _positive(counts, positive, name)
    classes = (counts[1 - top][0], counts[top][0])
    return Target((series == classes[1]).cast(pl.Int64).to_numpy(), classes)


def match_target(
    values: Any, classes: Sequence[Any], *, name: str = "target"
) -> Target:
    """Turn the target column of new rows into 0 and 1, by the classes of a model.

    Parameters
    ----------
    values : polars.Series or array-like of shape (rows,)
        The true values; 1, 1.0 and "1" are the same.
    classes : sequence of length 2
        Negative and positive value at training.
    name : str, default="target"
        Name of the column, for messages.

    Returns
    -------
    target : Target

    Raises
    ------
    NotEnoughClassesError
        All rows belong to one class.
    ValueError
        A value is missing or was not there at training.
    """
    series = _as_series(values, name)
    _refuse_gaps(series, name)
    known = [as_text(value) for value in classes]
    counts = _counts(series)
    unknown = [count for count in counts if as_text(count[0]) not in known]
    if unknown:
        raise ValueError(
            f"{name} has values that the model was not trained with "
            f"({_list(unknown)}); it knows {classes[0]!r} and {classes[1]!r}."
        )
    if len(counts) == 1:
        raise NotEnoughClassesError(
            f"all {len(series)} rows have {name} = {counts[0][0]!r}: the area under "
            "the ROC curve needs rows of both classes."
        )
    is_positive = [as_text(value) == known[1] for value, _ in counts]
    top = counts[is_positive.index(True)][0]
    labels = (series == top).cast(pl.Int64).to_numpy()
    return Target(labels, (classes[0], classes[1]))


def as_text(value: Any) -> str:
    """One spelling for a value, whatever its type: 1, 1.0 and "1" are "1"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _as_series(values: Any, name: str) -> pl.Series:
    if isinstance(values, pl.Series):
        series = values
    else:
        array = np.asarray(values)
        if array.ndim != 1:
            raise ValueError(
                f"{name} must have one value a row, got the shape {array.shape}."
            )
        series = pl.Series(name, array.tolist(), strict=False)
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.dtype in (pl.String, pl.Categorical, pl.Enum):
        series = series.cast(pl.String).str.strip_chars()
        series = series.set(series == "", None)
    if len(series) == 0:
        raise ValueError(f"{name} is empty: there are no rows.")
    return series


def _refuse_gaps(series: pl.Series, name: str) -> None:
    if series.null_count() == 0:
        return
    rows = (series.is_null().arg_true() + 1).to_list()
    shown = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
    raise ValueError(
        f"{name} is missing in {len(rows)} of {len(series)} rows (row {shown}); remove "
        "these rows or fill in their class."
    )


def _counts(series: pl.Series) -> list[tuple[Any, int]]:
    """Distinct values in ascending order with their counts."""
    counted = series.alias("value").value_counts().sort("value")
    return list(counted.iter_rows())


def _positive(counts: list[tuple[Any, int]], positive: Any, name: str) -> int:
    """Index of the positive one of two values."""
    words = [as_text(value) for value, _ in counts]
    if positive is not None:
        wanted = as_text(positive)
        folded = [word.lower() for word in words]
        for candidates, key in ((words, wanted), (folded, wanted.lower())):
            if candidates.count(key) == 1:
                return candidates.index(key)
        raise ValueError(
            f"the positive value {positive!r} does not occur in {name}, which has "
            f"{_list(counts)}."
        )
    if not isinstance(counts[0][0], str):
        return 1
    speaks = [word.lower() in _POSITIVE_WORDS for word in words]
    if sum(speaks) == 1:
        return speaks.index(True)
    return 0 if counts[0][1] < counts[1][1] else 1


def _list(counts: list[tuple[Any, int]]) -> str:
    shown = ", ".join(f"{value!r}: {count} rows" for value, count in counts[:6])
    return shown + (", ..." if len(counts) > 6 else "")
