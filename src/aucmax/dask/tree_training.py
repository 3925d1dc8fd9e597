"""LambdaMART on Dask's collections: trees of XGBoost, pairs of all workers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

try:
    import distributed  # noqa: F401
    import xgboost
except ModuleNotFoundError as error:
    raise ImportError(
        "trees on Dask need XGBoost and distributed: pip install 'aucmax[dask]'."
    ) from error

from aucmax._core.fitting import print_progress, reporter
from aucmax.dask.cluster import Cluster, HeldParts
from aucmax.dask.parted_features import check_columns
from aucmax.dask.partitions import rows_in_parts
from aucmax.dask.tasks import Tasks
from aucmax.dask.tree_attempts import TreeAttempts
from aucmax.dask.tree_pairs import MAX_SCORES
from aucmax.dask.tree_worker import Grown, TreeJob, as_block, contents_of
from aucmax.exceptions import NotEnoughClassesError
from aucmax.trees.booster import booster_parameters
from aucmax.trees.from_xgboost import lightgbm_text
from aucmax.trees.pair_objectives import PairObjective, find_objective
from aucmax.trees.tree_rounds import PRINT_EVERY, TreeProgress
from aucmax.trees.tree_rows import Target, check_rows

CHECKPOINT_EVERY = 10


def fit_trees(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    qid: Any = None,
    eval_set: Any = None,
) -> dict[str, Any]:
    """Grow the trees of a LambdaMART on the workers; return its fitted attributes."""
    start = time.monotonic()
    objective = find_objective(estimator.objective)
    _check_settings(estimator, objective, eval_set)
    cluster = Cluster()
    if cluster.client is None:
        raise ValueError(
            "LambdaMART on a Dask collection needs a cluster: start one with "
            "distributed.Client() first."
        )
    columns = {"X": X, "y": y, "sample_weight": sample_weight, "qid": qid}
    parts = _parts(estimator, columns, cluster)
    n_rows, labels, queries = zip(*parts.call(contents_of), strict=True)
    starts = np.cumsum([0, *n_rows]).tolist()
    target = _target(estimator, objective, _occurring(labels), starts[-1])
    own = booster_parameters(estimator, starts[-1])
    if estimator.n_jobs is None:  # workers share the cores of their machines
        own["num_threads"] = 1
    job = TreeJob(
        name=f"aucmax-{uuid4().hex}",
        risk=objective.risk(
            estimator.fpr_range,
            estimator.outside_weight,
            own["num_threads"],
            estimator.truncation,
        ),
        parameters=_xgboost_parameters(own),
        n_rounds=int(estimator.n_estimators),
        checkpoint_every=CHECKPOINT_EVERY,
        starts=starts,
        classes=target.get("classes_"),
        queries=np.unique(_occurring(queries)),
        seconds=estimator.max_time,
        max_scores=MAX_SCORES,
    )
    callback = reporter(estimator, PRINT_EVERY)

    def report(n_rounds: int) -> bool:
        progress = TreeProgress(n_rounds, None, time.monotonic() - start)
        return callback is not None and bool(callback(progress))

    has_rows = [n > 0 for n in n_rows]
    attempts = TreeAttempts(cluster, job, parts.only(has_rows), report)
    grown = attempts.run()
    if attempts.n_failures:
        warnings.warn(
            f"workers were lost {attempts.n_failures} times; the fit resumed from the "
            "last checkpoint.",
            RuntimeWarning,
            stacklevel=3,
        )
    fitted = _fitted(estimator, target, grown, starts[-1])
    if fitted["n_iter_"] % PRINT_EVERY:  # the last round is not printed yet
        seconds = time.monotonic() - start
        print_progress(estimator, TreeProgress(fitted["n_iter_"], None, seconds))
    return fitted


def _parts(estimator: Any, columns: dict[str, Any], cluster: Cluster) -> HeldParts:
    """Check the columns; return the blocks of rows, which are checked on workers."""
    if columns["y"] is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    X, dtype = check_columns(estimator, columns["X"], fitting=True)
    tasks, names = Tasks(), getattr(estimator, "feature_names_in_", None)
    keys = [
        tasks.add(
            as_block,
            part,
            number=number,
            n_columns=estimator.n_features_in_,
            dtype=dtype,
            names=names,
        )
        for number, part in enumerate(rows_in_parts(tasks, {**columns, "X": X}))
    ]
    return HeldParts(tasks, keys, cluster)


def _target(
    estimator: Any, objective: PairObjective, labels: NDArray[Any], n_rows: int
) -> Target:
    if not labels.size:
        raise ValueError("X has no rows of positive weight in any partition.")
    if (labels == labels[0]).all():
        raise NotEnoughClassesError(
            f"y has one class only: all {n_rows} rows of positive weight are "
            f"{labels[0]}. Rows of two classes are needed to rank one above the other."
        )
    target, _ = check_rows(estimator, objective, labels[:, None], labels, None, None)
    return target


def _occurring(found: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Join the values of parts; parts without rows have an arbitrary type."""
    present = [values for values in found if values.size]
    return np.concatenate(present) if present else np.zeros(0)


