"""Learned columns: scales, categories, parts of dates, and target means."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import polars as pl
from scipy import sparse

from aucmax._core.row_splits import Folds
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import UnknownCategoriesWarning
from aucmax.tables import _scaling
from aucmax.tables._cells import (
    Words,
    is_duration,
    read_dates,
    read_numbers,
    read_words,
    take_rows,
)
from aucmax.tables.folds import divide_rows

OTHER = "(other)"
MISSING = "(missing)"

# booleans that some programs write as numbers
_BITS = {"true": "1", "false": "0"}
_MONTHS, _WEEKDAYS = ([str(k + 1) for k in range(n)] for n in (12, 7))

#: dates in UTC by the names of their columns
Dates: TypeAlias = Mapping[str, pl.Series]


# columns of the matrix: one, or those of indicators
Features: TypeAlias = Iterator[FloatArray | sparse.csr_array]


@dataclass(frozen=True)
class Number:
    """A column of numbers: squashed and standardised, missing values at the median."""

    # with missing values in training, one more column marks them; it is the only one if
    # the column has one value (deviation 0)
    kind: ClassVar[str] = "number"
    name: str
    center: float
    half_spread: float
    mean: float
    deviation: float
    has_missing: bool
    is_duration: bool = False  # or a time of day; both are read in seconds

    @classmethod
    def learn(cls, name: str, values: FloatArray, is_duration: bool = False) -> Self:
        """Learn centre and spread; `values` holds at least one number."""
        filled = values[~np.isnan(values)]
        center = float(np.median(filled / 2) * 2)
        half_spread = _scaling.typical_spread(filled, center)
        squashed = _scaling.squash(filled, center, half_spread or 1.0)
        return cls(
            name=name,
            center=center,
            half_spread=half_spread or 1.0,
            mean=float(squashed.mean()),
            deviation=float(squashed.std()),
            has_missing=filled.size < values.size,
            is_duration=is_duration,
        )

    def read(self, series: pl.Series) -> FloatArray:
        """Return raw cells as numbers, NaN for missing; infinities raise an error."""
        if is_duration(series) != self.is_duration and series.dtype != pl.Null:
            had, has = "numbers", "durations or times of day"
            if self.is_duration:
                had, has = has, "other values"
            raise ValueError(
                f"column {self.name!r} held {had} in training and has {has} here "
                f"({series.dtype}); convert it to the type of training."
            )
        return read_numbers(series)

    def transform(self, values: FloatArray, view: str) -> Features:
        """Yield the features of a view."""
        if view == "trees":
            exponent = _scaling.binary_exponent(self.half_spread)
            yield _scaling.to_unit_scale(values, exponent)
            return
        is_missing = np.isnan(values)
        values = np.where(is_missing, self.center, values)
        if self.deviation > 0:
            squashed = _scaling.squash(values, self.center, self.half_spread)
            yield (squashed - self.mean) / self.deviation
        if self.has_missing:
            yield is_missing.astype(np.float64)

    def raw(self, value: float) -> float:
        """Return the number of the table that the linear model sees as `value`."""
        squashed = np.asarray(value * self.deviation + self.mean)
        return float(_scaling.unsquash(squashed, self.center, self.half_spread))

    def linear_names(self) -> list[str]:
        value = [self.name] if self.deviation > 0 else []
        return value + [f"{self.name}={MISSING}"] * self.has_missing


@dataclass(frozen=True)
class Category:
    """A column of words: one indicator for each category that is frequent enough."""

    # rarer words share "(other)"; a new word counts as other, or has no indicator
    kind: ClassVar[str] = "category"
    name: str
    categories: list[str]
    has_other: bool
    has_missing: bool
    share_other: float = 0.0  # of the filled cells of training
    is_ordered: bool = False  # by the order of categories: trees see a number

    @classmethod
    def learn(
        cls, name: str, cells: Words, max_categories: int, min_frequency: int
    ) -> Self:
        """Keep the frequent words, the most frequent first, ties by name."""
        n_missing, *counts = np.bincount(
            cells.codes + 1, minlength=len(cells.words) + 1
        ).tolist()
        frequent = [k for k, n in enumerate(counts) if n >= max(min_frequency, 1)]
        frequent.sort(key=lambda k: (-counts[k], cells.words[k]))
        kept = frequent[:max_categories]
        n_kept = sum(counts[k] for k in kept)
        if cells.is_ordered:
            kept.sort()
        return cls(
            name=name,
            categories=[cells.words[k] for k in kept],
            has_other=n_kept < sum(counts),
            has_missing=n_missing > 0,
            share_other=1.0 - n_kept / max(1, sum(counts)),
            is_ordered=cells.is_ordered,
        )

    read = staticmethod(read_words)

    def codes(self, cells: Words) -> IntArray:
        """Return places among the categories, other and missing; -1 for none."""
        places = {word: code for code, word in enumerate(self.categories)}
        for spellings in (_BITS, {bit: word for word, bit in _BITS.items()}):
            if places.keys() <= spellings.keys():
                places |= {spellings[word]: code for word, code in places.items()}
        n = len(self.categories)
        other = n if self.has_other else -1
        missing = n + self.has_other if self.has_missing else -1
        codes = np.array([*(places.get(word, other) for word in cells.words), missing])
        is_known = np.array([*(word in places for word in cells.words), True])
        self._warn_of_unknown(cells, ~is_known[cells.codes])
        return codes[cells.codes]

    def _warn_of_unknown(self, cells: Words, is_unknown: BoolArray) -> None:
        """Warn if over half of the cells that should be known are not."""
        n_unknown = np.count_nonzero(is_unknown)
        n_filled = np.count_nonzero(cells.codes >= 0)
        if n_unknown > (1.0 + self.share_other) / 2.0 * n_filled:
            example = cells.words[cells.codes[np.argmax(is_unknown)]]
            warnings.warn(
                f"column {self.name!r}: {n_unknown} of {n_filled} filled cells are "
                f"none of the {len(self.categories)} categories of training, such as "
                f"{example!r} "
                f"(there: {', '.join(map(repr, self.categories[:1]))}); "
                "check that the column and its spelling are the same.",
                UnknownCategoriesWarning,
                stacklevel=2,
            )

    def transform(self, cells: Words, view: str) -> Features:
        """Yield the features of a view."""
        codes, n_words = self.codes(cells), len(self.categories) + self.has_other
        if view == "trees":
            yield np.where((codes < 0) | (codes >= n_words), np.nan, codes)
        else:
            (rows,) = np.nonzero(codes >= 0)
            shape = codes.size, n_words + self.has_missing
            yield sparse.csr_array((np.ones(rows.size), (rows, codes[rows])), shape)

    def linear_names(self) -> list[str]:
        words = [*self.categories, *[OTHER] * self.has_other]
        return [f"{self.name}={word}" for word in words + [MISSING] * self.has_missing]


@dataclass(frozen=True)
class Date:
    """A column of dates: calendar parts that repeat, and days since other dates."""

    # transform takes the dates of all columns
    kind: ClassVar[str] = "date"
    name: str
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    since: list[str] = field(default_factory=list)

    @classmethod
    def learn(
        cls, name: str, dates: Dates, since: list[str], is_absolute: bool
    ) -> Self:
        """Learn each part that varies, and the days since other dates."""
        parts: dict[str, dict[str, Any]] = {}
        for part, values in _date_parts(dates, name, since).items():
            # one indicator of missing values is enough: that of the first part
            is_words = isinstance(values, Words)
            codes: Any = values.codes if isinstance(values, Words) else values
            is_kept = (codes >= 0 if is_words else ~np.isnan(codes)) | (not parts)
            kept, codes = take_rows(values, is_kept), codes[is_kept]
            if (part == "days" and not is_absolute) or np.unique(codes).size < 2:
                continue
            whole = f"{name}:{part}"
            learned: Column
            if isinstance(kept, Words):
                # later rows are of other months: no reason to warn
                category = Category.learn(whole, kept, len(kept.words), 1)
                learned = replace(category, share_other=1.0)
            else:
                learned = Number.learn(whole, np.asarray(kept, dtype=np.float64))
            parts[part] = as_plain(learned)
        since = [other for other in since if f"days since {other}" in parts]
        return cls(name, parts, since)

    read = staticmethod(read_dates)

    def learned_parts(self) -> dict[str, Any]:
        """Return the columns of its parts."""
        return {part: restore(plain) for part, plain in self.parts.items()}

    def transform(self, dates: Dates, view: str) -> Features:
        """Yield the features of a view."""
        values = _date_parts(dates, self.name, self.since)
        for part, column in self.learned_parts().items():
            yield from column.transform(values[part], view)


@dataclass(frozen=True)
class TargetMean:
    """A column of words, each replaced by the share of positives among its rows."""

    # Shares are drawn toward that of all rows, as by scikit-learn's TargetEncoder. A
    # row must not see its own label, so training rows take the shares of other rows
    # (out of fold). A new word has the share of all rows; missing is a word, too.
    kind: ClassVar[str] = "target mean"
    name: str
    words: list[str]
    shares: list[float]
    overall: float
    deviation: float

    def __post_init__(self) -> None:
        if len(self.words) != len(self.shares) or not self.deviation > 0.0:
            raise ValueError("words, their shares and the deviation do not fit")

    @classmethod
    def learn(cls, name: str, cells: Words, labels: IntArray) -> Self:
        """Learn the share of each word; `labels` are 0 and 1, both of them."""
        present, codes = np.unique(cells.codes, return_inverse=True)
        held_out = _held_out_shares(codes, labels, divide_rows(labels, 5))
        return cls(
            name=name,
            words=["" if k < 0 else cells.words[k] for k in present],
            shares=_shares(codes, labels, present.size).tolist(),
            overall=float(labels.mean()),
            deviation=float(held_out.std()) or 1.0,
        )

    read = staticmethod(read_words)

    def out_of_fold(self, cells: Words, labels: IntArray, folds: Folds) -> FloatArray:
        """Return shares of training rows, each from rows that its fold learns from."""
        return self._scaled(_held_out_shares(cells.codes + 1, labels, folds))

    def transform(self, cells: Words, view: str) -> Features:
        """Yield the features of any view."""
        share_by_word = dict(zip(self.words, self.shares, strict=True))
        shares = [share_by_word.get(word, self.overall) for word in (*cells.words, "")]
        yield self._scaled(np.array(shares)[cells.codes])

    def linear_names(self) -> list[str]:
        return [f"{self.name}=(share of positives)"]

    def _scaled(self, shares: FloatArray) -> FloatArray:
        return np.asarray((shares - self.overall) / self.deviation)


Column: TypeAlias = Number | Category | Date | TargetMean

# whether a model file, which may hold anything, has valid values for a field, by type
_CHECKS: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: type(value) is bool,
    str: lambda value: type(value) is str,
    float: lambda value: type(value) is float and math.isfinite(value),
    list[str]: lambda value: _is_list(str, value) and len(set(value)) == len(value),
    list[float]: lambda value: _is_list(float, value),
}


def _is_list(kind: object, value: object) -> bool:
    return type(value) is list and all(map(_CHECKS[kind], value))


_KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (Number, Category, Date, TargetMean)
}


def as_plain(column: Column) -> dict[str, Any]:
    """Describe a column by simple values only, so that it can be saved."""
    values = {part.name: getattr(column, part.name) for part in fields(column)}
    return {"kind": column.kind, **values}


def restore(plain: dict[str, Any]) -> Column:
    """Rebuild a column from the result of :func:`as_plain`."""
    values = {key: value for key, value in plain.items() if key != "kind"}
    return _KINDS[plain["kind"]](**values)


def check_plain(plain: dict[str, object]) -> None:
    """Reject a description from a file that :func:`as_plain` cannot have made."""
    column = restore(plain)
    for part in fields(column):
        value = getattr(column, part.name)
        if part.type in _CHECKS and not _CHECKS[part.type](value):
            raise ValueError(f"{part.name} of column {plain['name']!r} is {value!r}")
    if isinstance(column, Date):
        for learned in column.parts.values():
            check_plain(learned)


def parts_of(column: Column) -> list[Number | Category | TargetMean]:
    """Return the column itself, or the parts of a date: one column each for trees."""
    if isinstance(column, Date):
        return list(column.learned_parts().values())
    return [column]


def _date_parts(
    dates: Dates, name: str, since: list[str]
) -> dict[str, FloatArray | Words]:
    moments = dates[name].dt
    days = {
        one: dates[one].dt.epoch("us").cast(pl.Float64).to_numpy() / 86_400_000_000
        for one in (name, *since)
    }
    month, weekday = (
        part.cast(pl.Int64).fill_null(0).to_numpy() - 1
        for part in (moments.month(), moments.weekday())
    )
    return {
        "month": Words(month, _MONTHS),
        "weekday": Words(weekday, _WEEKDAYS),
        "hour": (moments.hour() + moments.minute() / 60).to_numpy(),
        "days": days[name],
        **{f"days since {other}": days[name] - days[other] for other in since},
    }


def _held_out_shares(codes: IntArray, labels: IntArray, folds: Folds) -> FloatArray:
    """Return the share of each row's word among the rows that its fold learns from."""
    shares = np.full(labels.size, labels.mean())
    for train, rows in folds:
        share_by_word = _shares(codes[train], labels[train], int(codes.max()) + 1)
        shares[rows] = share_by_word[codes[rows]]
    return shares


def _shares(codes: IntArray, labels: IntArray, n_words: int) -> FloatArray:
    """Return the share of positives of each word, drawn toward that of all rows.

    With :math:`n_w` rows of a word, of which a share :math:`m_w` is positive, and the
    variance v of all labels, the weight of the word's own share is :math:`v n_w / (v
    n_w + m_w (1 - m_w))`, that of scikit-learn's TargetEncoder.
    """
    overall = float(labels.mean())
    counts = np.bincount(codes, minlength=n_words)
    means = np.bincount(codes, labels, minlength=n_words) / np.maximum(counts, 1)
    prior = overall * (1.0 - overall) * counts
    evidence = prior + means * (1.0 - means)
    trust = np.divide(prior, evidence, out=np.zeros(n_words), where=evidence > 0.0)
    return np.asarray(trust * means + (1.0 - trust) * overall)
