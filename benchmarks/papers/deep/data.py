"""Imbalanced images and fingerprints of molecules, in three parts."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from benchmarks.papers.data import path_of, read_sparse

#: of the rows; the rest is to judge by
TRAINING, VALIDATION = 0.5, 0.2
DIGIT = 8
#: of the positives among the rows to learn from, so that they are rare
KEPT_DIGITS = 4
MAX_COLUMNS = 4096
FILES = {"digits": (), "bace": (path_of("bace"),), "thrombin": (path_of("thrombin"),)}


@dataclass(frozen=True)
class Parts:
    """Inputs of float32 and labels of the rows to learn, to choose and to judge by."""

    learn: tuple[np.ndarray, np.ndarray]
    choose: tuple[np.ndarray, np.ndarray]
    judge: tuple[np.ndarray, np.ndarray]

    @property
    def overlap(self) -> float:
        """Return the ratio of test rows to all others."""
        return len(self.judge[1]) / (len(self.learn[1]) + len(self.choose[1]))


@lru_cache(maxsize=1)
def _rows(name: str):
    if name == "digits":
        X, digit = load_digits(return_X_y=True)
        return X.reshape(-1, 1, 8, 8) / 16.0, digit == DIGIT
    return read_sparse(name)


def split(name: str, seed: int) -> Parts:
    """Divide the rows by class, at random."""
    X, y = _rows(name)
    rows, judge = train_test_split(
        np.arange(y.size),
        train_size=TRAINING + VALIDATION,
        stratify=y,
        random_state=seed,
    )
    learn, choose = train_test_split(
        rows,
        train_size=TRAINING / (TRAINING + VALIDATION),
        stratify=y[rows],
        random_state=seed,
    )
    if name == "digits":
        is_kept = ~y[learn]
        is_kept[np.flatnonzero(y[learn])[::KEPT_DIGITS]] = True
        learn = learn[is_kept]
    if name == "thrombin":  # by the rows to learn from, whatever their class is
        share = np.asarray(X[learn].mean(axis=0)).ravel()
        X = X[:, np.argsort(-share * (1.0 - share), kind="stable")[:MAX_COLUMNS]]
    if name != "digits":
        X = X.toarray()
    X = X.astype(np.float32)
    return Parts(*((X[part], y[part]) for part in (learn, choose, judge)))
