"""The part of one worker in a fit of trees: its rows, and its rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import xgboost
from numpy.typing import NDArray
from scipy import sparse
from xgboost import collective

from aucmax._core.eval_set import LabelledRows
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.risks import PairLogistic

#: gradient and Hessian of the rows of a worker, given their scores
GradientHessian: TypeAlias = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


class TreeJob(NamedTuple):
    """The pairs of a fit and the rows of each part, which all workers share."""

    risk: PairLogistic
    rows: LabelledRows  # those of positive weight; X has their numbers
    starts: IntArray  # of each part among all rows; and the number of rows

    def gradient_hessian_at(self, numbers: IntArray) -> GradientHessian:
        """Return the function of the rows of one worker, by their numbers."""
        _, labels, weight, _ = self.rows
        pairs = self.risk.bind(labels, weight, self.rows.codes)

        def gradient_hessian(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
            # the scores of all rows, 8 bytes each, are summed up from those of workers
            all_scores = np.zeros(self.starts[-1])
            all_scores[numbers] = scores
            all_scores = collective.allreduce(all_scores, collective.Op.SUM)
            both = np.zeros((2, all_scores.size))
            chosen = self.rows.X
            both[:, chosen] = pairs.gradient_hessian(all_scores[chosen], scaled=True)
            return both[0, numbers], both[1, numbers]

        return gradient_hessian


def without_zeros(block: Any) -> sparse.csr_matrix:
    """Return a sparse block without zeros: XGBoost takes absent values as missing."""
    rows: sparse.csr_matrix = sparse.csr_matrix(block, copy=True)
    rows.eliminate_zeros()
    return rows


def infinite_rows(block: Any) -> BoolArray:
    """Return which rows of a block hold an infinity."""
    is_infinite = abs(block) == np.inf
    return np.asarray(is_infinite.sum(axis=1)).ravel() > 0


# rows in bins, and the function of their gradient; workers keep them between calls
WorkerData: TypeAlias = tuple[xgboost.QuantileDMatrix, GradientHessian]


def prepare(
    tracker: Mapping[str, Any], numbers: Sequence[int], blocks: list[Any], job: TreeJob
) -> WorkerData:
    """Agree with the other workers on the bins of the features."""
    with _joined(tracker):
        data = xgboost.QuantileDMatrix(_Blocks(blocks))
    rows = [np.arange(job.starts[k], job.starts[k + 1]) for k in numbers]
    return data, job.gradient_hessian_at(np.concatenate(rows))


def add_trees(
    tracker: Mapping[str, Any],
    data: WorkerData,
    parameters: Mapping[str, Any],
    trees: bytes | None,
    n_rounds: int,
) -> bytes:
    """Add trees together with the other workers."""
    rows, gradient_hessian = data
    with _joined(tracker):
        booster = None if trees is None else _booster(trees)
        n_done = 0 if booster is None else booster.num_boosted_rounds()
        # samples of rows and columns depend on the seed and the round alone
        booster = xgboost.train(
            {**parameters, "seed": parameters["seed"] + n_done},
            rows,
            n_rounds,
            obj=lambda scores, _: gradient_hessian(_as_column(scores)),
            xgb_model=booster,
        )
        return bytes(booster.save_raw("ubj"))


@contextmanager
def _joined(tracker: Mapping[str, Any]) -> Iterator[None]:
    with xgboost.config_context(verbosity=0), collective.CommunicatorContext(**tracker):
        yield


def scores_of_block(block: Any, trees: bytes) -> FloatArray:
    """Return the scores of a block's rows by the trees."""
    if not block.shape[0]:
        return np.zeros(0)
    data = xgboost.DMatrix(block)
    return _as_column(_booster(trees).predict(data, output_margin=True))


class _Blocks(xgboost.DataIter):
    """Blocks of rows, one after the other, as XGBoost reads them."""

    def __init__(self, blocks: Sequence[object]) -> None:
        super().__init__()
        self._blocks = blocks
        self._next = 0

    def next(self, input_data: Callable[..., Any]) -> bool:
        """Pass on the next block; return whether there was one."""
        if self._next == len(self._blocks):
            return False
        input_data(data=self._blocks[self._next])
        self._next += 1
        return True

    def reset(self) -> None:
        """Start again from the first block."""
        self._next = 0


def _booster(trees: bytes) -> xgboost.Booster:
    return xgboost.Booster(model_file=bytearray(trees))


def _as_column(scores: NDArray[np.floating]) -> FloatArray:
    return np.asarray(scores, dtype=np.float64).ravel()
