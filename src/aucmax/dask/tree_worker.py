"""The part of one worker in a fit of trees: its rows, its rounds, when to stop."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import xgboost
from distributed import Variable, get_client, get_worker
from numpy.typing import NDArray
from xgboost import collective

from aucmax._core.features import explain_non_finite
from aucmax._core.validation import FloatArray, check_qid
from aucmax.dask.parted_features import as_matrix
from aucmax.dask.partitions import Part, check_lengths, check_weights, naming_partition
from aucmax.dask.tree_pairs import LocalRows, pairs_of_all
from aucmax.risks import PairLogistic

_POLL_INTERVAL = 0.1  # seconds between checks of whether the client wants to stop


class TreeBlock(NamedTuple):
    """Rows of a part; labels and queries as the user has them."""

    number: int
    features: Any
    labels: NDArray[Any]
    weights: FloatArray | None
    queries: NDArray[Any] | None


def as_block(
    part: Part, number: int, n_columns: int, dtype: np.dtype[Any], names: Any
) -> TreeBlock:
    """Return the rows of a part for XGBoost; values may be missing."""
    check_lengths(part, number)
    features = as_matrix(part["X"], number, n_columns, dtype)
    weights = part.get("sample_weight")
    with naming_partition(number):
        values = features
        if not isinstance(features, np.ndarray):
            features = features.copy()
            features.eliminate_zeros()  # XGBoost takes absent values as missing
            values = features.data
        if np.isinf(values).any():
            raise ValueError(explain_non_finite(features, names, gaps=True))
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64)
            weights = check_weights(weights) if weights.size else weights
    return TreeBlock(
        number,
        features,
        np.asarray(part["y"]),
        weights,
        np.asarray(part["qid"]) if "qid" in part else None,
    )


def contents_of(block: TreeBlock) -> tuple[int, NDArray[Any], NDArray[Any]]:
    """Return the number of rows, labels of positive weight, and queries of a part."""
    labels, queries = block.labels, block.queries
    if block.weights is not None:
        labels = labels[block.weights > 0.0]
    if queries is None:
        queries = np.zeros(0)
    with naming_partition(block.number):
        return block.labels.size, _distinct(labels, "y"), _distinct(queries, "qid")


def _distinct(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the distinct values, none of which may be missing."""
    if values.size == 0:
        return values
    codes = check_qid(values, values.size, name).codes
    return values[np.unique(codes, return_index=True)[1]]


@dataclass(frozen=True)
class TreeJob:
    """The settings that all workers of a fit share."""

    # of the topic of progress, of the checkpoint, and of the scheduler's metadata with
    # the round after which the client stops
    name: str
    risk: PairLogistic
    parameters: Mapping[str, Any]  # XGBoost's
    n_rounds: int
    checkpoint_every: int  # rounds
    starts: Sequence[int]  # of each part among all rows; and the number of rows
    classes: NDArray[Any] | None  # negative and positive; None if labels are levels
    queries: NDArray[Any]  # all, ascending; none without `qid`
    seconds: float | None  # until the time limit
    max_scores: int  # with more rows, workers exchange cells instead of scores

    def checkpoint(self, client: Any) -> Variable:
        """Return the variable that holds the last checkpoint, if any."""
        return Variable(self.name, client=client)

    def local_rows(self, blocks: Sequence[TreeBlock]) -> LocalRows:
        """Return labels, weights and queries of blocks, by number."""
        labels = np.concatenate([block.labels for block in blocks])
        queries = _joined([block.queries for block in blocks])
        if queries is not None:
            queries = np.searchsorted(self.queries, queries)
        places = [np.arange(*self.starts[block.number :][:2]) for block in blocks]
        return LocalRows(
            labels if self.classes is None else np.searchsorted(self.classes, labels),
            _joined([block.weights for block in blocks]),
            queries,
            np.concatenate(places),
            self.starts[-1],
        )


class Grown(NamedTuple):
    """The trees, the threshold of `predict`, the reason to stop, the kind of rows."""

    trees: bytes
    threshold: float
    reason: str
    is_sparse: bool


