"""Scores of raw rows by a fitted model for tables; without scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core import saved_state as saved
from aucmax._core.docstrings import documented
from aucmax._core.fitting import require_fitted
from aucmax._core.parameters import check_choice
from aucmax._core.row_matrix import linear_scores
from aucmax.decisions.alerts import AlertMixin
from aucmax.decisions.calibrated import CalibratedMixin
from aucmax.exceptions import IncompatibleError, ModelFileError
from aucmax.tables.frames import warn_of_other_columns
from aucmax.tables.learned_columns import VIEWS, LearnedColumns
from aucmax.tables.row_sketch import share_of_known_rows
from aucmax.tables.target import Grading, Target
from aucmax.tables.target_encoding import match_target


@dataclass(eq=False)
class LinearScorer:
    """The weights of a linear model, to score rows that `LearnedColumns` encodes."""

    _saved_state = saved.fields(
        n_features_in_=saved.count,
        coef_=saved.array("f", 1, "n_features_in_"),
        intercept_=saved.array("f", 1),
    )

    # the part of the ROC curve that it was trained for
    fpr_range: Sequence[float] = (0.0, 1.0)
    tpr_range: Sequence[float] = (0.0, 1.0)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score rows: the higher, the more likely positive."""
        model: Any = self
        return linear_scores(X, model.coef_, model.intercept_)


def view_rows(view: str, encoder: LearnedColumns, table: Any) -> Any:
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


def check_categories(view: str, encoder: LearnedColumns, estimator: Any) -> None:
    """Reject a loaded estimator that takes columns of numbers for categories."""
    taken = {*getattr(estimator, "categorical_features_", [])}
    if view == "trees" and not taken <= {*encoder.categorical_features_}:
        raise ModelFileError("the model and its table differ in what is a category")


@documented
class TableScores(AlertMixin, CalibratedMixin):
    """The half of `TableModel` that new rows need."""

    _saved_state = saved.fields(
        view=saved.one_of(*VIEWS),
        classes_=saved.array(saved.LABEL_KINDS, None),
        values_=saved.array(saved.LABEL_KINDS, "levels_"),
        levels_=saved.array("i", None),
        threshold_=saved.number,
        row_sketch_=saved.array("u", None),
        **saved.optional(
            is_survival_=saved.instance_of(bool), ranges_=saved.array("f", 3, None)
        ),
    )

    view: str
    target: str | None
    query_column: str | None
    duration_column: str | None
    decimal: str
    encoder_: Any
    estimator_: Any
    classes_: NDArray[Any]
    values_: NDArray[Any]
    levels_: NDArray[Any]
    threshold_: float
    row_sketch_: NDArray[np.uint64]
    ranges_: NDArray[np.float64]  # missing in earlier model files

    @property
    def grading_(self) -> Grading:
        """The meaning of the values of the target at training."""
        require_fitted(self, "encoder_")
        return Grading(tuple(self.values_.tolist()), tuple(self.levels_.tolist()))

    @property
    def has_threshold_(self) -> bool:
        """Whether it can predict a class: not if it ranks by levels or times."""
        return not (self.grading_.is_graded or hasattr(self, "is_survival_"))

    @property
    def decision_threshold_(self) -> float:
        """The threshold of `predict`: the stored one, else `threshold_`."""
        stored = self.alert_threshold_
        return self.threshold_ if stored is None else stored

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of raw rows; a higher score ranks higher."""
        require_fitted(self, "encoder_")
        names = getattr(self.encoder_, "feature_names_in_", None)
        if names is not None and hasattr(X, "columns"):
            roles = self.target, self.query_column, self.duration_column
            warn_of_other_columns(X, names.tolist(), roles)
        return score_rows(self.estimator_, self._matrix(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of raw rows: positive above `decision_threshold_`.

        Raises
        ------
        IncompatibleError
            The model ranks by levels of relevance or times, and has no threshold.
        """
        if not self.has_threshold_:
            raise IncompatibleError(
                "the model ranks by levels of relevance or by censored times and has "
                "no threshold between them; use decision_function."
            )
        is_positive = self.decision_function(X) > self.decision_threshold_
        return np.asarray(self.classes_[is_positive.astype(np.intp)])

    def share_of_known_rows(self, X: Any, y: Any) -> float:
        """Estimate the share of rows that are training rows, from 0 to 1."""
        target = y if isinstance(y, Target) else match_target(y, self.grading_)
        return share_of_known_rows(self.row_sketch_, self.encoder_, X, target.labels)

    def _matrix(self, X: Any) -> Any:
        return view_rows(self.view, self.encoder_, X)

    def _check_state(self) -> None:
        """Reject a loaded state that no fit can have produced."""
        if not hasattr(self, "classes_"):
            return
        if not self._has_sound_grading():
            raise ModelFileError("the model file does not name two classes")
        matrix = self._matrix(self.encoder_.sample_row())
        if matrix.shape[1] != self.estimator_.n_features_in_:
            raise ModelFileError("the columns of the table do not fit the model")
        check_categories(self.view, self.encoder_, self.estimator_)
        n_ranges = getattr(self, "ranges_", np.empty((3, 0))).shape[1]
        if n_ranges not in (0, len([*self.encoder_._parts()])):
            raise ModelFileError("the ranges of columns do not fit the table")

    def _has_sound_grading(self) -> bool:
        try:
            grading = self.grading_
            is_sound = bool(self.levels_.dtype.kind == "i" and self.levels_.ndim == 1)
            is_sound &= len(grading.levels) == len(grading.values)
            is_sound &= len(set(grading.levels)) >= 2
            return is_sound and list(grading.classes) == self.classes_.tolist()
        except (AttributeError, TypeError, ValueError):
            return False


@dataclass(eq=False)
class LinearTableScorer(TableScores):
    """A linear `TableModel` of which scikit-learn is not needed, to score rows only."""

    _saved_state = saved.fields(
        encoder_=saved.instance_of(LearnedColumns),
        estimator_=saved.instance_of(LinearScorer),
    )

    view: str = "linear"
    name: str | None = None
    target: str | None = None
    query_column: str | None = None
    calibrate: str | None = None
    duration_column: str | None = None
    decimal: str = "."
