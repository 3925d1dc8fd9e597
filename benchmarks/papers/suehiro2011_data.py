"""The data of the study: made to a rule, tables, and news by their words."""

import json
import lzma
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from aucmax.datasets import load_table, make_r_of_k
from aucmax.metrics import roc_auc_score
from aucmax.tables import TableEncoder

UCI = ("hypothyroid", "ionosphere", "kr-vs-kp", "sick-euthyroid", "spambase")
TOPICS = ("acq", "crude", "earn", "money-fx", "trade")
FOLDER = Path(
    os.environ.get("AUCMAX_DATA", Path(__file__).parents[3] / "shared" / "data")
)


@dataclass(frozen=True)
class RuleData:
    """Which r-of-k data to draw."""

    r: int
    noise: int = 5
    positives: int = 5
    draw: int = 0

    def load(self) -> "Problem":
        """Draw the rows, the labels, and the labels before the noise."""
        options: dict[str, Any] = {
            "r": self.r,
            "k": 30,
            "positive_ratio": self.positives / 10,
            "random_state": 1000 * self.draw + 100 * self.positives + self.r,
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

    def load(self) -> "Problem":
        """Read the table; its columns become numbers in each fold."""
        table = load_table(FOLDER / self.name / f"{self.name}.csv.gz")
        y = table["target"].to_numpy() == 1
        return Problem(table.drop("target"), y)


@dataclass(frozen=True)
class NewsData:
    """One topic of the Reuters news against all others.

    Five folds of all articles with a topic, or the ModApte split of those in it.
    """

    topic: str
    is_modapte: bool = False

    def load(self) -> "Problem":
        """Return which words each article has, and whether it has the topic."""
        X, topics, split = _articles()
        y = np.array([self.topic in names for names in topics])
        parts = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
        return Problem(X, y, splits=[parts] if self.is_modapte else None)


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
    """Load data once a process."""
    return data.load()


@lru_cache(maxsize=1)
def _articles() -> tuple[Any, list[set[str]], np.ndarray]:
    """Return the words of all articles with a topic, present or absent."""
    path = FOLDER / "reuters21578" / "reuters21578.jsonl.xz"
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        articles = [json.loads(line) for line in lines]
    articles = [article for article in articles if article["topics"]]
    words = CountVectorizer(binary=True, token_pattern=r"[a-z]+", dtype=np.float64)
    X = words.fit_transform(a["title"] + "\n" + a["text"] for a in articles)
    topics = [set(article["topics"]) for article in articles]
    return X.tocsc(), topics, np.array([article["split"] for article in articles])


def missing(data: Data) -> Path | None:
    """Return the file that these data need and that is not there."""
    if isinstance(data, RuleData):
        return None
    if isinstance(data, NewsData):
        path = FOLDER / "reuters21578" / "reuters21578.jsonl.xz"
    else:
        path = FOLDER / data.name / f"{data.name}.csv.gz"
    return None if path.is_file() else path
