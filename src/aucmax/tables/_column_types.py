"""Column types: numbers, categories, dates, shares of positives."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax.exceptions import UnknownCategoriesWarning
from aucmax.tables import _cell_values, _scaling
from aucmax.tables.folds import divide_rows

Floats = NDArray[np.float64]
OTHER = "(other)"
MISSING = "(missing)"

# booleans that some programs write as numbers
_BITS = {"true": "1", "false": "0"}


class OneHot(NamedTuple):
    """`width` indicator columns; row i has its one in column ``codes[i]``, if >= 0."""

    codes: NDArray[np.int64]
    width: int


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
    def learn(
        cls,
        name: str,
        values: Floats,
        is_duration: bool = False,
    ) -> Self:
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

    def read(self, series: pl.Series) -> Floats:
        """Return raw cells as numbers, NaN for missing; infinities raise an error."""
        if (
            _cell_values.is_duration(series) != self.is_duration
            and series.dtype != pl.Null
        ):
            had, has = "numbers", "durations or times of day"
            if self.is_duration:
                had, has = has, "other values"
            raise ValueError(
                f"column {self.name!r} held {had} in training and has {has} here "
                f"({series.dtype}); convert it to the type of training."
            )
        cells = _cell_values.read_numbers(series)
        _cell_values.warn_of_strays(series, cells, "numbers")
        reject_infinities(self.name, cells.values)
        return cells.values

    def linear(self, series: pl.Series) -> Iterator[Floats | OneHot]:
        values = self.read(series)
        gaps = np.isnan(values)
        values = np.where(gaps, self.center, values)
        if self.deviation > 0:
            squashed = _scaling.squash(values, self.center, self.half_spread)
            yield (squashed - self.mean) / self.deviation
        if self.has_missing:
            yield OneHot(gaps.astype(np.int64) - 1, 1)

    def raw(self, value: float) -> float:
        """Return the number of the table that the linear model sees as `value`."""
        squashed = np.asarray(value * self.deviation + self.mean)
        return float(_scaling.unsquash(squashed, self.center, self.half_spread))

    def linear_names(self) -> list[str]:
        value = [self.name] if self.deviation > 0 else []
        return value + [f"{self.name}={MISSING}"] * self.has_missing

    def trees(self, series: pl.Series) -> Iterator[Floats]:
        exponent = _scaling.binary_exponent(self.half_spread)
        yield _scaling.to_unit_scale(self.read(series), exponent)


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
        cls, name: str, words: pl.Series, max_categories: int, min_frequency: int
    ) -> Self:
        """Keep the frequent words, the most frequent first, ties by name."""
        counted = (
            words.drop_nulls()
            .alias("word")
            .value_counts()
            .sort("count", "word", descending=[True, False])
        )
        kept = counted.filter(pl.col("count") >= min_frequency).head(max_categories)
        n_kept, n_filled = int(kept["count"].sum()), int(counted["count"].sum())
        return cls(
            name=name,
            categories=kept["word"].to_list(),
            has_other=len(kept) < len(counted),
            has_missing=words.null_count() > 0,
            share_other=1.0 - n_kept / max(1, n_filled),
        )

    def codes(self, series: pl.Series) -> NDArray[np.int64]:
        """Return places among the categories, other and missing; -1 for none."""
        words = _cell_values.category_words(series)
        known = {word: code for code, word in enumerate(self.categories)}
        for spellings in (_BITS, {bit: word for word, bit in _BITS.items()}):
            if known.keys() <= spellings.keys():
                known |= {spellings[word]: code for word, code in known.items()}
        n = len(self.categories)
        codes = words.replace_strict(
            list(known),
            list(known.values()),
            default=n if self.has_other else -1,
            return_dtype=pl.Int64,
        ).to_numpy(writable=True)
        gaps = words.is_null().to_numpy()
        self._warn_of_unknown(words, ~gaps & ((codes < 0) | (codes >= n)))
        codes[gaps] = n + self.has_other if self.has_missing else -1
        return codes

    def _warn_of_unknown(self, words: pl.Series, unknown: NDArray[np.bool_]) -> None:
        """Warn if over half of the cells that should be known are not."""
        n_unknown = np.count_nonzero(unknown)
        n_filled = words.len() - words.null_count()
        if n_unknown > (1.0 + self.share_other) / 2.0 * n_filled:
            warnings.warn(
                f"column {self.name!r}: {n_unknown} of {n_filled} filled cells are "
                f"none of the {len(self.categories)} categories of training, such as "
                f"{words[int(np.argmax(unknown))]!r} "
                f"(there: {', '.join(map(repr, self.categories[:1]))}); "
                "check that the column and its spelling are the same.",
                UnknownCategoriesWarning,
                stacklevel=2,
            )

    def linear(self, series: pl.Series) -> Iterator[Floats | OneHot]:
        yield OneHot(self.codes(series), len(self.linear_names()))

    def linear_names(self) -> list[str]:
        words = [*self.categories, *[OTHER] * self.has_other]
        return [f"{self.name}={word}" for word in words + [MISSING] * self.has_missing]

    def trees(self, series: pl.Series) -> Iterator[Floats]:
        codes = self.codes(series).astype(np.float64)
        n_words = len(self.categories) + self.has_other
        codes[(codes < 0) | (codes >= n_words)] = np.nan
        yield codes


@dataclass(frozen=True)
class Date:
    """A column of dates: calendar parts that repeat, and days since other dates."""

    # linear and trees take the dates of :meth:`read` by the names of columns
    kind: ClassVar[str] = "date"
    name: str
    parts: dict[str, dict[str, Any]] = field(default_factory=dict)
    since: list[str] = field(default_factory=list)

    def learn(self, dates: "Dates", since: list[str], is_absolute: bool) -> Self:
        """Learn each part that varies, and the days since other dates."""
        parts: dict[str, dict[str, Any]] = {}
        for part, values in _date_parts(dates, self.name, since).items():
            # one indicator of missing values is enough: that of the first part
            kept = values.drop_nulls() if parts else values
            if (part == "days" and not is_absolute) or kept.n_unique() < 2:
                continue
            whole = f"{self.name}:{part}"
            if values.dtype == pl.String:
                category = Category.learn(whole, kept, len(kept), 1)
                # later rows are of other months: no reason to warn
                learned: Column = replace(category, share_other=1.0)
            else:
                learned = Number.learn(whole, kept.to_numpy())
            parts[part] = as_plain(learned)
        since = [name for name in since if f"days since {name}" in parts]
        return replace(self, parts=parts, since=since)

    def read(self, series: pl.Series) -> pl.Series:
        """Return raw cells as times in UTC."""
        cells = _cell_values.read_dates(series)
        _cell_values.warn_of_strays(series, cells, "dates")
        return pl.Series(self.name, cells.values, dtype=pl.Datetime("us"))

    def _each(self, dates: "Dates") -> Iterator[tuple[Number | Category, pl.Series]]:
        values = _date_parts(dates, self.name, self.since)
        for part, column in self._learned().items():
            yield column, values[part]

    def _learned(self) -> dict[str, Any]:
        return {part: restore(plain) for part, plain in self.parts.items()}

    def linear(self, dates: "Dates") -> Iterator[Floats | OneHot]:
        for column, values in self._each(dates):
            yield from column.linear(values)

    def trees(self, dates: "Dates") -> Iterator[Floats]:
        for column, values in self._each(dates):
            yield from column.trees(values)


@dataclass(frozen=True)
class TargetMean:
    """A column of words, each replaced by the share of positives among its rows."""

    # Shares are drawn toward that of all rows, as by scikit-learn's TargetEncoder. A
    # row must not see its own label, so training rows take the shares of other rows
    # (crossed). A new word has the share of all rows; missing is a word of its own.
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
    def learn(cls, name: str, words: pl.Series, labels: NDArray[Any]) -> Self:
        """Learn the share of each word; `labels` are 0 and 1, both of them."""
        known, codes = _codes(words)
        return cls(
            name=name,
            words=known,
            shares=_shares(codes, labels, len(known)).tolist(),
            overall=float(labels.mean()),
            deviation=float(_crossed(codes, labels, divide_rows(labels, 5)).std())
            or 1.0,
        )

    def crossed(self, series: pl.Series, labels: NDArray[Any], folds: Any) -> Floats:
        """Return shares of training rows, each from rows that its fold learns from."""
        _, codes = _codes(_cell_values.category_words(series))
        return self._scaled(_crossed(codes, labels, folds))

    def linear(self, series: pl.Series) -> Iterator[Floats]:
        shares = (
            _cell_values.category_words(series)
            .fill_null("")
            .replace_strict(
                self.words, self.shares, default=self.overall, return_dtype=pl.Float64
            )
        )
        yield self._scaled(shares.to_numpy())

    def linear_names(self) -> list[str]:
        return [f"{self.name}=(share of positives)"]

    def trees(self, series: pl.Series) -> Iterator[Floats]:
        yield from self.linear(series)

    def _scaled(self, shares: Floats) -> Floats:
        return np.asarray((shares - self.overall) / self.deviation)


Dates: TypeAlias = Mapping[str, pl.Series] | pl.DataFrame
Column: TypeAlias = Number | Category | Date | TargetMean

# valid values of the fields of a column, by type; model files may hold anything
_CHECKS: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: type(value) is bool,
    str: lambda value: type(value) is str,
    float: lambda value: type(value) is float and math.isfinite(value),
    list[str]: lambda value: (
        type(value) is list
        and all(type(text) is str for text in value)
        and len(set(value)) == len(value)
    ),
    list[float]: lambda value: (
        type(value) is list
        and all(type(one) is float and math.isfinite(one) for one in value)
    ),
}

_KINDS: dict[str, type[Column]] = {
    kind.kind: kind for kind in (Number, Category, Date, TargetMean)
}


def as_plain(column: Column) -> dict[str, Any]:
    """Describe a column by simple values only, so that it can be saved."""
    values = {part.name: getattr(column, part.name) for part in fields(column)}
    return {"kind": column.kind, **values}


def restore(plain: dict[str, Any]) -> Column:
    """Rebuild a column from what :func:`as_plain` gave."""
    values = {key: value for key, value in plain.items() if key != "kind"}
    return _KINDS[plain["kind"]](**values)


def check_plain(plain: dict[str, Any]) -> None:
    """Reject a description from a file that :func:`as_plain` cannot have given."""
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
    return list(column._learned().values()) if isinstance(column, Date) else [column]


def reject_infinities(name: str, values: Floats) -> None:
    """Raise for the first infinite number, with its row."""
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise ValueError(
            f"column {name!r}, row {row + 1}: {values[row]} is not finite; use a "
            "finite number or leave the cell empty."
        )


def _date_parts(dates: Dates, name: str, since: list[str]) -> dict[str, pl.Series]:
    moments = dates[name].dt
    days = {one: dates[one].dt.epoch("us") / 86_400_000_000 for one in (name, *since)}
    return {
        "month": moments.month().cast(pl.String),
        "weekday": moments.weekday().cast(pl.String),
        "hour": moments.hour() + moments.minute() / 60,
        "days": days[name],
        **{f"days since {other}": days[name] - days[other] for other in since},
    }


def _codes(words: pl.Series) -> tuple[list[str], NDArray[Any]]:
    """Return the different words, sorted, and the number of each row's."""
    words = words.fill_null("")
    known = words.unique().sort()
    return known.to_list(), words.cast(pl.Enum(known)).to_physical().to_numpy()


def _crossed(codes: NDArray[Any], labels: NDArray[Any], folds: Any) -> Floats:
    """Return the share of each row's word among the rows that its fold learns from."""
    shares = np.full(labels.size, labels.mean())
    for others, rows in folds:
        of_words = _shares(codes[others], labels[others], int(codes.max()) + 1)
        shares[rows] = of_words[codes[rows]]
    return shares


def _shares(codes: NDArray[Any], labels: NDArray[Any], n_words: int) -> Floats:
    """Return the share of positives of each word, drawn toward that of all rows.

    With :math:`n_w` rows of a word, of which a share :math:`m_w` is positive, and the
    variance v of all labels, the weight of the word's own share is :math:`v n_w / (v
    n_w + m_w (1 - m_w))`, that of scikit-learn's TargetEncoder.
    """
    overall = float(labels.mean())
    counts = np.bincount(codes, minlength=n_words)
    means = np.bincount(codes, labels, minlength=n_words) / np.maximum(counts, 1)
    known = overall * (1.0 - overall) * counts
    total = known + means * (1.0 - means)
    trust = np.divide(known, total, out=np.zeros(n_words), where=total > 0.0)
    return np.asarray(trust * means + (1.0 - trust) * overall)
