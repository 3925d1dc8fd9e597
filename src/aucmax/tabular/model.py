"""A model together with the preparation of its table: raw rows in, scores out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from aucmax.exceptions import ModelFileError
from aucmax.tabular.encoder import TableEncoder
from aucmax.tabular.models import find_model, scale
from aucmax.tabular.target import encode_target

__all__ = ["VIEWS", "TableModel"]

#: how each kind of estimator sees a table
VIEWS = {
    "linear": TableEncoder.transform,
    "trees": TableEncoder.transform_for_trees,
}


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
        "trees" takes ``categorical_features`` in its ``fit``.
    positive : optional
        The target value to rank on top; see
        :func:`aucmax.tabular.encode_target` for the choice made without it.
    name : str, optional
        Name of the model, for reports.
    target : str, optional
        Name of the target column, for reports and for ``aucmax evaluate``.

    Attributes
    ----------
    encoder_, estimator_ : estimators
        The fitted parts.
    classes_ : ndarray of shape (2,)
        The negative and the positive target value.
    n_rows_, n_positive_ : int
        Training rows, and how many of them were positive.

    Examples
    --------
    >>> import polars as pl
    >>> from aucmax.tabular import TableModel
    >>> table = pl.DataFrame({"size": [1, 2, 3, 4], "kind": ["a", "b", "a", "b"]})
    >>> model = TableModel.by_name("logistic").fit(table, ["no", "no", "yes", "yes"])
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
        name: str | None = None,
        target: str | None = None,
    ) -> None:
        self.estimator = estimator
        self.encoder = encoder
        self.per_row = per_row
        self.view = view
        self.positive = positive
        self.name = name
        self.target = target

    @classmethod
    def by_name(cls, name: str, **settings: Any) -> "TableModel":
        """Make an unfitted model from the list of models.

        Parameters
        ----------
        name : str
            A key of :data:`aucmax.tabular.MODELS`.
        **settings
            Further parameters of :class:`TableModel`.

        Returns
        -------
        model : TableModel
        """
        choice = find_model(name)
        return cls(
            choice.make(),
            per_row=choice.per_row or None,
            view=choice.view,
            name=name,
            **settings,
        )

    def fit(self, X: Any, y: Any) -> "TableModel":
        """Learn the columns of the table, then the model.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (rows, columns)
            Raw rows, without the target.
        y : array-like of shape (rows,)
            The target: two different values.

        Returns
        -------
        self : TableModel
        """
        name = "the target" if self.target is None else f"column {self.target!r}"
        target = encode_target(y, self.positive, name=name)
        if target.labels.size != _n_rows(X):
            raise ValueError(
                f"the table has {_n_rows(X)} rows, but the target {target.labels.size}."
            )
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        self.encoder_ = encoder.fit(X)
        self.estimator_ = fit_estimator(
            scale(clone(self.estimator), self.per_row or {}, target.labels.size),
            self.view,
            self.encoder_,
            VIEWS[self.view](self.encoder_, X),
            target.labels,
        )
        self.classes_ = np.array(target.classes)
        self.n_rows_ = target.labels.size
        self.n_positive_ = target.n_positive
        return self

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
        """
        check_is_fitted(self)
        codes = np.asarray(self.estimator_.predict(self._matrix(X)), dtype=np.intp)
        return np.asarray(self.classes_[codes])

    def _matrix(self, X: Any) -> Any:
        return VIEWS[self.view](self.encoder_, X)

    def _check_state(self) -> None:
        """Refuse a loaded state that no ``fit`` can have produced."""
        if self.view not in VIEWS:
            raise ModelFileError(f"the model file has an unknown view {self.view!r}.")
        if hasattr(self, "classes_") and len(self.classes_) != 2:
            raise ModelFileError("the model file does not name two classes.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def fit_estimator(
    estimator: Any, view: str, encoder: TableEncoder, matrix: Any, labels: Any
) -> Any:
    """Fit an estimator on its view of a table."""
    if view == "trees":
        categorical = encoder.categorical_features_
        return estimator.fit(matrix, labels, categorical_features=categorical)
    return estimator.fit(matrix, labels)


def _n_rows(X: Any) -> int:
    return X.shape[0] if hasattr(X, "shape") else len(X)
