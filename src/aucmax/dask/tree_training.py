"""LambdaMART on Dask's collections: trees of XGBoost, pairs of all workers."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any
from urllib.parse import urlparse

import numpy as np

try:
    import xgboost
    from distributed import Future
    from distributed.utils import get_ip
    from xgboost.core import XGBoostError
    from xgboost.tracker import RabitTracker
except ModuleNotFoundError as error:
    raise ImportError(
        "trees on Dask need XGBoost and distributed: pip install 'aucmax[dask]'."
    ) from error

from aucmax._core.features import explain_non_finite
from aucmax._core.fitting import print_progress, reporter
from aucmax._core.threshold import balanced_threshold
from aucmax.dask.cluster import Cluster
from aucmax.dask.matrix import PartedMatrix
from aucmax.dask.parted_features import check_parted_features
from aucmax.dask.tree_worker import (
    TreeJob,
    add_trees,
    infinite_rows,
    prepare,
    scores_of_block,
    without_zeros,
)
from aucmax.trees.booster import booster_parameters
from aucmax.trees.from_xgboost import lightgbm_text
from aucmax.trees.lambdamart import LambdaMART
from aucmax.trees.pair_objectives import PairObjective, find_objective
from aucmax.trees.tree_rounds import PRINT_EVERY, TreeProgress
from aucmax.trees.tree_rows import check_rows

_ROUNDS_PER_CALL = 20  # of the workers; then the client has the trees so far
_POLL_INTERVAL = 0.05  # seconds
_EXIT_TIMEOUT = 60  # seconds for the workers that are left to end a round
_LOST = (
    "workers were lost while they grew trees; check their memory and their logs, and "
    "fit again."
)


def fit_trees(
    estimator: LambdaMART,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    qid: Any = None,
    eval_set: Any = None,
) -> dict[str, Any]:
    """Grow the trees of a LambdaMART on the workers; return its fitted attributes.

    Labels, weights and queries are gathered; features stay on the workers.
    """
    objective = find_objective(estimator.objective)
    _check_settings(estimator, objective, eval_set)
    client = Cluster().client
    if client is None:
        raise ValueError(
            "LambdaMART on a Dask collection needs a cluster: start one with "
            "distributed.Client() first."
        )
    matrix = check_parted_features(estimator, X)
    n_rows = matrix.shape[0]
    target, rows = check_rows(
        estimator, objective, np.arange(n_rows), y, sample_weight, qid
    )
    if matrix.map_rows(infinite_rows).any():
        names = getattr(estimator, "feature_names_in_", None)
        raise ValueError(explain_non_finite(matrix, names, gaps=True))
    if matrix.is_sparse:
        matrix = matrix.transform(without_zeros)
    parameters = booster_parameters(estimator, n_rows)
    if estimator.n_jobs is None:  # workers share the cores of their machines
        parameters["num_threads"] = 1
    risk = objective.risk(
        estimator.fpr_range,
        estimator.outside_weight,
        parameters["num_threads"],
        estimator.truncation,
    )
    workers = _TreeWorkers(
        matrix,
        client.scatter(TreeJob(risk, rows, matrix.ends), broadcast=True),
        _xgboost_parameters(parameters),
    )
    booster, reason = _train(estimator, workers)
    gains = np.zeros(matrix.shape[1])
    for name, gain in booster.get_score(importance_type="total_gain").items():
        gains[int(name.removeprefix("f"))] = gain
    total = gains.sum()
    fitted: dict[str, Any] = {
        **target,
        "categorical_features_": [],
        "model_text_": lightgbm_text(booster, n_rows, zero_is_missing=matrix.is_sparse),
        "feature_importances_": gains / total if total > 0.0 else gains,
        "n_iter_": booster.num_boosted_rounds(),
        "stop_reason_": reason,
        "history_": {},
        "n_features_in_": estimator.n_features_in_,
    }
    if hasattr(estimator, "feature_names_in_"):
        fitted["feature_names_in_"] = estimator.feature_names_in_
    if "classes_" in target:
        scores = matrix.map_rows(scores_of_block, trees=bytes(booster.save_raw("ubj")))
        cut = balanced_threshold(scores[rows.X], rows.labels, rows.weight)
        fitted["threshold_"] = cut
    return fitted


def _train(estimator: LambdaMART, workers: _TreeWorkers) -> tuple[xgboost.Booster, str]:
    """Grow trees a few rounds at a time; return them with the reason to stop."""
    start, report = time.monotonic(), reporter(estimator, PRINT_EVERY)
    trees: bytes | None = None
    n_done, reason = 0, "max rounds"

    def progress() -> TreeProgress:
        return TreeProgress(n_done, None, time.monotonic() - start)

    while reason == "max rounds" and n_done < estimator.n_estimators:
        n_rounds = min(_ROUNDS_PER_CALL, estimator.n_estimators - n_done)
        if estimator.max_time is not None:
            seconds = time.monotonic() - start
            n_in_time = n_done * (estimator.max_time - seconds) / seconds
            n_rounds = min(n_rounds, max(int(n_in_time), 1))
        trees = workers.add_trees(trees, n_rounds)
        booster = xgboost.Booster(model_file=bytearray(trees))
        is_late = progress().seconds > (estimator.max_time or np.inf)
        if is_late and booster.num_boosted_rounds() < estimator.n_estimators:
            reason = "max time"
        while n_done < booster.num_boosted_rounds():
            n_done += 1
            should_stop = report is not None and report(progress())
            workers.cluster.check_open()
            if should_stop:
                booster, reason = booster[:n_done], "callback"
    if n_done % PRINT_EVERY:  # the last round is not printed yet
        print_progress(estimator, progress())
    return booster, reason


class _TreeWorkers:
    """The workers that hold blocks of rows, and grow trees together."""

    def __init__(
        self, matrix: PartedMatrix, job: Future, parameters: dict[str, object]
    ) -> None:
        self.cluster = matrix.parts.cluster
        self._matrix = matrix
        self._job = job
        self._parameters = parameters
        self._data: dict[str, Future] = {}  # of each worker, which keeps it

    def add_trees(self, trees: bytes | None, n_rounds: int) -> bytes:
        """Add trees to those so far."""
        if not self._data:
            self._data = self._call(prepare, self._place())
        futures = self._call(
            add_trees,
            {
                worker: (data, self._parameters, trees, n_rounds)
                for worker, data in self._data.items()
            },
        )
        result: bytes = next(iter(futures.values())).result()
        return result

    def _place(self) -> dict[str, tuple[Any, ...]]:
        """Wait for the blocks; return those of each worker, and the job."""
        blocks = self._matrix.parts.futures
        self.cluster.wait(blocks)
        for block in blocks:
            if block.status in ("error", "cancelled"):
                block.result()  # raises the error, which names the partition
        holders = self.cluster.client.who_has(blocks)
        numbers: defaultdict[str, list[int]] = defaultdict(list)
        for number, block in enumerate(blocks):
            if not holders.get(block.key):
                raise RuntimeError(_LOST)
            if self._matrix.ends[number] < self._matrix.ends[number + 1]:  # has rows
                numbers[min(holders[block.key])].append(number)
        return {
            worker: (chosen, [blocks[k] for k in chosen], self._job)
            for worker, chosen in numbers.items()
        }

    def _call(
        self, function: Callable[..., Any], arguments: dict[str, tuple[Any, ...]]
    ) -> dict[str, Future]:
        """Call a function on all workers at once; they can add up numbers in it."""
        client = self.cluster.client
        # the address of this machine on the network of the scheduler
        host = get_ip(urlparse(client.scheduler.address).hostname or "127.0.0.1")
        n_workers = len(arguments)
        with xgboost.config_context(verbosity=0):
            tracker = RabitTracker(n_workers, host_ip=host, sortby="task", timeout=60)
            tracker.start()
        tasks = {
            worker: client.submit(
                function,
                {**tracker.worker_args(), "dmlc_task_id": f"{rank:06d}"},
                *arguments[worker],
                workers=[worker],
                allow_other_workers=False,
                pure=False,
            )
            for rank, worker in enumerate(sorted(arguments))
        }
        try:
            self._wait(tasks)
        except BaseException:
            with suppress(Exception):  # of a client that was closed
                client.cancel(list(tasks.values()), force=True)
            raise
        finally:
            # the workers sign off from the tracker; the fit need not wait for them
            Thread(target=_free, args=(tracker,), daemon=True).start()
        return tasks

    def _wait(self, tasks: dict[str, Future]) -> None:
        """Wait for all tasks; raise an error if a worker is lost."""
        while not all(task.status == "finished" for task in tasks.values()):
            self.cluster.check_open()
            for task in tasks.values():
                if task.status not in ("pending", "finished"):
                    error = task.exception() if task.status == "error" else None
                    is_xgboost = isinstance(error, XGBoostError)  # a ValueError
                    if isinstance(error, ValueError | TypeError) and not is_xgboost:
                        raise error
                    raise RuntimeError(_LOST) from error
            cluster_state = self.cluster.client.scheduler_info(n_workers=-1)
            if not tasks.keys() <= cluster_state["workers"].keys():
                raise RuntimeError(_LOST)
            time.sleep(_POLL_INTERVAL)


def _free(tracker: RabitTracker) -> None:
    with suppress(Exception):
        tracker.wait_for(_EXIT_TIMEOUT)
    with suppress(Exception):
        tracker.free()


def _check_settings(
    estimator: LambdaMART, objective: PairObjective, eval_set: object
) -> None:
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
