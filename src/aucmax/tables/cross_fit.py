"""Fit estimators to the rows of a table, and score rows that they have not seen."""

import time
import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from aucmax._core.dask_dispatch import is_dask
from aucmax._core.row_splits import Folds
from aucmax.exceptions import (
    IncompatibleError,
    ModelFileError,
    UnknownCategoriesWarning,
)
from aucmax.tables._cells import reject_infinities, type_columns
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.folds import divide_rows
from aucmax.tables.target import Target

_ALL_ROWS = 10**9


class TableCandidate(NamedTuple):
    """An unfitted estimator, and how it learns from a table."""

    name: str
    estimator: Any
    view: str = "linear"  # of the encoder: the matrix, or "frame", all columns
    # parameters that are multiplied by the number of training rows
    per_row: Mapping[str, float] = MappingProxyType({})
    learns_levels: bool = False  # or which rows are above the lowest level
    max_rows: int = _ALL_ROWS  # more training rows are sampled


def fitted_model(encoder: TableEncoder, view: str, estimator: object) -> Any:
    """Return a model of raw rows made of two fitted parts."""
    if view == "frame":
        return estimator
    return make_pipeline(copy(encoder).set_params(view=view), estimator)


def view_rows(view: str, encoder: TableEncoder, table: object) -> Any:
    """Turn raw rows into the matrix that a kind of estimator scores."""
    return encoder.frame(table) if view == "frame" else encoder.matrix(table, view)


def score_rows(estimator: Any, matrix: Any) -> NDArray[np.float64]:
    """Return scores of encoded rows, or the probability of the positive class."""
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(matrix)
    elif hasattr(estimator, "predict_proba"):
        scores = estimator.predict_proba(matrix)[:, 1]
    else:  # a survival model of another package, which predicts risks
        scores = estimator.predict(matrix)
    return np.asarray(scores, dtype=np.float64)


def check_categories(view: str, encoder: TableEncoder, estimator: object) -> None:
    """Reject a loaded estimator that takes columns of numbers for categories."""
    coded = {*getattr(estimator, "categorical_features_", [])}
    if view == "trees" and not coded <= {*encoder.categorical_features_}:
        raise ModelFileError("the model and its table differ in what is a category")


def check_rows(table: Any, target: Target) -> None:
    """Reject a target of another length, and infinite numbers: folds renumber rows."""
    if not table.shape[1]:  # has no rows either in polars 1
        raise ValueError(
            f"the table has no column: 0 feature(s) (shape={table.shape}) while a "
            "minimum of 1 is required."
        )
    if table.shape[0] != target.labels.size:
        raise ValueError(
            f"the table has {table.shape[0]} rows, but the target has "
            f"{target.labels.size}."
        )
    if isinstance(table, pl.DataFrame):
        for column in table.select(cs.float()).get_columns():
            reject_infinities(column.name, column.to_numpy())


def learn_encoder(table: object, target: Target) -> TableEncoder:
    """Learn the columns of a table; dates are also numbers if rows have times."""
    encoder = TableEncoder(absolute_dates=target.times is not None)
    return encoder.learn(table, target.high)


def view_training_rows(
    view: str, encoder: TableEncoder, table: object, target: Target
) -> Any:
    """Turn raw rows into the matrix that a kind of estimator learns from."""
    # no row sees its own label, one of its group or query, or a later one
    if view == "frame":
        return encoder.frame(table)
    return encoder.training_rows(
        table, target.high, view, groups=target.unit, times=target.times
    )


def fit_estimator(
    candidate: TableCandidate,
    encoder: TableEncoder,
    matrix: object,
    target: Target,
    callback: object = None,
) -> Any:
    """Fit a copy of a candidate's estimator to rows that are encoded already."""
    # queries, weights, groups, times and categories go to the estimators that take them
    n_rows = target.labels.size
    scaled = candidate.per_row.items()
    settings: dict[str, Any] = {name: value * n_rows for name, value in scaled}
    if callback is not None:
        # set after cloning, which would copy what the callback belongs to
        settings["callback"] = callback
    if candidate.view == "trees" and (
        "categorical_features" in candidate.estimator.get_params()
    ):
        settings["categorical_features"] = encoder.categorical_features_
    estimator = clone(candidate.estimator).set_params(**settings)
    values_per_row = {
        "qid": target.queries,
        "sample_weight": target.weights,
        "groups": target.groups,
        "times": target.times,
    }
    values_per_row = {
        name: values for name, values in values_per_row.items() if values is not None
    }
    fit_parameters = {
        n: v for n, v in values_per_row.items() if has_fit_parameter(estimator, n)
    }
    if "sample_weight" in values_per_row.keys() - fit_parameters.keys():
        warnings.warn(
            f"{type(estimator).__name__} does not support weights and learns from all "
            "rows with equal weight.",
            UserWarning,
            stacklevel=2,
        )
    labels: Any = target.labels if candidate.learns_levels else target.relevant
    if target.is_survival:
        labels = target.survival
    parameters: dict[str, Any] = {} if callback is None else {"callback": None}
    if folds := _inner_folds(estimator, matrix, labels, fit_parameters, target):
        parameters["cv"] = estimator.get_params(deep=False)["cv"]
        estimator.set_params(cv=folds)
    estimator.fit(matrix, labels, **fit_parameters)
    return estimator.set_params(**parameters) if parameters else estimator


