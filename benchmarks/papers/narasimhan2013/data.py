"""The data of the study: tables, one class against the rest, sparse rows, and news."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.preprocessing import normalize

from aucmax.datasets import load_table
from aucmax.tables import TableEncoder
from benchmarks.papers import data
from benchmarks.papers.data import NEWS, SPARSE, news_articles, news_texts, read_sparse

TABLES = (
    *("leukemia", "ionosphere", "spambase", "kr-vs-kp"),
    *("hypothyroid", "sick", "sick-euthyroid", "mammography"),
)
MANY_CLASSES = ("satimage", "segment", "vehicle")  # the rarest against the rest
TOPICS = ("earn", "acq", "money-fx", "crude", "trade")
ALL_DATA = (*SPARSE, *TABLES, *MANY_CLASSES, *TOPICS)
MAX_ROWS = {"a9a": 9000}  # a stratified sample of them
TEST_SHARE = 1 / 3
PIXELS = 9  # of satimage, each with four bands
# the variables of the census, by the last of their columns in a9a
A9A_ENDS = (5, 13, 18, 34, 39, 46, 60, 66, 71, 73, 75, 77, 82, 123)


@dataclass(frozen=True)
class Problem:
    """Rows before they are turned into numbers, and which of them are positive."""

    name: str
    rows: Any
    y: np.ndarray

    def split(self, train: np.ndarray, test: np.ndarray) -> "Split":
        """Return training and test rows as numbers; what is learned, from training."""
        if self.name in TOPICS:
            weigh = TfidfTransformer(sublinear_tf=True).fit(self.rows[train])
            X, X_test = (weigh.transform(self.rows[part]) for part in (train, test))
            groups = None
        elif sparse.issparse(self.rows):
            X, X_test = self.rows[train], self.rows[test]
            groups = _groups_by_ends(A9A_ENDS) if self.name == "a9a" else None
        else:
            encoder = TableEncoder().fit(self.rows[train])
            X, X_test = (encoder.transform(self.rows[part]) for part in (train, test))
            names = [str(name) for name in encoder.get_feature_names_out()]
            groups = _groups_of(self.name, names)
        return Split(X, self.y[train], X_test, self.y[test], groups)


@dataclass(frozen=True)
class Split:
    """One split in numbers, and the columns that belong together, where any do."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    groups: list[list[int]] | None


def _groups_of(name: str, names: list[str]) -> list[list[int]]:
    """Return the columns that came from one column of the table, or one pixel."""
    if name == "satimage":
        return np.arange(len(names)).reshape(PIXELS, -1).tolist()
    columns: dict[str, list[int]] = {}
    for place, column in enumerate(names):
        columns.setdefault(column.partition("=")[0], []).append(place)
    return list(columns.values())


def _groups_by_ends(ends: tuple[int, ...]) -> list[list[int]]:
    starts = (0, *ends[:-1])
    return [list(range(*pair)) for pair in zip(starts, ends, strict=True)]


@lru_cache(maxsize=3)
def load(name: str) -> Problem:
    """Load data once per process."""
    if name in TOPICS:
        y = np.array([name in article["topics"] for article in news_articles()])
        return Problem(name, _words(), y)
    if name in SPARSE:
        rows, y = read_sparse(name)
        if name != "a9a":  # bits that are set differ much in number
            rows = normalize(rows)
        return _sample(Problem(name, rows, y))
    table = load_table(path_of(name))
    target, rows = table["target"].to_numpy(), table.drop("target")
    if name not in MANY_CLASSES:
        return Problem(name, rows, target == 1)
    classes, counts = np.unique(target, return_counts=True)
    return Problem(name, rows, target == classes[np.argmin(counts)])


def _sample(problem: Problem) -> Problem:
    most = MAX_ROWS.get(problem.name)
    if most is None:
        return problem
    places = np.arange(problem.y.size)
    kept, _ = train_test_split(
        places, train_size=most, stratify=problem.y, random_state=0
    )
    return Problem(problem.name, problem.rows[kept], problem.y[kept])


@lru_cache(maxsize=1)
def _words() -> Any:
    """Return the words of all articles with a topic, counted."""
    counter = CountVectorizer(token_pattern=r"[a-z]+", dtype=np.float64, min_df=2)
    return counter.fit_transform(news_texts()).tocsr()


def splits(name: str, n_splits: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of the repeated stratified splits."""
    y = load(name).y
    splitter = StratifiedShuffleSplit(n_splits, test_size=TEST_SHARE, random_state=0)
    return list(splitter.split(np.zeros(y.size), y))


def path_of(name: str) -> Path:
    """Return the file of these data."""
    return NEWS if name in TOPICS else data.path_of(name)
