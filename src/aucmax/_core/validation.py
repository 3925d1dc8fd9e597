"""Checks of labels, scores, weights and query ids, done once where they come in.

They return contiguous one-dimensional arrays of the right length, finite and of one
type. Rows in messages are counted from 0.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.dask_dispatch import dask_version, is_dask
from aucmax.exceptions import (
    NotEnoughClassesError,
    PositiveClassWarning,
    RoundedScoresWarning,
)

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


class TooManyClassesError(ValueError):
    """Labels have more than two values."""


_SHAPE_HINTS = {
    (1,): " Use ravel() on a single column.",
    (2,): " Use the second column of predict_proba: [:, 1].",
}
_LABEL_KINDS = "biufUSOT"
_MAX_WEIGHT = 1e50  # or its inverse: squares of products of two weights are in range
_EXACT_INTEGER = 2**53  # beyond it float64 skips integers
_MAX_QUERY = 1000  # rows that are one query without doubt
# labels that read like the event to predict: whole words, and how others begin
_EVENT = re.compile(
    r"(?:\+?1|\+|t|true|y|yes|pos|case|event|ill|sick|bad|dead|died|death)$|abnormal|"
    "anomal|attack|cancer|churn|default|defect|disease|fail|fault|fraud|infect|"
    "malignant|positiv|recur|relaps|spam|tumou?r"
)


def check_binary_labels(
    labels: ArrayLike, name: str = "y_true", pos_label: Any = None
) -> tuple[NDArray[Any], BoolArray]:
    """Return the two labels, the positive one last, and which rows have that one.

    With `pos_label` there may be more than two; all others are negative.
    """
    array = _labels(labels, name)
    first = array[0]
    is_first = np.asarray(array == first, dtype=bool)
    n_first = np.count_nonzero(is_first)
    if n_first == array.size:
        raise NotEnoughClassesError(
            f"{name} holds one class only: all {array.size} labels are "
            f"{_shown(first)}. Rows of two classes are needed to rank one above "
            "the other."
        )
    other = int(np.argmin(is_first))  # the first row that differs from row 0
    second = array[other]
    is_second = np.asarray(array == second, dtype=bool)
    if n_first + np.count_nonzero(is_second) != array.size:
        if pos_label is None:
            raise TooManyClassesError(_too_many_classes(array, name))
        is_positive = check_relevance(array, name, pos_label)
        return array[[np.argmin(is_positive), np.argmax(is_positive)]], is_positive
    if pos_label is None:
        try:
            second_is_positive = bool(second > first)
        except TypeError:
            raise _unordered(array, name) from None
    else:
        second_is_positive = _is_same(second, pos_label)
        if not second_is_positive and not _is_same(first, pos_label):
            raise ValueError(
                f"pos_label must be one of the labels of {name}, {_shown(first)} and "
                f"{_shown(second)}, got {_shown(pos_label)}."
            )
    # indexing keeps the dtype of the labels: '<U6' stays '<U6', object stays object
    classes, is_positive = array[[other, 0]], is_first
    if second_is_positive:
        classes, is_positive = array[[0, other]], is_second
    if pos_label is None and isinstance(first, str):
        warn_of_positive_class(classes[0], classes[1], float(is_positive.mean()))
    return classes, is_positive


def reads_like_event(label: Any) -> bool:
    """Return whether a label reads like the event to predict: yes, disease, fraud."""
    return _EVENT.match(str(label).strip().lower()) is not None


def warn_of_positive_class(negative: Any, positive: Any, share: float) -> None:
    """Warn if a default is the frequent class of strings and the other the event."""
    is_odd = reads_like_event(negative) and not reads_like_event(positive)
    if is_odd and share > 0.5 and isinstance(positive, str):
        chosen, other = str(positive), str(negative)
        message = (
            f"the positive class is {chosen!r}, the second label in sorted order, but "
            f"{other!r} is rarer and reads like the event; pass pos_label={other!r} to "
            f"rank {other!r} first, or pos_label={chosen!r} to confirm."
        )
        warnings.warn(message, PositiveClassWarning, stacklevel=4)


def positive_class_notes(positive: Any, share: float, pos_label: Any) -> list[str]:
    """State the positive class of strings, and its share, if it is the default."""
    if pos_label is not None or not isinstance(positive, str):
        return []
    name = str(positive)  # not of numpy's type, which repr would show
    percent = f"{100.0 * share:.3g}%"
    return [f"positive class: {name!r} ({percent}); pass pos_label to change it"]


def _labels(labels: ArrayLike, name: str) -> NDArray[Any]:
    array = _one_dimensional(labels, name)
    reject_missing_labels(array, name)
    return array


def labels_among(classes: NDArray[Any], labels: ArrayLike, name: str) -> BoolArray:
    """Return which labels are the second of two known classes; reject any others."""
    array = _labels(labels, name)
    is_positive = np.asarray(array == classes[1], dtype=bool)
    is_known = is_positive | np.asarray(array == classes[0], dtype=bool)
    if not is_known.all():
        row = int(np.argmin(is_known))
        raise ValueError(
            f"{name} is {_shown(array[row])} in row {row}, but the training labels are "
            f"{_shown(classes[0])} and {_shown(classes[1])}."
        )
    return is_positive


def check_levels(
    labels: ArrayLike, name: str = "y_true", kind: str = "level"
) -> tuple[NDArray[Any], IntArray]:
    """Return the sorted distinct labels, two or more, and the place of each row's."""
    array = _labels(labels, name)
    try:
        levels, codes = _sorted_codes(array)
    except TypeError:
        raise _unordered(array, name) from None
    if levels.size < 2:
        raise NotEnoughClassesError(
            f"{name} holds one {kind} only: all {array.size} labels are "
            f"{_shown(array[0])}. At least two are needed to rank one above the other."
        )
    return levels, codes


