"""Parts for a cross-validation: every class in each fold, every query in one."""

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from aucmax.tables.target import Target

__all__ = ["check_folds", "split_folds", "usable_folds"]

Rows = NDArray[np.intp]


def usable_folds(target: Target, wanted: int) -> int:
    """Return `wanted`, or the most folds that a small class or few queries allow."""
    return max(2, min(wanted, _most_folds(target)))


def check_folds(target: Target, n_folds: int) -> None:
    """Refuse folds with fewer than two rows of a class, or without a usable query."""
    if n_folds < 2:
        raise ValueError(f"at least 2 folds are needed, got {n_folds}.")
    most = _most_folds(target)
    if n_folds <= most:
        return
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
        f"there are {smaller} {which} rows, but {n_folds} folds need "
        f"{2 * n_folds}, two in each; {advice}."
    )


def _most_folds(target: Target) -> int:
    if target.n_usable_queries is not None:
        return target.n_usable_queries
    return min(target.n_positive, target.n_negative) // 2


def split_folds(
    target: Target, n_folds: int, random_state: int
) -> Iterator[tuple[Rows, Rows]]:
    """Yield the training and the test rows of each fold, in ascending order.

    Rows are dealt out level by level. With queries, whole queries are: those with two
    levels first, so that their numbers in two folds differ by one at most.

    Parameters
    ----------
    target : Target
        What is ranked.
    n_folds : int
        Number of folds.
    random_state : int
        Decides who comes into which fold.

    Yields
    ------
    train, test : ndarray of intp
        Row numbers.
    """
    check_folds(target, n_folds)
    if target.queries is None:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        with warnings.catch_warnings():
            # a level with fewer rows than folds is in some of them only
            warnings.simplefilter("ignore", UserWarning)
            yield from splitter.split(target.labels, target.labels)
        return
    fold_of_row = _deal_queries(target, n_folds, random_state)[target.queries]
    for k in range(n_folds):
        yield np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k)


def _deal_queries(target: Target, n_folds: int, random_state: int) -> NDArray[np.intp]:
    """Fold of each query number."""
    assert target.queries is not None
    rng = np.random.default_rng(random_state)
    usable = np.unique([target.queries[rows[0]] for rows in target.blocks])
    others = np.setdiff1d(target.queries, usable)
    dealt = np.concatenate([rng.permutation(usable), rng.permutation(others)])
    folds = np.empty(int(target.queries.max()) + 1, dtype=np.intp)
    folds[dealt] = np.arange(dealt.size) % n_folds
    return folds
