"""More than two levels of relevance, by one model per level."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.features import check_relevance_levels, levels_with_weight
from aucmax._core.validation import FloatArray, check_sample_weight
from aucmax.exceptions import NotEnoughClassesError
from aucmax.linear.auc_svc import AUCSVC
from aucmax.metrics import multiclass_auc_score


class LevelSumRanker(BaseEstimator):
    r"""Rank rows of several levels of relevance by the sum of two-class models.

    For each level :math:`c \ge 1` a model learns to rank the rows of that level above
    all others, and the scores are added by their levels:

    .. math:: f(x) = \sum_c c \, f_c(x)

    Intercepts add a constant, which does not affect ranking.

    Parameters
    ----------
    estimator : estimator, default=None
        A two-class model with `decision_function`, which is cloned for each level, such
        as :class:`AUCSVC` (the default) or a pipeline that ends with it.

    Attributes
    ----------
    levels_ : ndarray of int64 of shape (n_levels,)
        The levels of the training rows that have any weight, ascending, 0 included.
    estimators_ : list of estimators
        The model of each level that is not 0.
    coef_ : ndarray of shape (1, n_features)
        The sum of the models' weights times levels, if all have weights.
    intercept_ : ndarray of shape (1,)
        The same sum of their intercepts.

    See Also
    --------
    AUCSVC : The model of one level.
    aucmax.metrics.multiclass_auc_score : What this aims at.

    References
    ----------
    .. [1] T. Joachims. Optimizing search engines using clickthrough data. KDD 2002.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax import LevelSumRanker
    >>> from aucmax.metrics import ordinal_auc_score
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> y = np.digitize(X[:, 0] + X[:, 1], [0.5, 2.0])
    >>> ranker = LevelSumRanker().fit(X, y)
    >>> ranker.levels_
    array([0, 1, 2])
    >>> round(ordinal_auc_score(y, ranker.decision_function(X)), 2)
    1.0
    """

    _saved_state = saved.fields(
        **saved.COLUMNS,
        levels_=saved.array("iu", None),
        estimators_=saved.instance_of(list),
    )

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> Self:
        """Fit one model for each level that is not 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Levels: integers from 0, the higher the more relevant.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights, passed on only if given. A level without weight is left out.
        qid : array-like of shape (n_rows,), default=None
            The query of each row, passed to the estimator only if given. A pipeline
            needs scikit-learn's metadata routing.

        Returns
        -------
        self : object
            The fitted model.
        """
        template = AUCSVC() if self.estimator is None else self.estimator
        if not hasattr(template, "decision_function"):
            raise TypeError(
                f"estimator must have a decision_function, got "
                f"{type(template).__name__}; use AUCSVC() or a pipeline that ends with "
                "it."
            )
        levels = check_relevance_levels(self, y)
        weight = check_sample_weight(sample_weight, levels.size)
        present = levels_with_weight(levels, weight)
        given = {"sample_weight": weight, "qid": qid}
        options = {k: values for k, values in given.items() if values is not None}
        estimators = []
        for level in present[present > 0]:
            try:
                fitted = clone(template).fit(X, levels == level, **options)
            except NotEnoughClassesError as error:
                raise NotEnoughClassesError(
                    f"level {level} against the rest: {error}"
                ) from error
            estimators.append(fitted)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(estimators[0], name):
                setattr(self, name, getattr(estimators[0], name))
        self.levels_, self.estimators_ = present, estimators
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores.
        """
        check_is_fitted(self, "estimators_")
        return self._sum([model.decision_function(X) for model in self.estimators_])

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Measure what the models maximise: the mean AUC of each level above 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Levels: integers from 0, the higher the more relevant.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights, passed on only if given. A level without weight is left out.
        qid : array-like of shape (n_rows,), default=None
            The query of each row, passed to the estimator only if given. A pipeline
            needs scikit-learn's metadata routing.

        Returns
        -------
        float
            The value of :func:`aucmax.metrics.multiclass_auc_score`.
        """
        scores = self.decision_function(X)
        levels = check_relevance_levels(self, y)
        return float(
            multiclass_auc_score(levels, scores, sample_weight=sample_weight, qid=qid)
        )

    @property
    def coef_(self) -> FloatArray:
        """The weights of the scores, if the models have weights."""
        return self._sum([model.coef_ for model in self.estimators_])

    @property
    def intercept_(self) -> FloatArray:
        """The constant of the scores, if the models have one."""
        return self._sum([model.intercept_ for model in self.estimators_])

    def _check_state(self) -> None:
        """Reject loaded models that are not one of these columns for each level."""
        if not hasattr(self, "levels_"):
            return
        if len(self.estimators_) != np.count_nonzero(self.levels_ > 0):
            raise ValueError("levels and models differ in number")
        for model in self.estimators_:
            has_columns = model.n_features_in_ == self.n_features_in_
            if not has_columns or not saved.can_score(model):
                raise ValueError("a model has other columns, or does not score")

    def _sum(self, parts: list[FloatArray]) -> FloatArray:
        levels = self.levels_[self.levels_ > 0].tolist()
        terms = [level * part for level, part in zip(levels, parts, strict=True)]
        total: FloatArray = np.sum(terms, axis=0)
        return total

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(AUCSVC() if self.estimator is None else self.estimator)
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags
