"""What trees must know about the columns: categories, signs, and odd magnitudes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from aucmax._features import explain_non_finite
from aucmax._validation import FloatArray

__all__ = [
    "check_codes",
    "column_exponents",
    "find_columns",
    "monotone_signs",
    "reject_infinity",
    "scale_columns",
    "tidy",
]

# Category sets are stored as bits from 0 to the largest code.
_MOST_CODES = 1_000_000
# LightGBM takes what is below 1e-35 for 0, and what is above 1e300 for 1e300.
_SMALLEST, _LARGEST = 2.0**-100, 2.0**900


def find_columns(
    columns: Sequence[Any], what: str, names: Any, width: int
) -> list[int]:
    """Return the places of columns that are given by number or name.

    Parameters
    ----------
    columns : sequence of int and str
        Numbers from 0, or names.
    what : str
        What messages call the argument.
    names : ndarray of str, or None
        The names of all columns, if they have any.
    width : int
        How many columns there are.
    """
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
            known = "which have no names" if names is None else "or by name"
            raise ValueError(
                f"{what} has no column {column!r}; columns are given by number, 0 to "
                f"{width - 1}, {known}."
            )
    if len(set(found)) < len(found):
        raise ValueError(f"{what} names a column twice: {list(columns)!r}.")
    return found


def monotone_signs(given: Any, names: Any, width: int) -> list[int]:
    """Return the sign of each column: scores rise (1), fall (-1), or do either (0)."""
    if isinstance(given, Mapping):
        places = find_columns(list(given), "monotone_constraints", names, width)
        signs = [0] * width
        for place, sign in zip(places, given.values(), strict=True):
            signs[place] = sign
    else:
        signs = list(given)
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


def tidy(X: Any) -> Any:
    """Return the data in an order that LightGBM reads without a copy of its own."""
    if sparse.issparse(X):
        matrix: Any = X
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return matrix
    if X.flags.c_contiguous or X.flags.f_contiguous:
        return X
    return np.ascontiguousarray(X)


def reject_infinity(X: Any, names: Any) -> FloatArray:
    """Refuse infinity, with its place; return the largest size in each column.

    NaN is passed over. Costs one pass and no copy.
    """
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


def check_codes(X: Any, columns: Sequence[int], names: Any) -> None:
    """Refuse category codes that are not whole numbers from 0, or NaN."""
    for column in columns:
        part: Any = X[:, [column]]
        is_sparse = sparse.issparse(part)
        values = part.toarray()[:, 0] if is_sparse else part[:, 0]
        codes = np.nan_to_num(values, nan=0.0)
        bad = (codes < 0) | (codes != np.floor(codes)) | (codes >= _MOST_CODES)
        if bad.any():
            row = int(np.argmax(bad))
            name = "" if names is None else f" ({names[column]!r})"
            raise ValueError(
                f"column {column}{name} is categorical, but row {row} is "
                f"{values[row]:g}; codes must be whole numbers from 0 to "
                f"{_MOST_CODES - 1}, or NaN. Number the categories 0, 1, 2 and so on."
            )


def column_exponents(
    largest: FloatArray, categorical: Sequence[int]
) -> NDArray[np.int64] | None:
    """Return powers of two to divide columns by, where LightGBM needs it, or None."""
    odd = (largest > 0.0) & ((largest < _SMALLEST) | (largest > _LARGEST))
    odd[list(categorical)] = False
    if not odd.any():
        return None
    return np.where(odd, np.frexp(largest)[1], 0).astype(np.int64)


def scale_columns(X: Any, exponents: NDArray[np.int64] | None) -> Any:
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
