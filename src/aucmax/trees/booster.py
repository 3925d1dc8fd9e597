"""LightGBM's boosters: the data that they read, and the scores that they return."""

import os
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any
from weakref import WeakKeyDictionary

import joblib
import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from aucmax._core.threads import has_lost_threads, import_package, note_threads
from aucmax._core.validation import FloatArray, IntArray

#: parameters of a silent model that does not depend on the number of threads
REPEATABLE = {"deterministic": True, "force_row_wise": True, "verbosity": -1}

_MAX_THREADS = 256
_ROWS_PER_THREAD = 2000
_CELLS_AT_ONCE = 1 << 20  # of a memory map: 8 megabytes

# boosters by estimator, with the text they were built from; not part of the state of an
# estimator, so that a saved or copied model has text alone
_BOOSTERS: "WeakKeyDictionary[Any, tuple[str, Any]]" = WeakKeyDictionary()


def new_dataset(
    parameters: Mapping[str, Any],
    X: Any,
    labels: ArrayLike,
    categorical: Sequence[int],
    names: Sequence[str] | None = None,
) -> Any:
    """Return LightGBM's data set of these rows, not yet in bins."""
    lightgbm = import_package("lightgbm", "a model of trees")

    return lightgbm.Dataset(
        readable_by_lightgbm(X),
        labels,
        feature_name="auto" if names is None else list(names),
        categorical_feature=list(categorical),
        params=dict(parameters),
        free_raw_data=True,
    )


def predict(estimator: Any, X: Any, **options: Any) -> Any:
    """Return the prediction of the booster of `estimator.model_text_`, built once."""
    text, booster = _BOOSTERS.get(estimator, ("", None))
    if booster is None or text != estimator.model_text_:
        lightgbm = import_package("lightgbm", "a model of trees")

        booster = lightgbm.Booster(model_str=estimator.model_text_)
        _BOOSTERS[estimator] = (estimator.model_text_, booster)
    return booster.predict(
        readable_by_lightgbm(X),
        num_threads=n_threads(estimator.n_jobs, X.shape[0]),
        **options,
    )


def contributions(estimator: Any, X: Any) -> FloatArray:
    """Split scores into contributions of columns; the last column is the mean."""
    table = predict(estimator, X, pred_contrib=True)
    return np.asarray(table.toarray() if hasattr(table, "toarray") else table)


def n_threads(n_jobs: Any, n_rows: int) -> int:
    """Return the number of threads for the parameter `n_jobs`; 0 and -1 are all cores.

    None takes one for few rows: threads would wait for each other longer than they
    work. A process that lost its threads by a fork also takes one: LightGBM would wait
    for them forever.
    """
    if n_jobs is None:
        n_jobs = min(_allowed_threads(), max(n_rows // _ROWS_PER_THREAD, 1))
    elif n_jobs in (0, -1):
        n_jobs = joblib.cpu_count()
    if not isinstance(n_jobs, Integral) or int(n_jobs) < 1:
        raise ValueError(
            "n_jobs must be a number of threads, 0 for all cores, or None, got "
            f"{n_jobs!r}."
        )
    threads = 1 if has_lost_threads() else min(int(n_jobs), _MAX_THREADS)
    note_threads(threads)
    return threads


def _allowed_threads() -> int:
    """Return the cores of this process that OMP_NUM_THREADS allows."""
    limit = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    cores: int = joblib.cpu_count()
    return min(cores, int(limit)) if limit.isdecimal() and int(limit) else cores


def readable_by_lightgbm(X: Any) -> Any:
    """Return the data without a copy; LightGBM does not read SciPy's sparse arrays."""
    if isinstance(X, MappedRows):
        return X.sequence()
    if not sparse.issparse(X):
        return X
    by_column = getattr(X, "format", "") == "csc"
    as_matrix: Any = sparse.csc_matrix if by_column else sparse.csr_matrix
    return as_matrix(X)


class MappedRows:
    """Some rows of a memory map, or all, with columns divided by powers of two.

    LightGBM reads a sample of them, then all in batches, and keeps about a byte per
    cell: the matrix is never in memory as a whole.
    """

    def __init__(
        self, X: Any, exponents: IntArray | None, rows: IntArray | None = None
    ) -> None:
        self._X = X
        self._exponents = exponents
        self._rows = rows
        self.shape = (X.shape[0] if rows is None else rows.size, X.shape[1])

    def __getitem__(self, rows: IntArray) -> "MappedRows":
        chosen = rows if self._rows is None else self._rows[rows]
        return MappedRows(self._X, self._exponents, chosen)

    def read(self, place: Any) -> FloatArray:
        """Read a row, or a slice of them."""
        found = self._X[place if self._rows is None else self._rows[place]]
        found = np.array(found, dtype=np.float64, order="C")
        if self._exponents is None:
            return found
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(found, -self._exponents))

    def sequence(self) -> Any:
        """Return the rows as LightGBM reads them."""
        import lightgbm

        owner = self

        class MappedSequence(lightgbm.Sequence):
            batch_size = max(1, _CELLS_AT_ONCE // owner.shape[1])

            def __getitem__(self, place: Any) -> FloatArray:
                return owner.read(place)

            def __len__(self) -> int:
                return int(owner.shape[0])

        return MappedSequence()
