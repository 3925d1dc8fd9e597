"""Validation rows: those given to `fit`, or a held-out part of the training rows."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from aucmax._core.validation import IntArray
from aucmax.exceptions import NotEnoughClassesError

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


def _share_of(
    values: NDArray[Any], fraction: float, random: np.random.RandomState
) -> NDArray[Any]:
    """Draw a share of some values: at least one, but not all."""
    n_drawn = min(max(1, round(fraction * values.size)), values.size - 1)
    drawn: NDArray[Any] = random.permutation(values)[:n_drawn]
    return drawn
