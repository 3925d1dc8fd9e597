"""A model together with the preparation of its table: raw rows in, scores out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from aucmax.exceptions import IncompatibleError, ModelFileError
from aucmax.tables.encoder import TableEncoder
from aucmax.tables.grading import Grading
from aucmax.tables.target import Target, encode_target

__all__ = ["VIEWS", "TableModel"]

#: how each kind of estimator sees a table
VIEWS = {
    "linear": TableEncoder.transform,
    "trees": TableEncoder.transform_for_trees,
}


_LEVELS = (None, "learn", "relevant")


class TableModel(ClassifierMixin, BaseEstimator):
    """An estimator that takes raw rows of a table.

    Parameters
    ----------
    estimator : estimator
        Any binary classifier with ``decision_function``.
    encoder : TableEncoder, optional
        How columns are learned; the default encoder if not given.
    per_row : dict, optional
        Parameters of the estimator that are multiplied by the number of training rows.
    view : {"linear", "trees"}, default="linear"
        Which matrix of the encoder the estimator learns from; one that learns from
        "trees" has the parameter ``categorical_features``.
    positive : optional
        The target value to rank on top; see
        :func:`aucmax.tables.encode_target` for the choice made without it.
    levels : {None, "learn", "relevant"}, default=None
        What becomes of a target with more than two levels of relevance: it is refused;
        or the estimator learns them; or it learns which rows are above the lowest.
    name : str, optional
        Name of the model, for reports.
    target : str, optional
        Name of the target column, for reports and for ``aucmax evaluate``.
    query_column : str, optional
        Name of the column that names the query of each row, likewise.

    Attributes
    ----------
    encoder_, estimator_ : estimators
        The fitted parts.
    classes_ : ndarray
        The negative and the positive class, or the levels.
    values_, levels_ : ndarray
        The target values of training, and what each stands for: see
        :class:`aucmax.tables.Grading`.
    n_rows_, n_positive_ : int
        Training rows, and how many of them were positive.

    Examples
    --------
    >>> import polars as pl
    >>> from sklearn.linear_model import LogisticRegression
    >>> from aucmax.tables import TableModel
    >>> table = pl.DataFrame({"size": [1, 2, 3, 4], "kind": ["a", "b", "a", "b"]})
    >>> model = TableModel(LogisticRegression()).fit(table, ["no", "no", "yes", "yes"])
    >>> model.predict(pl.DataFrame({"kind": ["a"], "size": [9]})).tolist()
    ['yes']
    """

    def __init__(
        self,
        estimator: Any,
        encoder: TableEncoder | None = None,
        per_row: dict[str, float] | None = None,
        view: str = "linear",
        positive: Any = None,
        levels: str | None = None,
        name: str | None = None,
        target: str | None = None,
        query_column: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.encoder = encoder
        self.per_row = per_row
        self.view = view
        self.positive = positive
        self.levels = levels
        self.name = name
        self.target = target
        self.query_column = query_column

    def fit(self, X: Any, y: Any, *, qid: Any = None) -> "TableModel":
        """Learn the columns of the table, then the model.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.
        y : array-like of shape (rows,), or Target
            The target: two different values, or more levels if `levels` allows them.
        qid : array-like of shape (rows,), optional
            The query of each row, for an estimator that can learn within queries.
            A :class:`~aucmax.tables.Target` has its own.

        Returns
        -------
        self : TableModel
        """
        target = y if isinstance(y, Target) else self._encode(y, qid)
        if target.labels.size != _n_rows(X):
            raise ValueError(
                f"the table has {_n_rows(X)} rows, but the target {target.labels.size}."
            )
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        self.encoder_ = encoder.fit(X)
        self.estimator_ = fit_estimator(
            scale(clone(self.estimator), self.per_row or {}, target.labels.size),
            self._matrix(X),
            target.labels if self.levels == "learn" else target.relevant,
            target.queries,
            self.encoder_.categorical_features_ if self.view == "trees" else None,
        )
        self.classes_ = np.array(target.grading.classes)
        self.values_ = np.array(target.grading.values)
        self.levels_ = np.array(target.grading.levels)
        self.n_rows_ = target.labels.size
        self.n_positive_ = target.n_positive
        return self

    def _encode(self, y: Any, qid: Any) -> Target:
        if self.levels not in _LEVELS:
            raise ValueError(f"levels must be one of {_LEVELS}, got {self.levels!r}.")
        return encode_target(
            y,
            self.positive,
            name="the target" if self.target is None else f"column {self.target!r}",
            allow_levels=self.levels is not None,
            qid=qid,
        )

    @property
    def grading_(self) -> Grading:
        """What the values of the target meant at training."""
        check_is_fitted(self)
        return Grading(tuple(self.values_.tolist()), tuple(self.levels_.tolist()))

    @property
    def has_threshold_(self) -> bool:
        """Whether it can predict a class: not if it ranks by levels."""
        return not self.grading_.is_graded and hasattr(self.estimator_, "predict")

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score raw rows; a higher score ranks higher.

        Parameters
        ----------
        X : as in :meth:`fit`
            Columns are found by name; further columns are ignored.

        Returns
        -------
        scores : ndarray of shape (rows,)
        """
        check_is_fitted(self)
        scores = self.estimator_.decision_function(self._matrix(X))
        return np.asarray(scores, dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:
        """Give the class of raw rows, by the estimator's own threshold.

        Parameters
        ----------
        X : as in :meth:`decision_function`

        Returns
        -------
        labels : ndarray of shape (rows,)

        Raises
        ------
        IncompatibleError
            The model ranks by levels of relevance, between which it has no threshold.
        """
        if not self.has_threshold_:
            raise IncompatibleError(
                "the model ranks by levels of relevance and has no threshold between "
                "them; use decision_function."
            )
        codes = np.asarray(self.estimator_.predict(self._matrix(X)), dtype=np.intp)
        return np.asarray(self.classes_[codes])

    def _matrix(self, X: Any) -> Any:
        return VIEWS[self.view](self.encoder_, X)

    def _check_state(self) -> None:
        """Refuse a loaded state that no ``fit`` can have produced."""
        if self.view not in VIEWS:
            raise ModelFileError(f"the model file has an unknown view {self.view!r}.")
        if self.levels not in _LEVELS:
            raise ModelFileError(f"the model file has odd levels {self.levels!r}.")
        if hasattr(self, "classes_") and not self._has_sound_grading():
            raise ModelFileError("the model file does not name two classes.")

    def _has_sound_grading(self) -> bool:
        try:
            grading = self.grading_
            is_sound = self.levels_.dtype.kind == "i" and self.levels_.ndim == 1
            is_sound &= len(grading.levels) == len(grading.values)
            is_sound &= len(set(grading.levels)) >= 2
            return is_sound and list(grading.classes) == self.classes_.tolist()
        except (AttributeError, TypeError, ValueError):
            return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def scale(estimator: Any, per_row: Mapping[str, float], n_rows: int) -> Any:
    """Set the parameters that grow with the number of rows."""
    return estimator.set_params(**{k: v * n_rows for k, v in per_row.items()})


def fit_estimator(
    estimator: Any,
    matrix: Any,
    labels: Any,
    queries: Any = None,
    categorical_features: list[int] | None = None,
) -> Any:
    """Fit an estimator; queries and categories go to those that take them."""
    if categorical_features is not None:
        estimator.set_params(categorical_features=categorical_features)
    takes_queries = queries is not None and has_fit_parameter(estimator, "qid")
    options = {"qid": queries} if takes_queries else {}
    return estimator.fit(matrix, labels, **options)


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)
