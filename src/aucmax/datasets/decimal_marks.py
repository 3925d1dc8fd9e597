"""Decimal marks of text files, and columns of strings turned into numbers."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from aucmax.exceptions import DataFileError

if TYPE_CHECKING:
    import polars as pl

# columns typed at a time, so that the text and the numbers of all are not held at once
_N_COLUMNS = 64


def _number(mark: str, group: str) -> str:
    """Return the pattern of a number with this decimal mark; 0.100 has no group."""
    plain = rf"^[+-]?([0-9]+(\{mark}[0-9]*)?|\{mark}[0-9]+)([eE][+-]?[0-9]+)?$"
    return rf"{plain}|^[+-]?[1-9][0-9]{{0,2}}(\{group}[0-9]{{3}})+(\{mark}[0-9]+)?$"


_NUMBERS = {",": _number(",", "."), ".": _number(".", ",")}
_WORDS = {",": "decimal commas", ".": "decimal points"}


class Decimals:
    """The decimal mark of each column, in all files of a data set."""

    # a column that fits both marks, such as 1.234 alone, is read as at training
    # (known), or else like the other columns
    def __init__(
        self, choice: str = "auto", known: Mapping[str, str] | None = None
    ) -> None:
        if choice not in ("auto", *_NUMBERS):
            raise ValueError(f"decimal must be 'auto', '.' or ',', got {choice!r}.")
        self.choice = choice
        self.known = dict(known or {})
        self._is_complete = True  # whether all files were added
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
        """Add the cells of a file."""
        self._names |= dict.fromkeys(frame.columns)
        self._uses_points &= separator == ","
        for name in frame.columns if self.choice != "." else ():
            is_settled = self._uses_points and self.known.get(name) != ","
            if is_settled or not frame[name].str.contains("[.,]").any():
                continue
            cells = _without_missing(frame.select(name), missing)[name].drop_nulls()
            fits = [
                mark
                for mark, form in _NUMBERS.items()
                if cells.str.contains(form).all()
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
                    f"{file}; use one decimal mark."
                )
            self._examples[name] = marked[0], path

    @property
    def marks(self) -> dict[str, str]:
        """The decimal mark of each column, if known."""
        found = {n: self._certain.get(n) or self._likely(n) for n in self._names}
        return {name: mark for name, mark in found.items() if mark}

    def _likely(self, name: str) -> str | None:
        """Return the mark of a column that fits both: training's, or that of others."""
        if self.choice != "auto":
            return self.choice
        differs = self._uses_points or any(
            self.known.get(column, mark) != mark
            for column, mark in self._certain.items()
        )
        known = None if differs else self.known.get(name)
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
        """Describe columns that are ambiguous, or differ from training."""
        if self.choice != "auto" or not self._is_complete:
            return []
        found, different, marks = [], [], self.marks
        for name, (cell, _) in self._examples.items():
            mark, known = marks[name], self.known.get(name)
            other = "," if mark == "." else "."
            # that 1.234 has thousands is certain only if other columns show it
            is_likely = mark == self._common or (mark == known and mark in cell)
            if name in self._certain:
                different += [f"column {name!r} has {cell!r}"] * (known == other)
            elif known == other or not is_likely:
                trained = f"; training had {_WORDS[known]}" if known else ""
                found.append(
                    f"column {name!r} has only cells such as {cell!r}, read with "
                    f"{_WORDS[mark]} as {_value(cell, mark)}, not "
                    f"{_value(cell, other)}{trained} (to change: --decimal)"
                )
        if different:
            n_columns = f"{len(different)} column{'s' * (len(different) > 1)}"
            found.append(
                f"decimal marks differ from training in {n_columns}: {different[0]}"
            )
        return found


def _value(cell: str, mark: str) -> str:
    """Return the number of a cell with a decimal mark."""
    group = "," if mark == "." else "."
    return f"{float(cell.replace(group, '').replace(mark, '.')):.15g}"


def type_columns(
    frame: "pl.DataFrame",
    text_columns: Collection[str],
    missing: Collection[str],
    with_commas: Collection[str] = (),
) -> "pl.DataFrame":
    """Turn columns of strings into numbers, all cells of a column or none."""
    import polars as pl
    import polars.selectors as cs

    typed: list[pl.Series] = []
    for start in range(0, frame.width, _N_COLUMNS):
        strings = _without_missing(frame[:, start : start + _N_COLUMNS], missing)
        group = [
            cells
            if cells.name in text_columns
            else _numbers(cells, cells.name in with_commas)
            for cells in strings
        ]
        typed.extend(pl.DataFrame(group).with_columns(cs.float().fill_nan(None)))
    return pl.DataFrame(typed)


def _without_missing(
    strings: "pl.DataFrame", missing: Collection[str]
) -> "pl.DataFrame":
    """Replace missing values by null, and strip spaces from the other cells."""
    import polars as pl

    strings = strings.select(pl.all().str.strip_chars(" \t\r"))
    return strings.select(
        pl.when(~pl.col(name).is_in(list(missing))).then(pl.col(name)).alias(name)
        for name in strings.columns
    )


def _numbers(cells: "pl.Series", with_commas: bool) -> "pl.Series":
    """Return the cells as numbers if all are, or unchanged."""
    import polars as pl

    n_missing = cells.null_count()
    if n_missing == cells.len():
        return cells.cast(pl.Float64)
    plain = cells
    if with_commas:
        without = cells.str.replace_all(".", "", literal=True)
        plain = without.str.replace(",", ".", literal=True)
    numbers = plain.cast(pl.Int64, strict=False)
    if numbers.null_count() > n_missing:
        # floats would make one number of different integers beyond 64 bits
        if plain.str.contains("^[+-]?[0-9]+$").all():
            return cells
        numbers = plain.cast(pl.Float64, strict=False)
    return numbers if numbers.null_count() == n_missing else cells
