"""Losses with the batches and optimizers that belong to them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from aucmax.torch import (
    ClassBalancedSampler,
    PairLogisticLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
    ScoreBank,
)

AUCM, PARTIAL_DRO = "LibAUC AUCM", "LibAUC pAUC (DRO)"
BATCH = 64
EARLY = {"fpr_range": (0.0, 0.1)}
BANK = 500
EPOCHS = 40


def network(name: str, n_columns: int) -> torch.nn.Module:
    """Return a small convolutional network for images, else a layer of 128 units."""
    nn = torch.nn
    if name == "digits":
        layers = [
            *(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)),
        ]
    else:
        layers = [nn.Linear(n_columns, 128), nn.ReLU()]
        layers += [nn.Dropout(0.2), nn.Linear(128, 1)]
    return nn.Sequential(*layers, nn.Flatten(0))


@dataclass
class Trainer:
    """A loss of logits, labels and row numbers, an optimizer, and batches."""

    loss_of: Callable[[Any, Any, Any], torch.Tensor]
    optimizer: Any
    is_balanced: bool
    after_epoch: Callable[[int], None] = lambda epoch: None

    def batches(self, y: np.ndarray, seed: int) -> Iterator[np.ndarray]:
        """Go on and on through the rows."""
        generator = np.random.default_rng(seed)
        sampler = ClassBalancedSampler(y, BATCH, 0.5, seed=seed)
        epoch = 0
        while True:
            if self.is_balanced:
                sampler.set_epoch(epoch)
                yield from map(np.asarray, sampler)
            else:
                order = generator.permutation(y.size)
                yield from np.array_split(order, -(-y.size // BATCH))
            epoch += 1


def focal(logits, y, focus=2.0, share=0.25):
    """Return the loss of Lin et al. (2017), with the settings of their paper."""
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, y, reduction="none"
    )
    missed = (y - logits.sigmoid()).abs()
    weight = torch.where(y == 1, share, 1.0 - share)
    return (weight * missed**focus * loss).mean()


def weighted_bce(y):
    """Return cross-entropy whose classes have the same weight."""
    weight = torch.tensor(float((~y).sum() / y.sum()))
    return torch.nn.BCEWithLogitsLoss(pos_weight=weight)


#: the loss of each method that Adam minimises, and whether its batches are balanced
LOSSES = {
    "BCE": (lambda y: torch.nn.BCEWithLogitsLoss(), False),
    "weighted BCE": (weighted_bce, False),
    "focal": (lambda y: focal, False),
    "PairLogisticLoss": (lambda y: PairLogisticLoss(), True),
    "PairSigmoidLoss": (lambda y: PairSigmoidLoss(), True),
    "ScoreBank(PairLogisticLoss)": (
        lambda y: ScoreBank(PairLogisticLoss(), BANK),
        False,
    ),
    "PartialAUCLoss": (lambda y: PartialAUCLoss(**EARLY), True),
}


def aucm(model, y, rate):
    """Return LibAUC's AUCM with its optimizer, as in its tutorials."""
    from libauc.losses import AUCMLoss
    from libauc.optimizers import PESG

    loss = AUCMLoss()
    options = {"margin": 1.0, "epoch_decay": 2e-3, "weight_decay": 1e-5}
    optimizer = PESG(
        model.parameters(), loss_fn=loss, lr=rate, verbose=False, **options
    )

    def decay(epoch: int) -> None:
        if epoch in (EPOCHS // 2, 3 * EPOCHS // 4):
            optimizer.update_regularizer(decay_factor=10)

    return Trainer(
        lambda logits, y, rows: loss(logits.sigmoid(), y), optimizer, True, decay
    )


def partial_dro(model, y, rate):
    """Return LibAUC's partial AUC with its optimizer, as in its tutorials."""
    from libauc.losses import pAUC_DRO_Loss
    from libauc.optimizers import SOPAs

    loss = pAUC_DRO_Loss(data_len=y.size, gamma=0.9, margin=1.0, Lambda=1.0)
    optimizer = SOPAs(model.parameters(), lr=rate, mode="adam", verbose=False)
    return Trainer(
        lambda logits, y, rows: loss(logits.sigmoid(), y, torch.as_tensor(rows)),
        optimizer,
        True,
    )


def trainer(method, model, y, rate):
    """Return the loss of a method with its optimizer and batches."""
    if method in (AUCM, PARTIAL_DRO):
        return {AUCM: aucm, PARTIAL_DRO: partial_dro}[method](model, y, rate)
    make, is_balanced = LOSSES[method]
    loss = make(y)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-5)
    return Trainer(lambda logits, y, rows: loss(logits, y), optimizer, is_balanced)
