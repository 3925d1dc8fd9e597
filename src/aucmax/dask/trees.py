"""LambdaMART on Dask's collections: trees of XGBoost, pairs of all workers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn.exceptions import ConvergenceWarning

try:
    import xgboost
    from distributed import Client, get_client
except ImportError as error:
    raise ImportError(
        "trees on Dask need XGBoost and a cluster: pip install 'aucmax[dask]'."
    ) from error

from aucmax._progress import reporter
from aucmax.dask.tree_attempts import grow_on_workers
from aucmax.dask.tree_pairs import MOST_SCORES
from aucmax.dask.tree_parts import Contents, as_block, look_at, split_rows
from aucmax.dask.tree_worker import Grown, TreeJob
from aucmax.trees.data import TrainingLabels
from aucmax.trees.from_xgboost import lightgbm_text
from aucmax.trees.pair_objectives import find_objective
from aucmax.trees.params import booster_parameters
from aucmax.trees.rounds import TreeProgress

__all__ = ["fit_trees"]

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
    _check_settings(estimator, eval_set)
    client = _client()
    objective = find_objective(estimator.objective)
    columns = {"X": X, "y": y, "sample_weight": sample_weight, "qid": qid}
    # recomputed from their source where a worker dies, as their tasks are kept
    parts = [client.compute(_as_task(part)) for part in split_rows(columns)]
    contents = client.gather(
        [client.submit(look_at, part, k, pure=False) for k, part in enumerate(parts)]
    )
    known = _known_labels(contents, objective.labels == "levels")
    _check_columns(estimator, contents)
    starts = np.cumsum([0] + [each.n_rows for each in contents]).tolist()
    blocks = [
        client.submit(
            as_block,
            part,
            None if known.is_levels else known.values,
            queries,
            pure=False,
        )
        for part, queries in zip(parts, _query_numbers(contents), strict=True)
    ]
    del parts
    own = booster_parameters(estimator, starts[-1])
    if estimator.n_jobs is None:  # workers share the cores of their machines
        own["num_threads"] = 1
    job = TreeJob(
        name=f"aucmax-{uuid4().hex}",
        risk=objective.risk(
            estimator.fpr_range, estimator.outside_weight, own["num_threads"]
        ),
        parameters=_xgboost_parameters(own),
        n_rounds=int(estimator.n_estimators),
        checkpoint_every=CHECKPOINT_EVERY,
        starts=starts,
        seconds=estimator.max_time,
        most_scores=MOST_SCORES,
    )
    report = reporter(estimator)

    def tell(n_rounds: int) -> bool:
        progress = TreeProgress(n_rounds, None, time.monotonic() - start)
        return report is not None and bool(report(progress))

    grown, n_failures = grow_on_workers(client, job, blocks, tell)
    if grown.is_late:
        warnings.warn(
            f"stopped by max_time={estimator.max_time:g} seconds; allow more, or fewer "
            "rounds.",
            ConvergenceWarning,
            stacklevel=3,
        )
    if n_failures:
        warnings.warn(
            f"workers were lost {n_failures} times; the fit went on from the trees it "
            "had by then.",
            RuntimeWarning,
            stacklevel=3,
        )
    return _fitted(known, contents[0], grown, starts[-1])


def _fitted(
    known: TrainingLabels, first: Contents, grown: Grown, n_rows: int
) -> dict[str, Any]:
    booster = xgboost.Booster(model_file=bytearray(grown.trees))
    gains = np.zeros(first.n_columns)
    for name, gain in booster.get_score(importance_type="total_gain").items():
        gains[int(name.removeprefix("f"))] = gain
    total = gains.sum()
    fitted: dict[str, Any] = {
        "categorical_features_": [],
        **known.fitted_attributes(),
        "model_text_": lightgbm_text(booster, n_rows),
        "feature_importances_": gains / total if total > 0.0 else gains,
        "n_iter_": booster.num_boosted_rounds(),
        "stop_reason_": "max_time" if grown.is_late else "n_estimators",
        "history_": {},
        "n_features_in_": first.n_columns,
    }
    if first.names is not None:
        fitted["feature_names_in_"] = np.array(first.names, dtype=object)
    if not known.is_levels:
        fitted["threshold_"] = grown.threshold
    return fitted


def _client() -> Client:
    try:
        return get_client()
    except ValueError as error:
        raise ValueError(
            "trees of a Dask collection grow on the workers of a cluster, and there is "
            "none: start one by distributed.Client() first."
        ) from error


def _as_task(part: dict[str, Any]) -> Any:
    from dask import delayed

    return delayed(dict)(part)


def _check_settings(estimator: Any, eval_set: Any) -> None:
    """Refuse what the rounds of XGBoost on Dask cannot do."""
    given = {
        "eval_set": eval_set is not None,
        "n_iter_no_change": estimator.n_iter_no_change is not None,
        "params": bool(estimator.params),
    }
    for name, is_given in given.items():
        if is_given:
            raise ValueError(
                f"{name} is not possible where X is a collection of Dask: its trees "
                "are grown by XGBoost, for n_estimators rounds."
            )
    listed = estimator.categorical_features
    if listed is not None and not isinstance(listed, str) and len(listed) > 0:
        raise ValueError(
            "categorical_features are not possible where X is a collection of Dask; "
            "spread categories over columns of zeros and ones."
        )


def _known_labels(contents: Sequence[Contents], is_levels: bool) -> TrainingLabels:
    labels = np.unique(np.concatenate([each.labels for each in contents]))
    if is_levels:
        if labels.dtype.kind not in "iubf" or (labels < 0).any() or labels.size < 2:
            raise ValueError(
                "y must have at least two levels, whole numbers from 0, got "
                f"{labels[:10].tolist()}."
            )
        return TrainingLabels(labels.astype(np.int64), True)
    if labels.size != 2:
        raise ValueError(
            f"y must have two different labels, got {labels[:10].tolist()}. Levels of "
            "relevance are ranked with objective='mauc' or 'ordinal'."
        )
    return TrainingLabels(labels, False)


def _check_columns(estimator: Any, contents: Sequence[Contents]) -> None:
    first = contents[0]
    for number, each in enumerate(contents):
        if (each.n_columns, each.names) != (first.n_columns, first.names):
            raise ValueError(
                f"partition {number} of X has {each.n_columns} columns, which are not "
                f"the {first.n_columns} of partition 0."
            )
    # as in a fit of arrays, before parameters that name columns are read
    estimator.n_features_in_ = first.n_columns


def _query_numbers(contents: Sequence[Contents]) -> list[dict[Any, int]]:
    """Give each query a number; return those of the queries of each part."""
    numbers: dict[Any, int] = {}
    found = []
    for each in contents:
        keys = [] if each.queries is None else each.queries.tolist()
        found.append({key: numbers.setdefault(key, len(numbers)) for key in keys})
    return found


def _xgboost_parameters(own: dict[str, Any]) -> dict[str, Any]:
    """Return LightGBM's parameters by the names of XGBoost."""
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
