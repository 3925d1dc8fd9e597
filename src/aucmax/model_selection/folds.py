"""Parts for a cross-validation: by rows, queries, groups, or time.

Every test fold has rows of both classes, no query and no group is divided, and with
times a fold is later than the rows that its models learn from.
"""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from aucmax.tables import Target
from aucmax.tables.cross_fit import deal_units, forward_folds, unit_of_rows

__all__ = ["choose_folds", "split_folds"]

Rows = NDArray[np.intp]
Folds = list[tuple[Rows, Rows]]

_USUAL_FOLDS = 5


def choose_folds(
    target: Target, n_folds: int | None = None, random_state: int = 0
) -> int:
    """Return a number of folds that the target allows.

    Parameters
    ----------
    target : Target
        What is ranked.
    n_folds : int, optional
        The number wanted; by default 5, or as many as a small class, few queries or
        groups, or the times allow.
    random_state : int, default=0
        As in :func:`split_folds`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        A fold would have fewer than two rows of a class, or no query with both.
    """
    return len(split_folds(target, n_folds, random_state))


def split_folds(target: Target, n_folds: int | None, random_state: int) -> Folds:
    """Return the training and the test rows of each fold, in ascending order.

    Rows are dealt out level by level. With queries, whole queries are: those with two
    levels first, so that their numbers in two folds differ by one at most. With groups,
    whole groups are, level by level as far as that goes. With times, the rows are cut
    into one more part than there are folds, and each part but the first is tested by
    models of all parts before it; rows of one time stay together.

    Parameters
    ----------
    target : Target
        What is ranked, and the groups or times of its rows.
    n_folds : int, optional
        Number of folds; by default 5, or fewer where the target allows no more.
    random_state : int
        Decides which rows, queries or groups come into which fold.

    Returns
    -------
    list of (ndarray of intp, ndarray of intp)
        Row numbers of training and test.
    """
    unit_of_rows(target.queries, target.groups, target.times)
    if (times := target.times) is not None:
        return _first_sound(target, n_folds, 1, lambda n: forward_folds(times, n))
    if target.groups is not None:
        return _first_sound(
            target, n_folds, 2, lambda n: _by_group(target, n, random_state)
        )
    n_folds = _check_number(target, n_folds)
    if target.queries is not None:
        unit_of_row, usable = target.queries, _usable(target, target.queries)
        return _dealt(unit_of_row, usable, n_folds, random_state)
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        # a level with fewer rows than folds is in some of them only
        warnings.simplefilter("ignore", UserWarning)
        return list(splitter.split(target.labels, target.labels))


def _check_number(target: Target, n_folds: int | None) -> int:
    """Return a number of folds that the classes, or the queries, allow."""
    most = target.n_usable_queries
    if most is None:
        most = min(target.n_positive, target.n_negative) // 2
    n_folds = max(2, min(_USUAL_FOLDS, most)) if n_folds is None else n_folds
    if n_folds < 2:
        raise ValueError(f"at least 2 folds are needed, got {n_folds}.")
    if n_folds <= most:
        return n_folds
    advice = (
        f"use {most} folds or fewer"
        if most >= 2
        else "more of them are needed to compare models"
    )
    if target.queries is not None:
        raise ValueError(
            f"{target.n_usable_queries} of the {target.n_queries} queries have rows of "
            f"two classes, but {n_folds} folds need {n_folds}, one in each; {advice}."
        )
    smaller = min(target.n_positive, target.n_negative)
    which = "positive" if smaller == target.n_positive else "negative"
    raise ValueError(
        f"{smaller} row{'s are' if smaller > 1 else ' is'} {which}, but {n_folds} "
        f"folds need {2 * n_folds}, two in each; {advice}."
    )


def _first_sound(
    target: Target, n_folds: int | None, fewest: int, split: Callable[[int], Folds]
) -> Folds:
    """Return the folds of the number wanted, or of the largest that does."""
    if n_folds is not None and n_folds < fewest:
        raise ValueError(
            f"at least {fewest} fold{'s are' if fewest > 1 else ' is'} needed, got "
            f"{n_folds}."
        )
    by = "times" if target.times is not None else "groups"
    most = n_folds or _USUAL_FOLDS
    tried = range(most, (fewest if n_folds is None else most) - 1, -1)
    for number in tried:
        folds = split(number)
        if len(folds) == number and all(_is_sound(target, *fold) for fold in folds):
            return folds
    advice = "Use other" if n_folds in (None, fewest) else "Use fewer folds, or other"
    so_many = f"{tried[-1]} fold{'s' if tried[-1] > 1 else ''}"
    raise ValueError(
        f"these {by} cannot be divided into {so_many}: each needs two rows of either "
        "class, or a query with both, to test on, and rows of both classes to learn "
        f"from. {advice} {by}, or none."
    )


def _is_sound(target: Target, train: Rows, test: Rows) -> bool:
    known, tested = target.take(train), target.take(test)
    if tested.queries is not None:
        return bool(known.n_usable_queries and tested.n_usable_queries)
    enough = min(tested.n_positive, tested.n_negative) >= 2
    return enough and min(known.n_positive, known.n_negative) >= 1


def _by_group(target: Target, n_folds: int, random_state: int) -> Folds:
    groups = target.groups
    assert groups is not None
    if np.unique(groups).size < n_folds:
        return []
    if target.queries is not None:
        return _dealt(groups, _usable(target, groups), n_folds, random_state)
    return deal_units(target.labels, groups, n_folds, random_state)


def _usable(target: Target, unit_of_row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Units, queries or groups of them, with a query that has two levels."""
    return np.unique([unit_of_row[rows[0]] for rows in target.blocks])


def _dealt(
    unit_of_row: NDArray[np.int64],
    usable: NDArray[np.int64],
    n_folds: int,
    random_state: int,
) -> Folds:
    """Deal out whole units, the usable ones first."""
    rng = np.random.default_rng(random_state)
    others = np.setdiff1d(unit_of_row, usable)
    dealt = np.concatenate([rng.permutation(usable), rng.permutation(others)])
    fold_of_unit = np.empty(int(unit_of_row.max()) + 1, dtype=np.intp)
    fold_of_unit[dealt] = np.arange(dealt.size) % n_folds
    fold_of_row = fold_of_unit[unit_of_row]
    return [
        (np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k))
        for k in range(n_folds)
    ]