def grow(
    blocks: Sequence[TreeBlock],
    job: TreeJob,
    tracker: Mapping[str, Any],
    so_far: bytes | None,
) -> Grown:
    """Grow trees together with the other workers."""
    with xgboost.config_context(verbosity=0), collective.CommunicatorContext(**tracker):
        data = xgboost.QuantileDMatrix(_Blocks(blocks))
        pairs = pairs_of_all(job.risk, job.local_rows(blocks), job.max_scores)
        booster, n_done = None, 0
        if so_far is not None:
            booster = xgboost.Booster(model_file=bytearray(so_far))
            n_done = booster.num_boosted_rounds()
        monitor = _Monitor(job)
        # samples of rows and columns depend on the seed and the round alone
        parameters = {**job.parameters, "seed": job.parameters["seed"] + n_done}
        if job.n_rounds > n_done:
            booster = xgboost.train(
                parameters,
                data,
                job.n_rounds - n_done,
                obj=lambda scores, _: pairs.gradient_hessian(_plain(scores)),
                xgb_model=booster,
                callbacks=[monitor],
            )
        assert booster is not None
        if booster.num_boosted_rounds() > monitor.n_kept > 0:
            booster = booster[: monitor.n_kept]
        scores = _plain(booster.predict(data, output_margin=True))
        threshold = pairs.threshold(scores)
        is_sparse = any(not isinstance(b.features, np.ndarray) for b in blocks)
        trees = bytes(booster.save_raw("ubj"))
        return Grown(trees, threshold, monitor.reason, is_sparse)


class _Blocks(xgboost.DataIter):
    """Blocks of rows, one after the other, as XGBoost reads them."""

    def __init__(self, blocks: Sequence[TreeBlock]) -> None:
        super().__init__()
        self._blocks = [block.features for block in blocks if block.labels.size]
        self._next = 0

    def next(self, input_data: Any) -> bool:
        """Pass on the next block; return whether there was one."""
        if self._next == len(self._blocks):
            return False
        input_data(data=self._blocks[self._next])
        self._next += 1
        return True

    def reset(self) -> None:
        """Start again from the first block."""
        self._next = 0


class _Monitor(xgboost.callback.TrainingCallback):
    """Report rounds, write checkpoints, and stop in time."""

    # A worker's thread cannot be stopped from outside. So all workers agree after each
    # round on whether the time is up, or the task of one of them was cancelled.
    def __init__(self, job: TreeJob) -> None:
        super().__init__()
        self._job = job
        self._is_first = collective.get_rank() == 0
        self._start = self._last_poll = time.monotonic()
        worker = get_worker()
        self._worker, self._task = worker, worker.get_current_task()
        self.n_kept = 0
        self.reason = "max rounds"

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Report a round; all workers stop at the same one."""
        n_done, last_round = model.num_boosted_rounds(), 0
        if self._is_first:
            self._worker.log_event(self._job.name, n_done)
            if n_done % self._job.checkpoint_every == 0:
                trees = bytes(model.save_raw("ubj"))
                self._job.checkpoint(get_client()).set(trees)
            last_round = self._requested_round()
        own = np.array([self._is_cancelled, last_round, self._is_late], dtype=float)
        cancelled, last_round, late = collective.allreduce(own, collective.Op.MAX)
        if cancelled:
            raise RuntimeError("the fit of these trees was cancelled.")
        if last_round:
            self.reason, self.n_kept = "callback", int(last_round)
        elif late and n_done < self._job.n_rounds:
            self.reason = "max time"
        return self.reason != "max rounds"

    def _requested_round(self) -> int:
        """Return the round after which the client stops, or 0."""
        now = time.monotonic()
        if now - self._last_poll < _POLL_INTERVAL:
            return 0
        self._last_poll = now
        return int(get_client().get_metadata([self._job.name], 0))

    @property
    def _is_cancelled(self) -> bool:
        """Whether the scheduler has cancelled the task of this worker."""
        task = self._worker.state.tasks.get(self._task)
        return task is None or task.state == "cancelled"

    @property
    def _is_late(self) -> bool:
        seconds = self._job.seconds
        return seconds is not None and time.monotonic() - self._start > seconds


def _plain(scores: Any) -> FloatArray:
    return np.asarray(scores, dtype=np.float64).ravel()


def _joined(columns: Sequence[Any]) -> Any:
    return None if columns[0] is None else np.concatenate(columns)