def check_relevance(
    labels: ArrayLike, name: str = "y_true", pos_label: Any = None
) -> BoolArray:
    """Return which rows are relevant: by `pos_label`, above 0, or the second string."""
    # whether a number is relevant must not depend on the rows of other queries
    if pos_label is not None:
        array = _labels(labels, name)
        relevant = np.zeros(array.size, dtype=bool)
        if np.ndim(pos_label) == 0:
            relevant |= np.asarray(array == pos_label, dtype=bool)
        if not relevant.any():
            raise NotEnoughClassesError(
                f"No row of {name} has the label pos_label={_shown(pos_label)}."
            )
        return relevant
    array = _one_dimensional(labels, name)
    if array.dtype.kind in "UST" or isinstance(array[0], str):
        return check_binary_labels(labels, name)[1]
    return check_scores(labels, name=name) > 0


def first_positive_level(levels: NDArray[Any]) -> int:
    """Return the place of the lowest relevant level: see :func:`check_relevance`."""
    if isinstance(levels[0], str | bytes):
        return 1
    return int(np.searchsorted(levels, 0, side="right"))


def check_scores(
    scores: ArrayLike, n_rows: int | None = None, name: str = "y_score"
) -> FloatArray:
    """Return the scores as a contiguous float64 vector of finite numbers."""
    # different numbers that float64 rounds to one are rejected, as they would tie
    array = _one_dimensional(scores, name)
    _check_length(array, n_rows, name)
    numbers = _as_float64(array, name)
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        _warn_of_rounding(array, name)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(
            f"{name} must be finite, but row {row} is {_shown(array[row])}. "
            "Drop or repair such rows before ranking."
        )
    return numbers


def _warn_of_rounding(array: NDArray[Any], name: str) -> None:
    """Warn if a short float type has too few numbers to distinguish the rows."""
    low, high = array.min(), array.max()
    with np.errstate(all="ignore"):
        n_numbers = float(high - low) / float(np.spacing(max(abs(low), abs(high))))
    if not 0.0 < n_numbers < array.size or np.unique(array).size < n_numbers / 4.0:
        return
    warnings.warn(
        f"{name} is of type {array.dtype}, which has about {max(n_numbers, 1.0):.0f} "
        f"numbers between {low:g} and {high:g} for {array.size} rows: rounding ties "
        "rows. Use float64, or subtract a constant before rounding.",
        RoundedScoresWarning,
        stacklevel=4,
    )


def check_score_matrix(
    scores: ArrayLike, n_rows: int, name: str = "y_score"
) -> FloatArray:
    """Return scores of several columns as a float64 matrix of finite numbers."""
    reject_unreadable(scores, name)
    matrix = np.asarray(scores)
    if matrix.ndim != 2 or matrix.shape[0] != n_rows or matrix.shape[1] == 0:
        raise ValueError(
            f"{name} must have a row per label and a column per class, so shape "
            f"({n_rows}, number of classes), got shape {matrix.shape}."
        )
    columns = [check_scores(column, name=name) for column in matrix.T]
    return np.column_stack(columns)


def nonnegative_weights(
    sample_weight: ArrayLike | None, n_rows: int, name: str = "sample_weight"
) -> FloatArray | None:
    """Return weights as finite float64 numbers of at least 0, or None."""
    if sample_weight is None:
        return None
    weights = check_scores(sample_weight, n_rows, name)
    if weights.min() < 0:
        row = int(np.argmax(weights < 0))
        raise ValueError(
            f"{name} must not be negative, but row {row} weighs {weights[row]:g}."
        )
    return weights


