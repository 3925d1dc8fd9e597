"""Data frames: their text and categories become codes, and results carry their names.

Neither pandas nor polars is imported unless such a frame is there.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray

__all__ = ["Categories", "encode_categories", "find_categories", "framed_like"]

#: the categories of each categorical column, by its place; a code is a place in there
Categories = dict[int, list[Any]]

# a split by categories is stored as bits from 0 to the largest code
MOST_CATEGORIES = 1_000_000
_PANDAS_TYPES = ("CategoricalDtype", "StringDtype")
_POLARS_TYPES = ("Categorical", "Enum", "String")
_EXPECTED = "expected"


def find_categories(X: Any) -> Categories:
    """Return the categories in columns of a data frame that are categorical or text.

    These are the types `category`, `str` and `string` of pandas, its `object` columns
    that hold any text, and `Categorical`, `Enum` and `String` of polars. The most
    frequent category comes first, so that few bits tell the ones that matter. What is
    no data frame has no such columns.
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


def encode_categories(X: Any, categories: Categories) -> Any:
    """Replace categories by their codes, and those that are not known by NaN."""
    if not categories:
        return X
    if not _is_frame(X):
        raise TypeError(
            "the model was trained on a data frame with columns of categories or text; "
            f"got {type(X).__name__}, without column types."
        )
    changed = X.copy(deep=False) if hasattr(X, "iloc") else X.clone()
    for place, known in categories.items():
        if place >= len(X.columns):
            break  # the check of the columns will say so
        codes = {category: float(code) for code, category in enumerate(known)}
        column = np.array(
            [
                codes.get(v, np.nan) if _is_value(v) else np.nan
                for v in _values(X, place)
            ]
        )
        _replace(changed, place, column)
    return changed


def framed_like(X: Any, parts: FloatArray) -> Any:
    """Return one number per column of X and one more, in a frame if X is one.

    Columns have the names of those of X; the last is called "expected", with further
    underscores if X has a column of that name.
    """
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
    same = value == value  # not so for NaN and NaT, and neither true nor false for NA
    is_same = isinstance(same, bool) and same
    return value is not None and is_same and isinstance(value, Hashable)


def _by_frequency(values: Iterable[Any]) -> list[Any]:
    counts = Counter(values)
    order = sorted(counts, key=lambda value: (-counts[value], *_by_type(value)))
    return order[:MOST_CATEGORIES]


def _by_type(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def _replace(X: Any, place: int, column: FloatArray) -> None:
    if hasattr(X, "iloc"):
        X.isetitem(place, column)
        return
    import polars

    X.replace_column(place, polars.Series(X.columns[place], column))