def _fitted(
    estimator: Any, target: Target, grown: Grown, n_rows: int
) -> dict[str, Any]:
    booster = xgboost.Booster(model_file=bytearray(grown.trees))
    gains = np.zeros(estimator.n_features_in_)
    for name, gain in booster.get_score(importance_type="total_gain").items():
        gains[int(name.removeprefix("f"))] = gain
    total = gains.sum()
    fitted: dict[str, Any] = {
        "categorical_features_": [],
        **target,
        "model_text_": lightgbm_text(booster, n_rows, zero_is_missing=grown.is_sparse),
        "feature_importances_": gains / total if total > 0.0 else gains,
        "n_iter_": booster.num_boosted_rounds(),
        "stop_reason_": grown.reason,
        "history_": {},
        "n_features_in_": estimator.n_features_in_,
    }
    if hasattr(estimator, "feature_names_in_"):
        fitted["feature_names_in_"] = estimator.feature_names_in_
    if "classes_" in target:
        fitted["threshold_"] = grown.threshold
    return fitted


def _check_settings(estimator: Any, objective: PairObjective, eval_set: Any) -> None:
    """Reject settings that XGBoost on Dask does not support."""
    given = {
        f"objective={estimator.objective!r}": objective.labels == "times",
        "eval_set": eval_set is not None,
        "n_iter_no_change": estimator.n_iter_no_change is not None,
        "params": bool(estimator.params),
    }
    for name, is_given in given.items():
        if is_given:
            raise ValueError(
                f"{name} is not supported for Dask collections: XGBoost grows their "
                "trees, for n_estimators rounds."
            )
    listed = estimator.categorical_features
    if listed is not None and not isinstance(listed, str) and len(listed) > 0:
        raise ValueError(
            "categorical_features are not supported for Dask collections; encode "
            "categories as columns of zeros and ones."
        )


def _xgboost_parameters(own: dict[str, Any]) -> dict[str, Any]:
    """Return LightGBM's parameters by their names in XGBoost."""
    parameters = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": own["num_leaves"],
        "max_depth": max(own["max_depth"], 0),
        "learning_rate": own["learning_rate"],
        "subsample": own["bagging_fraction"],
        "colsample_bytree": own["feature_fraction"],
        "reg_alpha": own["lambda_l1"],
        "reg_lambda": own["lambda_l2"],
        "nthread": own["num_threads"],
        "seed": own["seed"],
        "base_score": 0.0,
        "disable_default_eval_metric": True,
        "verbosity": 0,
    }
    if "monotone_constraints" in own:
        signs = ",".join(map(str, own["monotone_constraints"]))
        parameters["monotone_constraints"] = f"({signs})"
    return parameters
