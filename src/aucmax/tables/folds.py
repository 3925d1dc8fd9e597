"""Folds by class, unit (group or query), or time.

`split_rows` returns the requested number of folds, or raises; `divide_rows` as many as
the rows allow; `plan_folds` also plans where the weights of an ensemble are learned. No
unit is divided; with times each fold is later than the rows that its model learns from.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import check_integer
from aucmax._core.row_splits import (
    Folds,
    RowNumbers,
    class_folds,
    folds_by_number,
    folds_of_splitter,
    unit_folds,
)
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import NotEnoughClassesError

#: An `aucmax.tables.Target`, whose module imports this one.
RowsToDivide: TypeAlias = Any

_DEFAULT_FOLDS = 5
# `plan_folds` uses all folds up to the first number of rows, and two up to the second.
_MAX_ROWS_FOR_ALL_FOLDS = 20_000
_MAX_ROWS_FOR_TWO_FOLDS = 100_000


def unit_of_rows(queries: Any, groups: Any, times: object) -> Any:
    """Return the units that no fold divides: groups, else queries, else None."""
    if times is not None and (groups is not None or queries is not None):
        raise ValueError(
            "times cannot be combined with groups or queries; use one of them."
        )
    if groups is None or queries is None:
        return queries if groups is None else groups
    pairs = np.unique(np.column_stack([queries, groups]), axis=0)
    if len(pairs) > np.unique(queries).size:
        raise ValueError(
            "rows of one query belong to several groups, so folds would divide one of "
            "the two. Use groups of whole queries, or leave them out."
        )
    return groups


def time_folds(times: FloatArray, n_folds: int) -> Folds:
    """Cut rows by time into at most N + 1 parts, tested by models of the past."""
    parts = np.array_split(np.sort(times), n_folds + 1)
    starts = np.unique([part[0] for part in parts if part.size])[1:]
    ends = np.append(starts, np.inf)[1:]
    return [
        (
            np.flatnonzero(times < start),
            np.flatnonzero((times >= start) & (times < end)),
        )
        for start, end in zip(starts, ends, strict=True)
    ]


def has_both_classes(labels: NDArray[np.generic]) -> bool:
    """Return whether some rows are above 0 and some are not."""
    return _rarer_class(labels)[0] > 0


def _rarer_class(labels: NDArray[Any]) -> tuple[int, str]:
    """Return the number of rows of the rarer class, and its name."""
    n_positive = int(np.count_nonzero(labels > 0))
    n_negative = labels.size - n_positive
    return min((n_positive, "positive"), (n_negative, "negative"), key=lambda c: c[0])


def divide_rows(
    labels: NDArray[Any],
    n_folds: int,
    *,
    unit: NDArray[np.int64] | None = None,
    times: FloatArray | None = None,
) -> Folds:
    """Return at most N folds with both classes to learn from; none if none has."""
    n_folds = n_folds if times is not None else min(n_folds, _rarer_class(labels)[0])
    if times is None and unit is not None:
        n_folds = min(n_folds, np.unique(unit).size)
    folds: Folds = []
    if times is not None:
        folds = time_folds(times, n_folds)
    elif n_folds > 1 and unit is not None:
        folds = unit_folds(labels, unit, n_folds, random_state=0)
    elif n_folds > 1:
        folds = class_folds(labels, n_folds, random_state=0)
    return [fold for fold in folds if has_both_classes(labels[fold[0]] > 0)]


def splitter_folds(rows: RowsToDivide, cv: object) -> Folds | None:
    """Return the folds of a splitter of scikit-learn; None for a number of folds."""
    if cv is None or isinstance(cv, int):
        return None
    if not hasattr(cv, "get_n_splits"):
        raise ValueError(
            f"cv must be a number of folds or a splitter of scikit-learn, got {cv!r}."
        )
    if rows.times is not None:
        raise ValueError("times make their own folds: use a number as cv, or no times.")
    unit = rows.unit
    folds = folds_of_splitter(cv, rows.strata, unit)
    tested = np.concatenate([test for _, test in folds])
    if np.unique(tested).size < tested.size:
        raise ValueError(
            f"cv={cv!r} tests some rows in several folds; use a splitter whose test "
            "folds are disjoint, such as StratifiedKFold."
        )
    for train, test in folds:
        if unit is not None and np.intersect1d(unit[train], unit[test]).size:
            raise ValueError(
                f"cv={cv!r} divides a group or query between training and test rows; "
                "use a number of folds, or a splitter of groups such as GroupKFold."
            )
        if not _is_usable_fold(rows, train, test):
            raise ValueError(
                f"cv={cv!r} gives a fold without two rows of either class, or a query "
                "with both, to test on, or without both classes to learn from."
            )
    return folds


def split_rows(rows: RowsToDivide, cv: Any, random_state: int) -> Folds:
    """Return N folds with enough rows to test on, or raise; by default up to 5."""
    if (folds := splitter_folds(rows, cv)) is not None:
        return folds
    n_folds: int | None = cv
    unit = rows.unit
    if rows.times is not None or rows.groups is not None:
        return _first_usable(rows, n_folds, random_state)
    n_folds = _check_number(rows, n_folds)
    if unit is not None:
        return _query_folds(unit, is_usable(rows), n_folds, random_state)
    labels = rows.strata if rows.is_survival else rows.labels
    return class_folds(labels, n_folds, random_state)


def is_usable(rows: RowsToDivide) -> BoolArray:
    """Return for each row whether its query has rows of two levels, or an event."""
    queries, labels = rows.queries, rows.labels
    if rows.is_survival:
        return np.asarray(np.bincount(queries, labels)[queries] > 0.0)
    low = np.full(int(queries.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(low.size, np.iinfo(np.int64).min)
    np.minimum.at(low, queries, labels)
    np.maximum.at(high, queries, labels)
    return np.asarray((low < high)[queries])


def _is_by_query(rows: RowsToDivide) -> bool:
    """Return whether rows are ranked within queries; strata of times may be divided."""
    return rows.queries is not None and not rows.is_survival


def _check_number(rows: RowsToDivide, n_folds: int | None) -> int:
    """Return a number of folds that the classes, or the queries, allow."""
    smaller, which = _rarer_class(rows.strata)
    most = smaller // 2
    if _is_by_query(rows):
        most = np.unique(rows.queries[is_usable(rows)]).size
    n_folds = max(2, min(_DEFAULT_FOLDS, most)) if n_folds is None else n_folds
    check_integer("cv", n_folds, 2)
    if n_folds <= most:
        return n_folds
    advice = f"use {most} folds or fewer" if most >= 2 else "add more of them"
    if _is_by_query(rows):
        raise ValueError(
            f"{most} of the {np.unique(rows.queries).size} queries have rows of two "
            f"classes, but {n_folds} folds need {n_folds}, one in each; {advice}."
        )
    raise ValueError(
        f"{smaller} row{'s are' if smaller > 1 else ' is'} {which}, but {n_folds} "
        f"folds need {2 * n_folds}, two in each; {advice}."
    )


def _first_usable(rows: RowsToDivide, n_folds: int | None, random_state: int) -> Folds:
    """Return N folds by times or groups, or by default the most of up to 5."""
    by, fewest = ("groups", 2) if rows.times is None else ("times", 1)
    if n_folds is not None:
        check_integer("cv", n_folds, fewest)
    most = n_folds or _DEFAULT_FOLDS
    tried = range(most, (fewest if n_folds is None else most) - 1, -1)
    for number in tried:
        if rows.times is not None:
            folds = time_folds(rows.times, number)
        else:
            folds = _group_folds(rows, number, random_state)
        if len(folds) == number and all(_is_usable_fold(rows, *fold) for fold in folds):
            return folds
    advice = "Use other" if n_folds in (None, fewest) else "Use fewer folds, or other"
    number_of_folds = f"{tried[-1]} fold{'s' if tried[-1] > 1 else ''}"
    raise ValueError(
        f"these {by} cannot be divided into {number_of_folds}: each needs two rows of "
        "either class, or a query with both, to test on, and rows of both classes to "
        f"learn from. {advice} {by}, or none."
    )


def _is_usable_fold(rows: RowsToDivide, train: RowNumbers, test: RowNumbers) -> bool:
    if _is_by_query(rows):
        usable = is_usable(rows)
        return bool(usable[train].any() and usable[test].any())
    is_enough = _rarer_class(rows.strata[test])[0] >= 2
    return is_enough and has_both_classes(rows.strata[train])


def _group_folds(rows: RowsToDivide, n_folds: int, random_state: int) -> Folds:
    if np.unique(rows.groups).size < n_folds:
        return []
    if _is_by_query(rows):
        return _query_folds(rows.groups, is_usable(rows), n_folds, random_state)
    labels = rows.strata if rows.is_survival else rows.labels
    return unit_folds(labels, rows.groups, n_folds, random_state)


def _query_folds(
    unit: IntArray, usable: BoolArray, n_folds: int, random_state: int
) -> Folds:
    """Return folds of queries, or groups, whose numbers of usable ones differ by 1."""
    rng = np.random.default_rng(random_state)
    usable_units = np.unique(unit[usable])
    others = np.setdiff1d(unit, usable_units)
    dealt = np.concatenate([rng.permutation(usable_units), rng.permutation(others)])
    fold_of_unit = np.empty(int(unit.max()) + 1, dtype=np.intp)
    fold_of_unit[dealt] = np.arange(dealt.size) % n_folds
    return folds_by_number(fold_of_unit[unit], n_folds)


@dataclass(frozen=True)
class FoldPlan:
    """Folds whose held-out scores choose the weights of an ensemble."""

    folds: Folds
    rows: RowNumbers  # all test rows in the order of the folds
    fold_of_row: RowNumbers
    # positions within `rows`: the weights that score a block are learned on the others
    blocks: list[RowNumbers]
    # folds whose models score new rows: by time the last, as the others have seen less
    scoring: list[int]
    refits: bool  # whether a fit to all rows is worth its time, as for small tables
    notices: list[str]


def plan_folds(rows: RowsToDivide, cv: Any, random_state: int) -> FoldPlan:
    """Return at most N folds with both classes on either side, and their blocks."""
    # large tables have two folds or one, whose test rows suffice to compare models
    notices: list[str] = []
    labels, unit, times = rows.strata, rows.unit, rows.times
    folds = splitter_folds(rows, cv)
    n_folds = cv if folds is None else len(folds)
    problem = ""
    if folds is None and times is not None:
        folds = time_folds(times, n_folds)
        problem = (
            "there is no time before and after which both classes occur, so a model of "
            "the past cannot be tested. Leave out times to divide rows at random."
        )
    elif folds is None:
        n_folds = _fewer_folds(labels, n_folds, notices)
        if rows.groups is None and _is_by_query(rows):
            folds = _dealt_queries(rows, n_folds, random_state, notices)
        elif unit is None:
            folds = class_folds(labels, n_folds, random_state)
        else:
            n_folds = min(n_folds, np.unique(unit).size)
            folds = unit_folds(labels, unit, n_folds, random_state)
        problem = (
            "no division of the queries or groups leaves both classes on either side. "
            "Use other groups, or leave them out."
        )
    folds = [fold for fold in folds if all(has_both_classes(labels[p]) for p in fold)]
    if not folds:
        raise NotEnoughClassesError(problem)
    n_used = len(folds)
    if labels.size > _MAX_ROWS_FOR_TWO_FOLDS:
        n_used = 1
    elif labels.size > _MAX_ROWS_FOR_ALL_FOLDS:
        n_used = 2
    # the last ones: by time they have seen the most
    folds = folds[-n_used:]
    tests = [test for _, test in folds]
    fold_of_row = np.repeat(np.arange(len(folds)), [test.size for test in tests])
    rows = np.concatenate(tests)
    if times is not None and len(folds) < 3:
        parts = time_folds(times[rows], n_folds - 1)
        blocks = [parts[0][0], *(part for _, part in parts)] if parts else []
    else:
        unit_of_row = None if unit is None else unit[rows]
        blocks = _blocks(labels[rows], fold_of_row, unit_of_row, n_folds, random_state)
    scoring = list(range(len(folds)))[0 if times is None else -1 :]
    refits = labels.size <= _MAX_ROWS_FOR_ALL_FOLDS
    return FoldPlan(folds, rows, fold_of_row, blocks, scoring, refits, notices)


def _dealt_queries(
    rows: RowsToDivide, n_folds: int, random_state: int, notices: list[str]
) -> Folds:
    """Return folds of whole queries that share those with rows of two levels."""
    queries, usable = rows.queries, is_usable(rows)
    known, n_queries = np.unique(queries[usable]), np.unique(queries).size
    if known.size < 2:
        raise NotEnoughClassesError(
            f"queries with rows of two levels: {known.size} of {n_queries}, but two "
            "are needed, one to learn from and one to check with. Add queries, and "
            "check that qid is not the number of a row."
        )
    if known.size < n_queries:
        notices.append(
            f"{n_queries - known.size} of the {n_queries} queries have rows of one "
            "level only; they do not count"
        )
    return _query_folds(queries, usable, min(n_folds, known.size), random_state)


def _fewer_folds(labels: NDArray[np.generic], n_folds: int, notices: list[str]) -> int:
    smaller, which = _rarer_class(labels)
    if smaller < 2:
        raise NotEnoughClassesError(
            f"{smaller} row is {which}; at least two of each class are needed, one to "
            "learn from and one to check with. Add rows of that class."
        )
    possible = max(2, min(n_folds, smaller // 2))
    if possible < n_folds:
        notices.append(
            f"only {smaller} rows are {which}: {possible} folds instead of {n_folds}, "
            "and the estimate is imprecise"
        )
    return possible


def _blocks(
    labels: NDArray[np.generic],
    folds: IntArray,
    unit: IntArray | None,
    n_blocks: int,
    random_state: int,
) -> list[RowNumbers]:
    """Return the rows of each fold; divide fewer than three folds further."""
    n_folds = int(folds.max()) + 1
    if n_folds >= 3:
        return [np.flatnonzero(folds == k) for k in range(n_folds)]
    n_blocks = max(2, min(n_blocks, _rarer_class(labels)[0]))
    draw = np.random.default_rng(random_state)
    if unit is not None:
        # whole units, in any order
        block = draw.permutation(int(unit.max()) + 1)[unit] % n_blocks
    else:
        # rows of one fold and class in turn
        order = np.lexsort((draw.random(labels.size), labels, folds))
        block = np.empty(labels.size, dtype=np.int64)
        block[order] = np.arange(labels.size) % n_blocks
    blocks = [np.flatnonzero(block == k) for k in range(n_blocks)]
    return [rows for rows in blocks if rows.size]


def sample_classes(target: RowsToDivide, n_rows: int) -> IntArray:
    """Choose evenly spaced rows, at most `n_rows` of either class."""
    kept = []
    for rows in (np.flatnonzero(target.relevant == k) for k in (0, 1)):
        places = np.linspace(0, rows.size - 1, min(rows.size, n_rows))
        kept.append(rows[places.round().astype(np.intp)])
    return np.sort(np.concatenate(kept))