def _inner_folds(
    estimator: Any,
    matrix: Any,
    labels: Any,
    fit_parameters: Mapping[str, object],
    target: Target,
) -> Folds:
    """Return folds for an estimator that would make its own without groups or times."""
    cv = estimator.get_params(deep=False).get("cv", ())
    unit = target.unit
    is_grouped = unit is None or bool(fit_parameters.keys() & {"groups", "qid"})
    if (target.times is None and is_grouped) or not (cv is None or type(cv) is int):
        return []
    is_positive = target.high > 0 if target.is_survival else labels > np.min(labels)
    folds = [
        fold
        for fold in divide_rows(is_positive, cv or 5, unit=unit, times=target.times)
        if 0 < is_positive[fold[1]].sum() < fold[1].size
    ]
    if not folds or is_dask(matrix):
        reason = "not supported on Dask" if folds else "a class is missing"
        raise IncompatibleError(
            f"{type(estimator).__name__} chooses its settings by folds, which these "
            f"groups or times do not allow: {reason}. Leave them out, or fit another "
            "model."
        )
    return folds


class ScoredFold(NamedTuple):
    """An estimator fitted to a fold, its scores of the test rows, and its seconds."""

    estimator: Any
    scores: NDArray[np.float64]
    seconds: float


@dataclass
class FoldedTable:
    """A table with its folds: encoders and matrices are made once for all models."""

    # with max_cells, the matrices of one view are kept at a time if all have more cells
    table: Any  # sparse, raw, or with types: several folds share those of all rows
    target: Target
    folds: Folds
    max_cells: float = np.inf
    _encoders: dict[int, TableEncoder] = field(default_factory=dict)
    _matrices: dict[tuple[int, str], tuple[Any, Any]] = field(default_factory=dict)
    _seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.folds) > 1 and isinstance(self.table, pl.DataFrame):
            self.table = type_columns(self.table)

    @property
    def is_large(self) -> bool:
        """Whether memory and time allow the matrices of one view only."""
        n_rows, n_columns = self.table.shape
        return bool(n_rows * n_columns * len(self.folds) > self.max_cells)

    @property
    def seconds(self) -> float:
        """Time that all matrices took."""
        return sum(self._seconds)

    def seconds_to_encode(self, view: str, fold: int) -> float:
        """Estimate the time for the matrices of a fold by that of others."""
        is_known = (fold, view) in self._matrices
        return 0.0 if is_known else max(self._seconds, default=0.0)

    def encoder(self, fold: int) -> TableEncoder:
        """Return the encoder of a fold."""
        if fold not in self._encoders:
            train, _ = self.folds[fold]
            rows, known = self.table[train], self.target.take(train)
            self._encoders[fold] = learn_encoder(rows, known)
        return self._encoders[fold]

    def matrices(self, view: str, fold: int) -> tuple[Any, Any]:
        """Return the training and the test rows of a fold, in a view."""
        key = fold, view
        if key not in self._matrices:
            if self.is_large:
                for other in [one for one in self._matrices if one[1] != view]:
                    del self._matrices[other]
            start = time.perf_counter()
            encoder = self.encoder(fold)
            train, test = self.folds[fold]
            rows, known = self.table[train], self.target.take(train)
            learned_from = view_training_rows(view, encoder, rows, known)
            new = None
            if test.size:
                with warnings.catch_warnings():
                    # rows of other queries, groups or times may well be unlike
                    warnings.simplefilter("ignore", UnknownCategoriesWarning)
                    new = view_rows(view, encoder, self.table[test])
            self._matrices[key] = learned_from, new
            self._seconds.append(time.perf_counter() - start)
        return self._matrices[key]

    def forget(self, fold: int) -> None:
        """Free the memory of a fold that is done."""
        for one in [key for key in self._matrices if key[0] == fold]:
            del self._matrices[one]

    def fit(
        self,
        candidate: TableCandidate,
        fold: int,
        *,
        random_state: int = 0,
        callback: object = None,
    ) -> Any:
        """Fit a copy of the estimator to the training rows, or to some of them."""
        matrix, _ = self.matrices(candidate.view, fold)
        rows, _ = self.folds[fold]
        if rows.size > candidate.max_rows:
            is_high = self.target.high[rows] > 0
            kept = sample_rows(is_high, candidate.max_rows, random_state)
            matrix, rows = matrix[kept], rows[kept]
        encoder, target = self.encoder(fold), self.target.take(rows)
        return fit_estimator(candidate, encoder, matrix, target, callback)

    def fit_and_score(self, candidate: TableCandidate, fold: int) -> ScoredFold:
        """Fit to the training rows of a fold and score its test rows."""
        _, new = self.matrices(candidate.view, fold)
        start = time.perf_counter()
        estimator = self.fit(candidate, fold)
        seconds = time.perf_counter() - start
        return ScoredFold(estimator, score_rows(estimator, new), seconds)


def sample_rows(
    is_positive: NDArray[np.bool_], n_wanted: int, random_state: int
) -> NDArray[np.int64]:
    """Draw rows: all of the rarer class if they fit into half, others at random."""
    draw = np.random.default_rng(random_state)
    positives, negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    rare, common = sorted((positives, negatives), key=len)
    n_rare = min(rare.size, max(n_wanted // 2, 1))
    kept = [
        draw.choice(rare, n_rare, replace=False),
        draw.choice(common, n_wanted - n_rare, replace=False),
    ]
    return np.sort(np.concatenate(kept))
