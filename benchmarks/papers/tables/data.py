"""The binary tables, one split each into rows to learn from and rows to judge by."""

import gzip
import lzma
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split

from benchmarks.papers.data import FOLDER

MAX_TRAINING_ROWS = 2500
MAX_TEST_ROWS = 20_000
TRAINING_SHARE = 0.7

#: columns of the sparse matrices
_SPARSE = {
    "bace": ("bace/bace_morgan2048.svm.gz", 2048),
    "a9a": ("a9a/a9a_train.svm.gz", 123),
    "thrombin": ("thrombin/thrombin.svm.xz", 88_119),
}
#: the tables; of several classes the one with this number, in sorted order, is positive
TABLES = {
    "ionosphere": None,
    "spambase": None,
    "kr-vs-kp": None,
    "hypothyroid": None,
    "sick-euthyroid": None,
    "sick": None,
    "mammography": None,
    "bace": None,
    "a9a": None,
    "leukemia": None,
    "satimage 4": ("satimage", 3),
    "segment 5": ("segment", 4),
    "vehicle opel": ("vehicle", 1),
    "vehicle saab": ("vehicle", 2),
    "thrombin": None,
}


@dataclass(frozen=True)
class Split:
    """Training and test rows: pandas frames, or CSR matrices."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are a sparse matrix."""
        return sparse.issparse(self.X)


def path_of(table: str) -> Path:
    """Return the file of a table."""
    name, _ = TABLES[table] or (table, None)
    if name in _SPARSE:
        return FOLDER / _SPARSE[name][0]
    return FOLDER / name / f"{name}.csv.gz"


def split(table: str, seed: int) -> Split:
    """Divide a table by class: at most 2,500 rows to learn from, the rest to judge."""
    X, y = _read(table)
    n_training = min(MAX_TRAINING_ROWS, int(TRAINING_SHARE * y.size))
    known, new = train_test_split(
        np.arange(y.size), train_size=n_training, stratify=y, random_state=seed
    )
    new = new[:MAX_TEST_ROWS]

    def take(rows: np.ndarray) -> Any:
        return X[rows] if sparse.issparse(X) else X.iloc[rows].reset_index(drop=True)

    return Split(take(known), y[known], take(new), y[new])


def _read(table: str) -> tuple[Any, np.ndarray]:
    path = path_of(table)
    name, positive = TABLES[table] or (table, None)
    if name in _SPARSE:
        open_file = lzma.open if path.suffix == ".xz" else gzip.open
        with open_file(path, "rb") as stream:
            X, y = load_svmlight_file(stream, n_features=_SPARSE[name][1])
        X = sparse.csr_matrix(X)
        X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
        return X, (y > 0).astype(int)
    frame = pd.read_csv(path)
    target = frame.pop("target")
    # some libraries reject some names
    frame.columns = [f"x{k}" for k in range(frame.shape[1])]
    if positive is not None:
        target = target == sorted(set(target))[positive]
    return frame, target.to_numpy().astype(int)
