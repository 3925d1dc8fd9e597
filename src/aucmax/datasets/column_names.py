"""Names of columns: suggestions for unknown names, and names for unnamed columns."""

import difflib
import re
from collections.abc import Collection, Sequence

import polars as pl

_MAX_LISTED = 12
# what fastexcel and pandas make of an empty name
_MADE_UP = re.compile(r"__UNNAMED__\d+|Unnamed: \d+")
_VARIABLE = re.compile(r"'.*?'|\d+")


def without_values(line: str) -> str:
    """Remove quoted names and numbers, in which notes of one kind differ."""
    return _VARIABLE.sub("", line)


def list_names(names: Collection[str], most: int = 5) -> str:
    """Write names in quotes: the first few, and the number of the others."""
    shown = ", ".join(map(repr, list(names)[:most]))
    return shown + f" and {len(names) - most} more" * (len(names) > most)


def near_names(name: str, names: Sequence[str], *, or_list: bool = True) -> str:
    """Return " Did you mean ...?" for an unknown name, or list the nearest columns."""
    folded = {other.casefold().strip(): other for other in names}
    near = difflib.get_close_matches(name.casefold().strip(), folded)
    if near:
        meant = " or ".join(repr(folded[match]) for match in near)
        return f" Did you mean {meant}?"
    if not or_list:
        return ""
    if len(names) <= _MAX_LISTED:
        return f" The columns are {', '.join(map(repr, names))}."
    # an empty name is compared as if it were the last one, which is often the target
    name = name.casefold().strip() or [*folded][-1]
    near = difflib.get_close_matches(name, folded, _MAX_LISTED, 0.0)
    shown = ", ".join(repr(folded[match]) for match in near)
    return f" The nearest of {len(names)} columns are {shown}."


def name_columns(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Name unnamed columns by their place; return all names, and the new ones."""
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
    frame: pl.DataFrame, unnamed: Collection[str]
) -> tuple[pl.DataFrame, list[str]]:
    """Drop an unnamed index and unnamed empty columns; return the frame and notes."""
    made = set(unnamed)
    present = [name for name in frame.columns if name in made]
    index = [name for name in present[:1] if _is_index(frame, name)]
    empty = [name for name in present if frame[name].null_count() == frame.height]
    if len({*index, *empty}) == frame.width:
        return frame, []
    remarks = []
    if index:
        remarks.append("left out the unnamed first column, which numbers the rows")
    kept = [name for name in present if name not in index and name not in empty]
    if kept:
        shown = ", ".join(kept[:12]) + ", ..." * (len(kept) > 12)
        remarks.append(f"columns without a name are called {shown}")
    return frame.drop({*index, *empty}), remarks


def _is_index(frame: pl.DataFrame, name: str) -> bool:
    cells = frame[name]
    is_whole = cells.dtype.is_integer() and not cells.null_count()
    return frame.columns[0] == name and is_whole and cells.n_unique() == cells.len()
