"""Gradient-boosted trees for the AUC and its kin: all pairs, at the price of a sort."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucmax._fitted_state import replace_state, unchanged_on_failure
from aucmax._parameters import check_stopping
from aucmax._progress import reporter
from aucmax._threshold import balanced_threshold
from aucmax._validation import FloatArray
from aucmax.exceptions import (
    ConstantScoresWarning,
    DivergedWarning,
    OneClassQueryWarning,
)
from aucmax.risks import PreparedPairs
from aucmax.trees.booster import booster_of, check_model_text, readable_by_lightgbm
from aucmax.trees.columns import monotone_signs
from aucmax.trees.data import TreeColumns, TreeRows, check_rows
from aucmax.trees.evaluation import Evaluation, check_eval_metric, check_eval_set
from aucmax.trees.pair_objectives import OBJECTIVES, OUTSIDE_WEIGHT, find_objective
from aucmax.trees.params import merge_parameters, n_threads, own_parameters
from aucmax.trees.rounds import (
    TreeProgress,
    TreeRounds,
    TreeRule,
    new_booster,
)

__all__ = ["LambdaMART"]


def _ranks_levels(estimator: "LambdaMART") -> bool:
    # an unknown objective is left to fit to complain about
    objective = OBJECTIVES.get(str(estimator.objective))
    return objective is not None and objective.labels == "levels"


def _has_two_classes(estimator: "LambdaMART") -> bool:
    if _ranks_levels(estimator):
        raise AttributeError(
            f"objective={estimator.objective!r} ranks levels and does not predict "
            "classes; use decision_function."
        )
    return True


class LambdaMART(ClassifierMixin, BaseEstimator):
    r"""Boosted trees that maximise the AUC, a part of it, or that of several levels.

    Each round grows one of LightGBM's trees along the gradient of a loss over *all*
    pairs of rows of different labels,

    .. math:: R(s) = \sum_{y_i > y_j} v_{ij} \log(1 + e^{-(s_i - s_j)})

    which costs a sort of the scores and never forms the pairs, see
    :class:`aucmax.risks.PairLogistic`. `objective` says what a pair weighs:

    ==========  ====================================================================
    "auc"       by how many ranks its rows are apart: what the AUC would change by if
                they were swapped (lambda-AUC). Two classes.
    "logistic"  alike. Two classes.
    "pauc"      alike, but negatives outside of `fpr_range`, which is by descending
                score, weigh `outside_weight` as much. Two classes.
    "mauc"      by what the multi-class AUC would change (lambda-MAUC). Levels.
    "ordinal"   alike. Levels.
    ==========  ====================================================================

    Two classes may have any labels, the larger is positive. Levels of relevance are
    whole numbers from 0. With queries, pairs are within queries, and a query counts as
    much as it has rows.

    NaN in X is a missing value, which trees handle by themselves. Scaling makes no
    difference to trees.

    Parameters
    ----------
    objective : {"auc", "logistic", "pauc", "mauc", "ordinal"}, default="auc"
        What a pair weighs.
    fpr_range : pair of float, default=(0.0, 0.1)
        The range of false-positive rates, for "pauc" only.
    outside_weight : float, default=0.1
        What a negative outside of `fpr_range` weighs, compared with one inside, for
        "pauc" only. With 0, trees are free to lift such rows above all others, and on
        noisy data they do.
    n_estimators : int, default=100
        The most rounds.
    learning_rate : float, default=0.1
        The share of each tree that is followed.
    num_leaves : int, default=31
        Leaves of a tree, at most.
    max_depth : int, default=-1
        Splits from the root to a leaf, at most; -1 for any number.
    min_child_samples : int, default=20
        Rows in a leaf, at least. Rows are counted, whatever they weigh.
    subsample : float, default=1.0
        The share of rows that each tree sees, drawn anew for each.
    colsample_bytree : float, default=1.0
        The share of columns that each tree sees.
    reg_alpha, reg_lambda : float, default=0.0
        L1 and L2 penalty of leaf values. Gradients are about one a row.
    categorical_features : list of int or str, or "from_dtype", default=None
        Columns that hold categories as codes 0, 1, 2, ..., by number or name.
        "from_dtype" takes the categorical columns of a pandas or polars data frame
        and encodes them; categories that training has not seen count as missing.
    monotone_constraints : sequence of int, or dict, default=None
        For each column (or for those in the dict, by number or name) 1 if scores shall
        never fall with it, -1 if they shall never rise, 0 if they may do either.
    n_iter_no_change : int, default=None
        Stop after so many rounds without a better metric on `eval_set`.
    eval_metric : str or callable, default=None
        What is measured on `eval_set`: "roc_auc", "partial_auc" (of `fpr_range`),
        "multiclass_auc", "ordinal_auc", or a function of labels, scores and query ids
        that is higher for better scores. By default the one that the objective aims
        at. With queries, the mean over queries.
    max_time : float, default=None
        The most seconds.
    params : dict, default=None
        Any further LightGBM parameters, such as ``{"max_bin": 63, "extra_trees":
        True}``. They win over the parameters above.
    n_jobs : int, default=1
        Threads; 0 or -1 takes all cores. The model does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of all that is drawn.
    callback : callable, default=None
        Called after each round with a :class:`~aucmax.trees.TreeProgress`; a true
        answer stops the fit. Not stored by :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line a round to standard output.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class (two classes only).
    levels_ : ndarray of int64 of shape (n_levels,)
        The levels of the training rows, ascending (levels only).
    model_text_ : str
        The trees in LightGBM's text format.
    threshold_ : float
        Score of the best balanced accuracy on the training rows, which
        `decision_function` subtracts. It does not affect ranking (two classes only).
    feature_importances_ : ndarray of shape (n_features,)
        Each column's share of the gain of all splits; they sum to 1, or are all 0.
    n_iter_ : int
        Rounds that were run.
    best_iteration_ : int
        Rounds that are kept, up to the first of the best metric on `eval_set` (only if
        there was one); likewise `best_score_`, the metric.
    stop_reason_ : str
        "max rounds", "max time", "callback", "no change" on `eval_set`, "no split" that
        would reduce the loss, or "diverged".
    history_ : dict of str to ndarray of shape (n_iter\_,)
        "validation": the metric after each round, if there was an `eval_set`.
    categorical_features_ : list of int
        The categorical columns.
    categories_ : dict of int to list
        The category of each code in these columns ("from_dtype" only).
    column_exponents_ : ndarray of int64 of shape (n_features,)
        Powers of two that columns are divided by, only if some hold values that
        LightGBM takes for 0 or infinity.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    AUCSVC : A linear model for the AUC.
    LevelSumRanker : Levels of relevance by linear models.
    aucmax.risks.PairLogistic : The loss.

    Notes
    -----
    A row of weight 2 counts as two such rows in the loss, and a row of weight 0 is left
    out; but `min_child_samples` and LightGBM's bins count rows.

    Equal scores are ranked in the order of the rows ("auc" and "mauc"), so the order of
    rows within a query matters a little; that of queries does not.

    References
    ----------
    .. [1] C. Burges. From RankNet to LambdaRank to LambdaMART: an overview.
       Microsoft Research 2010.
    .. [2] S. Welleck. Efficient AUC optimization for information ranking applications.
       ECIR 2016.
    .. [3] G. Ke et al. LightGBM: a highly efficient gradient boosting decision tree.
       NIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax import LambdaMART
    >>> from aucmax.metrics import roc_auc_score
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LambdaMART(n_estimators=50).fit(X[:300], y[:300])
    >>> roc_auc_score(y[300:], model.decision_function(X[300:])) > 0.98
    True

    Levels of relevance within queries, and as many rounds as other queries advise:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(2000, 5)), np.repeat(np.arange(100), 20)
    >>> y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=2000), [1, 3])
    >>> train, rest = qid < 70, qid >= 70
    >>> ranker = LambdaMART("ordinal", n_iter_no_change=10)
    >>> ranker = ranker.fit(
    ...     X[train], y[train], qid=qid[train], eval_set=(X[rest], y[rest], qid[rest])
    ... )
    >>> ranker.levels_
    array([0, 1, 2])
    >>> ranker.best_score_ > 0.85
    True
    """

    _unsaved_params = ("callback",)

    def __init__(
        self,
        objective: str = "auc",
        *,
        fpr_range: Sequence[float] = (0.0, 0.1),
        outside_weight: float = OUTSIDE_WEIGHT,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        max_depth: int = -1,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        categorical_features: Sequence[int | str] | str | None = None,
        monotone_constraints: Sequence[int] | Mapping[Any, int] | None = None,
        n_iter_no_change: int | None = None,
        eval_metric: str | Callable[..., float] | None = None,
        max_time: float | None = None,
        params: Mapping[str, Any] | None = None,
        n_jobs: int = 1,
        random_state: Any = 0,
        callback: Callable[[TreeProgress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.objective = objective
        self.fpr_range = fpr_range
        self.outside_weight = outside_weight
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.subsample = subsample
        self.colsample_bytree = colsample_bytree
        self.reg_alpha = reg_alpha
        self.reg_lambda = reg_lambda
        self.categorical_features = categorical_features
        self.monotone_constraints = monotone_constraints
        self.n_iter_no_change = n_iter_no_change
        self.eval_metric = eval_metric
        self.max_time = max_time
        self.params = params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.callback = callback
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        eval_set: Sequence[Any] | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value. float32 and float64 arrays in row or
            column order, memory maps, CSR and CSC matrices are read in place.
        y : array-like of shape (n_rows,)
            Two distinct labels, or levels: whole numbers from 0.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights; a pair weighs the product of its rows'. A row of weight 0 is
            left out.
        qid : array-like of shape (n_rows,), default=None
            The query of each row, of any hashable kind; rows of one query need not be
            neighbours. Without it all rows are one query.
        eval_set : tuple (X, y) or (X, y, qid), default=None
            Rows apart from the training rows. The model keeps the rounds up to the
            first one of the best `eval_metric` on them.

        Returns
        -------
        self : LambdaMART
            The fitted model.
        """
        rule = self._rule(eval_set)
        objective = find_objective(self.objective)
        metric = check_eval_metric(self.eval_metric, objective)
        parameters = own_parameters(self)
        with unchanged_on_failure(self):
            rows = check_rows(self, objective, X, y, sample_weight, qid)
            evaluation = None
            if eval_set is not None:
                evaluation = check_eval_set(
                    self, eval_set, metric, rows.target, rows.columns, qid is not None
                )
            risk = objective.risk(
                self.fpr_range, self.outside_weight, parameters["num_threads"]
            )
            pairs = risk.prepare(rows.labels, rows.queries, rows.weight)
            self._warn_of_queries(pairs)
            parameters = merge_parameters(
                parameters | self._monotone_constraints(), self.params
            )
            booster = new_booster(
                parameters, rows.X, rows.columns.categorical, evaluation
            )
            rounds = TreeRounds(rule, booster, pairs, evaluation)
            rounds.run()
        self._warn_of_rounds(rounds)
        replace_state(self, _summary(rounds, rows, evaluation))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive or the more relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores. With two classes they are positive where `predict` gives the
            positive class.
        """
        return self._raw_scores(self._read(X)) - self._offset

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Score rows by the first tree, the first two trees, and so on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Yields
        ------
        ndarray of shape (n_rows,)
            Scores after each round that the model keeps, less the threshold of the
            whole model; the last ones are those of `decision_function`.
        """
        X = self._read(X)
        scores = np.zeros(X.shape[0])
        n_kept: int = vars(self).get("best_iteration_", self.n_iter_)
        for first in range(n_kept):
            scores += self._raw_scores(X, start_iteration=first, num_iteration=1)
            yield scores - self._offset

    @available_if(_has_two_classes)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the positive class where the score is above 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        scores = self.decision_function(X)
        return np.asarray(self.classes_[(scores > 0.0).astype(np.intp)])

    @available_if(_has_two_classes)  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> float:
        """Return the share of rows that `predict` gets right.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.
        y : array-like of shape (n_rows,)
            Labels.
        sample_weight : array-like of shape (n_rows,), default=None
            Row weights.

        Returns
        -------
        float
            The accuracy.
        """
        return float(super().score(X, y, sample_weight))

    def contributions(self, X: Any) -> FloatArray:
        """Split scores into what each column contributes (SHAP values of the trees).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features.

        Returns
        -------
        ndarray of shape (n_rows, n_features + 1)
            One column a feature, and the score that is expected without knowing any.
            A row sums to its score by `decision_function`.
        """
        table: Any = self._predict(self._read(X), pred_contrib=True)
        parts = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
        parts[:, -1] -= self._offset
        return parts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        if _ranks_levels(self):
            tags.estimator_type = None
            tags.classifier_tags = None
            tags.target_tags.positive_only = True
        else:
            tags.classifier_tags.multi_class = False
        return tags

    @property
    def _offset(self) -> float:
        return float(getattr(self, "threshold_", 0.0))

    def _read(self, X: Any) -> Any:
        check_is_fitted(self, "model_text_")
        return TreeColumns.of(vars(self)).read(self, X)

    def _raw_scores(self, X: Any, **options: Any) -> FloatArray:
        scores = self._predict(X, raw_score=True, **options)
        return np.asarray(scores, dtype=np.float64)

    def _predict(self, X: Any, **options: Any) -> Any:
        booster = booster_of(self)
        return booster.predict(
            readable_by_lightgbm(X),
            num_threads=n_threads(self.n_jobs),
            **options,
        )

    def _rule(self, eval_set: Any) -> TreeRule:
        """Check when to stop; the clock starts."""
        check_stopping(self, eval_set)
        return TreeRule(
            self.n_estimators,
            self.max_time,
            self.n_iter_no_change,
            reporter(self),
        )

    def _monotone_constraints(self) -> dict[str, Any]:
        if self.monotone_constraints is None:
            return {}
        names = getattr(self, "feature_names_in_", None)
        width = self.n_features_in_
        signs = monotone_signs(self.monotone_constraints, names, width)
        return {"monotone_constraints": signs}

    def _warn_of_queries(self, pairs: PreparedPairs) -> None:
        if pairs.n_skipped:
            warnings.warn(
                f"{pairs.n_skipped} of the {pairs.n_queries} queries have rows of one "
                "class or level only; they contribute nothing.",
                OneClassQueryWarning,
                stacklevel=3,
            )

    def _warn_of_rounds(self, rounds: TreeRounds) -> None:
        if rounds.reason == "diverged":
            warnings.warn(
                f"the scores of round {rounds.n_iter + 1} are beyond all bounds; the "
                f"model keeps {rounds.n_kept} rounds before it. Take a smaller "
                f"learning_rate (now {self.learning_rate:g}) or a larger reg_lambda.",
                DivergedWarning,
                stacklevel=3,
            )
        elif rounds.n_iter == 0:
            warnings.warn(
                "no split of any column reduces the loss, so all scores are equal. Are "
                f"all columns constant, or are {rounds.pairs.n_rows} rows too few for "
                f"leaves of min_child_samples={self.min_child_samples}?",
                ConstantScoresWarning,
                stacklevel=3,
            )

    def _check_state(self) -> None:
        """Refuse a loaded state that no fit could have left."""
        if not hasattr(self, "model_text_"):
            return
        check_model_text(self.model_text_, self.n_features_in_)
        if find_objective(self.objective).labels == "two":
            if self.classes_.shape != (2,) or not isinstance(self.threshold_, float):
                raise ValueError("classes_ and threshold_ do not fit the objective")
        elif self.levels_.ndim != 1:
            raise ValueError("levels_ is no list of levels")
        columns = TreeColumns.of(vars(self))
        places = {*columns.categorical, *(columns.categories or {})}
        if not places <= set(range(self.n_features_in_)):
            raise ValueError("the categorical columns are not among the features")
        if columns.exponents is not None and (
            columns.exponents.shape != (self.n_features_in_,)
            or columns.exponents.dtype != np.int64
        ):
            raise ValueError("column_exponents_ do not fit the features")


def _summary(
    rounds: TreeRounds, rows: TreeRows, evaluation: Evaluation | None
) -> dict[str, Any]:
    """Return what the rounds have found, as attributes."""
    fitted: dict[str, Any] = rows.columns.fitted_attributes()
    if rows.target.is_levels:
        fitted["levels_"] = rows.target.values
    else:
        fitted["classes_"] = rows.target.values
        fitted["threshold_"] = balanced_threshold(
            rounds.kept_scores, rows.labels, rows.weight
        )
    gains = rounds.gains()
    total = gains.sum()
    fitted |= {
        "model_text_": rounds.model_text(),
        "feature_importances_": gains / total if total > 0.0 else np.zeros(gains.size),
        "n_iter_": rounds.n_iter,
        "stop_reason_": rounds.reason,
        "history_": {},
    }
    if evaluation is not None:
        fitted["history_"] = {"validation": np.array(rounds.history)}
        fitted["best_iteration_"] = rounds.n_kept
        fitted["best_score_"] = max(rounds.history, default=evaluation.at_start)
    return fitted
