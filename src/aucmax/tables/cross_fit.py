"""Fit estimators to the rows of a table, and score rows that they have not seen."""

import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from aucmax._core.dask_dispatch import is_dask
from aucmax._core.parameters import check_choice
from aucmax._core.row_splits import Folds, RowNumbers
from aucmax.exceptions import (
    IncompatibleError,
    ModelFileError,
    NotEnoughClassesError,
    UnknownCategoriesWarning,
)
from aucmax.tables.encoder import VIEWS, TableEncoder
from aucmax.tables.folds import divide_rows, has_both_classes
from aucmax.tables.target import Target

if TYPE_CHECKING:
    from aucmax.tables.table_model import TableModel

_MAX_FOLDS = 5
# Beyond this number of rows three folds suffice to learn probabilities.
_MANY_ROWS = 20_000


def view_rows(view: str, encoder: TableEncoder, table: Any) -> Any:
    """Turn raw rows into the matrix that a kind of estimator scores."""
    check_choice("view", view, VIEWS)
    return getattr(encoder, VIEWS[view])(table)


def score_rows(estimator: Any, matrix: Any) -> NDArray[np.float64]:
    """Return scores of encoded rows, or the probability of the positive class."""
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(matrix)
    elif hasattr(estimator, "predict_proba"):
        scores = estimator.predict_proba(matrix)[:, 1]
    else:  # a survival model of another package, which predicts risks
        scores = estimator.predict(matrix)
    return np.asarray(scores, dtype=np.float64)


def check_categories(view: str, encoder: TableEncoder, estimator: Any) -> None:
    """Reject a loaded estimator that takes columns of numbers for categories."""
    taken = {*getattr(estimator, "categorical_features_", [])}
    if view == "trees" and not taken <= {*encoder.categorical_features_}:
        raise ModelFileError("the model and its table differ in what is a category")


def learn_encoder(
    template: TableEncoder | None, table: Any, target: Target
) -> TableEncoder:
    """Learn the columns of a table by the settings of an encoder, or the usual ones."""
    encoder = TableEncoder() if template is None else clone(template)
    if encoder.absolute_dates is None:
        encoder.absolute_dates = target.times is not None
    return encoder.learn(table, target.high)


def view_training_rows(
    view: str, encoder: TableEncoder, table: Any, target: Target
) -> Any:
    """Turn raw rows into the matrix that a kind of estimator learns from."""
    # no row sees its own label, one of its group or query, or a later one
    check_choice("view", view, VIEWS)
    if view in ("raw", "frame"):
        return view_rows(view, encoder, table)
    return encoder.training_rows(
        table, target.high, view, groups=target.unit, times=target.times
    )


def fit_estimator(
    model: "TableModel",
    encoder: TableEncoder,
    matrix: Any,
    target: Target,
    *,
    checkpoint: Any = None,
    callback: Any = None,
) -> Any:
    """Fit a copy of a model's estimator to rows that are encoded already."""
    # queries, weights, groups, times and categories go to the estimators that take them
    n_rows = target.labels.size
    scaled = (model.per_row or {}).items()
    settings: dict[str, Any] = {name: value * n_rows for name, value in scaled}
    if callback is not None:
        # set after cloning, which would copy what the callback belongs to
        settings["callback"] = callback
    parameters = model.estimator.get_params()
    if model.calibrate is not None and "calibrate" in parameters:
        settings["calibrate"] = model.calibrate
    if model.view == "trees" and "categorical_features" in parameters:
        settings["categorical_features"] = encoder.categorical_features_
    estimator = clone(model.estimator).set_params(**settings)
    known = {
        "qid": target.queries,
        "sample_weight": target.weights,
        "groups": target.groups,
        "times": target.times,
    }
    known = {name: values for name, values in known.items() if values is not None}
    taken = {n: v for n, v in known.items() if has_fit_parameter(estimator, n)}
    if "sample_weight" in known.keys() - taken.keys():
        warnings.warn(
            f"{type(estimator).__name__} does not support weights and learns from all "
            "rows with equal weight.",
            UserWarning,
            stacklevel=2,
        )
    if checkpoint is not None:
        if not has_fit_parameter(estimator, "checkpoint"):
            raise IncompatibleError(
                f"{type(estimator).__name__} cannot resume from a checkpoint; leave it "
                "out, or fit an AutoRanker."
            )
        taken["checkpoint"] = checkpoint
    labels: Any = target.labels if model.levels == "learn" else target.relevant
    if target.is_survival:
        labels = target.survival
    _fit_with_folds(estimator, matrix, labels, taken, target)
    return estimator if callback is None else estimator.set_params(callback=None)


def _fit_with_folds(
    estimator: Any, matrix: Any, labels: Any, taken: dict[str, Any], target: Target
) -> Any:
    """Fit an estimator whose own folds, if it makes any, respect groups and times."""
    cv = estimator.get_params(deep=False).get("cv", ())
    unit = target.unit
    is_grouped = unit is None or bool(taken.keys() & {"groups", "qid"})
    if (target.times is None and is_grouped) or not (cv is None or type(cv) is int):
        return estimator.fit(matrix, labels, **taken)
    known = target.high > 0 if target.is_survival else labels > np.min(labels)
    folds = [
        fold
        for fold in divide_rows(known, cv or 5, unit=unit, times=target.times)
        if 0 < known[fold[1]].sum() < fold[1].size
    ]
    if not folds or is_dask(matrix):
        reason = "not supported on Dask" if folds else "a class is missing"
        raise IncompatibleError(
            f"{type(estimator).__name__} chooses its settings by folds, which these "
            f"groups or times do not allow: {reason}. Leave them out, or fit another "
            "model."
        )
    return estimator.set_params(cv=folds).fit(matrix, labels, **taken).set_params(cv=cv)


