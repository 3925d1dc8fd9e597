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

BATCH = 64
EARLY = {"fpr_range": (0.0, 0.1)}
BANK = 500
EPOCHS = 40


def network(name: str, n_columns: int) -> torch.nn.Module:
    """Return a small convolutional network for images, else a layer of 128 units."""
    if name == "digits":
        return torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Conv2d(8, 16, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(64, 64),
            torch.nn.ReLU(),
            torch.nn.Linear(64, 1),
            torch.nn.Flatten(0),
        )
    return torch.nn.Sequential(
        torch.nn.Linear(n_columns, 128),
        torch.nn.ReLU(),
        torch.nn.Dropout(0.2),
        torch.nn.Linear(128, 1),
        torch.nn.Flatten(0),
    )


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


def _with_adam(loss_of, model, rate, is_balanced):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-5)
    return Trainer(
        lambda logits, y, rows: loss_of(logits, y), optimizer, is_balanced=is_balanced
    )


def focal(logits, y, focus=2.0, share=0.25):
    """Return the loss of Lin et al. (2017), with the settings of their paper."""
    loss = torch.nn.functional.binary_cross_entropy_with_logits(
        logits, y, reduction="none"
    )
    missed = (y - logits.sigmoid()).abs()
    weight = torch.where(y == 1, share, 1.0 - share)
    return (weight * missed**focus * loss).mean()


def bce(model, y, rate):
    """Return cross-entropy."""
    return _with_adam(torch.nn.BCEWithLogitsLoss(), model, rate, False)


def weighted_bce(model, y, rate):
    """Return cross-entropy whose classes have the same weight."""
    weight = torch.tensor(float((~y).sum() / y.sum()))
    loss = torch.nn.BCEWithLogitsLoss(pos_weight=weight)
    return _with_adam(loss, model, rate, False)


def focal_loss(model, y, rate):
    """Return the focal loss."""
    return _with_adam(focal, model, rate, False)


def aucm(model, y, rate):
    """Return LibAUC's AUCM with its optimizer, as in its tutorials."""
    from libauc.losses import AUCMLoss
    from libauc.optimizers import PESG

    loss = AUCMLoss()
    optimizer = PESG(
        model.parameters(),
        loss_fn=loss,
        lr=rate,
        margin=1.0,
        epoch_decay=2e-3,
        weight_decay=1e-5,
        verbose=False,
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


def pair_logistic(model, y, rate):
    """Return the logistic loss of all pairs."""
    return _with_adam(PairLogisticLoss(), model, rate, True)


def pair_sigmoid(model, y, rate):
    """Return the sigmoid of all pairs."""
    return _with_adam(PairSigmoidLoss(), model, rate, True)


def banked_logistic(model, y, rate):
    """Return the logistic loss of all pairs of plain batches and a bank."""
    return _with_adam(ScoreBank(PairLogisticLoss(), BANK), model, rate, False)


def partial_auc(model, y, rate):
    """Return the sigmoid of the pairs in the part of the curve."""
    return _with_adam(PartialAUCLoss(**EARLY), model, rate, True)


METHODS = {
    "BCE": bce,
    "weighted BCE": weighted_bce,
    "focal": focal_loss,
    "LibAUC AUCM": aucm,
    "LibAUC pAUC (DRO)": partial_dro,
    "PairLogisticLoss": pair_logistic,
    "PairSigmoidLoss": pair_sigmoid,
    "ScoreBank(PairLogisticLoss)": banked_logistic,
    "PartialAUCLoss": partial_auc,
}
RATES = dict.fromkeys(METHODS, (0.001, 0.003)) | {"LibAUC AUCM": (0.1, 0.03)}
#: what chooses the rate and the epoch: the partial AUC for those trained for it
FOR_A_PART = ("LibAUC pAUC (DRO)", "PartialAUCLoss")
