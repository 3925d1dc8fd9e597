"""Checks of training data: those of scikit-learn, with messages that give advice."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from aucmax._core import validation
from aucmax._core.censored_times import is_survival_target, join_target, split_target
from aucmax._core.dask_dispatch import dask_version, is_dask
from aucmax._core.row_matrix import (
    as_row_matrix,
    check_sparse_structure,
    column_ends,
)
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError

_TOO_LARGE = 2.0**53  # beyond it float64 skips whole numbers
_MAX_ENTRY = 1e100  # of a column, or its inverse: sums of squares are in range


def check_features(
    estimator: Any, X: Any, *, fitting: bool, finite: bool | None = None
) -> Any:
    """Return the features as a float matrix; of Dask's collections, a `RowMatrix`."""
    # by default a fit does not check for NaN: the first product with the data shows it
    if is_dask(X):
        if not getattr(estimator, "_fits_dask", False):
            raise IncompatibleError(
                f"{type(estimator).__name__}, with these parameters, does not support "
                "Dask collections. Use AUCSVC, LinearRankerCV or MarginRanker on "
                "features, or compute() X first."
            )
        return dask_version("check_features")(estimator, X)
    validation.reject_unreadable(X, "X")
    _reject_dates(X)
    check_sparse_structure(X)
    try:
        return validate_data(
            estimator,
            X,
            reset=fitting,
            accept_sparse=("csr", "csc"),
            accept_large_sparse=True,
            dtype=(np.float64, np.float32),
            ensure_all_finite=not fitting if finite is None else finite,
        )
    except (TypeError, ValueError) as error:
        place = _first_text_cell(X)
        if place is None and "X" in str(error):
            raise
        if place is None:
            raise _unusable("X", error) from error
        raise ValueError(
            f"X holds text: {place}. Encode it as numbers first, for example with "
            "scikit-learn's OneHotEncoder."
        ) from error


def check_training_data(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, Any, NDArray[Any], FloatArray | None]:
    """Return the checked X, classes, labels and weights of a `fit`."""
    X = check_features(estimator, X, fitting=True)
    return X, *check_two_labels(estimator, y, sample_weight, X.shape[0])


