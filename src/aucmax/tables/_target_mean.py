"""Texts of many kinds as one number: how often the rows of each are positive."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import TargetEncoder

from aucmax.tables import _cells

__all__ = ["TargetMean"]

Floats = NDArray[np.float64]

_MOST_FOLDS = 5


@dataclass(frozen=True)
class TargetMean:
    """A column of words, each replaced by the share of positives among its rows.

    Shares of rare words are drawn toward that of all rows, as scikit-learn's
    TargetEncoder does it (empirical Bayes). A row must not see its own label, so
    training rows take the shares of other rows: see :meth:`crossed`. A word never seen
    in training has the share of all rows; a gap is a word of its own.
    """

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
        encoder = _encoder().fit(codes, labels)
        return cls(
            name=name,
            words=known,
            shares=encoder.encodings_[0].tolist(),
            overall=float(encoder.target_mean_),
            deviation=float(_crossed(codes, labels).std()) or 1.0,
        )

    def crossed(self, series: pl.Series, labels: NDArray[Any]) -> Iterator[Floats]:
        """Shares for the training rows, each from the rows of other folds."""
        _, codes = _codes(_cells.category_words(series))
        yield self._scaled(_crossed(codes, labels))

    def linear(self, series: pl.Series) -> Iterator[Floats]:
        shares = (
            _cells.category_words(series)
            .fill_null("")
            .replace_strict(
                self.words,
                self.shares,
                default=self.overall,
                return_dtype=pl.Float64,
            )
        )
        yield self._scaled(shares.to_numpy())

    def linear_names(self) -> list[str]:
        return [f"{self.name}=(share of positives)"]

    def trees(self, series: pl.Series) -> Iterator[Floats]:
        yield from self.linear(series)

    def _scaled(self, shares: Floats) -> Floats:
        return np.asarray((shares - self.overall) / self.deviation)


def _codes(words: pl.Series) -> tuple[list[str], NDArray[Any]]:
    """Return the different words, sorted, and the number of each row's as a column."""
    known, codes = np.unique(
        words.fill_null("").to_numpy().astype(str), return_inverse=True
    )
    return known.tolist(), codes.reshape(-1, 1)


def _crossed(codes: NDArray[Any], labels: NDArray[Any]) -> Floats:
    """Return the share of each row's word among the rows of other folds."""
    n_folds = min(_MOST_FOLDS, *np.bincount(labels, minlength=2).tolist())
    shares = np.full(labels.size, labels.mean())
    if n_folds < 2:
        return shares
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for others, rows in splitter.split(codes, labels):
        encoder = _encoder().fit(codes[others], labels[others])
        shares[rows] = encoder.transform(codes[rows])[:, 0]
    return shares


def _encoder() -> TargetEncoder:
    return TargetEncoder(target_type="binary")
