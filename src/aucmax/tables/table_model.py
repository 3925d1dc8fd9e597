"""A model together with the encoder of its table: raw rows in, scores out."""

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
import polars.selectors as cs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import column_or_1d

from aucmax._core import saved_state as saved
from aucmax._core.fitting import replace_state, require_fitted
from aucmax._core.threshold import balanced_threshold
from aucmax.decisions.alerts import AlertMixin
from aucmax.decisions.calibrated import CalibratedMixin
from aucmax.decisions.calibration import check_calibrate, learn_calibration
from aucmax.decisions.event_probability import EventProbabilityMixin
from aucmax.exceptions import (
    ConstantScoresWarning,
    IncompatibleError,
    ModelFileError,
)
from aucmax.tables import cross_fit
from aucmax.tables._column_types import reject_infinities
from aucmax.tables.cross_fit import check_categories, score_rows, view_rows
from aucmax.tables.encoder import VIEWS, TableEncoder
from aucmax.tables.frames import allow_tables, as_table, warn_of_other_columns
from aucmax.tables.pandas_frames import for_frame
from aucmax.tables.row_drift import learn_ranges
from aucmax.tables.row_sketch import share_of_known_rows, sketch_rows
from aucmax.tables.target import Grading, Target, has_constant_scores
from aucmax.tables.target_encoding import encode_target, match_target

_LEVELS = (None, "learn", "relevant")


