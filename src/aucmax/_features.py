"""The door for training data: what scikit-learn checks, with better directions."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from aucmax._validation import (
    BoolArray,
    FloatArray,
    check_binary_labels,
    check_class_weights,
    check_sample_weight,
    reject_lazy_frame,
)

__all__ = ["check_features", "check_training_data", "explain_non_finite"]


def check_features(estimator: Any, X: Any, *, fitting: bool) -> Any:
    """Return the features as a float32 or float64 matrix, copied only if need be.

    When fitting, finiteness is left to the first product with the data, which shows a
    NaN for free; see :func:`explain_non_finite`.
    """
    reject_lazy_frame(X, "X")
    try:
        return validate_data(
            estimator,
            X,
            reset=fitting,
            accept_sparse=("csr", "csc"),
            accept_large_sparse=True,
            dtype=(np.float64, np.float32),
            ensure_all_finite=not fitting,
        )
    except ValueError as error:
        place = _first_text_cell(X)
        if place is None:
            raise
        raise ValueError(
            f"X holds text: {place}. Encode it as numbers first, for example with "
            "scikit-learn's OneHotEncoder."
        ) from error


def check_training_data(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, NDArray[Any], BoolArray, FloatArray | None]:
    """Check what a two-class `fit` receives.

    Returns
    -------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        As from :func:`check_features`: finiteness is left to the first product.
    classes : ndarray of shape (2,)
        The labels; the second is the positive class.
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    weight : ndarray of shape (n_rows,) or None
        Row weights; both classes have some.
    """
    X = check_features(estimator, X, fitting=True)
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    y = column_or_1d(y, warn=True)
    classes, labels = check_binary_labels(y, name="y")
    if labels.size != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows but y has {labels.size}; each row needs one "
            "label."
        )
    weight = check_sample_weight(sample_weight, X.shape[0])
    check_class_weights(classes, labels, weight)
    return X, classes, labels, weight


def explain_non_finite(X: Any, names: Any) -> str:
    """Say where the data are not finite, or that their products overflow."""
    is_sparse = sparse.issparse(X)
    if is_sparse:
        entries = X.tocoo()
        bad = np.flatnonzero(~np.isfinite(entries.data))
        places = [(entries.row[k], entries.col[k]) for k in bad[:1]]
        largest = np.abs(entries.data).max(initial=0.0)
    else:
        bad_rows = np.flatnonzero(~np.isfinite(X).all(axis=1))
        places = [(row, np.argmin(np.isfinite(X[row]))) for row in bad_rows[:1]]
        largest = np.abs(X).max(initial=0.0)
    if not places:
        return (
            f"X holds values up to {largest:.2g}, whose products overflow. Scale the "
            "columns first, for example with scikit-learn's StandardScaler."
        )
    row, column = (int(k) for k in places[0])
    kind = "NaN" if np.isnan(X[row, column]) else "infinity"
    name = f" ({names[column]!r})" if names is not None else ""
    return (
        f"Input X contains {kind} in row {row}, column {column}{name}. Drop such rows "
        "or fill the gaps first, for example with scikit-learn's SimpleImputer."
    )


def _first_text_cell(X: Any) -> str | None:
    """Find a cell that is text and no number, to name it in a message."""
    if not hasattr(X, "__array__") or sparse.issparse(X):
        return None
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "OUST":
        return None
    names = getattr(X, "columns", range(table.shape[1]))
    for column, name in enumerate(names):
        for row, cell in enumerate(table[:, column]):
            if isinstance(cell, str | bytes) and not _is_number(cell):
                return f"column {name!r} is {cell!r} in row {row}"
    return None


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
