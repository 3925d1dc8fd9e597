"""What boosted rankers check before the first round."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import column_or_1d

from aucmax._eval_set import unpack_eval_set
from aucmax._features import check_features, explain_non_finite
from aucmax._validation import BoolArray, FloatArray, labels_among
from aucmax.boosting.rounds import Validation
from aucmax.exceptions import NotEnoughClassesError
from aucmax.hypotheses import ColumnReader

__all__ = [
    "check_eval_set",
    "reject_non_finite",
    "without_weightless_rows",
]


def reject_non_finite(X: Any, names: Any) -> None:
    """Refuse NaN and infinity, and say where they are; nothing is copied."""
    matrix: Any = X
    values = matrix.data if sparse.issparse(X) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        total = values.sum(dtype=np.float64)
    # a sum of finite values may overflow
    if not np.isfinite(total) and not np.isfinite(values).all():
        raise ValueError(explain_non_finite(X, names))


def without_weightless_rows(
    X: Any, labels: BoolArray, weight: FloatArray | None
) -> tuple[Any, BoolArray, FloatArray]:
    """Drop rows of weight 0, which must not widen a range nor make a threshold."""
    if weight is None:
        return X, labels, np.ones(labels.size)
    kept = weight > 0.0
    if kept.all():
        return X, labels, weight
    return X[np.flatnonzero(kept)], labels[kept], weight[kept]


def check_eval_set(
    estimator: Any, eval_set: tuple[Any, ArrayLike], classes: NDArray[Any]
) -> Validation:
    """Check rows for validation: features as in `fit`, labels of both classes."""
    X, y, *_ = unpack_eval_set(eval_set)
    X = check_features(estimator, X, fitting=False)
    labels = labels_among(classes, column_or_1d(y), "y of eval_set")
    if labels.size != X.shape[0]:
        raise ValueError(
            f"X of eval_set has {X.shape[0]} rows but y has {labels.size}; each row "
            "needs one label."
        )
    if labels.all() or not labels.any():
        raise NotEnoughClassesError(
            f"y of eval_set holds one class only: all {labels.size} labels are "
            f"{classes[int(labels[0])]!r}. Its AUC needs rows of both."
        )
    return Validation(ColumnReader(X), labels)
