"""Parts for a cross-validation: every class in each fold, every query in one."""

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from aucmax.tables import Target

__all__ = ["choose_folds", "split_folds"]

Rows = NDArray[np.intp]

_USUAL_FOLDS = 5


def choose_folds(target: Target, n_folds: int | None = None) -> int:
    """Return a number of folds that the target allows.

    Parameters
    ----------
    target : Target
        What is ranked.
    n_folds : int, optional
        The number wanted; by default 5, or as many as a small class or few queries
        allow.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        A fold would have fewer than two rows of a class, or no query with both.
    """
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
        Decides which rows, or queries, come into which fold.

    Yields
    ------
    train, test : ndarray of intp
        Row numbers.
    """
    choose_folds(target, n_folds)
    if target.queries is None:
        splitter = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
        with warnings.catch_warnings():
            # a level with fewer rows than folds is in some of them only
            warnings.simplefilter("ignore", UserWarning)
            folds = list(splitter.split(target.labels, target.labels))
        yield from folds
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
