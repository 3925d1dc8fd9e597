"""Which character separates columns, and which one decimals; found in the text."""

import csv
import io
from collections.abc import Collection, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from aucmax.datasets.cells import without_missing
from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["SAMPLE_SIZE", "Decimals", "find_separator"]

SAMPLE_SIZE = 1 << 16

_N_RECORDS = 50


def find_separator(sample: bytes, quote_char: str | None) -> str:
    """Return what separates the columns of a table, given the start of its text.

    A separator fits if all records have as many fields as the first one, and more than
    one. The comma comes first; where none fits, it is assumed.
    """
    text = sample.decode(errors="replace")
    if len(sample) >= SAMPLE_SIZE:
        text = text[: text.rfind("\n") + 1]  # the last record may be cut
    widths = {mark: _width(text, mark, quote_char) for mark in ",;\t|"}
    if widths[","]:
        return ","
    widest = max(widths, key=lambda mark: widths[mark])
    return widest if widths[widest] else ","


def _width(text: str, separator: str, quote_char: str | None) -> int:
    """Return the number of columns, 0 if records differ in it or there is one."""
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=separator,
        quotechar=quote_char,
        quoting=csv.QUOTE_MINIMAL if quote_char else csv.QUOTE_NONE,
    )
    try:
        records = (record for record in reader if any(map(str.strip, record)))
        widths = {len(record) for record in islice(records, _N_RECORDS)}
    except csv.Error:
        return 0
    return widths.pop() if len(widths) == 1 and widths != {1} else 0


def _number(mark: str, group: str) -> str:
    """Return the pattern of a number with this decimal mark; 0.100 has no group."""
    plain = rf"^[+-]?([0-9]+(\{mark}[0-9]*)?|\{mark}[0-9]+)([eE][+-]?[0-9]+)?$"
    return rf"{plain}|^[+-]?[1-9][0-9]{{0,2}}(\{group}[0-9]{{3}})+(\{mark}[0-9]+)?$"


_NUMBERS = {",": _number(",", "."), ".": _number(".", ",")}
_WORDS = {",": "decimal commas", ".": "decimal points"}


class Decimals:
    """How the numbers of each column are written, in all files of a data set.

    Give one object to each :func:`load_table` of a data set; ``marks`` then has what
    new rows are to be read by. A column that fits both marks, such as one of 1.234
    alone, is read as it is known, or else as the other columns of the data set.

    Parameters
    ----------
    choice : {"auto", ".", ","}
        The mark of all columns, or "auto" to find it.
    known : mapping of str to str, optional
        The marks of columns that a model was fitted to.
    """

    def __init__(
        self, choice: str = "auto", known: Mapping[str, str] | None = None
    ) -> None:
        if choice not in ("auto", *_NUMBERS):
            raise ValueError(f"decimal must be 'auto', '.' or ',', got {choice!r}.")
        self.choice = choice
        self.known = dict(known or {})
        self._is_complete = True  # whether no file is to follow
        self._names: dict[str, None] = {}
        self._certain: dict[str, str] = {}  # the mark of columns that fit one alone
        self._examples: dict[str, tuple[str, object]] = {}  # a cell, and its file
        self._uses_points = choice != ","  # as in files whose commas separate columns

    def _add(
        self,
        path: object,
        frame: "pl.DataFrame",
        missing: Collection[str],
        separator: str | None,
    ) -> None:
        """Look at the cells of a file."""
        self._names |= dict.fromkeys(frame.columns)
        self._uses_points &= separator == ","
        for name in frame.columns if self.choice != "." else ():
            is_settled = self._uses_points and self.known.get(name) != ","
            if is_settled or not frame[name].str.contains("[.,]").any():
                continue
            cells = without_missing(frame.select(name), missing)[name].drop_nulls()
            fits = [
                mark for mark in _NUMBERS if cells.str.contains(_NUMBERS[mark]).all()
            ]
            marked = cells.filter(cells.str.contains("[.,]"))
            if not fits or not marked.len():
                continue
            if len(fits) == 2:
                self._examples.setdefault(name, (marked[0], path))
                continue
            if self._certain.setdefault(name, fits[0]) != fits[0]:
                cell, file = self._examples[name]
                raise DataFileError(
                    f"{path}: column {name!r} has {marked[0]!r}, but {cell!r} in "
                    f"{file}; write both alike."
                )
            self._examples[name] = marked[0], path

    @property
    def marks(self) -> dict[str, str]:
        """The decimal mark of each column of which it is known."""
        found = {n: self._certain.get(n) or self._likely(n) for n in self._names}
        return {name: mark for name, mark in found.items() if mark}

    def _likely(self, name: str) -> str | None:
        """Return the mark of a column whose cells fit both, if any are written so.

        It is the known one, unless other columns show that the file is unlike.
        """
        if self.choice != "auto":
            return self.choice
        is_unlike = self._uses_points or any(
            self.known.get(column, mark) != mark
            for column, mark in self._certain.items()
        )
        known = None if is_unlike else self.known.get(name)
        cell, _ = self._examples.get(name, ("", None))
        guess = next((mark for mark in (".", ",") if mark in cell), None)
        return known or self._common or guess

    @property
    def _common(self) -> str | None:
        """The mark of the data set, None if its columns differ or none has one."""
        found = {"."} if self._uses_points else {*self._certain.values()}
        return found.pop() if len(found) == 1 else None

    def _with_commas(self) -> set[str]:
        """Return the columns of numbers with decimal commas."""
        marks = self.marks
        return {name for name in self._examples if marks[name] == ","}

    def _remarks(self) -> list[str]:
        """Say which columns can be read in two ways, or otherwise than known."""
        if self.choice != "auto" or not self._is_complete:
            return []
        found, unlike, marks = [], [], self.marks
        for name, (cell, _) in self._examples.items():
            mark, known = marks[name], self.known.get(name)
            other = "," if mark == "." else "."
            # that 1.234 has thousands is certain only if other columns show it
            is_likely = mark == self._common or (mark == known and mark in cell)
            if name in self._certain:
                unlike += [f"column {name!r} has {cell!r}"] * (known == other)
            elif known == other or not is_likely:
                trained = f"; training had {_WORDS[known]}" if known else ""
                found.append(
                    f"column {name!r} has only cells such as {cell!r}, read with "
                    f"{_WORDS[mark]} as {_value(cell, mark)}, not "
                    f"{_value(cell, other)}{trained} (to choose: --decimal)"
                )
        if unlike:
            n_columns = f"{len(unlike)} column{'s' * (len(unlike) > 1)}"
            found.append(f"decimals unlike in training in {n_columns}: {unlike[0]}")
        return found


def _value(cell: str, mark: str) -> str:
    """Return what a cell means with a decimal mark."""
    group = "," if mark == "." else "."
    return f"{float(cell.replace(group, '').replace(mark, '.')):.15g}"
