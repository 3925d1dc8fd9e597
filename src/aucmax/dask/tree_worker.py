"""The part of one worker in a fit of trees: its rows, and its rounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import xgboost
from numpy.typing import NDArray
from xgboost import collective

from aucmax._core.features import explain_non_finite
from aucmax._core.validation import FloatArray, check_qid, nonnegative_weights
from aucmax.dask.parted_features import as_matrix
from aucmax.dask.partitions import Part, check_lengths, naming_partition
from aucmax.dask.tree_pairs import GradientHessian, LocalRows, gradient_of_all_pairs
from aucmax.risks import PairLogistic


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
            if weights.size:
                nonnegative_weights(weights, weights.size)  # or an error
    return TreeBlock(
        number,
        features,
        np.asarray(part["y"]),
        weights,
        np.asarray(part["qid"]) if "qid" in part else None,
    )


def contents_of(
    block: TreeBlock,
) -> tuple[int, NDArray[Any], NDArray[Any], bool]:
    """Return the number of rows, distinct labels and queries, and if it is sparse.

    Labels are those of positive weight.
    """
    labels, queries = block.labels, block.queries
    if block.weights is not None:
        labels = labels[block.weights > 0.0]
    if queries is None:
        queries = np.zeros(0)
    with naming_partition(block.number):
        return (
            block.labels.size,
            _distinct(labels, "y"),
            _distinct(queries, "qid"),
            not isinstance(block.features, np.ndarray),
        )


def _distinct(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return the distinct values, none of which may be missing."""
    if values.size == 0:
        return values
    codes = check_qid(values, values.size, name).codes
    return values[np.unique(codes, return_index=True)[1]]


@dataclass(frozen=True)
class TreeJob:
    """The settings that all workers of a fit share."""

    risk: PairLogistic
    starts: Sequence[int]  # of each part among all rows; and the number of rows
    classes: NDArray[Any] | None  # negative and positive; None if labels are levels
    queries: NDArray[Any]  # all, ascending; none without `qid`
    max_scores: int  # with more rows, workers exchange cells instead of scores

    def local_rows(self, blocks: Sequence[TreeBlock]) -> LocalRows:
        """Return labels, weights and queries of blocks, by number."""
        labels = np.concatenate([block.labels for block in blocks])
        queries = _concatenate([block.queries for block in blocks])
        if queries is not None:
            queries = np.searchsorted(self.queries, queries)
        places = [np.arange(*self.starts[block.number :][:2]) for block in blocks]
        return LocalRows(
            labels if self.classes is None else np.searchsorted(self.classes, labels),
            _concatenate([block.weights for block in blocks]),
            queries,
            np.concatenate(places),
            self.starts[-1],
        )


# rows in bins, and the function of their gradient; workers keep them between calls
WorkerData: TypeAlias = tuple[xgboost.QuantileDMatrix, GradientHessian]


def prepare(
    tracker: Mapping[str, Any], blocks: Sequence[TreeBlock], job: TreeJob
) -> WorkerData:
    """Agree with the other workers on the bins of the features."""
    with _joined(tracker):
        rows = xgboost.QuantileDMatrix(_Blocks(blocks))
        local = job.local_rows(blocks)
        return rows, gradient_of_all_pairs(job.risk, local, job.max_scores)


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


def scores_of_block(
    block: TreeBlock, shared: Mapping[str, Any]
) -> tuple[FloatArray, NDArray[Any], FloatArray | None]:
    """Return the scores of a part's rows by the trees, their labels and weights."""
    scores = np.zeros(0)
    if block.labels.size:
        data = xgboost.DMatrix(block.features)
        trees = _booster(shared["trees"])
        scores = _as_column(trees.predict(data, output_margin=True))
    return scores, block.labels, block.weights


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


def _booster(trees: bytes) -> xgboost.Booster:
    return xgboost.Booster(model_file=bytearray(trees))


def _as_column(scores: Any) -> FloatArray:
    return np.asarray(scores, dtype=np.float64).ravel()


def _concatenate(columns: Sequence[Any]) -> Any:
    return None if columns[0] is None else np.concatenate(columns)
