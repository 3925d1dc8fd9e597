"""Validation rows: those given to `fit`, or a held-out part of the training rows."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from aucmax._core.features import check_row_count
from aucmax._core.mapped import take_rows
from aucmax._core.validation import (
    FloatArray,
    IntArray,
    Queries,
    check_qid,
    check_sample_weight,
)
from aucmax.exceptions import NotEnoughClassesError

_KEYS = ("X", "y", "sample_weight", "qid")
_OR_GIVE_ROWS = "Give eval_set=(X_validation, y_validation) to fit instead."


class LabelledRows(NamedTuple):
    """Checked rows of a model."""

    X: Any
    labels: NDArray[Any]
    weight: FloatArray | None
    queries: Queries | None = None

    @property
    def codes(self) -> IntArray | None:
        """The number of each row's query."""
        return None if self.queries is None else self.queries.codes

    def part(self, rows: IntArray) -> "LabelledRows":
        """Return some of the rows."""
        values: Any = (None if one is None else one[rows] for one in self[1:])
        return LabelledRows(take_rows(self.X, rows), *values)


def check_eval_set(
    eval_set: Any,
    read_features: Callable[[Any], Any],
    read_labels: Callable[[Any, str], NDArray[Any]],
) -> LabelledRows:
    """Return the rows of ``(X, y)``, ``[(X, y)]``, or a dict of parameters of ``fit``.

    `read_labels` also receives the name of the labels, for messages.
    """
    X, y, sample_weight, qid = _unpack(eval_set)
    X = read_features(X)
    labels = read_labels(y, "y of eval_set")
    check_row_count(labels, X.shape[0], " of eval_set")
    weight = check_sample_weight(
        sample_weight, labels.size, "sample_weight of eval_set"
    )
    queries = None if qid is None else check_qid(qid, labels.size, "qid of eval_set")
    return LabelledRows(X, labels, weight, queries)


def _unpack(eval_set: Any) -> tuple[Any, ...]:
    """Return X, y, sample_weight and qid, the last two None if they are not given."""
    if isinstance(eval_set, list) and len(eval_set) == 1:
        eval_set = eval_set[0]
    if isinstance(eval_set, Mapping):
        unknown = sorted(set(map(str, eval_set)) - set(_KEYS))
        missing = [name for name in ("X", "y") if name not in eval_set]
        if unknown or missing:
            fault = f"an unknown key {unknown[0]!r}" if unknown else f"no {missing[0]}"
            raise ValueError(
                f"eval_set has {fault}; its keys are 'X', 'y', and optionally "
                "'sample_weight' and 'qid'."
            )
        return tuple(eval_set.get(name) for name in _KEYS)
    if isinstance(eval_set, tuple | list) and len(eval_set) == 2:
        return (*eval_set, None, None)
    length = f" of {len(eval_set)}" if isinstance(eval_set, tuple | list) else ""
    raise ValueError(
        "eval_set must be one pair (X, y), or a dict with the keys 'X', 'y', and "
        "optionally 'sample_weight' and 'qid'; got a "
        f"{type(eval_set).__name__}{length}."
    )


def hold_out(
    labels: ArrayLike,
    fraction: float,
    random_state: Any,
    groups: ArrayLike | None = None,
) -> tuple[IntArray, IntArray]:
    """Return the training and the held-out rows, by class or in whole groups."""
    labels = np.asarray(labels)
    random = check_random_state(random_state)
    is_held = np.zeros(labels.size, dtype=bool)
    if groups is None:
        for label in np.unique(labels):
            rows = np.flatnonzero(labels == label)
            if rows.size < 2:
                raise NotEnoughClassesError(
                    f"validation_fraction={fraction:g} needs at least two rows of each "
                    f"class, one to train and one to validate, but class "
                    f"{label.item()!r} has one row. {_OR_GIVE_ROWS}"
                )
            is_held[_draw(rows, fraction, random)] = True
    else:
        queries = np.unique(groups)
        if queries.size < 2:
            raise NotEnoughClassesError(
                f"validation_fraction={fraction:g} holds out whole queries, but all "
                f"rows belong to one query. {_OR_GIVE_ROWS}"
            )
        is_held = np.isin(groups, _draw(queries, fraction, random))
        for part, is_in in (("training", ~is_held), ("validation", is_held)):
            if np.unique(labels[is_in]).size < 2:
                raise NotEnoughClassesError(
                    f"validation_fraction={fraction:g} leaves the {part} queries with "
                    f"rows of one class only. {_OR_GIVE_ROWS}"
                )
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def _draw(
    values: NDArray[Any], fraction: float, random: np.random.RandomState
) -> NDArray[Any]:
    """Draw a share of some values: at least one, but not all."""
    n_drawn = min(max(1, round(fraction * values.size)), values.size - 1)
    drawn: NDArray[Any] = random.permutation(values)[:n_drawn]
    return drawn