@dataclass(eq=False, repr=False)
class TableModel(
    AlertMixin,
    CalibratedMixin,
    EventProbabilityMixin,
    ClassifierMixin,
    BaseEstimator,
):
    """An estimator for raw tables: an encoder and a model.

    Parameters
    ----------
    estimator : estimator
        Any binary classifier with ``decision_function`` or ``predict_proba``.
    encoder : TableEncoder, optional
        The encoder of the columns; by default `TableEncoder()`.
    per_row : dict, optional
        Parameters of the estimator that are multiplied by the number of training rows.
    view : {"linear", "trees", "raw", "frame"}, default="linear"
        The matrix that the estimator learns from: "linear" or "trees" of the encoder,
        the "raw" columns that the encoder uses, or the whole "frame", for a pipeline
        that selects columns by name: of pandas if `X` is, otherwise of polars. An
        estimator with a parameter ``categorical_features`` gets the columns of "trees"
        that hold categories.
    pos_label : optional
        The positive value of the target, the last of `classes_`. By default the second
        of two values in sorted order. scikit-learn's ``scoring="roc_auc"`` always takes
        that one: with another `pos_label`, use
        ``aucmax.metrics.roc_auc_scorer(pos_label=...)``.
    levels : {None, "learn", "relevant"}, default=None
        Treatment of a target with more than two levels of relevance: raise an error,
        learn them, or learn which rows are above the lowest.
    name : str, optional
        Name of the model, for reports.
    target : str, optional
        Name of the target column, for reports and for ``aucmax evaluate``.
    query_column : str, optional
        Name of the column of queries, for the same.
    calibrate : {None, "auto", "sigmoid", "isotonic"}, default=None
        Calibration of the scores; without it there is no `predict_proba`. It is fitted
        to scores of held-out rows: by the estimator itself if it has this parameter,
        otherwise by five more fits (three beyond 20,000 rows). "auto" is "isotonic"
        with 1,000 rows of each class, and "sigmoid" with fewer.
    duration_column : str, optional
        Name of the column of durations, for ``aucmax evaluate``, if `target` names the
        events of censored times.
    decimal : {".", ","}, default="."
        The decimal mark of the training file, by which commands read new rows.

    Attributes
    ----------
    encoder_, estimator_ : estimators
        The fitted parts.
    classes_ : ndarray
        The negative and the positive class, or the levels.
    values_, levels_ : ndarray
        The target values of training, and their levels: 0 and 1 for two classes.
    is_survival_ : bool
        True if the target has censored times; the classes are then no event and event.
    n_rows_, n_positive_ : int
        Training rows, and how many of them were positive, or had an event.
    threshold_ : float
        `predict` returns the positive class above it, unless a threshold is stored: the
        threshold of the best balanced accuracy, on held-out rows for AutoRanker and
        with `calibrate`, otherwise on the training rows. NaN for levels.
    calibration_ : ndarray of shape (2, n_knots)
        Increasing scores and their log-odds, interpolated; only with `calibrate`.
    base_rate_ : float
        Share of positives among the rows of the calibration; only with `calibrate`.
    alert_threshold_ : float or None
        The threshold of :meth:`store_threshold`, if any; ``alert_point_`` has its rule,
        counts and intervals.
    row_sketch_ : ndarray of uint64
        Hashes of training rows, for :meth:`share_of_known_rows`.
    ranges_ : ndarray of shape (3, n_columns)
        Low and high ends of the values of each column that trees see, and the share of
        values outside to expect of new rows; ``aucmax score`` compares new rows.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucmax.tables import TableModel
    >>> table = pl.DataFrame({"size": [1, 2, 3, 4], "kind": ["a", "b", "a", "b"]})
    >>> model = TableModel(LogisticRegression()).fit(table, ["no", "no", "yes", "yes"])
    >>> model.predict(pl.DataFrame({"size": [9], "kind": ["a"]})).tolist()
    ['yes']
    """

    _saved_state = saved.fields(
        levels=saved.one_of(*_LEVELS),
        decimal=saved.one_of(".", ","),
        view=saved.one_of(*VIEWS),
        classes_=saved.array(saved.LABEL_KINDS, None),
        values_=saved.array(saved.LABEL_KINDS, "levels_"),
        levels_=saved.array("i", None),
        threshold_=saved.number,
        row_sketch_=saved.array("u", None),
        encoder_=saved.instance_of(TableEncoder),
        estimator_=saved.fitted_model,
        n_rows_=saved.count,
        n_positive_=saved.count,
        **saved.optional(
            is_survival_=saved.instance_of(bool), ranges_=saved.array("f", 3, None)
        ),
    )

    estimator: Any
    encoder: TableEncoder | None = None
    per_row: dict[str, float] | None = None
    view: str = "linear"
    pos_label: Any = None
    levels: str | None = None
    name: str | None = None
    target: str | None = None
    query_column: str | None = None
    calibrate: str | None = None
    duration_column: str | None = None
    decimal: str = "."

    def fit(self, X: Any, y: Any, *, qid: Any = None, checkpoint: Any = None) -> Self:
        """Learn the columns of the table, then the model.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.
        y : array-like of shape (rows,), or Target
            The target: two different values, or more if `levels` allows them; or events
            and times, as :func:`aucmax.metrics.survival_target` makes them.
        qid : array-like of shape (rows,), optional
            The query of each row, for an estimator that can learn within queries.
        checkpoint : path, optional
            A file from which a killed fit resumes, if the estimator's `fit` takes it.

        Returns
        -------
        self : object
            The fitted model.
        """
        if self.levels not in _LEVELS:
            raise ValueError(f"levels must be one of {_LEVELS}, got {self.levels!r}.")
        check_calibrate(self.calibrate)
        if y is None:
            raise ValueError("fit requires y to be passed, but the target y is None.")
        table = as_table(X)
        if getattr(y, "shape", ())[1:] == (1,):
            y = column_or_1d(y, warn=True)
        target = encode_target(
            y,
            None if isinstance(y, Target) else self.pos_label,
            name="the target" if self.target is None else f"column {self.target!r}",
            allow_levels=self.levels is not None,
            qid=qid,
        )
        check_rows(table, target)
        if self.calibrate is not None and (target.is_graded or target.is_survival):
            kind = "more than two levels of relevance"
            raise IncompatibleError(
                f"the target has {'censored times' if target.is_survival else kind}, "
                "but probabilities need two classes; use calibrate=None."
            )
        encoder = cross_fit.learn_encoder(self.encoder, table, target)
        if self.view != "frame":  # of which the estimator sees all columns
            encoder.warn_of_dropped()
        matrix = cross_fit.view_training_rows(self.view, encoder, table, target)
        model = for_frame(self, X)
        estimator = cross_fit.fit_estimator(
            model, encoder, matrix, target, checkpoint=checkpoint
        )
        fitted = {
            **_ranking_parts(encoder, estimator, target),
            "row_sketch_": sketch_rows(encoder, table, target.labels),
            "ranges_": learn_ranges(encoder, table),
            **model._learn_cut(estimator, matrix, table, target),
        }
        replace_state(self, fitted)
        return self

    def _learn_cut(
        self, estimator: Any, matrix: Any, table: Any, target: Target
    ) -> dict[str, Any]:
        """Learn the threshold and, if wanted, the calibration."""
        is_binary = not (target.is_graded or target.is_survival)
        if "calibrate" in estimator.get_params(deep=False) and is_binary:
            # it has learned both by itself, and 0 is its threshold
            names = ["alert_point_"]
            names += [] if self.calibrate is None else ["calibration_", "base_rate_"]
            learned = {n: getattr(estimator, n) for n in names if hasattr(estimator, n)}
            return {"threshold_": 0.0, **learned}
        scores = score_rows(estimator, matrix)
        if has_constant_scores(target, scores):
            warn_of_constant_scores(estimator)
        if not is_binary:
            return {"threshold_": float("nan")}
        if self.calibrate is None:
            labels, weights = target.relevant > 0, target.weights
            return {"threshold_": balanced_threshold(scores, labels, weights)}
        rows, scores = cross_fit.out_of_fold_scores(self, table, target)
        labels, weights = target.relevant[rows] > 0, target.weights_of(rows)
        return {
            "threshold_": balanced_threshold(scores, labels, weights),
            **learn_calibration(self.calibrate, scores, labels, weights),
        }

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
        """Return the scores of raw rows; a higher score ranks higher.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.

        Returns
        -------
        ndarray
        """
        require_fitted(self, "encoder_")
        names = getattr(self.encoder_, "feature_names_in_", None)
        if names is not None and hasattr(X, "columns"):
            roles = self.target, self.query_column, self.duration_column
            warn_of_other_columns(X, names.tolist(), roles)
        return score_rows(self.estimator_, self._matrix(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of raw rows: positive above `decision_threshold_`.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.

        Returns
        -------
        ndarray

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
        """Estimate the share of rows that are training rows, from 0 to 1.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.
        y : array-like of shape (rows,), or Target
            The target: two different values, or more if `levels` allows them; or events
            and times, as :func:`aucmax.metrics.survival_target` makes them.

        Returns
        -------
        float
        """
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

    @property
    def n_features_in_(self) -> int:
        """Number of columns at training."""
        return int(self.encoder_.n_features_in_)

    def score(self, X: Any, y: Any, *, qid: Any = None) -> float:
        """Return the AUC; the MAUC of more than two levels; Harrell's C of times.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.
        y : array-like of shape (rows,), or Target
            The target: two different values, or more if `levels` allows them; or events
            and times, as :func:`aucmax.metrics.survival_target` makes them.
        qid : array-like of shape (rows,), optional
            The query of each row, for an estimator that can learn within queries.

        Returns
        -------
        score : float
            Mean accuracy of ``self.predict(X)`` w.r.t. `y`.
        """
        from aucmax.metrics import multiclass_auc_score, roc_auc_score
        from aucmax.metrics.concordance import target_concordance

        target = match_target(y, self.grading_, qid=qid)
        if target.is_survival:
            scores = self.decision_function(X)
            return target_concordance(target.survival, scores, qid=target.queries)
        metric = multiclass_auc_score if target.is_graded else roc_auc_score
        scores = self.decision_function(X)
        return float(metric(target.labels, scores, qid=target.queries))

    def __sklearn_tags__(self) -> Any:
        tags = allow_tables(super().__sklearn_tags__())
        tags.classifier_tags.multi_class = False
        return tags


def warn_of_constant_scores(estimator: Any) -> None:
    """Warn that all scores are equal."""
    warnings.warn(
        f"{type(estimator).__name__} gives all rows the same score, or all rows of "
        "each query, so it does not rank them. Try another model, more rows or more "
        "time, or check that the columns are related to the target.",
        ConstantScoresWarning,
        stacklevel=3,
    )


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


def assemble_model(
    template: TableModel, encoder: TableEncoder, estimator: Any, target: Target
) -> TableModel:
    """Return a model that ranks by parts that are fitted to the rows of a target."""
    model: TableModel = clone(template)
    replace_state(model, _ranking_parts(encoder, estimator, target))
    return model


def _ranking_parts(
    encoder: TableEncoder, estimator: Any, target: Target
) -> dict[str, Any]:
    return {
        "encoder_": encoder,
        "estimator_": estimator,
        "classes_": np.array(target.grading.classes),
        "values_": np.array(target.grading.values),
        "levels_": np.array(target.grading.levels),
        "n_rows_": target.labels.size,
        "n_positive_": target.n_positive,
        **({"is_survival_": True} if target.is_survival else {}),
    }
