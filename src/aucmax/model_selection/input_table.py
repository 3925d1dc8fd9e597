"""Check the input of AutoRanker: tables with names, arrays, and sparse matrices."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from aucmax._core.censored_times import is_survival_target
from aucmax._core.features import (
    check_features,
    check_row_count,
    explain_non_finite,
    levels_with_weight,
    required_labels,
)
from aucmax._core.validation import (
    check_class_weights,
    check_sample_weight,
    reject_unreadable,
)
from aucmax.exceptions import TooManyValuesError
from aucmax.tables import Target, encode_target
from aucmax.tables.cross_fit import check_rows
from aucmax.tables.frames import as_table, warn_of_other_columns
from aucmax.tables.target import Grading
from aucmax.tables.target_encoding import reject_negligible_weights


def read_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: ArrayLike | None = None,
    *,
    qid: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    times: ArrayLike | None = None,
    may_be_levels: bool = False,
) -> tuple[Any, Target, NDArray[Any]]:
    """Check the arguments of a fit, and drop rows of weight 0.

    Return the table, the target, and the negative and positive label or the levels,
    which are allowed with queries, or on request.
    """
    table = read_table(estimator, X, fitting=True)
    row_values: Any = {"qid": qid, "groups": groups, "times": times}
    if isinstance(y, Target):
        target = encode_target(y, sample_weight=sample_weight, **row_values)
        check_rows(table, target)
        is_graded = target.is_graded
        classes = np.unique(target.labels) if is_graded else target.grading.classes
        return table, target, np.array(classes)
    n_rows = table.shape[0]
    try:
        target = encode_target(
            y if is_survival_target(y) else required_labels(estimator, y),
            estimator.pos_label,
            **row_values,
            allow_levels=qid is not None or may_be_levels,
        )
    except TooManyValuesError as error:
        raise ValueError(
            f"{error} Levels of relevance need qid, or a metric of levels such as "
            "'mauc', and no pos_label."
        ) from None
    check_row_count(target.labels, n_rows)
    weight = check_sample_weight(sample_weight, n_rows)
    classes = np.array(target.grading.classes)
    if target.is_graded:
        classes = levels_with_weight(target.labels, weight)
        levels = tuple(classes.tolist())
        target = replace(target, grading=Grading(levels, levels))
    elif not target.is_survival:
        check_class_weights(classes, target.labels > 0, weight)
    if weight is not None:
        reject_negligible_weights(weight)
        target = replace(target, weights=weight)
        if not weight.all():
            kept = np.flatnonzero(weight)
            table, target = table[kept], target.take(kept)
    return table, target, classes


def read_table(estimator: object, X: object, *, fitting: bool) -> Any:
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
