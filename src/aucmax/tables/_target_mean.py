"""Texts of many kinds as one number: how often the rows of each are positive."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from aucmax._core.folds import divide_rows
from aucmax.tables import _cells

__all__ = ["TargetMean"]

Floats = NDArray[np.float64]


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
        return cls(
            name=name,
            words=known,
            shares=_shares(codes, labels, len(known)).tolist(),
            overall=float(labels.mean()),
            deviation=float(_crossed(codes, labels, divide_rows(labels, 5)).std())
            or 1.0,
        )

    def crossed(
        self, series: pl.Series, labels: NDArray[Any], folds: Any
    ) -> Iterator[Floats]:
        """Shares for the training rows, each from the rows that its fold learns from.

        A row of no fold has the share of all rows, as a new word has.
        """
        _, codes = _codes(_cells.category_words(series))
        yield self._scaled(_crossed(codes, labels, folds))

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
    r"""Return the share of positives of each word, drawn toward that of all rows.

    With :math:`n_w` rows of a word, of which a share :math:`m_w` is positive, and the
    variance v of all labels, the weight of the word's own share is
    :math:`v n_w / (v n_w + m_w (1 - m_w))`, that of scikit-learn's TargetEncoder.
    """
    overall = float(labels.mean())
    counts = np.bincount(codes, minlength=n_words)
    means = np.bincount(codes, labels, minlength=n_words) / np.maximum(counts, 1)
    known = overall * (1.0 - overall) * counts
    total = known + means * (1.0 - means)
    trust = np.divide(known, total, out=np.zeros(n_words), where=total > 0.0)
    return np.asarray(trust * means + (1.0 - trust) * overall)
