"""Columns of trees: categories, signs, extreme magnitudes, and data frames.

Neither pandas nor polars is imported unless X is such a frame.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from aucmax._core.features import check_features, explain_non_finite
from aucmax._core.mapped import is_mapped
from aucmax._core.validation import FloatArray, IntArray
from aucmax.trees.booster import MappedRows

#: the categories of each categorical column, by its number; a code is an index in it
Categories = dict[int, list[Any]]

# a split by categories is stored as bits from 0 to the largest code
_MAX_CATEGORIES = 1_000_000
_PANDAS_TYPES = ("CategoricalDtype", "StringDtype")
_POLARS_TYPES = ("Categorical", "Enum", "String")
_EXPECTED = "expected"
# LightGBM takes what is below 1e-35 for 0, and what is above 1e300 for 1e300.
_MIN_SEEN, _MAX_SEEN = 2.0**-100, 2.0**900


@dataclass(frozen=True)
class TreeColumns:
    """Properties of the training columns that a model stores, besides their names."""

    categorical: list[int]  # columns that hold category codes
    categories: Categories  # of each code, for columns that are encoded here
    exponents: IntArray | None  # columns are divided by these powers of two
    names: list[str] | None = None  # as LightGBM takes them

    @classmethod
    def learn(cls, estimator: Any, X: Any) -> tuple[Self, Any]:
        """Check training rows; return their columns, and the rows for LightGBM."""
        wanted, categories = estimator.categorical_features, Categories()
        if isinstance(wanted, str):
            if wanted != "from_dtype":
                raise ValueError(
                    "categorical_features must be None, a list of columns, or "
                    f"'from_dtype', got {wanted!r}."
                )
            categories = _find_categories(X)
            X, wanted = _encode_categories(X, categories), list(categories)
        X = _tidy(check_features(estimator, X, fitting=True))
        names = _names(estimator)
        largest = _reject_infinity(X, names)
        wanted = () if wanted is None else wanted
        if not isinstance(wanted, Iterable):
            raise TypeError(
                f"categorical_features must be a list of columns, got {wanted!r}."
            )
        wanted = list(wanted)
        categorical = _find_columns(wanted, "categorical_features", names, X.shape[1])
        _check_codes(X, categorical, names)
        exponents = _exponents(largest, categorical)
        rows = MappedRows(X, exponents) if is_mapped(X) else _scale(X, exponents)
        return cls(categorical, categories, exponents, _tidy_names(names)), rows

    @classmethod
    def of(cls, fitted: Mapping[str, Any]) -> Self:
        """Return the columns of a fitted model, by its attributes."""
        return cls(
            fitted["categorical_features_"],
            fitted.get("categories_", {}),
            fitted.get("column_exponents_"),
        )

    def fitted_attributes(self) -> dict[str, Any]:
        """Return the attributes that `of` reads."""
        fitted: dict[str, Any] = {"categorical_features_": self.categorical}
        if self.categories:
            fitted["categories_"] = self.categories
        if self.exponents is not None:
            fitted["column_exponents_"] = self.exponents
        return fitted

    def read(self, estimator: Any, X: Any) -> Any:
        """Check new rows, and transform them as the training rows."""
        X = _encode_categories(X, self.categories)
        X = _tidy(check_features(estimator, X, fitting=False, finite=False))
        names = _names(estimator)
        _reject_infinity(X, names)
        _check_codes(X, self.categorical, names)
        return _scale(X, self.exponents)


def monotone_signs(estimator: Any) -> list[int]:
    """Return the sign of each column: scores rise (1), fall (-1), or do either (0)."""
    given, width = estimator.monotone_constraints, estimator.n_features_in_
    if isinstance(given, Mapping):
        names = _names(estimator)
        places = _find_columns(list(given), "monotone_constraints", names, width)
        signs = [0] * width
        for place, sign in zip(places, given.values(), strict=True):
            signs[place] = sign
    elif isinstance(given, Iterable):
        signs = list(given)
    else:
        raise TypeError(
            f"monotone_constraints must be a list or a dict of signs, got {given!r}."
        )
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


def _names(estimator: Any) -> Any:
    return getattr(estimator, "feature_names_in_", None)


def _tidy_names(names: Any) -> list[str] | None:
    """Return different names without the signs that LightGBM rejects."""
    found: dict[str, None] = {}
    for name in () if names is None else names:
        tidy = re.sub(r'[\s",:\[\]{}=\x00-\x1f\x7f]', "_", name) or "_"
        while tidy in found:
            tidy += "_"
        found[tidy] = None
    return list(found) or None


def _find_columns(
    columns: Sequence[Any], what: str, names: Any, width: int
) -> list[int]:
    """Return the places of columns given by number or name; `what` names the list."""
    places = {} if names is None else {name: k for k, name in enumerate(names)}
    found = []
    for column in columns:
        is_number = isinstance(column, int | np.integer) and not isinstance(
            column, bool
        )
        if is_number and 0 <= column < width:
            found.append(int(column))
        elif isinstance(column, str) and column in places:
            found.append(places[column])
        else:
            known = "since X has no names" if names is None else "or by name"
            raise ValueError(
                f"{what} has {column!r}, which is not a column; name columns by "
                f"number, 0 to {width - 1}, {known}."
            )
    if len(set(found)) < len(found):
        raise ValueError(f"{what} names a column twice: {list(columns)!r}.")
    return found


def _tidy(X: Any) -> Any:
    """Return the data in an order that LightGBM reads without a copy."""
    if sparse.issparse(X):
        matrix: Any = X
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return X
    return np.ascontiguousarray(X)


def _reject_infinity(X: Any, names: Any) -> FloatArray:
    """Reject infinity; return the largest absolute value of each column but NaN."""
    matrix: Any = X
    if sparse.issparse(X):
        largest = np.zeros(matrix.shape[1])
        sizes = np.abs(matrix.data).astype(np.float64, copy=False)
        np.fmax.at(largest, _columns_of_entries(X), sizes)
    else:
        largest = np.fmax(np.fmax.reduce(X, axis=0), -np.fmin.reduce(X, axis=0))
        largest = np.nan_to_num(largest.astype(np.float64), nan=0.0, posinf=np.inf)
    if np.isinf(largest).any():
        raise ValueError(explain_non_finite(X, names, gaps=True))
    return largest


def _check_codes(X: Any, columns: Sequence[int], names: Any) -> None:
    """Reject category codes that are not whole numbers from 0, or NaN."""
    for column in columns:
        part: Any = X[:, [column]]
        is_sparse = sparse.issparse(part)
        values = part.toarray()[:, 0] if is_sparse else part[:, 0]
        codes = np.nan_to_num(values, nan=0.0)
        bad = (codes < 0) | (codes != np.floor(codes)) | (codes >= _MAX_CATEGORIES)
        if bad.any():
            row = int(np.argmax(bad))
            name = "" if names is None else f" ({names[column]!r})"
            raise ValueError(
                f"column {column}{name} is categorical, but row {row} is "
                f"{values[row]:g}; codes must be whole numbers from 0, below "
                f"{_MAX_CATEGORIES}, or NaN."
            )


def _exponents(largest: FloatArray, categorical: Sequence[int]) -> IntArray | None:
    """Return powers of two to divide columns by, where LightGBM needs it, or None."""
    odd = (largest > 0.0) & ((largest < _MIN_SEEN) | (largest > _MAX_SEEN))
    odd[list(categorical)] = False
    if not odd.any():
        return None
    return np.where(odd, np.frexp(largest)[1], 0).astype(np.int64)


def _scale(X: Any, exponents: IntArray | None) -> Any:
    """Divide columns by powers of two, which rounds nothing; a copy unless None."""
    if exponents is None:
        return X
    matrix: Any = X
    with np.errstate(over="ignore"):
        if sparse.issparse(X):
            scaled = matrix.copy()
            scaled.data = np.ldexp(scaled.data, -exponents[_columns_of_entries(X)])
            return scaled
        return np.ldexp(X, -exponents[None, :])


def _columns_of_entries(X: Any) -> Any:
    if X.format == "csr":
        return X.indices
    return np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))


def _find_categories(X: Any) -> Categories:
    """Return the categories of each categorical or text column of a data frame.

    The most frequent comes first, so that a split by it is stored in few bits.
    """
    found: Categories = {}
    for place, dtype in enumerate(X.dtypes if _is_frame(X) else ()):
        is_known = type(dtype).__name__ in _PANDAS_TYPES + _POLARS_TYPES
        if not is_known and getattr(dtype, "kind", "") not in ("O", "U"):
            continue
        values = [value for value in _values(X, place) if _is_value(value)]
        if is_known or any(isinstance(value, str) for value in values):
            found[place] = _by_frequency(values)
    return found


def _encode_categories(X: Any, categories: Categories) -> Any:
    """Replace categories by their codes, and unknown ones by NaN."""
    if not categories:
        return X
    if not _is_frame(X):
        raise TypeError(
            "X must be a data frame, since the training data had columns of categories "
            f"or text; got {type(X).__name__}."
        )
    changed = X.copy(deep=False) if hasattr(X, "iloc") else X.clone()
    for place, known in categories.items():
        if place >= len(X.columns):
            break  # the check of the columns raises an error
        codes = {category: float(code) for code, category in enumerate(known)}
        values = (v if _is_value(v) else None for v in _values(X, place))
        column = np.array([codes.get(v, np.nan) for v in values])
        if hasattr(X, "iloc"):
            changed.isetitem(place, column)
        else:
            import polars

            changed.replace_column(place, polars.Series(X.columns[place], column))
    return changed


def framed_like(X: Any, parts: FloatArray) -> Any:
    """Return one number per column of X, and "expected", in a frame if X is one."""
    if not _is_frame(X):
        return parts
    names = list(X.columns)
    last = _EXPECTED
    while last in names:
        last += "_"
    names.append(last)
    if hasattr(X, "iloc"):
        return type(X)(parts, index=X.index, columns=names)
    return type(X)(parts, schema=names)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _values(X: Any, place: int) -> list[Any]:
    if hasattr(X, "iloc"):
        values: list[Any] = X.iloc[:, place].astype(object).tolist()
    else:
        values = X.to_series(place).to_list()
    return values


def _is_value(value: Any) -> bool:
    same = value == value  # False for NaN and NaT, and not a boolean for NA
    is_same = isinstance(same, bool) and same
    return value is not None and is_same and isinstance(value, Hashable)


def _by_frequency(values: Iterable[Any]) -> list[Any]:
    counts = Counter(values)
    order = sorted(counts, key=lambda v: (-counts[v], type(v).__name__, v))
    return order[:_MAX_CATEGORIES]
