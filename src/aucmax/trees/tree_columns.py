"""Columns of trees: categories, signs, names, and data frames.

Neither pandas nor polars is imported unless X is such a frame.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.sparsefuncs import min_max_axis

from aucmax._core.features import check_features, explain_non_finite
from aucmax._core.parameters import check_choice
from aucmax._core.row_matrix import summed
from aucmax._core.validation import FloatArray

# types of pandas and polars
_CATEGORICAL = ("CategoricalDtype", "StringDtype", "Categorical", "Enum", "String")
# a split by categories is stored as bits from 0 to the largest code
_MAX_CATEGORIES = 1_000_000
# LightGBM takes what is below 1e-35 for 0, and what is above 1e300 for 1e300
_MIN_SIZE, _MAX_SIZE = 1e-30, 1e270


def learn_columns(estimator: Any, X: Any) -> tuple[dict[str, Any], Any]:
    """Check training rows; return the columns' fitted attributes, and the rows."""
    wanted, categories = estimator.categorical_features, dict[int, list[Any]]()
    if isinstance(wanted, str):
        check_choice("categorical_features, as a string,", wanted, ["from_dtype"])
        categories = _find_categories(X)
        X, wanted = _encode(X, categories), list(categories)
    X = check_features(estimator, X, fitting=True)
    wanted = () if wanted is None else wanted
    places = _find_columns(estimator, "categorical_features", wanted)
    columns: dict[str, Any] = {"categorical_features_": places}
    if categories:
        columns["categories_"] = categories
    return columns, _check_values(estimator, columns, X, fitting=True)


def read_rows(estimator: Any, columns: Mapping[str, Any], X: Any) -> Any:
    """Check new rows, and encode them by the fitted attributes of the columns."""
    X = _encode(X, columns.get("categories_", {}))
    X = check_features(estimator, X, fitting=False, finite=False)
    return _check_values(estimator, columns, X, fitting=False)


def monotone_signs(estimator: Any) -> list[int]:
    """Return the sign of each column: scores rise (1), fall (-1), or do either (0)."""
    signs, width = estimator.monotone_constraints, estimator.n_features_in_
    if isinstance(signs, Mapping):
        places = _find_columns(estimator, "monotone_constraints", signs)
        by_place = dict(zip(places, signs.values(), strict=True))
        signs = [by_place.get(place, 0) for place in range(width)]
    signs = _listed("monotone_constraints", signs)
    if len(signs) != width:
        raise ValueError(
            f"monotone_constraints has {len(signs)} signs for {width} columns."
        )
    for place, sign in enumerate(signs):
        if sign not in (-1, 0, 1):
            raise ValueError(
                f"monotone_constraints of column {place} is {sign!r}; it must be 1 "
                "(scores rise with it), -1 (they fall), or 0."
            )
    return [int(sign) for sign in signs]


def lightgbm_names(estimator: Any) -> list[str] | str:
    """Return different names of columns without the signs that LightGBM rejects."""
    names: dict[str, None] = {}
    for name in getattr(estimator, "feature_names_in_", ()):
        tidy = re.sub(r'[\s",:\[\]{}=\x00-\x1f\x7f]', "_", name) or "_"
        while tidy in names:
            tidy += "_"
        names[tidy] = None
    return list(names) or "auto"


def framed_like(X: Any, parts: FloatArray) -> Any:
    """Return one number per column of X, and "expected", in a frame if X is one."""
    if not _is_frame(X):
        return parts
    names = [*X.columns, "expected" + "_" * ("expected" in X.columns)]
    if hasattr(X, "iloc"):
        return type(X)(parts, index=X.index, columns=names)
    return type(X)(parts, schema=names)


def _find_columns(estimator: Any, parameter: str, columns: Any) -> list[int]:
    """Return the places of columns that a parameter gives by number or name."""
    width = estimator.n_features_in_
    names = list(getattr(estimator, "feature_names_in_", ()))
    places = {key: k for keys in (range(width), names) for k, key in enumerate(keys)}
    columns = _listed(parameter, columns)
    for column in columns:
        if isinstance(column, bool) or column not in places:
            raise ValueError(
                f"{parameter} has {column!r}, which is not a column; name columns by "
                f"number, 0 to {width - 1}, "
                f"{'or by name' if names else 'since X has no names'}."
            )
    return [places[column] for column in columns]


