"""Batches with a fixed share of positives that visit every row."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.distributed as distributed
from numpy.typing import ArrayLike

from aucmax._core.parameters import check_integer, check_share
from aucmax._core.validation import IntArray, check_binary_labels


class ClassBalancedSampler(torch.utils.data.Sampler):
    """Batches that all have the same share of positives; an epoch visits every row.

    Pass it to a ``DataLoader`` as `batch_sampler`. The class that runs out first starts
    again, in a new order, until every row of the other one has been visited. Without
    `positive_share` the batches have the share of the data, rounded to at least one
    row of each class.

    Parameters
    ----------
    labels : array-like of shape (n_rows,)
        Two classes; the second in sorted order is positive.
    batch_size : int
        Rows per batch, at least 2.
    positive_share : float, default=None
        Share of positives in each batch, between 0 and 1.
    num_replicas, rank : int, default=None
        Number of processes, and the number of this one; by default those of
        ``torch.distributed`` if it is initialized, else one process. All processes have
        the same number of batches, and together they visit every row.
    shuffle : bool, default=True
        Whether each epoch has its own order: see :meth:`set_epoch`.
    seed : int, default=0
        Seed, the same in all processes.

    Examples
    --------
    >>> from aucmax.torch import ClassBalancedSampler
    >>> labels = [0] * 95 + [1] * 5
    >>> batches = list(ClassBalancedSampler(labels, batch_size=20, positive_share=0.25))
    >>> len(batches), {sum(labels[row] for row in batch) for batch in batches}
    (7, {5})
    """

    def __init__(
        self,
        labels: ArrayLike,
        batch_size: int,
        positive_share: float | None = None,
        *,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        check_integer("batch_size", batch_size, 2)
        is_positive = check_binary_labels(_as_array(labels), "labels")[1]
        if positive_share is not None:
            check_share("positive_share", positive_share)
        is_joined = distributed.is_available() and distributed.is_initialized()
        if num_replicas is None:
            num_replicas = distributed.get_world_size() if is_joined else 1
        if rank is None:
            rank = distributed.get_rank() if is_joined else 0
        check_integer("num_replicas", num_replicas)
        check_integer("rank", rank, 0, num_replicas - 1)
        self.batch_size = batch_size
        self.positive_share = positive_share
        self.num_replicas, self.rank = num_replicas, rank
        self.shuffle, self.seed = shuffle, seed
        self.epoch = 0
        self._classes = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        share = is_positive.mean() if positive_share is None else positive_share
        n_positive = min(max(round(share * batch_size), 1), batch_size - 1)
        self._sizes = (n_positive, batch_size - n_positive)

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of an epoch; call it before each one.

        Parameters
        ----------
        epoch : int
            Number of the epoch.
        """
        self.epoch = epoch

    def __len__(self) -> int:
        n_batches = max(
            -(-own.size // size)
            for own, size in zip(self._classes, self._sizes, strict=True)
        )
        return -(-n_batches // self.num_replicas)

    def __iter__(self) -> Iterator[list[int]]:
        seed = self.seed + self.epoch if self.shuffle else None
        random = None if seed is None else np.random.default_rng(seed)
        n_joint = len(self) * self.num_replicas
        rows = [
            _in_turn(own, n_joint * size, random)
            for own, size in zip(self._classes, self._sizes, strict=True)
        ]
        for place in range(self.rank, n_joint, self.num_replicas):
            batch = np.concatenate(
                [
                    own[place * size : (place + 1) * size]
                    for own, size in zip(rows, self._sizes, strict=True)
                ]
            )
            yield batch.tolist()


def _in_turn(
    rows: IntArray, n_places: int, random: np.random.Generator | None
) -> IntArray:
    """Repeat the rows until there are enough to fill the places."""
    rounds = [
        rows if random is None else random.permutation(rows)
        for _ in range(-(-n_places // rows.size))
    ]
    return np.concatenate(rounds)[:n_places]


def _as_array(labels: object) -> Any:
    return labels.cpu().numpy() if isinstance(labels, torch.Tensor) else labels
