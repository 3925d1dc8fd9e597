"""What one worker does in a fit of trees: its rows, its rounds, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

_SECONDS_BETWEEN_LOOKS = 0.1  # at the wish of the client


@dataclass(frozen=True)
class TreeBlock:
    """Rows of a part; labels and queries as the user has them."""

    number: int
    features: Any
    labels: NDArray[Any]
    weights: FloatArray | None
    queries: NDArray[Any] | None


@dataclass(frozen=True)
class BlockContents:
    """What is in a part: the labels of rows with any weight, and the queries."""

    n_rows: int
    labels: NDArray[Any]
    queries: NDArray[Any]


def as_block(
    part: Part, number: int, n_columns: int, dtype: np.dtype[Any], names: Any
) -> TreeBlock:
    """Return the rows of a part as XGBoost takes them; values may be missing."""
    check_lengths(part, number)
    features = as_matrix(part["X"], number, n_columns, dtype)
    weights = part.get("sample_weight")
    with naming_partition(number):
        values = features if isinstance(features, np.ndarray) else features.data
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


def look_at(block: TreeBlock) -> BlockContents:
    """Return what is in a part."""
    labels, queries = block.labels, block.queries
    if block.weights is not None:
        labels = labels[block.weights > 0.0]
    with naming_partition(block.number):
        return BlockContents(
            block.labels.size,
            _distinct(labels, "y"),
            _distinct(np.zeros(0) if queries is None else queries, "qid"),
        )


def _distinct(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the distinct values, none of which is missing."""
    if values.size == 0:
        return values
    codes = check_qid(values, values.size, name).codes
    return values[np.unique(codes, return_index=True)[1]]


@dataclass(frozen=True)
class TreeJob:
    """What all workers of a fit share."""

    # of the topic of progress, of the checkpoint, and of the metadata at the scheduler
    # that has the round after which the client wants no more
    name: str
    risk: PairLogistic
    parameters: Mapping[str, Any]  # XGBoost's
    n_rounds: int
    checkpoint_every: int  # rounds
    starts: Sequence[int]  # of each part among all rows; and the number of rows
    classes: NDArray[Any] | None  # negative and positive; None if labels are levels
    queries: NDArray[Any]  # all, ascending; none without `qid`
    seconds: float | None  # that are left
    max_scores: int  # beyond so many rows, cells travel in place of scores

    def checkpoint(self, client: Any) -> Variable:
        """Return where the last checkpoint is, if there is one."""
        return Variable(self.name, client=client)

    def local_rows(self, blocks: Sequence[TreeBlock]) -> LocalRows:
        """Return labels, weights and queries of blocks, by number."""
        labels = np.concatenate([block.labels for block in blocks])
        queries = _joined([block.queries for block in blocks])
        if queries is not None:
            queries = np.searchsorted(self.queries, queries)
        return LocalRows(
            labels if self.classes is None else np.searchsorted(self.classes, labels),
            _joined([block.weights for block in blocks]),
            queries,
            [slice(*self.starts[block.number :][:2]) for block in blocks],
            self.starts[-1],
        )


@dataclass(frozen=True)
class Grown:
    """What is left of the rounds: the trees, where `predict` cuts, why they ended."""

    trees: bytes
    threshold: float
    reason: str


def grow(
    blocks: Sequence[TreeBlock],
    job: TreeJob,
    tracker: Mapping[str, Any],
    so_far: bytes | None,
) -> Grown:
    """Grow trees together with the other workers."""
    with (
        xgboost.config_context(verbosity=0),
        collective.CommunicatorContext(**tracker),
    ):
        data = xgboost.QuantileDMatrix(_Blocks(blocks))
        pairs = pairs_of_all(job.risk, job.local_rows(blocks), job.max_scores)
        booster, n_done = None, 0
        if so_far is not None:
            booster = xgboost.Booster(model_file=bytearray(so_far))
            n_done = booster.num_boosted_rounds()
        watch = _Watch(job)
        # a share of rows and columns is drawn by seed and round alone
        parameters = {**job.parameters, "seed": job.parameters["seed"] + n_done}
        if job.n_rounds > n_done:
            booster = xgboost.train(
                parameters,
                data,
                job.n_rounds - n_done,
                obj=lambda scores, _: pairs.gradient_hessian(_plain(scores)),
                xgb_model=booster,
                callbacks=[watch],
            )
        assert booster is not None
        if booster.num_boosted_rounds() > watch.n_kept > 0:
            booster = booster[: watch.n_kept]
        scores = _plain(booster.predict(data, output_margin=True))
        threshold = pairs.threshold(scores)
        return Grown(bytes(booster.save_raw("ubj")), threshold, watch.reason)


class _Blocks(xgboost.DataIter):
    """Blocks of rows, one after the other, as XGBoost asks for them."""

    def __init__(self, blocks: Sequence[TreeBlock]) -> None:
        super().__init__()
        self._blocks = [block.features for block in blocks if block.labels.size]
        self._next = 0

    def next(self, input_data: Any) -> bool:
        """Hand over the next block; tell whether there was one."""
        if self._next == len(self._blocks):
            return False
        input_data(data=self._blocks[self._next])
        self._next += 1
        return True

    def reset(self) -> None:
        """Begin anew."""
        self._next = 0


class _Watch(xgboost.callback.TrainingCallback):
    """Tell how far the rounds are, keep what is done, and end them in time.

    A thread of a worker cannot be stopped from outside. So all workers agree after each
    round on whether one of them is late, or was told that nobody waits any more.
    """

    def __init__(self, job: TreeJob) -> None:
        super().__init__()
        self._job = job
        self._is_first = collective.get_rank() == 0
        self._start = self._last_look = time.monotonic()
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
            last_round = self._wish()
        news = np.array([self._is_abandoned, last_round, self._is_late], dtype=float)
        abandoned, last_round, late = collective.allreduce(news, collective.Op.MAX)
        if abandoned:
            raise RuntimeError("nobody waits for these trees any more.")
        if last_round:
            self.reason, self.n_kept = "callback", int(last_round)
        elif late and n_done < self._job.n_rounds:
            self.reason = "max time"
        return self.reason != "max rounds"

    def _wish(self) -> int:
        """Return the round after which the client had enough, or 0."""
        now = time.monotonic()
        if now - self._last_look < _SECONDS_BETWEEN_LOOKS:
            return 0
        self._last_look = now
        return int(get_client().get_metadata([self._job.name], 0))

    @property
    def _is_abandoned(self) -> bool:
        """Whether the scheduler has told this worker to forget the task."""
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
