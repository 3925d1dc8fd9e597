"""AutoRanker: try many models, combine them, and estimate the result."""

import os
import warnings
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.fitting import replace_state, reporter, unchanged_on_failure
from aucmax._core.parameters import check_integer, check_max_time, check_range
from aucmax._core.validation import positive_class_notes
from aucmax.decisions.calibration import check_calibrate
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics.metric_names import parse_metric
from aucmax.model_selection.auto_checkpoint import SearchCheckpoint
from aucmax.model_selection.auto_search import AutoProgress, AutoSearch, SearchClock
from aucmax.model_selection.combined_model import CombinedModel
from aucmax.model_selection.estimates import estimate_metrics, learn_decisions
from aucmax.model_selection.goals import WHOLE_CURVE, Goal, choose_goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.input_table import read_rows
from aucmax.model_selection.leaderboard import board
from aucmax.model_selection.models import SearchSetting, choose_candidates
from aucmax.model_selection.stacking import combine
from aucmax.tables import Target, check_table
from aucmax.tables.checks import without_columns
from aucmax.tables.cross_fit import FoldedTable
from aucmax.tables.folds import plan_folds
from aucmax.tables.pandas_frames import for_frame
from aucmax.tables.row_drift import learn_ranges
from aucmax.tables.row_sketch import sketch_rows
from aucmax.tables.target import has_constant_scores

# With more cells in the matrices of all folds, only those of one view stay in memory.
_MANY_CELLS = 20_000_000


