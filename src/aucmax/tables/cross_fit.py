"""Scores of rows by models that were fitted to other rows."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from aucmax._core.folds import RowNumbers, divide_rows, unit_of_rows
from aucmax.exceptions import NotEnoughClassesError
from aucmax.tables.target import Target

__all__ = ["out_of_fold_scores"]

_MAX_FOLDS = 5
# Beyond so many rows fewer folds tell enough, and a fit takes its time.
_MANY_ROWS = 20_000


def out_of_fold_scores(
    fit_and_score: Callable[[RowNumbers, RowNumbers], NDArray[np.float64]],
    target: Target,
) -> tuple[RowNumbers, NDArray[np.float64]]:
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
