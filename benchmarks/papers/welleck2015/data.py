"""The data of the study: five parts of queries, and the folds made of them."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from aucmax.datasets import load_svmlight
from benchmarks.papers.data import FOLDER, parts_of

MQ2008, MQ2007, OHSUMED, MSLR = "MQ2008", "MQ2007 sample", "OHSUMED", "MSLR sample"
N_PARTS = 5
#: files and number of columns; in five parts, or in one that is dealt into five
FILES = {
    MQ2008: (parts_of("mq2008/S{}.svm.gz"), 46),
    MQ2007: ((FOLDER / "mq2007_sample/mq2007_sample.svm.xz",), 46),
    OHSUMED: (parts_of("ohsumed/norm_S{}.svm.gz"), 45),
    MSLR: ((FOLDER / "mslr_sample/fold1_train_5k.svm.xz",), 136),
}


@dataclass(frozen=True)
class Rows:
    """Rows of whole queries; the rows of a query stand together."""

    X: np.ndarray
    y: np.ndarray
    qid: np.ndarray

    def query_sizes(self) -> np.ndarray:
        """Return the number of rows of each query, as they come."""
        starts = np.flatnonzero(np.diff(self.qid, prepend=-1))
        return np.diff(starts, append=self.qid.size)

    def where(self, chosen: np.ndarray) -> "Rows":
        """Return some of the rows."""
        return Rows(self.X[chosen], self.y[chosen], self.qid[chosen])


@dataclass(frozen=True)
class Fold:
    """Rows to learn from, to choose by and to judge by."""

    train: Rows
    valid: Rows
    test: Rows


def join(parts: list[Rows]) -> Rows:
    """Put rows together, one part after the other."""
    return Rows(
        np.concatenate([part.X for part in parts]),
        np.concatenate([part.y for part in parts]),
        np.concatenate([part.qid for part in parts]),
    )


@lru_cache(maxsize=2)
def load(name: str) -> tuple[Rows, ...]:
    """Load the five parts of a data set once per process."""
    files, n_features = FILES[name]
    parts = []
    for path in files:
        X, y, qid = load_svmlight(path, n_features=n_features)
        parts.append(Rows(X.toarray(), y, qid))
    if len(parts) == N_PARTS:
        return tuple(parts)
    rows = parts[0]
    queries = np.random.default_rng(0).permutation(np.unique(rows.qid))
    dealt = np.array_split(queries, N_PARTS)
    return tuple(rows.where(np.isin(rows.qid, some)) for some in dealt)


def fold_of(name: str, number: int) -> Fold:
    """Return a fold as LETOR has it: three parts to learn from, then one, then one."""
    parts = load(name)
    turned = [parts[(number + step) % N_PARTS] for step in range(N_PARTS)]
    return Fold(join(turned[:3]), turned[3], turned[4])
