"""What rounds leave on a model, and what a loaded model must have."""

from typing import Any

import numpy as np

from aucmax._core.threshold import balanced_threshold
from aucmax.trees.booster import check_model_text, n_threads
from aucmax.trees.booster_text import column_ranges
from aucmax.trees.columns import TreeColumns
from aucmax.trees.data import TrainingLabels, TreeRows
from aucmax.trees.pair_objectives import find_objective
from aucmax.trees.rounds import TreeRounds

__all__ = ["check_fitted_state", "fitted_attributes"]


def fitted_attributes(
    rounds: TreeRounds, rows: TreeRows, known: TrainingLabels, columns: TreeColumns
) -> dict[str, Any]:
    """Return what the rounds have found, as attributes."""
    watch, booster = rounds.watch, rounds.booster
    # LightGBM takes 0 for all; what it has then is at most a tree without a split
    n_kept = watch.n_kept or None
    gains = np.asarray(booster.feature_importance("gain", iteration=n_kept), float)
    total = gains.sum()
    fitted: dict[str, Any] = {
        **columns.fitted_attributes(),
        **known.fitted_attributes(),
        "model_text_": booster.model_to_string(num_iteration=n_kept),
        "feature_importances_": gains / total if total > 0.0 else np.zeros(gains.size),
        "n_iter_": watch.n_iter,
        "stop_reason_": rounds.reason,
        "history_": {},
    }
    if not known.is_levels:
        fitted["threshold_"] = balanced_threshold(
            rounds.kept_scores, rows.labels, rows.weight
        )
    apart = rounds.evaluation
    if apart is not None:
        values = watch.validation or [apart.measure(np.zeros(apart.X.shape[0]))]
        fitted["history_"] = {"validation": np.array(watch.validation)}
        fitted["best_iteration_"] = watch.n_kept
        fitted["best_score_"] = max(values)
    return fitted


def check_fitted_state(estimator: Any) -> None:
    """Refuse a loaded state that no fit could have left."""
    n_features = estimator.n_features_in_
    check_model_text(estimator.model_text_, n_features)
    n_threads(estimator.n_jobs, n_rows=1)
    if find_objective(estimator.objective).labels == "two":
        is_number = isinstance(estimator.threshold_, float)
        if estimator.classes_.shape != (2,) or not is_number:
            raise ValueError("classes_ and threshold_ do not fit the objective")
    elif estimator.levels_.ndim != 1:
        raise ValueError("levels_ is no list of levels")
    columns = TreeColumns.of(vars(estimator))
    places = {*columns.categorical, *columns.categories}
    if not places <= set(range(n_features)):
        raise ValueError("the categorical columns are not among the features")
    ranges = column_ranges(estimator.model_text_)
    if any(ranges[place].startswith("[") for place in columns.categorical):
        raise ValueError("a categorical column has a range of numbers in the trees")
    exponents = columns.exponents
    if exponents is not None and (
        exponents.shape != (n_features,) or exponents.dtype != np.int64
    ):
        raise ValueError("column_exponents_ do not fit the features")
