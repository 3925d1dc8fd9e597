"""What one worker does in a fit of trees: its rows, its tracker, its rounds."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xgboost
from distributed import Variable, get_client, get_worker
from xgboost import collective

from aucmax._validation import FloatArray
from aucmax.dask.tree_pairs import LocalRows, pairs_of_all
from aucmax.dask.tree_parts import Block
from aucmax.risks import PairLogistic

__all__ = ["Grown", "TreeJob", "grow"]


@dataclass(frozen=True)
class TreeJob:
    """What all workers of a fit share.

    Attributes
    ----------
    name : str
        Under which checkpoints and news are found.
    risk : PairLogistic
        The loss of all pairs.
    parameters : dict
        XGBoost's.
    n_rounds : int
        Trees in all.
    checkpoint_every : int
        Rounds after which the trees so far are sent to the scheduler.
    starts : list of int
        Where the rows of each part begin among all rows; and how many there are.
    seconds : float or None
        Time that is left.
    most_scores : int
        Rows in all beyond which cells travel in place of scores.
    """

    name: str
    risk: PairLogistic
    parameters: Mapping[str, Any]
    n_rounds: int
    checkpoint_every: int
    starts: Sequence[int]
    seconds: float | None
    most_scores: int


@dataclass(frozen=True)
class Grown:
    """What is left of the rounds: the trees, and where `predict` cuts."""

    trees: bytes
    threshold: float
    is_late: bool


def grow(
    blocks: Sequence[Block],
    job: TreeJob,
    tracker: Mapping[str, Any],
    numbers: Sequence[int],
    so_far: bytes | None,
) -> Grown:
    """Grow trees together with the other workers; `numbers` are those of the blocks."""
    with (
        xgboost.config_context(verbosity=0),
        collective.CommunicatorContext(**tracker),
    ):
        places = [slice(job.starts[k], job.starts[k + 1]) for k in numbers]
        rows = LocalRows(
            np.concatenate([block.labels for block in blocks]),
            _joined([block.weights for block in blocks]),
            _joined([block.queries for block in blocks]),
            places,
            job.starts[-1],
        )
        data = xgboost.QuantileDMatrix(_Blocks(blocks))
        pairs = pairs_of_all(job.risk, rows, job.most_scores)
        booster, n_done = None, 0
        if so_far is not None:
            booster = xgboost.Booster(model_file=bytearray(so_far))
            n_done = booster.num_boosted_rounds()
        news = _News(job)
        # a share of rows and columns is drawn by seed and round alone
        parameters = {**job.parameters, "seed": job.parameters["seed"] + n_done}
        if job.n_rounds > n_done:
            booster = xgboost.train(
                parameters,
                data,
                job.n_rounds - n_done,
                obj=lambda scores, _: pairs.gradient_hessian(_plain(scores)),
                xgb_model=booster,
                callbacks=[news],
            )
        assert booster is not None
        scores = _plain(booster.predict(data, output_margin=True))
        threshold = pairs.threshold(scores)
        return Grown(bytes(booster.save_raw("ubj")), threshold, news.is_late)


class _Blocks(xgboost.DataIter):
    """Blocks of rows, one after the other, as XGBoost asks for them."""

    def __init__(self, blocks: Sequence[Block]) -> None:
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


class _News(xgboost.callback.TrainingCallback):
    """Tell how far the rounds are, keep what is done, and end them in time."""

    def __init__(self, job: TreeJob) -> None:
        super().__init__()
        self._job = job
        self._is_first = collective.get_rank() == 0
        self._start = time.monotonic()
        self.is_late = False

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Report a round; all workers stop at the same one."""
        n_done = model.num_boosted_rounds()
        if self._is_first:
            get_worker().log_event(self._job.name, n_done)
            if n_done % self._job.checkpoint_every == 0:
                trees = bytes(model.save_raw("ubj"))
                Variable(self._job.name, client=get_client()).set(trees)
        if self._job.seconds is not None:
            late = np.array([float(time.monotonic() - self._start > self._job.seconds)])
            is_late = bool(collective.allreduce(late, collective.Op.MAX)[0])
            self.is_late = is_late and n_done < self._job.n_rounds
        return self.is_late


def _plain(scores: Any) -> FloatArray:
    return np.asarray(scores, dtype=np.float64).ravel()


def _joined(columns: Sequence[Any]) -> Any:
    return None if columns[0] is None else np.concatenate(columns)
