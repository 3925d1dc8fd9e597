"""The data of the study: made to a rule, tables, and news by their words."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from aucmax.datasets import load_table, make_r_of_k
from aucmax.metrics import roc_auc_score
from aucmax.tables import TableEncoder
from benchmarks.papers.data import FOLDER, NEWS, news_articles, news_texts

UCI = ("hypothyroid", "ionosphere", "kr-vs-kp", "sick-euthyroid", "spambase")
TOPICS = ("acq", "crude", "earn", "money-fx", "trade")
N_FOLDS = 5


@dataclass(frozen=True)
class RuleData:
    """Which r-of-k data to draw."""

    r: int
    noise: int = 5
    positives: int = 5
    files = ()

    def __str__(self) -> str:
        return f"{self.shares}, r = {self.r}, noise {self.noise} %"

    @property
    def shares(self) -> str:
        """Positives to negatives."""
        return f"{self.positives}:{10 - self.positives}"

    def load(self) -> "Problem":
        """Draw the rows, the labels, and the labels before the noise."""
        options: dict[str, Any] = {
            "r": self.r,
            "k": 30,
            "positive_ratio": self.positives / 10,
            "random_state": 100 * self.positives + self.r,
        }
        X, y = make_r_of_k(1000, 100, label_noise=self.noise / 100, **options)
        # noise is drawn last, so that the same seed gives the same rows without it
        _, clean = make_r_of_k(1000, 100, **options)
        return Problem(X, y == 1, clean == 1)

    @property
    def ceiling(self) -> float:
        """The largest AUC that any ranking can expect on the noisy labels.

        Given a row, the chance that its noisy label is 1 takes two values alone, so no
        ranking is better than the rule itself, which takes two values, too. Its AUC is
        the mean of its true positive and true negative rates.
        """
        flip, share = self.noise / 100, self.positives / 10
        kept_pos, kept_neg = share * (1 - flip), (1 - share) * (1 - flip)
        sensitivity = kept_pos / (kept_pos + (1 - share) * flip)
        specificity = kept_neg / (kept_neg + share * flip)
        return (sensitivity + specificity) / 2


@dataclass(frozen=True)
class TableData:
    """A table of the UCI repository."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that have to exist."""
        return (FOLDER / self.name / f"{self.name}.csv.gz",)

    def load(self) -> "Problem":
        """Read the table; its columns become numbers in each fold."""
        table = load_table(self.files[0])
        y = table["target"].to_numpy() == 1
        return Problem(table.drop("target"), y)


@dataclass(frozen=True)
class NewsData:
    """One topic of the Reuters news against all others.

    Five folds of all articles with a topic, or the ModApte split of those in it.
    """

    topic: str
    is_modapte: bool = False
    files = (NEWS,)

    def __str__(self) -> str:
        return f"{self.topic}, ModApte" if self.is_modapte else self.topic

    def load(self) -> "Problem":
        """Return which words each article has, and whether it has the topic."""
        y = np.array([self.topic in one["topics"] for one in news_articles()])
        split = np.array([article["split"] for article in news_articles()])
        parts = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        return Problem(_words(), y, splits=[parts] if self.is_modapte else None)


@dataclass(frozen=True)
class Problem:
    """Rows, labels, the labels before noise, and a split, where they are known."""

    X: Any
    y: np.ndarray
    clean: np.ndarray | None = None
    splits: list[tuple[np.ndarray, np.ndarray]] | None = None

    def split(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        """Return training and test rows as numbers; what is learned, from training."""
        if hasattr(self.X, "columns"):
            encoder = TableEncoder().fit(self.X[train])
            return tuple(encoder.transform(self.X[rows]) for rows in (train, test))
        return self.X[train], self.X[test]

    @property
    def ceiling(self) -> float:
        """The AUC of the rule without noise, on the noisy labels of these rows."""
        return roc_auc_score(self.y, self.clean.astype(float))


Data = RuleData | TableData | NewsData


@lru_cache(maxsize=4)
def load(data: Data) -> Problem:
    """Load data once per process."""
    return data.load()


@lru_cache(maxsize=1)
def _words() -> Any:
    """Return the words of all articles with a topic, present or absent."""
    words = CountVectorizer(binary=True, token_pattern=r"[a-z]+", dtype=np.float64)
    return words.fit_transform(news_texts()).tocsc()


def n_splits(data: Data) -> int:
    """Return the number of splits without loading the data."""
    return 1 if isinstance(data, NewsData) and data.is_modapte else N_FOLDS


def splits(data: Data) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows: five folds, or the split that data come with."""
    problem = load(data)
    return problem.splits or folds_of(problem.y, N_FOLDS)


def folds_of(y: np.ndarray, n: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return stratified folds, the same for all methods."""
    splitter = StratifiedKFold(n, shuffle=True, random_state=0)
    return list(splitter.split(np.zeros(y.size), y))
