"""The door of AutoRanker: raw tables with names, arrays, and sparse matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from aucmax._core.features import check_features, check_two_labels, explain_non_finite
from aucmax._core.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_qid,
    reject_negligible_weights,
    reject_unreadable,
)
from aucmax.tables import Grading, Target, as_table, read_moments

__all__ = ["GivenRows", "read_rows", "read_table"]


@dataclass(frozen=True)
class GivenRows:
    """What a fit received, checked; without rows of no weight.

    Attributes
    ----------
    table : polars.DataFrame or csr_array
        Raw rows.
    classes : ndarray of shape (2,)
        Negative and positive label.
    labels : ndarray of bool of shape (n_rows,)
        Which rows are positive.
    weight : ndarray of shape (n_rows,), or None
        Row weights.
    queries, groups : ndarray of int64 of shape (n_rows,), or None
        Their numbers.
    times : ndarray of shape (n_rows,), or None
        When each row was.
    """

    table: Any
    classes: NDArray[Any]
    labels: BoolArray
    weight: FloatArray | None = None
    queries: IntArray | None = None
    groups: IntArray | None = None
    times: FloatArray | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.labels.size

    @property
    def target(self) -> Target:
        """All but the table, as other models have it."""
        vectors = (self.queries, self.weight, self.groups, self.times)
        return Target(self.labels.astype(np.int64), Grading((0, 1), (0, 1)), *vectors)


def read_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    qid: Any = None,
    groups: Any = None,
    times: Any = None,
) -> GivenRows:
    """Check what a fit receives."""
    table = read_table(estimator, X, fitting=True)
    n_rows = table.shape[0]
    classes, labels, weight = check_two_labels(estimator, y, sample_weight, n_rows)
    times = None if times is None else read_moments(times)
    if times is not None and times.size != n_rows:
        raise ValueError(f"times has {times.size} rows, but X has {n_rows}.")
    parts: dict[str, Any] = {
        "labels": labels,
        "weight": weight,
        "queries": None if qid is None else check_qid(qid, n_rows).codes,
        "groups": None if groups is None else check_qid(groups, n_rows, "groups").codes,
        "times": times,
    }
    if weight is not None:
        reject_negligible_weights(weight)
        if not weight.all():
            kept = np.flatnonzero(weight)
            table = table[kept]
            parts = {k: None if v is None else v[kept] for k, v in parts.items()}
    return GivenRows(table, classes, **parts)


def read_table(estimator: Any, X: Any, *, fitting: bool) -> Any:
    """Return a polars frame, or CSR rows; remember or compare the columns.

    Frames keep texts, dates and gaps. Arrays hold numbers, and NaN for gaps.
    """
    reject_unreadable(X, "X")
    if hasattr(X, "columns") and hasattr(X, "shape"):
        if 0 in X.shape:
            raise ValueError(
                f"X has {X.shape[0]} rows and {X.shape[1]} columns; there must be at "
                "least one of each."
            )
        validate_data(estimator, X, reset=fitting, skip_check_array=True)
        return as_table(X)
    matrix = check_features(estimator, X, fitting=fitting, finite=False)
    if not sparse.issparse(matrix) and not _is_finite(matrix):
        raise ValueError(explain_non_finite(matrix, None, gaps=True))
    return as_table(matrix)


def _is_finite(matrix: Any) -> bool:
    """Whether there is no infinity; NaN is a gap."""
    with np.errstate(all="ignore"):
        ends = np.fmax.reduce(matrix, axis=None), np.fmin.reduce(matrix, axis=None)
    return not any(np.isinf(end) for end in ends)
