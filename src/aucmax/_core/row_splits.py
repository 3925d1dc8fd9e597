"""Stratified folds of rows, and folds of whole units such as queries."""

import warnings
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax._core.validation import IntArray

RowNumbers: TypeAlias = NDArray[np.intp]
#: Training and test rows of each fold.
Folds: TypeAlias = list[tuple[RowNumbers, RowNumbers]]

# More units are balanced by chance, and counting them takes seconds.
_MAX_BALANCED_UNITS = 1_000


def class_folds(
    labels: NDArray[Any], n_folds: int, random_state: Any, n_repeats: int = 1
) -> Folds:
    """Return stratified folds, with other random numbers in each repeat."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    splitter = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=n_repeats, random_state=random_state
    )
    return folds_of_splitter(splitter, labels)


def folds_of_splitter(splitter: Any, labels: NDArray[Any], units: Any = None) -> Folds:
    """Return the folds of a splitter of scikit-learn, without its warnings."""
    with warnings.catch_warnings():
        # a class with fewer rows than folds is in some of them only
        warnings.simplefilter("ignore", UserWarning)
        return list(splitter.split(labels, labels, units))


def unit_folds(
    labels: NDArray[Any],
    unit: NDArray[Any],
    n_folds: int,
    random_state: Any,
    *,
    is_balanced: bool | None = None,
) -> Folds:
    """Return folds of whole units: stratified up to 1,000 units, more at random."""
    known, codes = np.unique(unit, return_inverse=True)
    if is_balanced is None:
        is_balanced = known.size <= _MAX_BALANCED_UNITS
    if not is_balanced:
        draw = np.random.default_rng(random_state)
        return folds_by_number(draw.permutation(known.size)[codes] % n_folds, n_folds)
    from sklearn.model_selection import StratifiedGroupKFold

    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state)
    return folds_of_splitter(splitter, labels, codes)


def folds_by_number(fold_of_row: IntArray, n_folds: int) -> Folds:
    """Return the folds whose numbers, one per row, are given."""
    return [
        (np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k))
        for k in range(n_folds)
    ]
