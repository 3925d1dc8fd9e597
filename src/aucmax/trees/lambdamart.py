"""Gradient-boosted trees for the AUC and related metrics: all pairs, for one sort."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from aucmax._core import saved_state as saved
from aucmax._core.dask_dispatch import dask_version, is_dask, map_over_partitions
from aucmax._core.fitting import (
    RoundMonitor,
    print_progress,
    replace_state,
    unchanged_on_failure,
)
from aucmax._core.parameters import check_stopping
from aucmax._core.validation import FloatArray
from aucmax.binary_ranker import BinaryRanker
from aucmax.trees.booster import (
    booster_parameters,
    contributions,
    new_dataset,
    predict,
)
from aucmax.trees.pair_objectives import (
    OBJECTIVES,
    OUTSIDE_WEIGHT,
    find_objective,
    prepare_measure,
)
from aucmax.trees.tree_columns import (
    framed_like,
    learn_columns,
    lightgbm_names,
    read_rows,
)
from aucmax.trees.tree_rounds import (
    PRINT_EVERY,
    TreeProgress,
    TreeRounds,
    check_fitted_state,
    fitted_attributes,
    round_warnings,
)
from aucmax.trees.tree_rows import check_rows, read_labels, split_validation_rows


def _ranked_labels(estimator: "LambdaMART") -> str:
    # fit rejects an unknown objective
    objective = OBJECTIVES.get(str(estimator.objective))
    return "two" if objective is None else objective.labels


def _has_two_classes(estimator: "LambdaMART") -> bool:
    ranked = _ranked_labels(estimator)
    if ranked != "two":
        raise AttributeError(
            f"objective={estimator.objective!r} ranks {ranked} and does not predict "
            "classes; use decision_function."
        )
    return True


@dataclass(eq=False, repr=False)
class LambdaMART(BinaryRanker):
    r"""Boosted trees that maximise the AUC, a part of it, or that of several levels.

    Each round grows one of LightGBM's trees along the gradient of a loss over *all*
    pairs of rows of different labels,

    .. math:: R(s) = \sum_{y_i > y_j} v_{ij} \log(1 + e^{-(s_i - s_j)})

    which costs a sort of the scores and never forms the pairs, see
    :class:`aucmax.risks.PairLogistic`. `objective` sets the weights of the pairs:

    ==========  ====================================================================
    "logistic"  equal. Two classes.
    "auc"       the difference of the ranks of its rows, to which the change of the AUC
                is proportional if they swap places (lambda-AUC). Two classes.
    "pauc"      equal, but negatives beyond three times the end of `fpr_range`, by
                descending score, are multiplied by `outside_weight`. Two classes.
    "mauc"      the change of the multi-class AUC (lambda-MAUC). Levels.
    "ordinal"   equal. Levels.
    "ndcg"      the change of the NDCG, with gains :math:`2^y - 1`. Levels.
    ==========  ====================================================================

    Two objectives are for censored times, a `y` with the fields ``event`` and ``time``
    (see :func:`aucmax.metrics.survival_target`); a higher score means an earlier event:

    =============  =================================================================
    "concordance"  equal weights of all comparable pairs, see
                   :class:`aucmax.risks.Concordance`.
    "cox"          no pairs, but the partial likelihood of
                   :class:`aucmax.risks.CoxLikelihood`.
    =============  =================================================================

    Two classes may have any labels; the second of the two labels in sorted order is the
    positive class. Levels of relevance are whole numbers from 0. With queries, pairs
    are within queries, and a query counts as much as it has rows.

    NaN in X is a missing value, which trees handle by themselves. Scaling makes no
    difference to trees, but LightGBM cannot read a column whose largest value is below
    1e-30 or above 1e270: `fit` rejects it.

    Parameters
    ----------
    objective : str, default="logistic"
        The weights of pairs, or another risk, by one of the names above.
    fpr_range : pair of float, default=(0.0, 0.1)
        Range of false positive rates, for "pauc" only.
    outside_weight : float, default=0.3
        Relative weight of a negative beyond three times the end of `fpr_range`, for
        "pauc" only. With 0, trees are free to lift such rows above all others, and on
        noisy data they do.
    truncation : int, default=None
        Number of top ranks that count, for "ndcg" only: pairs are weighted by the
        change of NDCG@k. By default all ranks count.
    n_estimators : int, default=300
        Maximum number of rounds.
    learning_rate : float, default=0.05
        Factor by which each tree is multiplied.
    num_leaves : int or "auto", default="auto"
        Maximum number of leaves per tree. "auto" takes 15 for up to 50,000 training
        rows, 31 for up to 500,000, and 63 for more.
    max_depth : int, default=-1
        Maximum number of splits from the root to a leaf; -1 for any number.
    min_child_samples : int, default=5
        Minimum number of rows per leaf, regardless of their weights.
    subsample : float, default=1.0
        The share of rows that each tree sees, sampled again for each tree.
    colsample_bytree : float, default=0.8
        The share of columns that each tree sees; the first sees all.
    reg_alpha : float, default=0.0
        L1 penalty of leaf values. Gradients are about one per row.
    reg_lambda : float, default=3.0
        L2 penalty of leaf values.
    categorical_features : list, "from_dtype" or None, default="from_dtype"
        Columns that hold categories as codes 0, 1, 2, ..., by number or name.
        "from_dtype" takes the columns of a pandas or polars data frame that are
        categorical or hold text, and encodes them; categories that training has not
        seen count as missing. Text is never read as numbers.
    monotone_constraints : sequence of int, or dict, default=None
        For each column (or for those in the dict, by number or name) 1 if scores must
        not fall with it, -1 if they must not rise, 0 if they may do either.
    n_iter_no_change : int, default=None
        Stop after this many rounds without a better metric on the validation rows:
        those of `eval_set`, or else a part of the training rows.
    validation_fraction : float, default=0.1
        The share of the rows of each class or level, or of the queries, that
        `n_iter_no_change` holds out if there is no `eval_set`.
    eval_metric : str or callable, default=None
        The metric on the validation rows: "auc", "partial_auc" (over `fpr_range`),
        "average_precision", "precision@100", "recall@100", "lift@100",
        "recall@fpr=0.01", "recall@precision=0.9", "precision@recall=0.8", "gini", "ks",
        "mauc", "ordinal_auc", "ndcg", "ndcg@10", "map", "concordance" (of censored
        times), or a function of labels and scores that is higher for better scores,
        such as those in :mod:`aucmax.metrics`; it also receives `sample_weight` and
        `qid` by name if there are any. By default the metric of the objective. With
        queries, the mean over queries. With levels, all but the lowest are positive for
        metrics of two classes. Held-out training rows are a share of all rows, and
        their k is that share of k.
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    params : dict, default=None
        Any further LightGBM parameters, such as ``{"max_bin": 63, "extra_trees":
        True}``. They override the parameters above.
    n_jobs : int, default=None
        Number of threads; 0 or -1 takes all cores. By default the cores available to
        this process, at most ``OMP_NUM_THREADS`` of the environment; one for few rows,
        and one per Dask worker. The model does not depend on it.
    random_state : int, RandomState instance or None, default=0
        Seed of the samples.
    callback : callable, default=None
        Called after each round with a :class:`~aucmax.trees.TreeProgress`; if it
        returns true, the fit stops. Not stored by :func:`aucmax.save`.
    verbose : int, default=0
        Whether to print every tenth round and the last.

    Attributes
    ----------
    levels_ : ndarray of int64 of shape (n_levels,)
        The levels of the training rows, ascending (levels only).
    is_survival_ : bool
        True, only if the model was fitted to censored times.
    model_text_ : str
        The trees in LightGBM's text format.
    threshold_ : float
        Score of the best balanced accuracy on the training rows, which
        `decision_function` subtracts. It does not affect ranking (two classes only).
    feature_importances_ : ndarray of shape (n_features,)
        Each column's share of the gain of all splits; they sum to 1, or are all 0.
    n_iter_ : int
        Number of rounds.
    best_iteration_ : int
        Number of rounds that the model keeps, up to the first of the best metric on the
        validation rows (only if there were any); `best_score_` is that metric.
    stop_reason_ : str
        "max rounds", "max time", "callback", "no change" on the validation rows, "no
        split" that would reduce the loss, or "diverged".
    history_ : dict of str to ndarray of shape (n_iter\_,)
        "validation": the metric after each round, if there were validation rows.
    categorical_features_ : list of int
        The categorical columns.
    categories_ : dict of int to list
        The category of each code in these columns, the most frequent first (only if
        "from_dtype" has found any).
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
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
    out; but `min_child_samples`, penalties and LightGBM's bins go by the number of
    rows, so that weights may be of any scale.

    For "ndcg", equal scores are ranked in the order of the rows, so the order of rows
    within a query matters a little; that of queries does not.

    For two classes and for "ndcg", each round scales both derivatives such that
    absolute gradients add up to those of the first round of LightGBM's binary
    objective, unless the largest would exceed 5. So penalties, and LightGBM's minimum
    of hessians per leaf, keep their strength as the loss falls.

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
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LambdaMART(n_estimators=50).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.98  # the AUC
    True

    Levels of relevance within queries, with early stopping on held-out queries:

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(2000, 5)), np.repeat(np.arange(100), 20)
    >>> y = np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=2000), [1, 3])
    >>> train, rest = qid < 70, qid >= 70
    >>> ranker = LambdaMART("ordinal", n_iter_no_change=10)
    >>> ranker = ranker.fit(X[train], y[train], qid=qid[train])
    >>> ranker.levels_
    array([0, 1, 2])
    >>> ranker.score(X[rest], y[rest], qid=qid[rest]) > 0.85
    True
    """

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(
        model_text_=saved.instance_of(str),
        categorical_features_=saved.column_numbers,
        n_iter_=saved.count,
        **saved.optional(
            classes_=saved.array(saved.LABEL_KINDS, 2),
            levels_=saved.array("iu", None),
            is_survival_=saved.instance_of(bool),
            threshold_=saved.finite,
            categories_=saved.instance_of(dict),
            feature_importances_=saved.array("f", "n_features_in_"),
            best_iteration_=saved.count,
            best_score_=saved.number,
            stop_reason_=saved.instance_of(str),
            history_=saved.instance_of(dict),
        ),
    )

    objective: str = "logistic"
    _: KW_ONLY
    fpr_range: Sequence[float] = (0.0, 0.1)
    outside_weight: float = OUTSIDE_WEIGHT
    truncation: int | None = None
    n_estimators: int = 300
    learning_rate: float = 0.05
    num_leaves: int | str = "auto"
    max_depth: int = -1
    min_child_samples: int = 5
    subsample: float = 1.0
    colsample_bytree: float = 0.8
    reg_alpha: float = 0.0
    reg_lambda: float = 3.0
    categorical_features: Sequence[int | str] | str | None = "from_dtype"
    monotone_constraints: Sequence[int] | Mapping[Any, int] | None = None
    n_iter_no_change: int | None = None
    validation_fraction: float = 0.1
    eval_metric: str | Callable[..., float] | None = None
    max_time: float | None = None
    params: Mapping[str, Any] | None = None
    n_jobs: int | None = None
    random_state: Any = 0
    callback: Callable[[TreeProgress], object] | None = None
    verbose: int = 0

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        eval_set: Any = None,
        **unknown: Any,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value. float32 and float64 arrays in row or
            column order, memory maps, CSR and CSC matrices are read in place.
        y : array-like of shape (n_rows,)
            Two distinct labels; or levels: whole numbers from 0; or events and censored
            times: a structured array or a frame with ``event`` and ``time``.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row, of any hashable type; rows of one query need not be
            adjacent. Without it all rows are one query.
        eval_set : tuple (X, y) or dict, default=None
            Validation rows. The model keeps the rounds up to the first one of the best
            `eval_metric` on them. A dict has the keys "X", "y", and optionally
            "sample_weight" and "qid".
        **unknown : object
            Raises an error; for LightGBM's `group` of sizes, one that names `qid`.

        Returns
        -------
        self : object
            The fitted model.
        """
        with unchanged_on_failure(self):
            if unknown:
                raise TypeError(
                    f"fit has no parameter {next(iter(unknown))!r}. Queries are one id "
                    "per row: for LightGBM's group of sizes, "
                    "qid=np.repeat(np.arange(len(group)), group)."
                )
            if is_dask(X):
                grow = dask_version("fit_trees")
                replace_state(self, grow(self, X, y, sample_weight, qid, eval_set))
                return self
            check_stopping(self, eval_set)
            monitor = RoundMonitor.from_parameters(self, PRINT_EVERY)
            objective = find_objective(self.objective)
            columns, X = learn_columns(self, X)
            target, rows = check_rows(self, objective, X, y, sample_weight, qid)
            rows, validation, measure = split_validation_rows(
                self, objective, rows, target, columns, eval_set
            )
            parameters = booster_parameters(self, rows.labels.size)
            risk = objective.risk(
                self.fpr_range,
                self.outside_weight,
                parameters["num_threads"],
                self.truncation,
            ).bind(rows.labels, rows.weight, rows.codes)
            data = new_dataset(
                parameters,
                rows.X,
                np.zeros(rows.labels.size),  # only the risk needs labels
                columns["categorical_features_"],
                lightgbm_names(self),
            )
            rounds = TreeRounds(monitor, risk, measure)
            booster = rounds.run(parameters, data, validation and validation.X)
            if monitor.n_iter % PRINT_EVERY:  # the last round is not printed yet
                print_progress(self, rounds.progress)
            for warning in round_warnings(rounds, self):
                warnings.warn(*warning, stacklevel=2)
            fitted = fitted_attributes(rounds, booster, rows, validation, target)
            replace_state(self, {**columns, **fitted})
        return self

    @map_over_partitions
    def decision_function(self, X: Any) -> FloatArray:
        """Score rows: the higher, the more likely positive or the more relevant.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value. float32 and float64 arrays in row or
            column order, memory maps, CSR and CSC matrices are read in place.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores. With two classes they are positive where `predict` returns the
            positive class.
        """
        return self._raw_scores(self._read(X)) - self._offset

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Score rows by the first tree, the first two trees, and so on.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value. float32 and float64 arrays in row or
            column order, memory maps, CSR and CSC matrices are read in place.

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

    predict = available_if(_has_two_classes)(BinaryRanker.predict)

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the metric of the objective.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value. float32 and float64 arrays in row or
            column order, memory maps, CSR and CSC matrices are read in place.
        y : array-like of shape (n_rows,)
            Two distinct labels; or levels: whole numbers from 0; or events and censored
            times: a structured array or a frame with ``event`` and ``time``.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row, of any hashable type; rows of one query need not be
            adjacent. Without it all rows are one query.

        Returns
        -------
        float
            The AUC ("logistic", "auc"), the partial AUC over `fpr_range` ("pauc"), the
            multi-class AUC ("mauc"), the ordinal AUC ("ordinal"), the NDCG ("ndcg") or
            Harrell's C ("concordance", "cox").
        """
        check_is_fitted(self, "model_text_")
        labels = read_labels(self, vars(self), y, "y")
        metric = find_objective(self.objective).metric_at(self.truncation)
        measure = prepare_measure(metric, labels, qid, sample_weight, self.fpr_range)
        return measure(self.decision_function(X))

    def contributions(self, X: Any) -> Any:
        """Split scores into contributions of columns (SHAP values of the trees).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            The features; NaN is a missing value. float32 and float64 arrays in row or
            column order, memory maps, CSR and CSC matrices are read in place.

        Returns
        -------
        ndarray or data frame of shape (n_rows, n_features + 1)
            One column per feature, and the expected score without any feature. A row
            sums to its `decision_function`. For a pandas or polars frame the result is
            such a frame, with the same columns and one more, "expected".
        """
        parts = contributions(self, self._read(X))
        parts[:, -1] -= self._offset
        return framed_like(X, parts)

    def to_lightgbm(self) -> str:
        """Return the trees as a model file of LightGBM, with columns and categories.

        Blanks and ``",:[]{}=`` in names of columns are written as underscores. If the
        model has ``categories_``, LightGBM reads those columns from a pandas frame in
        which they have the type "category". Raw scores of LightGBM are those of
        `decision_function` plus `threshold_`.

        Returns
        -------
        str
            For ``lightgbm.Booster(model_str=...)``.
        """
        check_is_fitted(self, "model_text_")
        text, categories = self.model_text_, getattr(self, "categories_", {})
        kept = text.partition("\npandas_categorical:")[0]
        lists = json.dumps([categories[k] for k in sorted(categories)] or None)
        return f"{kept}\npandas_categorical:{lists}\n"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        if (ranked := _ranked_labels(self)) != "two":
            tags.estimator_type = None
            tags.classifier_tags = None
            tags.target_tags.positive_only = ranked == "levels"
        return tags

    @property
    def _offset(self) -> float:
        return float(getattr(self, "threshold_", 0.0))

    def _read(self, X: Any) -> Any:
        check_is_fitted(self, "model_text_")
        return read_rows(self, vars(self), X)

    def _raw_scores(self, X: Any, **options: Any) -> FloatArray:
        scores = predict(self, X, raw_score=True, **options)
        return np.asarray(scores, dtype=np.float64)

    def _check_state(self) -> None:
        if hasattr(self, "model_text_"):
            check_fitted_state(self)
