"""Check the input of AutoRanker: tables with names, arrays, and sparse matrices."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from aucmax._core.censored_times import is_survival_target
from aucmax._core.features import (
    check_features,
    check_relevance_levels,
    check_row_count,
    check_two_labels,
    explain_non_finite,
    levels_with_weight,
)
from aucmax._core.validation import (
    TooManyClassesError,
    check_qid,
    check_sample_weight,
    reject_unreadable,
)
from aucmax.tables import Target, encode_target
from aucmax.tables.cross_fit import check_rows
from aucmax.tables.frames import as_table, warn_of_other_columns
from aucmax.tables.target import Grading
from aucmax.tables.target_encoding import read_moments, reject_negligible_weights


def read_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    qid: Any = None,
    groups: Any = None,
    times: Any = None,
    may_be_levels: bool = False,
) -> tuple[Any, Target, NDArray[Any]]:
    """Check the arguments of a fit, and drop rows of weight 0.

    Return the table, the target, and the negative and positive label or the levels,
    which are allowed with queries, or on request.
    """
    table = read_table(estimator, X, fitting=True)
    if isinstance(y, Target):
        if any(one is not None for one in (sample_weight, qid, groups, times)):
            raise ValueError(
                "y is an encoded target, which has its queries, weights, groups and "
                "times; leave out sample_weight, qid, groups and times."
            )
        check_rows(table, y)
        classes = np.unique(y.labels) if y.is_graded else np.array(y.grading.classes)
        return table, y, classes
    n_rows = table.shape[0]
    labels: NDArray[Any]
    durations = None
    try:
        if is_survival_target(y):
            survival = encode_target(y, estimator.pos_label)
            labels, durations, grading = (
                survival.labels,
                survival.durations,
                survival.grading,
            )
            classes = np.array([0, 1])
            check_row_count(labels, n_rows)
            weight = check_sample_weight(sample_weight, n_rows)
        else:
            classes, labels, weight = check_two_labels(
                estimator, y, sample_weight, n_rows
            )
            negative, positive = classes.tolist()
            grading = Grading.two_classes([negative], positive)
    except TooManyClassesError as error:
        if estimator.pos_label is not None or (qid is None and not may_be_levels):
            raise ValueError(
                f"{error} Levels of relevance need qid, or a metric of levels such as "
                "'mauc', and no pos_label."
            ) from None
        labels = check_relevance_levels(estimator, y)
        check_row_count(labels, n_rows)
        weight = check_sample_weight(sample_weight, n_rows)
        classes = levels_with_weight(labels, weight)
        grading = Grading(tuple(classes.tolist()), tuple(classes.tolist()))
    times = None if times is None else read_moments(times)
    if times is not None and times.size != n_rows:
        raise ValueError(f"times has {times.size} rows, but X has {n_rows}.")
    target = Target(
        labels.astype(np.int64),
        grading,
        None if qid is None else check_qid(qid, n_rows).codes,
        weight,
        None if groups is None else check_qid(groups, n_rows, "groups").codes,
        times,
        durations,
    )
    if weight is not None:
        reject_negligible_weights(weight)
        if not weight.all():
            kept = np.flatnonzero(weight)
            table, target = table[kept], target.take(kept)
    return table, target, classes


def read_table(estimator: Any, X: Any, *, fitting: bool) -> Any:
    """Return a polars frame, or CSR rows; store or compare the columns."""
    reject_unreadable(X, "X")
    if hasattr(X, "columns") and hasattr(X, "shape"):
        if 0 in X.shape:
            raise ValueError(
                f"X must have at least one row and one column, got shape {X.shape}."
            )
        if fitting or not hasattr(estimator, "feature_names_in_"):
            validate_data(estimator, X, reset=fitting, skip_check_array=True)
        else:
            roles = getattr(estimator, "file_roles_", {}).values()
            warn_of_other_columns(X, estimator.feature_names_in_.tolist(), [*roles])
        return as_table(X)
    matrix = check_features(estimator, X, fitting=fitting, finite=False)
    if not sparse.issparse(matrix) and not _is_finite(matrix):
        raise ValueError(explain_non_finite(matrix, None, gaps=True))
    return as_table(matrix)


def _is_finite(matrix: Any) -> bool:
    """Return whether there is no infinity; NaN is a missing value."""
    with np.errstate(all="ignore"):
        ends = np.fmax.reduce(matrix, axis=None), np.fmin.reduce(matrix, axis=None)
    return not any(np.isinf(end) for end in ends)