def check_sample_weight(
    sample_weight: ArrayLike | None, n_rows: int, name: str = "sample_weight"
) -> FloatArray | None:
    """Return nonnegative weights, some of them positive, or None."""
    weights = nonnegative_weights(sample_weight, n_rows, name)
    if weights is None:
        return None
    largest = float(weights.max())
    if largest == 0.0:
        raise ValueError(f"{name} is zero in every row; some weight must be positive.")
    if not 1.0 / _MAX_WEIGHT <= largest <= _MAX_WEIGHT:
        raise ValueError(
            f"{name} has {largest:g} as the largest weight, whose products leave the "
            "range of float64. Divide the weights by it."
        )
    return weights


def check_class_weights(
    classes: NDArray[Any], is_positive: BoolArray, sample_weight: FloatArray | None
) -> None:
    """Reject weights that leave one of the two classes without any weight."""
    if sample_weight is None:
        return
    for value, rows in zip(classes, (~is_positive, is_positive), strict=True):
        if not sample_weight[rows].any():
            raise NotEnoughClassesError(
                f"sample_weight is zero in every row of class {_shown(value)}, "
                "so only one class is left. Give some row of it a positive weight."
            )


@dataclass(frozen=True)
class Queries:
    """Which query each row belongs to; rows of one query need not be neighbours."""

    codes: IntArray  # query numbers 0 .. n_queries - 1
    ids: NDArray[Any]  # ids[codes[row]] is what the caller gave

    @property
    def n_queries(self) -> int:
        """Number of distinct ids."""
        return len(self.ids)

    def __getitem__(self, rows: IntArray) -> Queries:
        """Return the queries of some of the rows."""
        return Queries(self.codes[rows], self.ids)


def check_qid(qid: ArrayLike, n_rows: int, name: str = "qid") -> Queries:
    """Turn query ids into numbers: in sorted order, of objects by first appearance."""
    if isinstance(qid, list | tuple) and any(isinstance(value, tuple) for value in qid):
        # numpy would make a matrix of equally long tuples
        array = np.empty(len(qid), dtype=object)
        array[:] = qid
    else:
        array = _one_dimensional(qid, name)
    _check_length(array, n_rows, name)
    reject_missing_labels(array, name)
    if array.dtype.kind == "f":
        reject_rounded_ids(array, name)
    if array.dtype.kind != "O":
        ids, codes = _sorted_codes(array)
        return Queries(codes, ids)
    seen: dict[Any, int] = {}
    try:
        numbers = [seen.setdefault(value, len(seen)) for value in array]
    except TypeError as error:
        raise TypeError(f"{name} must hold hashable ids: {error}.") from None
    ids = np.fromiter(seen, dtype=object, count=len(seen))
    return Queries(np.array(numbers, dtype=np.int64), ids)


def warn_of_one_query(qid: ArrayLike | None, n_rows: int, measure: str) -> None:
    """Warn if a measure of queries takes very many rows for one."""
    if qid is None and n_rows > _MAX_QUERY:
        warnings.warn(
            f"{measure} takes all {n_rows} rows for one query; pass qid, the query of "
            "each row (zeros if they are one).",
            UserWarning,
            stacklevel=3,
        )


def reject_rounded_ids(array: NDArray[Any], name: str, first_row: int = 0) -> None:
    """Reject floats that may be different ids which were rounded to one."""
    wrong = (array % 1.0 != 0.0) | (np.abs(array) > _EXACT_INTEGER)
    if wrong.any():
        row = int(np.argmax(wrong))
        example = f"{float(array[row])!r} ({wrong.sum()} such rows)"
        raise ValueError(
            f"{name} must hold whole numbers up to 2^53, integers or strings, but row "
            f"{first_row + row} is the float {example}; "
            "write these ids as integers or strings."
        )


def reject_unreadable(values: Any, name: str) -> None:
    """Reject values that numpy would misread: a lazy frame, or masked entries."""
    if any(base.__name__ == "LazyFrame" for base in type(values).__mro__):
        raise TypeError(
            f"{name} is a LazyFrame, which has no rows yet: call collect() first."
        )
    if np.ma.is_masked(values):
        row = int(np.argwhere(np.atleast_1d(np.ma.getmaskarray(values)))[0, 0])
        raise ValueError(f"{name} is masked in row {row}; drop or fill masked rows.")


