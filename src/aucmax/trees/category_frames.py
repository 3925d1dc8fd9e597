"""Categorical columns of data frames as codes, and back at prediction."""

from typing import Any

import numpy as np

from aucmax._validation import FloatArray

__all__ = ["Categories", "encode_categories", "find_categories"]

#: the categories of each categorical column, by its place; a code is a place in there
Categories = dict[int, list[Any]]


def find_categories(X: Any) -> Categories:
    """Return the categories that occur in the categorical columns of a data frame.

    Pandas' `category`, and `Categorical` and `Enum` of polars count as such.
    """
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        raise TypeError(
            "categorical_features='from_dtype' needs a data frame of pandas or polars, "
            f"whose columns have types of their own; got {type(X).__name__}. Name the "
            "columns by their numbers instead."
        )
    found: Categories = {}
    for place, dtype in enumerate(X.dtypes):
        if _is_categorical(dtype):
            values = set(_values(X, place))
            found[place] = sorted(filter(_is_value, values), key=_by_type)
    return found


def encode_categories(X: Any, categories: Categories) -> Any:
    """Replace categories by their codes, and those that are not known by NaN."""
    if not hasattr(X, "columns"):
        raise TypeError(
            "the model was trained on a data frame with categorical columns; got "
            f"{type(X).__name__}, without column types."
        )
    changed = X.copy(deep=False) if hasattr(X, "iloc") else X.clone()
    for place, known in categories.items():
        if place >= len(X.columns):
            break  # the check of the columns will say so
        codes = {category: float(code) for code, category in enumerate(known)}
        column = np.array([codes.get(v, np.nan) for v in _values(X, place)])
        _replace(changed, place, column)
    return changed


def _is_categorical(dtype: Any) -> bool:
    # pandas and polars are not imported: whoever has such a frame has done so
    return type(dtype).__name__ in ("CategoricalDtype", "Categorical", "Enum")


def _values(X: Any, place: int) -> list[Any]:
    if hasattr(X, "iloc"):
        values: list[Any] = X.iloc[:, place].astype(object).tolist()
    else:
        values = X.to_series(place).to_list()
    return values


def _is_value(value: Any) -> bool:
    same = value == value  # not so for NaN and NaT, and neither true nor false for NA
    return value is not None and isinstance(same, bool) and same


def _by_type(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def _replace(X: Any, place: int, column: FloatArray) -> None:
    if hasattr(X, "iloc"):
        X.isetitem(place, column)
        return
    import polars

    X.replace_column(place, polars.Series(X.columns[place], column))
