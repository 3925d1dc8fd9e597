"""Scores of rows by models that were fitted to other rows."""

import warnings
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables.target import Target

__all__ = [
    "deal_units",
    "divide_rows",
    "forward_folds",
    "out_of_fold_scores",
    "unit_of_rows",
]

Rows: TypeAlias = NDArray[np.intp]

_MAX_FOLDS = 5
# Beyond so many rows fewer folds tell enough, and a fit takes its time.
_MANY_ROWS = 20_000
# Beyond this number of groups chance balances the classes, and counting takes seconds.
_MANY_UNITS = 1_000


def out_of_fold_scores(
    fit_and_score: Callable[[Rows, Rows], NDArray[np.float64]], target: Target
) -> tuple[Rows, NDArray[np.float64]]:
    """Fit a model to all folds but one, score the rows of that one, and so on.

    Groups and queries are never divided, and with times each row is scored by a model
    of earlier rows.

    Parameters
    ----------
    fit_and_score : callable
        Called with the rows to learn from and the rows to score.
    target : Target
        The labels of all rows, and what else is known of them.

    Returns
    -------
    rows : ndarray of int
        The rows that were scored: all that were in a fold whose training rows had both
        classes; with times not the earliest.
    scores : ndarray
        Their scores.
    """
    rows, scores = [], []
    n_folds = _MAX_FOLDS if target.labels.size <= _MANY_ROWS else 3
    folds = divide_rows(
        target.relevant,
        n_folds,
        unit=unit_of_rows(target.queries, target.groups, target.times),
        times=target.times,
    )
    for train, test in folds:
        with warnings.catch_warnings():
            # the fit to all rows has said what there is to say
            warnings.simplefilter("ignore")
            scores.append(fit_and_score(train, test))
        rows.append(test)
    if not rows or np.ptp(target.relevant[np.concatenate(rows)]) == 0:
        raise NotEnoughClassesError(
            "probabilities are learned from rows that a model has not seen, but no "
            "division of the rows leaves both classes to learn from and to check with; "
            "use more rows, groups or times, or calibrate=None."
        )
    return np.concatenate(rows), np.concatenate(scores)


def divide_rows(
    labels: NDArray[Any],
    n_folds: int,
    *,
    unit: NDArray[np.int64] | None = None,
    times: NDArray[np.float64] | None = None,
    random_state: int = 0,
) -> list[tuple[Rows, Rows]]:
    """Return training and test rows of at most N folds, with both classes to learn.

    Rows of one unit, such as a group, are never divided. With times, the test rows are
    later than all rows that are learned from.
    """
    n_positive = int(np.count_nonzero(labels))
    rarer = min(n_positive, labels.size - n_positive)
    if times is not None:
        folds = forward_folds(times, n_folds)
    elif unit is not None:
        n_folds = min(n_folds, rarer, np.unique(unit).size)
        folds = deal_units(labels, unit, n_folds, random_state) if n_folds > 1 else []
    else:
        n_folds = min(n_folds, rarer)
        splitter = StratifiedKFold(
            max(n_folds, 2), shuffle=True, random_state=random_state
        )
        folds = list(splitter.split(labels, labels)) if n_folds > 1 else []
    return [fold for fold in folds if 0 < np.sum(labels[fold[0]] > 0) < fold[0].size]


def forward_folds(times: NDArray[np.float64], n_folds: int) -> list[tuple[Rows, Rows]]:
    """Cut rows by time into N + 1 parts, each tested by all parts before it.

    Rows of one time stay together, so that there may be fewer folds.
    """
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


def deal_units(
    labels: NDArray[Any], unit: NDArray[np.int64], n_folds: int, random_state: int
) -> list[tuple[Rows, Rows]]:
    """Deal whole units to folds; a few of them by class, many at random."""
    known, codes = np.unique(unit, return_inverse=True)
    if known.size <= _MANY_UNITS:
        splitter = StratifiedGroupKFold(
            n_folds, shuffle=True, random_state=random_state
        )
        with warnings.catch_warnings():
            # that a class has fewer rows than folds
            warnings.simplefilter("ignore", UserWarning)
            return list(splitter.split(labels, labels, codes))
    draw = np.random.default_rng(random_state)
    fold_of_row = draw.permutation(known.size)[codes] % n_folds
    return [
        (np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k))
        for k in range(n_folds)
    ]


def unit_of_rows(queries: Any, groups: Any, times: Any) -> Any:
    """Return what no fold divides: groups, else queries, else None.

    Raises ValueError for what cannot be respected together.
    """
    if times is not None and (groups is not None or queries is not None):
        raise ValueError(
            "times cannot be combined with groups or queries: folds go by one of them."
        )
    if groups is None or queries is None:
        return queries if groups is None else groups
    pairs = np.unique(np.column_stack([queries, groups]), axis=0)
    if len(pairs) > np.unique(queries).size:
        raise ValueError(
            "rows of one query belong to several groups, so one of the two would be "
            "divided between folds. Choose groups of whole queries, or leave them out."
        )
    return groups
