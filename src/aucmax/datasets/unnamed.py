"""Columns without a name: the index that some programs write along with a table."""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["drop_index", "name_columns"]

# what fastexcel and pandas make of an empty name
_MADE_UP = re.compile(r"__UNNAMED__\d+|Unnamed: \d+")


def name_columns(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Name those without a name by their place; return all names, and those made.

    Examples
    --------
    >>> from aucmax.datasets.unnamed import name_columns
    >>> name_columns(["", "age"])
    (['column_1', 'age'], ['column_1'])
    """
    named, made, taken = list(names), [], set(names)
    for place, name in enumerate(names):
        if not name or _MADE_UP.fullmatch(name):
            new = f"column_{place + 1}"
            while new in taken:
                new += "_"
            named[place] = new
            taken.add(new)
            made.append(new)
    return named, made


def drop_index(
    frame: "pl.DataFrame", unnamed: Collection[str]
) -> tuple["pl.DataFrame", list[str]]:
    """Leave out a first column of different integers and empty columns, if unnamed.

    Returns the frame, and what is to be said about it.
    """
    made = set(unnamed)
    present = [name for name in frame.columns if name in made]
    index = [name for name in present[:1] if _is_index(frame, name)]
    empty = [name for name in present if frame[name].null_count() == frame.height]
    if len({*index, *empty}) == frame.width:
        return frame, []
    remarks = []
    if index:
        remarks.append("the first column has no name and numbers the rows: left out")
    kept = [name for name in present if name not in index and name not in empty]
    if kept:
        shown = ", ".join(kept[:12]) + ", ..." * (len(kept) > 12)
        remarks.append(f"columns without a name are called {shown}")
    return frame.drop({*index, *empty}), remarks


def _is_index(frame: "pl.DataFrame", name: str) -> bool:
    cells = frame[name]
    is_whole = cells.dtype.is_integer() and not cells.null_count()
    return frame.columns[0] == name and is_whole and cells.n_unique() == cells.len()