def _one_dimensional(values: Any, name: str) -> NDArray[Any]:
    reject_unreadable(values, name)
    if values is None:
        raise TypeError(f"{name} is None; an array with one value per row is needed.")
    if is_dask(values):
        values = dask_version("collect")(name, values)
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not one value per row: {error}") from None
    if isinstance(values, list | tuple):
        # numpy turns a NaN among strings into the string 'nan', and different integers
        # beyond 64 bits into one float
        kind = array.dtype.kind
        has_others = kind == "U" and not all(isinstance(v, str) for v in values)
        if has_others or (kind == "f" and all(isinstance(v, int) for v in values)):
            array = np.array(values, dtype=object)
    if array.ndim != 1:
        hint = _SHAPE_HINTS.get(array.shape[1:], "")
        raise ValueError(
            f"{name} must be one-dimensional, one value per row, "
            f"got shape {array.shape}.{hint}"
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty; at least one row is needed.")
    return array


def _check_length(array: NDArray[Any], n_rows: int | None, name: str) -> None:
    if n_rows is not None and array.size != n_rows:
        raise ValueError(
            f"{name} has {array.size} rows, but the labels have {n_rows}; "
            "both need one value per row."
        )


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    return value is None or not _is_same(value, value)  # the others are not equal


def reject_missing_labels(array: NDArray[Any], name: str) -> None:
    """Reject missing labels, and types that cannot be labels."""
    kind = array.dtype.kind
    if kind not in _LABEL_KINDS:
        raise TypeError(
            f"{name} must hold booleans, numbers or strings, got dtype {array.dtype}."
        )
    if kind == "f":
        bad = ~np.isfinite(array)
    elif kind in "OT":
        bad = np.fromiter(map(is_missing, array), bool, array.size)
    else:
        return
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{name} is {_shown(array[row])} in row {row} ({np.count_nonzero(bad)} "
            "such rows); drop rows without a value."
        )


def _sorted_codes(array: NDArray[Any]) -> tuple[NDArray[Any], IntArray]:
    if array.dtype.kind in "bif":
        low, high = float(array.min()), float(array.max())
        if high - low < array.size and max(-low, high) < _EXACT_INTEGER:
            places = (array.astype(np.float64) - low).astype(np.int64)
            if array.dtype.kind != "f" or (places + low == array).all():
                # counting takes a tenth of the time of sorting
                is_level = np.bincount(places) > 0
                levels = (np.flatnonzero(is_level) + low).astype(array.dtype)
                return levels, (np.cumsum(is_level) - 1)[places]
    levels, codes = np.unique(array, return_inverse=True)
    return levels, codes.astype(np.int64, copy=False)


def _is_same(label: Any, other: Any) -> bool:
    same = label == other
    return isinstance(same, bool | np.bool_) and bool(same)


def _unordered(array: NDArray[Any], name: str) -> TypeError:
    kinds = sorted({type(value).__name__ for value in array})
    return TypeError(
        f"{name} mixes labels that cannot be ordered ({', '.join(kinds)}). "
        "Use labels of one type."
    )


def _too_many_classes(array: NDArray[Any], name: str) -> str:
    distinct = list(dict.fromkeys(array.tolist()))
    examples = ", ".join(_shown(value) for value in distinct[:3])
    kind = ""
    if array.dtype.kind == "f" and any(value != round(value) for value in distinct):
        kind = ", which look continuous"
    return (
        f"Only binary classification is supported, but {name} has {len(distinct)} "
        f"distinct values{kind}, such as {examples}. Reduce it to two, for example "
        f"{name} == {_shown(distinct[-1])}."
    )


def _as_float64(array: NDArray[Any], name: str) -> FloatArray:
    kind = array.dtype.kind
    if kind in "fbiu":
        with np.errstate(over="ignore"):
            numbers = np.ascontiguousarray(array, dtype=np.float64)
        is_exact = array.dtype.itemsize <= 8 if kind == "f" else kind == "b"
        if is_exact or (kind != "f" and np.abs(numbers).max() < _EXACT_INTEGER):
            return numbers
    elif kind == "O":
        numbers = np.empty(array.size)
        for row, value in enumerate(array):
            try:
                if isinstance(value, str | bytes):
                    raise TypeError
                numbers[row] = float(value)
            except (TypeError, ValueError, OverflowError):
                raise TypeError(
                    f"{name} must hold real numbers, but row {row} is {_shown(value)}."
                ) from None
    else:
        raise TypeError(
            f"{name} must hold real numbers, got dtype {array.dtype} "
            f"(row 0 is {_shown(array[0])})."
        )
    if np.isfinite(numbers).all() and len({*array}) > np.unique(numbers).size:
        raise ValueError(
            f"{name} holds different values of type {type(array[0]).__name__} that "
            "float64 rounds to one. Round them, or rank scores first, for example with "
            "scipy.stats.rankdata."
        )
    return numbers


def _shown(value: Any) -> str:
    return repr(value.item() if isinstance(value, np.generic) else value)
