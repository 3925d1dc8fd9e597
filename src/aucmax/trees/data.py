"""From what the user hands over to what trees are grown on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from aucmax._features import (
    check_features,
    check_relevance_levels,
    check_training_data,
    levels_with_weight,
)
from aucmax._validation import (
    FloatArray,
    IntArray,
    check_qid,
    check_sample_weight,
)
from aucmax.trees.category_frames import (
    Categories,
    encode_categories,
    find_categories,
)
from aucmax.trees.columns import (
    check_codes,
    column_exponents,
    find_columns,
    reject_infinity,
    scale_columns,
    tidy,
)
from aucmax.trees.pair_objectives import PairObjective

__all__ = ["Target", "TreeColumns", "TreeRows", "check_rows"]

_TOO_MANY = "Only binary classification is supported"


@dataclass(frozen=True)
class TreeColumns:
    """What a model remembers of the training columns, besides their names.

    Attributes
    ----------
    categorical : list of int
        Columns that hold category codes.
    categories : dict of int to list, or None
        The category of each code, for columns that are encoded here.
    exponents : ndarray of int64 of shape (n_features,), or None
        Columns are divided by these powers of two.
    """

    categorical: list[int]
    categories: Categories | None = None
    exponents: IntArray | None = None

    @classmethod
    def of(cls, fitted: Mapping[str, Any]) -> "TreeColumns":
        """Return what the attributes of a fitted model say."""
        return cls(
            fitted["categorical_features_"],
            fitted.get("categories_"),
            fitted.get("column_exponents_"),
        )

    def fitted_attributes(self) -> dict[str, Any]:
        """Return what `of` needs."""
        fitted: dict[str, Any] = {"categorical_features_": self.categorical}
        if self.categories is not None:
            fitted["categories_"] = self.categories
        if self.exponents is not None:
            fitted["column_exponents_"] = self.exponents
        return fitted

    def read(self, estimator: Any, X: Any) -> Any:
        """Check new rows, and bring them into the form of the training rows."""
        if self.categories:
            X = encode_categories(X, self.categories)
        names = getattr(estimator, "feature_names_in_", None)
        X = tidy(check_features(estimator, X, fitting=False, finite=False))
        reject_infinity(X, names)
        check_codes(X, self.categorical, names)
        return scale_columns(X, self.exponents)


@dataclass(frozen=True)
class Target:
    """The labels that a model knows.

    Attributes
    ----------
    values : ndarray
        The negative and the positive class, or the levels; ascending.
    is_levels : bool
        Whether they are levels.
    """

    values: NDArray[Any]
    is_levels: bool

    def encode(self, y: ArrayLike, where: str) -> NDArray[Any]:
        """Return labels as risks and metrics take them, or name an unknown one."""
        given = column_or_1d(y)
        known = np.isin(given, self.values) if self.is_levels else None
        if known is None:
            # one by one, since labels of other types may not be ordered
            known = np.asarray(given == self.values[0], dtype=bool)
            known = known | np.asarray(given == self.values[1], dtype=bool)
        if not known.all():
            row = int(np.argmin(known))
            found = given[row : row + 1].tolist()[0]
            kind = "levels" if self.is_levels else "labels"
            raise ValueError(
                f"y of {where} is {found!r} in row {row}, but the training {kind} "
                f"are {', '.join(map(repr, self.values.tolist()))}."
            )
        if self.is_levels:
            return np.asarray(given, dtype=np.int64)
        return np.asarray(given == self.values[1], dtype=bool)


@dataclass(frozen=True)
class TreeRows:
    """Training rows, all of which have some weight.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        The features as LightGBM shall see them.
    labels : ndarray of bool or int64 of shape (n_rows,)
        Positive or not, or the level.
    weight : ndarray of shape (n_rows,) or None
        Row weights.
    queries : ndarray of int64 of shape (n_rows,) or None
        The number of the query.
    target : Target
        The labels that there are.
    columns : TreeColumns
        What to remember about the columns.
    """

    X: Any
    labels: NDArray[Any]
    weight: FloatArray | None
    queries: IntArray | None
    target: Target
    columns: TreeColumns


def check_rows(
    estimator: Any,
    objective: PairObjective,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    qid: ArrayLike | None,
) -> TreeRows:
    """Check what `fit` receives; the estimator's `categorical_features` are applied."""
    wanted = estimator.categorical_features
    categories = None
    if isinstance(wanted, str):
        if wanted != "from_dtype":
            raise ValueError(
                "categorical_features must be None, a list of columns, or "
                f"'from_dtype', got {wanted!r}."
            )
        categories = find_categories(X)
        X = encode_categories(X, categories)
    X, target, labels, weight = _CHECKS[objective.labels](
        estimator, X, y, sample_weight
    )
    queries = None if qid is None else check_qid(qid, labels.size).codes
    X = tidy(X)
    names = getattr(estimator, "feature_names_in_", None)
    largest = reject_infinity(X, names)
    if categories is None:
        categorical = find_columns(
            () if wanted is None else wanted, "categorical_features", names, X.shape[1]
        )
    else:
        categorical = list(categories)
    check_codes(X, categorical, names)
    exponents = column_exponents(largest, categorical)
    columns = TreeColumns(categorical, categories, exponents)
    X = scale_columns(X, exponents)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        X, labels, weight = X[kept], labels[kept], weight[kept]
        queries = None if queries is None else queries[kept]
    return TreeRows(X, labels, weight, queries, target, columns)


def _check_two(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, Target, NDArray[Any], FloatArray | None]:
    try:
        X, classes, labels, weight = check_training_data(estimator, X, y, sample_weight)
    except ValueError as error:
        if not str(error).startswith(_TOO_MANY):
            raise
        raise ValueError(
            f"{error} Or rank levels of relevance with objective='mauc' or 'ordinal'."
        ) from None
    return X, Target(classes, False), labels, weight


def _check_levels(
    estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Any, Target, NDArray[Any], FloatArray | None]:
    X = check_features(estimator, X, fitting=True)
    levels = check_relevance_levels(estimator, y)
    if levels.size != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} rows but y has {levels.size}; each row needs one "
            "level."
        )
    weight = check_sample_weight(sample_weight, levels.size)
    return X, Target(levels_with_weight(levels, weight), True), levels, weight


_CHECKS = {"two": _check_two, "levels": _check_levels}
