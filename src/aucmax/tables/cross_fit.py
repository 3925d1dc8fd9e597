"""Scores of rows by models that were fitted to other rows."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables.target import Target

__all__ = ["out_of_fold_scores"]

Rows: TypeAlias = NDArray[np.intp]

_MOST_FOLDS = 5
# Beyond so many rows fewer folds tell enough, and a fit takes its time.
_MANY_ROWS = 20_000


def out_of_fold_scores(
    fit_and_score: Callable[[Rows, Rows], NDArray[np.float64]], target: Target
) -> tuple[Rows, NDArray[np.float64]]:
    """Fit a model to all folds but one, score the rows of that one, and so on.

    Groups and queries are never divided.

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
        classes.
    scores : ndarray
        Their scores.
    """
    rows, scores = [], []
    for train, test in _folds(target):
        with warnings.catch_warnings():
            # the fit to all rows has said what there is to say
            warnings.simplefilter("ignore")
            scores.append(fit_and_score(train, test))
        rows.append(test)
    if not rows:
        raise NotEnoughClassesError(
            "probabilities are learned from rows that a model has not seen, but no "
            "division of the rows leaves both classes to learn from; use more rows or "
            "groups, or calibrate=None."
        )
    return np.concatenate(rows), np.concatenate(scores)


def _folds(target: Target) -> Iterator[tuple[Rows, Rows]]:
    """Divide rows, with a share of positives that is about the same everywhere."""
    labels = target.relevant
    groups = target.queries if target.groups is None else target.groups
    n_folds = _MOST_FOLDS if labels.size <= _MANY_ROWS else 3
    rarer = min(target.n_positive, target.n_negative)
    n_groups = rarer if groups is None else np.unique(groups).size
    n_folds = min(n_folds, rarer, n_groups)
    if n_folds < 2:
        return
    way: Any = StratifiedKFold if groups is None else StratifiedGroupKFold
    with warnings.catch_warnings():
        # that a class has fewer rows than folds in some group
        warnings.simplefilter("ignore")
        divided = list(
            way(n_folds, shuffle=True, random_state=0).split(labels, labels, groups)
        )
    for train, test in divided:
        if 0 < labels[train].sum() < train.size:
            yield train, test