def _listed(parameter: str, values: Any) -> list[Any]:
    if not isinstance(values, Iterable):
        raise TypeError(f"{parameter} must be a list with columns, got {values!r}.")
    return list(values)


def _check_values(
    estimator: Any, columns: Mapping[str, Any], X: Any, *, fitting: bool
) -> Any:
    """Return rows that LightGBM reads; reject infinity, and bad sizes and codes."""
    names = getattr(estimator, "feature_names_in_", None)
    if sparse.issparse(X):
        X = summed(X)
        low, high = min_max_axis(X, axis=0, ignore_nan=True)
    else:
        low, high = np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)
    # the largest of each column, NaN without values
    sizes = np.maximum(high, -low).astype(np.float64)
    if np.isinf(sizes).any():
        raise ValueError(explain_non_finite(X, names, gaps=True))
    is_odd = (sizes > 0.0) & ((sizes < _MIN_SIZE) | (sizes > _MAX_SIZE))
    if fitting and is_odd.any():
        column = int(np.argmax(is_odd))
        raise ValueError(
            f"{_shown(column, names)} has values up to {sizes[column]:.2g}, which "
            "LightGBM does not distinguish. Scale the columns first, for example with "
            "scikit-learn's StandardScaler."
        )
    for column in columns["categorical_features_"]:
        part = X[:, [column]]
        values = (part.toarray() if sparse.issparse(X) else part)[:, 0]
        codes = np.nan_to_num(values, nan=0.0)
        is_bad = (codes < 0) | (codes != np.floor(codes)) | (codes >= _MAX_CATEGORIES)
        if is_bad.any():
            row = int(np.argmax(is_bad))
            raise ValueError(
                f"{_shown(column, names)} is categorical, but row {row} is "
                f"{values[row]:g}; codes must be whole numbers from 0, below "
                f"{_MAX_CATEGORIES}, or NaN."
            )
    return X


def _shown(column: int, names: Any) -> str:
    return f"column {column}" + ("" if names is None else f" ({names[column]!r})")


def _find_categories(X: Any) -> dict[int, list[Any]]:
    """Return the categories of each categorical or text column of a data frame.

    The most frequent comes first, so that a split by it is stored in few bits.
    """
    categories = {}
    for place, dtype in enumerate(X.dtypes if _is_frame(X) else ()):
        is_known = type(dtype).__name__ in _CATEGORICAL
        if not is_known and getattr(dtype, "kind", "") not in ("O", "U"):
            continue
        column = _column(X, place)
        present = column.dropna() if hasattr(X, "iloc") else column.drop_nulls()
        counts = Counter(present.to_list())
        if is_known or any(isinstance(category, str) for category in counts):
            kept = counts.most_common(_MAX_CATEGORIES)
            categories[place] = [category for category, _ in kept]
    return categories


def _encode(X: Any, categories: Mapping[int, list[Any]]) -> Any:
    """Replace categories by their codes, and unknown ones by NaN."""
    if not categories:
        return X
    if not _is_frame(X):
        raise TypeError(
            "X must be a data frame, since the training data had columns of categories "
            f"or text; got {type(X).__name__}."
        )
    encoded = X.copy(deep=False) if hasattr(X, "iloc") else X.clone()
    for place, known in categories.items():
        if place >= X.shape[1]:
            break  # the check of the columns raises an error
        codes = {category: float(code) for code, category in enumerate(known)}
        column = _column(X, place)
        values = np.array([codes.get(value, np.nan) for value in column.to_list()])
        if hasattr(X, "iloc"):
            encoded.isetitem(place, values)
        else:
            encoded.replace_column(place, type(column)(column.name, values))
    return encoded


def _column(X: Any, place: int) -> Any:
    return X.iloc[:, place] if hasattr(X, "iloc") else X.to_series(place)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")
