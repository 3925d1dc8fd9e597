"""Folds, and validation rows: given to `fit`, or held out of the training rows."""

import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core.validation import IntArray
from aucmax.exceptions import NotEnoughClassesError

RowNumbers: TypeAlias = NDArray[np.intp]
#: Training and test rows of each fold.
Folds: TypeAlias = list[tuple[RowNumbers, RowNumbers]]

# More units are balanced by chance, and counting them takes seconds.
_MAX_BALANCED_UNITS = 1_000
_OR_GIVE_ROWS = "Give eval_set=(X_validation, y_validation) to fit instead."


class EvalSet(NamedTuple):
    """Validation rows, not checked yet."""

    X: Any
    y: Any
    sample_weight: Any = None
    qid: Any = None


def unpack_eval_set(eval_set: Any) -> EvalSet:
    """Read ``(X, y)``, ``[(X, y)]``, or a dict of parameters of ``fit``."""
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if isinstance(eval_set, Mapping):
        unknown = sorted(set(map(str, eval_set)) - set(EvalSet._fields))
        missing = [name for name in ("X", "y") if name not in eval_set]
        if unknown or missing:
            fault = f"an unknown key {unknown[0]!r}" if unknown else f"no {missing[0]}"
            raise ValueError(
                f"eval_set has {fault}; its keys are 'X', 'y', and optionally "
                "'sample_weight' and 'qid'."
            )
        return EvalSet(**eval_set)
    if isinstance(eval_set, tuple | list) and len(eval_set) == 2:
        return EvalSet(*eval_set)
    length = f" of {len(eval_set)}" if isinstance(eval_set, tuple | list) else ""
    raise ValueError(
        "eval_set must be one pair (X, y), or a dict with the keys 'X', 'y', and "
        "optionally 'sample_weight' and 'qid'; got a "
        f"{type(eval_set).__name__}{length}."
    )


def hold_out(
    n_rows: int,
    labels: ArrayLike,
    fraction: float,
    random_state: Any,
    groups: ArrayLike | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the training and the held-out rows, by class or in whole groups."""
    from sklearn.utils import check_random_state

    labels = np.asarray(labels)
    random = check_random_state(random_state)
    is_held = np.zeros(n_rows, dtype=bool)
    if groups is None:
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            if rows.size < 2:
                raise NotEnoughClassesError(
                    f"validation_fraction={fraction:g} needs at least two rows of each "
                    f"class, one to train and one to validate, but class "
                    f"{label.item()!r} has one row. {_OR_GIVE_ROWS}"
                )
            is_held[_share_of(rows, fraction, random)] = True
    else:
        queries = np.unique(groups)
        if queries.size < 2:
            raise NotEnoughClassesError(
                f"validation_fraction={fraction:g} holds out whole queries, but all "
                f"rows belong to one query. {_OR_GIVE_ROWS}"
            )
        is_held = np.isin(groups, _share_of(queries, fraction, random))
        for part, own in (("training", ~is_held), ("validation", is_held)):
            if np.unique(labels[own]).size < 2:
                raise NotEnoughClassesError(
                    f"validation_fraction={fraction:g} leaves the {part} queries with "
                    f"rows of one class only. {_OR_GIVE_ROWS}"
                )
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def _share_of(values: NDArray[Any], fraction: float, random: Any) -> NDArray[Any]:
    """Draw a share of some values: at least one, but not all."""
    n_drawn = min(max(1, round(fraction * values.size)), values.size - 1)
    drawn: NDArray[Any] = random.permutation(values)[:n_drawn]
    return drawn


def class_folds(
    labels: NDArray[Any], n_folds: int, random_state: Any, n_repeats: int = 1
) -> Folds:
    """Return stratified folds, with other random numbers in each repeat."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    splitter = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=n_repeats, random_state=random_state
    )
    return _split(splitter, labels)


def _split(splitter: Any, labels: NDArray[Any], units: Any = None) -> Folds:
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
    return _split(splitter, labels, codes)


def folds_by_number(fold_of_row: IntArray, n_folds: int) -> Folds:
    """Return the folds whose numbers, one per row, are given."""
    return [
        (np.flatnonzero(fold_of_row != k), np.flatnonzero(fold_of_row == k))
        for k in range(n_folds)
    ]
