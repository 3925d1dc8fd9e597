"""The training of one network for a table, with early stopping."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from aucmax._validation import BoolArray, FloatArray, IntArray
from aucmax.metrics import partial_auc_score
from aucmax.torch.losses import PairLogisticLoss, PartialAUCLoss
from aucmax.torch.sampler import ClassBalancedSampler

__all__ = ["one_thread", "train_network"]

_FEWEST_ROWS_OF_A_CLASS = 10  # of which some can be put apart
_LEAST_POSITIVE_SHARE = 0.1  # of a batch, so that there are pairs of many kinds
_ROWS_PER_ROW_OF_A_RANGE = 2  # of each class in a batch, so that the range has one


@contextmanager
def one_thread() -> Iterator[None]:
    """Compute on one thread: small networks gain nothing by more, and sums stay equal.

    The state of all random numbers is that of before in the end.
    """
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(n_threads)


def train_network(
    model: Any,
    inputs: tuple[torch.Tensor, torch.Tensor],
    labels: BoolArray,
    weight: FloatArray | None,
    seed: int,
) -> tuple[dict[str, Any], int]:
    """Return the weights of a network, as arrays, and the passes that it took."""
    torch.manual_seed(seed)
    learn, apart = _divide(labels, model.validation_fraction, seed)
    network = model.new_network()
    optimizer = torch.optim.AdamW(
        network.parameters(), lr=model.learning_rate, weight_decay=model.weight_decay
    )
    part = model._part_of_the_curve()
    loss_of = _loss(part)
    targets = torch.tensor(labels)
    row_weights = None if weight is None else torch.tensor(weight)
    sampler = _batches(model, labels[learn], seed)
    best, kept, n_kept = -math.inf, _arrays(network), 0
    last = model.max_epochs
    if not apart.size:
        last = min(last, model.n_iter_no_change)
    for epoch in range(1, last + 1):
        network.train()
        sampler.set_epoch(epoch)
        for batch in sampler:
            rows = torch.from_numpy(learn[batch])
            optimizer.zero_grad()
            logits = network(*(one[rows] for one in inputs))
            own = None if row_weights is None else row_weights[rows]
            loss_of(logits, targets[rows], sample_weight=own).backward()
            optimizer.step()
        network.eval()
        area = float(epoch)
        if apart.size:
            with torch.no_grad():
                scores = network(*(one[apart] for one in inputs)).numpy()
            area = partial_auc_score(
                labels[apart],
                scores,
                sample_weight=None if weight is None else weight[apart],
                **part,
            )
        if area > best:
            best, kept, n_kept = area, _arrays(network), epoch
        elif epoch - n_kept >= model.n_iter_no_change:
            break
    return kept, n_kept


def _arrays(network: Any) -> dict[str, Any]:
    return {name: own.numpy().copy() for name, own in network.state_dict().items()}


def _divide(labels: BoolArray, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Return rows to learn from and rows apart, the same share of each class."""
    random = np.random.default_rng(seed)
    is_apart = np.zeros(labels.size, dtype=bool)
    classes = [np.flatnonzero(labels == own) for own in (False, True)]
    if min(rows.size for rows in classes) >= _FEWEST_ROWS_OF_A_CLASS:
        for rows in classes:
            n_apart = min(max(round(share * rows.size), 1), rows.size - 1)
            is_apart[random.choice(rows, n_apart, replace=False)] = True
    return np.flatnonzero(~is_apart), np.flatnonzero(is_apart)


def _loss(part: dict[str, Any]) -> Any:
    if all(tuple(ends) == (0.0, 1.0) for ends in part.values()):
        return PairLogisticLoss()
    return PartialAUCLoss(**part, loss="logistic")


def _batches(model: Any, labels: BoolArray, seed: int) -> ClassBalancedSampler:
    """Return batches that have rows enough of each class for the ranges."""
    share = max(float(labels.mean()), _LEAST_POSITIVE_SHARE)
    size = max(min(model.batch_size, labels.size), 2)
    for (low, high), own in ((model.fpr_range, 1.0 - share), (model.tpr_range, share)):
        if high - low < 1.0:
            needed = _ROWS_PER_ROW_OF_A_RANGE / (high - low) / own
            size = max(size, math.ceil(needed))
    return ClassBalancedSampler(labels, size, share, seed=seed)
