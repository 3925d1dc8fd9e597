"""One door for tables: polars or pandas frames and arrays become a polars frame."""

import difflib
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

__all__ = ["as_frame", "list_names", "near_names", "pick_columns"]


def as_frame(table: Any) -> pl.DataFrame:
    """Return `table` as a polars frame.

    Parameters
    ----------
    table : polars.DataFrame, pandas.DataFrame or array-like of shape (rows, columns)
        Arrays get the column names ``x0``, ``x1``, ...

    Returns
    -------
    frame : polars.DataFrame
        Column order and row order are kept.
    """
    if isinstance(table, pl.DataFrame):
        return table
    if isinstance(table, pl.LazyFrame):
        raise TypeError("got a polars LazyFrame; call collect() on it first.")
    if hasattr(table, "iloc") and hasattr(table, "columns"):
        return pl.DataFrame(
            [_from_pandas(str(n), table.iloc[:, i]) for i, n in enumerate(table)]
        )
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(
            f"a table needs rows and columns, got an array of shape {array.shape}."
        )
    if np.iscomplexobj(array):
        raise ValueError("complex numbers cannot be ranked; give real columns.")
    names = [f"x{i}" for i in range(array.shape[1])]
    if array.dtype == object:
        columns = [
            pl.Series(n, list(array[:, i]), strict=False) for i, n in enumerate(names)
        ]
        return pl.DataFrame(columns)
    return pl.DataFrame(array, schema=names, orient="row")


def _from_pandas(name: str, column: Any) -> pl.Series:
    if column.dtype.kind in "biufM" and isinstance(column.dtype, np.dtype):
        return pl.Series(name, column.to_numpy())
    # everything else (texts, nullable types, categories, mixed objects) cell by cell
    gaps = column.isna().to_numpy()
    cells = column.to_numpy(dtype=object)
    values = [
        None if gap else cell for cell, gap in zip(cells.tolist(), gaps, strict=True)
    ]
    return pl.Series(name, values, strict=False)


def pick_columns(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the columns `names` in this order; others are ignored, none may lack."""
    present = set(frame.columns)
    missing = [name for name in names if name not in present]
    if missing:
        shown = ", ".join(repr(name) for name in missing[:5])
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ValueError(
            f"missing column{'s' if len(missing) > 1 else ''} {shown}{more}; the model "
            f"was trained with {'them' if len(missing) > 1 else 'it'}."
            f"{near_names(missing[0], frame.columns)}"
        )
    return frame.select(names)


def near_names(name: str, names: Sequence[str]) -> str:
    """Write a hint about what may have been meant by `name`."""
    folded = {other.lower().strip(): other for other in names}
    close = difflib.get_close_matches(name.lower().strip(), folded, n=3, cutoff=0.6)
    if close:
        return " Did you mean " + " or ".join(repr(folded[c]) for c in close) + "?"
    return list_names(names)


def list_names(names: Sequence[str]) -> str:
    """Write a sentence with the names there are, or the first of them."""
    shown = ", ".join(repr(name) for name in names[:12])
    return f" The columns are {shown}{', ...' if len(names) > 12 else ''}."
