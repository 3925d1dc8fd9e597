"""Which rows are kept aside, and when: folds by rows, groups, queries or time."""

from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables.cross_fit import deal_units, forward_folds, unit_of_rows

__all__ = ["Plan", "plan_folds"]

# Up to so many rows all folds are used; beyond, as many as these rows allow.
_MOST_ROWS_FOR_ALL_FOLDS = 20_000
_MOST_ROWS_FOR_TWO_FOLDS = 100_000


@dataclass(frozen=True)
class Plan:
    """Training and test rows of each fold, and in which parts weights are learned.

    Attributes
    ----------
    folds : list of (ndarray, ndarray)
        Training rows and test rows, by their numbers. Test rows do not overlap.
    rows : ndarray of int
        All test rows, in the order of the folds.
    fold_of_row : ndarray of int
        The fold of each of `rows`.
    blocks : list of ndarray
        Positions within `rows`: the weights that score a block are learned on the
        others.
    scoring : list of int
        The folds whose models score new rows: by time the last one alone, since the
        others have seen less.
    refits : bool
        Whether a model fitted to all rows is worth its time: of a large table the folds
        have seen enough.
    notices : list of str
        What a user should know.
    """

    folds: list[tuple[IntArray, IntArray]]
    rows: IntArray
    fold_of_row: IntArray
    blocks: list[IntArray]
    scoring: list[int]
    refits: bool
    notices: list[str]


def plan_folds(
    labels: BoolArray,
    n_folds: int,
    random_state: int,
    *,
    queries: IntArray | None = None,
    groups: IntArray | None = None,
    moments: FloatArray | None = None,
) -> Plan:
    """Deal rows to folds.

    Rows of one group, or of one query, are in one fold. With `moments`, the test rows
    of a fold come after all of its training rows, and rows of one time stay together.
    Past 20,000 rows two folds are used, past 100,000 one: their test rows suffice to
    compare models, and the time goes further.
    """
    notices: list[str] = []
    unit = unit_of_rows(queries, groups, moments)
    if moments is not None:
        folds = _by_time(labels, n_folds, moments)
    else:
        name = "queries" if groups is None else "groups"
        n_folds = _fewer_folds(labels, n_folds, notices)
        folds = _by_rows(labels, n_folds, random_state, unit, name)
    n_used = len(folds)
    if labels.size > _MOST_ROWS_FOR_TWO_FOLDS:
        n_used = 1
    elif labels.size > _MOST_ROWS_FOR_ALL_FOLDS:
        n_used = 2
    # the last ones: by time they have seen the most
    folds = folds[-n_used:]
    tests = [test for _, test in folds]
    fold_of_row = np.repeat(np.arange(len(folds)), [test.size for test in tests])
    rows = np.concatenate(tests)
    unit_of_row = None if unit is None else unit[rows]
    blocks = _blocks(labels[rows], fold_of_row, unit_of_row, n_folds, random_state)
    if moments is not None and len(folds) < 3:
        parts = forward_folds(moments[rows], n_folds - 1)
        blocks = [parts[0][0], *(part for _, part in parts)] if parts else blocks[:0]
    scoring = list(range(len(folds)))[0 if moments is None else -1 :]
    refits = labels.size <= _MOST_ROWS_FOR_ALL_FOLDS
    return Plan(folds, rows, fold_of_row, blocks, scoring, refits, notices)


def _fewer_folds(labels: BoolArray, n_folds: int, notices: list[str]) -> int:
    n_positive = int(np.count_nonzero(labels))
    smaller = min(n_positive, labels.size - n_positive)
    which = "positive" if smaller == n_positive else "negative"
    if smaller < 2:
        raise NotEnoughClassesError(
            f"{smaller} row is {which}; at least two of each class are needed, one to "
            "learn from and one to check with. Add rows of that class."
        )
    possible = max(2, min(n_folds, smaller // 2))
    if possible < n_folds:
        notices.append(
            f"{smaller} {which} rows are few: {possible} folds in place of {n_folds}, "
            "and the estimate is vague"
        )
    return possible


def _by_rows(
    labels: BoolArray,
    n_folds: int,
    random_state: int,
    unit: IntArray | None,
    name: str,
) -> list[tuple[IntArray, IntArray]]:
    place = np.zeros(labels.size)
    if unit is None or np.unique(unit).size == labels.size:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        return list(splitter.split(place, labels))
    n_units = int(np.unique(unit).size)
    if n_units < 2:
        raise ValueError(
            f"all rows belong to one of the {name}: at least two are needed, so that "
            "some can be kept aside. Leave it out to divide rows."
        )
    folds = [
        fold
        for fold in deal_units(labels, unit, min(n_folds, n_units), random_state)
        if all(_has_both(labels[part]) for part in fold)
    ]
    if not folds:
        raise NotEnoughClassesError(
            f"no division of the {n_units} {name} leaves both classes on either side. "
            "Use other groups, or leave them out."
        )
    return folds


def _by_time(
    labels: BoolArray, n_folds: int, moments: FloatArray
) -> list[tuple[IntArray, IntArray]]:
    """Cut time into one more part than folds: each part is tested by those before."""
    folds = [
        fold
        for fold in forward_folds(moments, n_folds)
        if all(_has_both(labels[part]) for part in fold)
    ]
    if not folds:
        raise NotEnoughClassesError(
            "there is no time before and after which both classes occur, so that a "
            "model of the past could be checked. Leave out times to divide rows."
        )
    return folds


def _has_both(labels: BoolArray) -> bool:
    return bool(labels.any() and not labels.all())


def _blocks(
    labels: BoolArray,
    folds: IntArray,
    unit: IntArray | None,
    n_blocks: int,
    random_state: int,
) -> list[IntArray]:
    """Folds are the blocks; if they are fewer than three, they are divided."""
    n_folds = int(folds.max()) + 1
    if n_folds >= 3:
        return [np.flatnonzero(folds == k) for k in range(n_folds)]
    n_positive = int(np.count_nonzero(labels))
    n_blocks = max(2, min(n_blocks, n_positive, labels.size - n_positive))
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