def check_two_labels(
    estimator: Any, y: ArrayLike, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[Any, NDArray[Any], FloatArray | None]:
    """Check labels and weights as :func:`check_training_data` does.

    Censored times have no classes; only estimators that learn them accept them.
    """
    if is_survival_target(y):
        return None, *_check_times(estimator, y, sample_weight, n_rows)
    y, pos_label = required_labels(estimator, y), getattr(estimator, "pos_label", None)
    classes, labels = validation.check_binary_labels(y, "y", pos_label)
    check_row_count(labels, n_rows)
    weight = validation.check_sample_weight(sample_weight, n_rows)
    validation.check_class_weights(classes, labels, weight)
    return classes, labels, weight


def _check_times(
    estimator: Any, y: Any, sample_weight: ArrayLike | None, n_rows: int
) -> tuple[NDArray[np.void], FloatArray | None]:
    if not getattr(estimator, "_learns_times", False):
        raise IncompatibleError(
            f"y has events and times, which {type(estimator).__name__}, with these "
            "parameters, does not learn. Use AUCSVC, LinearRankerCV or "
            "LambdaMART('concordance')."
        )
    if is_dask(y):
        raise TypeError("y is a Dask collection of events and times; compute() it.")
    target = join_target(*split_target(y))
    check_row_count(target, n_rows)
    return target, validation.check_sample_weight(sample_weight, n_rows)


def check_row_count(labels: NDArray[Any], n_rows: int, where: str = "") -> None:
    """Reject more or fewer labels than there are rows."""
    if labels.size != n_rows:
        raise ValueError(
            f"X{where} has {n_rows} rows but y has {labels.size}; each row needs one "
            "label."
        )


def check_relevance_levels(estimator: Any, y: ArrayLike, name: str = "y") -> IntArray:
    """Return levels of relevance as whole numbers from 0."""
    values = validation.check_scores(required_labels(estimator, y), name=name)
    faults = {
        "negative": values < 0.0,
        "not a whole number": values != np.floor(values),
        "too large": values >= _TOO_LARGE,
    }
    for fault, rows in faults.items():
        if rows.any():
            row = int(np.argmax(rows))
            raise ValueError(
                f"{name} must hold levels of relevance, whole numbers from 0, but row "
                f"{row} is {values[row]:g}, which is {fault}. Number the levels 0, 1, "
                "2, ..."
            )
    return values.astype(np.int64)


def levels_with_weight(levels: IntArray, weight: FloatArray | None) -> IntArray:
    """Return the levels of the rows with any weight, ascending; at least two."""
    present = np.unique(levels if weight is None else levels[weight > 0.0])
    if present.size < 2:
        weighted = "" if weight is None else " with any weight"
        raise NotEnoughClassesError(
            f"y holds one class only: all rows{weighted} are of level {present[0]}. At "
            "least two levels are needed to rank one above the other."
        )
    return present


def check_column_sizes(X: Any, names: Any = None, name: str = "X") -> None:
    """Reject NaN, infinity, and columns that float64 cannot multiply."""
    low, high = column_ends(X)
    largest = np.maximum(np.maximum(-low, high), 0.0)
    if not np.isfinite(largest).all():
        raise ValueError(explain_non_finite(X, names))
    is_extreme = (largest > _MAX_ENTRY) | ((largest > 0) & (largest < 1 / _MAX_ENTRY))
    if is_extreme.any():
        column = int(np.argmax(is_extreme))
        label = "" if names is None else f" ({names[column]!r})"
        raise ValueError(
            f"{name} has {largest[column]:.2g} as the largest absolute value of column "
            f"{column}{label}, whose squares leave the range of float64. Scale the "
            "columns first, for example with scikit-learn's MaxAbsScaler."
        )


def explain_non_finite(X: Any, names: Any, *, gaps: bool = False) -> str:
    """Return an error message for data that are not finite; `gaps` allows NaN."""
    rows = as_row_matrix(X)
    chosen = np.ones(rows.shape[0], dtype=bool)
    faults = rows.reduce_rows(_first_fault, chosen, gaps=gaps)
    block = next(k for k, fault in enumerate(faults) if fault is not None)
    start, first_row = rows.locate(block)
    row, column, value = faults[block]
    kind = "NaN" if np.isnan(value) else "infinity"
    name = f" ({names[column]!r})" if names is not None else ""
    advice = (
        "Drop such rows or fill the missing values first, for example with "
        "scikit-learn's SimpleImputer."
    )
    if gaps:
        advice = "Replace it by a number, or by NaN if the value is missing."
    where = f"row {row + first_row}, column {column}{name}"
    return f"{start}Input X contains {kind} in {where}. {advice}"


def _first_fault(
    block: Any, row_values: BoolArray, gaps: bool
) -> tuple[int, int, float] | None:
    """Return row, column and value of the first fault."""
    is_sparse: bool = sparse.issparse(block)
    entries = block.tocoo() if is_sparse else block
    values = entries.data if is_sparse else block
    is_bad = np.isinf(values) if gaps else ~np.isfinite(values)
    if is_sparse:
        bad = np.flatnonzero(is_bad & row_values[entries.row])[:1]
        rows, columns = entries.row[bad], entries.col[bad]
    else:
        rows, columns = np.nonzero(is_bad & row_values[:, None])
    if not rows.size:
        return None
    row, column = int(rows[0]), int(columns[0])
    return row, column, float(block[row, column])


def required_labels(estimator: Any, y: ArrayLike | None) -> NDArray[Any]:
    """Return labels as a vector; reject None, and an array that is not one column."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    validation.reject_unreadable(y, "y")
    if is_dask(y):
        y = dask_version("collect")("y", y)
    try:
        return np.asarray(column_or_1d(y, warn=True))
    except (TypeError, ValueError) as error:
        raise _unusable("y", error) from error


def _unusable(name: str, error: Exception) -> Exception:
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{name} cannot be used. {error}")


def _reject_dates(X: Any) -> None:
    """Reject dates and durations, which numpy would count in an unknown unit."""
    if not hasattr(X, "columns"):
        columns = {"X": getattr(X, "dtype", None)}
    else:
        columns = {
            f"column {name!r} of X": dtype
            for name, dtype in zip(X.columns, X.dtypes, strict=True)
        }
    for name, dtype in columns.items():
        is_temporal = getattr(dtype, "is_temporal", lambda: False)
        if getattr(dtype, "kind", None) in ("m", "M") or is_temporal():
            raise TypeError(
                f"{name} holds dates or times ({dtype}). Turn them into numbers first, "
                "for example days since some date."
            )


def _first_text_cell(X: Any) -> str | None:
    """Return a description of the first cell that is text and not a number."""
    if not hasattr(X, "__array__") or sparse.issparse(X):
        return None
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "OUST":
        return None
    names = getattr(X, "columns", range(table.shape[1]))
    for column, name in enumerate(names):
        for row, cell in enumerate(table[:, column]):
            if isinstance(cell, str | bytes):
                try:
                    float(cell)
                except ValueError:
                    return f"column {name!r} is {cell!r} in row {row}"
    return None