class ScoredFold(NamedTuple):
    """An estimator fitted to a fold, its scores of the test rows, and its seconds."""

    estimator: Any
    scores: NDArray[np.float64]
    seconds: float


@dataclass
class FoldedTable:
    """A table with its folds: encoders and matrices are made once for all models."""

    # with max_cells, the matrices of one view are kept at a time if all have more cells
    table: Any
    target: Target
    folds: Folds
    max_cells: float = np.inf
    template: TableEncoder | None = None  # of models without an encoder
    _encoders: dict[Any, TableEncoder] = field(default_factory=dict)
    _matrices: dict[Any, tuple[Any, Any]] = field(default_factory=dict)
    _seconds: list[float] = field(default_factory=list)

    @property
    def is_large(self) -> bool:
        """Whether memory and time allow the matrices of one view only."""
        n_rows, n_columns = self.table.shape
        return bool(n_rows * n_columns * len(self.folds) > self.max_cells)

    @property
    def seconds(self) -> float:
        """Time that all matrices took."""
        return sum(self._seconds)

    def seconds_to_encode(self, model: "TableModel", fold: int) -> float:
        """Estimate the time for the matrices of a fold by that of others."""
        is_known = (fold, model.encoder, model.view) in self._matrices
        return 0.0 if is_known else max(self._seconds, default=0.0)

    def encoder(self, fold: int, template: TableEncoder | None = None) -> TableEncoder:
        """Return the encoder of a fold."""
        if (fold, template) not in self._encoders:
            train, _ = self.folds[fold]
            rows, known = self.table[train], self.target.take(train)
            learned = learn_encoder(template or self.template, rows, known)
            self._encoders[fold, template] = learned
        return self._encoders[fold, template]

    def matrices(self, model: "TableModel", fold: int) -> tuple[Any, Any]:
        """Return the training and the test rows of a fold, in the view of a model."""
        key = fold, model.encoder, model.view
        if key not in self._matrices:
            if self.is_large:
                for other in [one for one in self._matrices if one[2] != model.view]:
                    del self._matrices[other]
            start = time.perf_counter()
            encoder = self.encoder(fold, model.encoder)
            train, test = self.folds[fold]
            rows, known = self.table[train], self.target.take(train)
            learned_from = view_training_rows(model.view, encoder, rows, known)
            new = None
            if test.size:
                with warnings.catch_warnings():
                    # rows of other queries, groups or times may well be unlike
                    warnings.simplefilter("ignore", UnknownCategoriesWarning)
                    new = view_rows(model.view, encoder, self.table[test])
            self._matrices[key] = learned_from, new
            self._seconds.append(time.perf_counter() - start)
        return self._matrices[key]

    def forget(self, fold: int) -> None:
        """Free the memory of a fold that is done."""
        for one in [key for key in self._matrices if key[0] == fold]:
            del self._matrices[one]

    def fit(
        self,
        model: "TableModel",
        fold: int,
        *,
        max_rows: int | None = None,
        random_state: int = 0,
        callback: Any = None,
    ) -> Any:
        """Fit a copy of the estimator to the training rows, or to some of them."""
        matrix, _ = self.matrices(model, fold)
        rows, _ = self.folds[fold]
        if max_rows is not None and rows.size > max_rows:
            kept = sample_rows(self.target.high[rows] > 0, max_rows, random_state)
            matrix, rows = matrix[kept], rows[kept]
        encoder, target = self.encoder(fold, model.encoder), self.target.take(rows)
        return fit_estimator(model, encoder, matrix, target, callback=callback)

    def fit_and_score(
        self, model: "TableModel", fold: int, **options: Any
    ) -> ScoredFold:
        """Fit to the training rows of a fold and score its test rows."""
        _, new = self.matrices(model, fold)
        start = time.perf_counter()
        estimator = self.fit(model, fold, **options)
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


def out_of_fold_scores(
    model: "TableModel", table: Any, target: Target
) -> tuple[RowNumbers, NDArray[np.float64]]:
    """Return rows and their scores by models that were fitted to other folds."""
    # rows of folds whose training rows have both classes; with times, models are of
    # earlier rows, and the earliest are left out
    unit = target.unit
    n_folds = _MAX_FOLDS if target.labels.size <= _MANY_ROWS else 3
    folds = divide_rows(target.relevant, n_folds, unit=unit, times=target.times)
    tested = np.concatenate([test for _, test in folds] or [np.empty(0, np.intp)])
    if not has_both_classes(target.relevant[tested]):
        raise NotEnoughClassesError(
            "calibration needs folds with both classes in training and test rows, but "
            "there are none; use more rows, groups or times, or calibrate=None."
        )
    rows, scores = FoldedTable(table, target, folds), []
    for fold in range(len(folds)):
        with warnings.catch_warnings():
            # the fit to all rows has warned already
            warnings.simplefilter("ignore")
            scores.append(rows.fit_and_score(model, fold).scores)
        rows.forget(fold)
    return tested, np.concatenate(scores)