class AutoRanker(CombinedModel):
    """Try many models, combine the good ones, and estimate how well the result ranks.

    Takes raw tables (text, missing values, dates), arrays and sparse matrices; with
    one model in `models`, it is that model for raw tables, calibrated. All
    candidates are fitted to the same folds, with columns encoded in each fold. A
    held-out row gets a logit per candidate: half from its rank within the fold, half
    from its standardized score. Logistic regression on these logits learns few,
    non-negative weights. A second level of cross-validation replaces the combination by
    the best single model if a paired test, which counts refits, supports that. The
    chosen models are then fitted to all rows, and scores of new rows are mapped to the
    scale of the held-out rows. Without time for this refit, after Ctrl-C, and with more
    than 20,000 rows, the models of the folds are averaged instead. A candidate that
    fails is left out: `notices_` states why, and an unexpected error also gives a
    warning.

    The estimate is not the out-of-fold value of the winner, which is too high: each
    fold is scored by a combination that was selected and weighted on the other folds.

    The positive class is `pos_label`, or the second of two labels in sorted order;
    `notices_` states the choice among strings. With `qid`, more than two labels are
    levels of relevance: whole numbers from 0. For levels, and for
    metrics of the top of queries, the candidates learn to rank within queries, and the
    weights maximise the metric itself on held-out queries.

    With censored times (`y` has the fields or columns "event" and "time"), higher
    scores mean earlier events. The metric is Harrell's C, `qid` gives strata, and
    :meth:`predict_event_probability` returns the probability of an event by a time.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.
    metric : str, default=None
        The metric to maximise: "auc", "partial_auc"; of the top of the list
        "average_precision", "precision@100" (also "recall@100", "lift@100"),
        "recall@fpr=0.01", "recall@precision=0.9", "precision@recall=0.8"; "gini", "ks";
        with queries "ndcg", "ndcg@10" (or another number of top rows), "map"; for
        levels "mauc", "ordinal_auc"; for censored times "concordance". By default the
        partial AUC of the ranges if there are any, else the AUC (c-statistic); for
        levels in queries "ndcg@10"; for censored times "concordance".
        "partial_auc" without a range covers false positive rates up to 0.1, that is
        specificities from 0.9. Without queries, the 100 in "precision@100" refers to
        all training rows, and a fold uses the same share. Queries whose rows all have
        the same label do not count.
    time_limit : float or None, default=60.0
        Seconds for a fit. The first candidate always runs; others are left out if they
        do not finish in time. None tries all of them.
    max_fits : int or None, default=None
        Largest number of fits to folds, one per candidate and fold. It replaces the
        time limit, so that the result depends on the seed alone.
    models : "default" or sequence, default="default"
        Names from :data:`aucmax.model_selection.MODELS`, estimators, or pairs
        ``(name, estimator)``. An estimator is fitted to the scaled, one-hot encoded
        table, or to category codes, with missing values, if it has a parameter
        ``categorical_features``, or to the table itself if it is a pipeline with a
        ColumnTransformer or a :class:`~aucmax.tables.TableEncoder`. A pair
        ``("lambdamart", {"n_estimators": 500})`` sets parameters of a named model.
    stores_rows : bool, default=True
        Whether members may store training rows, as kernels store landmarks. With False
        the default models are those that do not.
    cv : int or splitter, default=5
        Number of folds, fewer if a class is small; or a splitter of scikit-learn whose
        test folds are disjoint. With more than 20,000 rows the last two are used.
    random_state : int, default=0
        Seed of the folds and of the models.
    n_jobs : int, default=1
        Threads; 0 or -1 uses all cores.
    calibrate : {None, "auto", "sigmoid", "isotonic"}, default="auto"
        How `predict_proba` turns scores into probabilities, learned from the scores of
        held-out rows: "auto" is "isotonic" with 1,000 rows of each class, and "sigmoid"
        with fewer. With None, or with queries (where "sigmoid" and "isotonic" raise a
        ValueError), there is no `predict_proba`.
    pos_label : label, default=None
        The positive class. scikit-learn's ``scoring="roc_auc"`` always takes the second
        label in sorted order; with another one, use
        ``aucmax.metrics.metric_scorer("auc", pos_label=...)``.
    callback : callable, default=None
        Called with a record of the progress (`candidate`, `n_done`, `n_candidates`,
        `best`, `score`, `seconds`, `time_limit`) before each candidate and at the end;
        a true answer ends the search, an exception the fit. Not stored by
        :func:`aucmax.save`.
    verbose : int, default=0
        Whether to write one line per candidate to standard output.

    Attributes
    ----------
    weights_ : dict of str to float
        The models of the combination with their shares, the largest first.
    combiner_ : {"stack", "likelihood", "search", "best single model"}
        The combination that was chosen: "likelihood" for censored times, "search"
        (weights that maximise the metric) for levels and queries. Another than the
        first is chosen where a paired test on held-out rows supports it.
    metric_ : str
        The metric that decided.
    is_survival_ : bool
        True if there are censored times, in place of `classes_`.
    baseline_, hazard_slope_ : ndarray of shape (2, n_times), float
        Times with the cumulative hazard of a row of score 0, and the slope of the log
        hazard by the score, of held-out rows; only of censored times without strata.
    levels_ : ndarray of int64 of shape (n_levels,)
        The levels of relevance, in place of `classes_`, if there are more than two.
    estimate_ : dict of str to float
        "auc" and "partial_auc" of new rows, each with "_low" and "_high", the ends of a
        95% interval; NaN where there is none. For other metrics also the metric itself,
        of all held-out rows in one list; for levels and the top of queries the metric
        and others, such as "ndcg@10" and "map", by Student's t over queries; for
        censored times "concordance".
    notices_ : list of str
        Notes on the data and the search.
    members_ : list of dict
        The models of the combination: "name", "weight", "view", and in "models" and
        "scales" one model, fitted to all rows, with the scale of its scores; or one per
        fold. With `times`, that is the last fold.
    encoders_ : list of TableEncoder
        The columns, learned from all rows, or in each fold.
    board_ : dict of lists
        The columns of :meth:`leaderboard`.
    threshold_ : float
        Combined score of the best balanced accuracy, which `decision_function`
        subtracts.
    alert_threshold_ : float or None
        For a metric with a rate or a number of top rows, the threshold that belongs to
        it: scores above it are alerts. `alert_point_` has its rule, counts, rates and
        their intervals for new rows, all from held-out scores.
    calibration_ : ndarray of shape (2, n_knots)
        Rising scores and their log-odds, between which probabilities are interpolated.
    base_rate_ : float
        Share of positives among the training rows.
    values_ : ndarray
        The values of the target, the positive one last, if there are no levels.
    row_sketch_ : ndarray of uint64
        Hashes of training rows, for :meth:`share_of_known_rows`.
    ranges_ : ndarray of shape (3, n_columns)
        Low and high ends of the values of each column, and the share of values outside
        to expect of new rows; ``aucmax score`` compares new rows.
    file_roles_ : dict
        Of a model of ``aucmax fit``: its name, the columns of the target, queries and
        durations, and the decimal mark, by which commands read new rows.
    n_rows_, n_positive_, n_folds_ : int
        Numbers of training rows, positive rows and folds.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if the training data had names that are all strings.

    See Also
    --------
    LinearRankerCV : The linear model that chooses its penalty.
    LambdaMART : Trees for the AUC.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from aucmax import AutoRanker
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AutoRanker(models=["logistic", "lightgbm-small"])
    >>> model = model.fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.99
    True
    """

    _unsaved_params = ("callback",)

    def __init__(
        self,
        *,
        fpr_range: Sequence[float] = (0.0, 1.0),
        tpr_range: Sequence[float] = (0.0, 1.0),
        metric: str | None = None,
        time_limit: float | None = 60.0,
        max_fits: int | None = None,
        models: object = "default",
        stores_rows: bool = True,
        cv: object = 5,
        random_state: int = 0,
        n_jobs: int = 1,
        calibrate: str | None = "auto",
        pos_label: object = None,
        callback: Callable[[AutoProgress], object] | None = None,
        verbose: int = 0,
    ) -> None:
        self.fpr_range = fpr_range
        self.tpr_range = tpr_range
        self.metric = metric
        self.time_limit = time_limit
        self.max_fits = max_fits
        self.models = models
        self.stores_rows = stores_rows
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.calibrate = calibrate
        self.pos_label = pos_label
        self.callback = callback
        self.verbose = verbose

    def fit(
        self,
        X: object,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Try the candidates, and combine them.

        Ctrl-C ends the search and combines the candidates that are done, if any.

        Parameters
        ----------
        X : DataFrame (polars or pandas), array or sparse matrix, (n_rows, n_features)
            Raw rows.
        y : array-like of shape (n_rows,), or Target
            Two distinct labels, the second in sorted order is positive; or a target of
            :func:`aucmax.tables.encode_target`, with its queries, weights, groups and
            times.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights; the weight of a pair is the product of its rows'.
        qid : array-like of shape (n_rows,), default=None
            The query of each row. The metric is then the mean over queries, and no
            query is split between folds.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are in one fold.
        times : array-like of shape (n_rows,), default=None
            Numbers or dates. Models are then tested on later rows than their training
            rows.
        checkpoint : path, default=None
            A file for the candidates that are done. A search that was killed or
            interrupted, or that ran out of time, resumes from it if called with the
            same rows and parameters, and ends with the same model; earlier time counts.
            The file belongs to one search until that is finished.

        Returns
        -------
        self : object
            The fitted model.
        """
        clock = SearchClock(self._time_limit)
        with unchanged_on_failure(self):
            self._check_parameters()
            table, target, classes = read_rows(
                self,
                X,
                y,
                sample_weight,
                qid=qid,
                groups=groups,
                times=times,
                may_be_levels=self.metric is not None
                and parse_metric(self.metric).kind.uses_levels,
            )
            goal = choose_goal(target, self.metric, **self._part_of_the_curve())
            self._check_calibrate(target)
            plan = plan_folds(target, self.cv, self.random_state)
            folded = FoldedTable(table, target, plan.folds, _MANY_CELLS)
            leaks = check_table(folded.table, target, plan.folds)
            folded.encoder(0)  # raises if no column can be used
            setting = self._setting(table, goal, target, plan.refits)
            candidates = {
                name: for_frame(model, X)
                for name, model in choose_candidates(self.models, setting).items()
            }
            if self.max_fits is not None:
                n_tried = max(1, self.max_fits // len(plan.folds))
                if beyond := [*candidates][n_tried:]:
                    left_out = f"max_fits={self.max_fits} left out {', '.join(beyond)}"
                    plan.notices.append(f"{left_out}; raise it to try them")
                candidates = dict([*candidates.items()][:n_tried])
            done = None
            if checkpoint is not None:
                done = SearchCheckpoint(checkpoint, folded, setting, candidates)
                clock.start -= done.seconds
            report = reporter(self)
            is_listed = target.queries is None
            share = plan.rows.size / target.labels.size if is_listed else 1.0
            held_out = HeldOutRows(
                target.take(plan.rows), plan.fold_of_row, goal, share
            )
            search = AutoSearch(folded, held_out, setting, clock, report, done)
            search.run(candidates)
            fitted, notices = search.fitted, search.notices
            logits = np.column_stack([one.logits for one in fitted])
            ensemble = combine(
                held_out, logits, plan.blocks, is_forward=target.times is not None
            )
            encoders, members = search.fit_members(ensemble.weights, plan)
            if done is not None and not search.is_stopped:
                done.update(is_done=True)
            cut = learn_decisions(held_out, ensemble, self.calibrate, notices)
            kind = {"levels_" if target.is_graded else "classes_": classes}
            is_positive = target.relevant > 0
            positive_notes = []
            if not isinstance(y, Target):
                share = float(is_positive.mean())
                positive_notes = positive_class_notes(
                    classes[-1], share, self.pos_label
                )
            if not target.is_graded:
                cut["values_"] = np.array(target.grading.values)
            replace_state(
                self,
                {
                    **({"is_survival_": True} if target.is_survival else kind),
                    "row_sketch_": sketch_rows(encoders[0], table, target.labels),
                    "ranges_": learn_ranges(encoders[0], table),
                    "metric_": goal.metric,
                    "members_": members,
                    "encoders_": encoders,
                    "weights_": {one["name"]: one["weight"] for one in members},
                    "combiner_": ensemble.combiner,
                    "estimate_": estimate_metrics(held_out, ensemble),
                    "board_": board(
                        fitted, search.estimates, held_out, logits, ensemble
                    ),
                    "notices_": [
                        *positive_notes,
                        *plan.notices,
                        *map(str, without_columns(leaks, encoders[0].dropped_)),
                        *encoders[0].notices_,
                        *notices,
                    ],
                    **cut,
                    "n_rows_": target.labels.size,
                    "n_positive_": int(np.count_nonzero(is_positive)),
                    "n_folds_": len(plan.folds),
                },
            )
            if {one["view"] for one in members} != {"frame"}:
                encoders[0].warn_of_dropped()
            if all(
                has_constant_scores(part.target, ensemble.scores[held])
                for held, part in held_out.take_folds()
            ):
                warnings.warn(
                    f"{', '.join(self.weights_)} gives all rows the same score, or all "
                    "rows of each query, so it does not rank them. Try another model, "
                    "more rows or more time, or check that the columns are related to "
                    "the target.",
                    ConstantScoresWarning,
                    stacklevel=2,
                )
        return self

    def _part_of_the_curve(self) -> dict[str, Any]:
        fpr_range = check_range("fpr_range", self.fpr_range)
        tpr_range = check_range("tpr_range", self.tpr_range)
        if self.metric == "partial_auc" and fpr_range == tpr_range == (0.0, 1.0):
            fpr_range = (0.0, 0.1)
        return {"fpr_range": fpr_range, "tpr_range": tpr_range}

    def _setting(
        self, table: Any, goal: Goal, target: Target, refits: bool
    ) -> SearchSetting:
        has_units = target.is_graded or target.queries is not None
        return SearchSetting(
            n_columns=table.shape[1],
            is_sparse=not hasattr(table, "columns"),
            goal=goal,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
            is_limited=self._time_limit is not None,
            refits=refits,
            stores_rows=self.stores_rows,
            is_ranking=has_units and (target.is_graded or not goal.is_area),
            is_survival=target.is_survival,
        )

    def _check_calibrate(self, target: Target) -> None:
        """Reject a calibration of a target that has no two classes in one list."""
        has_probabilities = not (
            target.queries is not None or target.is_graded or target.is_survival
        )
        if self.calibrate not in (None, "auto") and not has_probabilities:
            raise ValueError(
                f"calibrate={self.calibrate!r} is not possible with queries, levels or "
                "censored times: rows are ranked within queries, or by more than two "
                "levels, so there are no probabilities of two classes. Use "
                'calibrate=None or "auto".'
            )

    @property
    def _time_limit(self) -> float | None:
        return None if self.max_fits is not None else self.time_limit

    def _check_parameters(self) -> None:
        check_calibrate(self.calibrate)
        if self.cv is None:
            raise ValueError("cv must be a number of folds or a splitter, got None.")
        part = self._part_of_the_curve()
        if self.metric is not None:
            parse_metric(self.metric)
        if self.metric not in (None, "partial_auc") and part != WHOLE_CURVE:
            raise ValueError(
                f"metric={self.metric!r} has no part of the curve, which contradicts "
                f"fpr_range={self.fpr_range!r} and tpr_range={self.tpr_range!r}. Leave "
                "out metric, or the ranges."
            )
        check_max_time(self.time_limit, "time_limit")
        if self.max_fits is not None:
            check_integer("max_fits", self.max_fits)
        if isinstance(self.cv, Real):
            check_integer("cv", self.cv, 2)
