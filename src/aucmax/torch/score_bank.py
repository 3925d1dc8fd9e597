"""Rows of earlier batches, for losses over more pairs than a batch has."""

from collections import deque
from typing import Any

import torch

from aucmax._core.parameters import check_integer
from aucmax.torch._batch import check_tensors
from aucmax.torch._joint import with_constants

__all__ = ["ScoreBank"]


class ScoreBank(torch.nn.Module):
    """A loss of the batch and of the rows before it, which take part as constants.

    A batch of 64 rows with 1% positives has none in every second batch, and is far too
    small for a range of 0.05. The scores of the latest rows, a number each, make up
    for it: the loss is over all pairs of the batch and the bank, and its gradient goes
    to the rows of the batch. The gradient is multiplied by the number of all rows, by
    those of the batch, so that its size does not depend on that of the bank.

    Scores in the bank are as old as the steps since, and not corrected for it. For the
    exact gradient of all pairs of an epoch, see :func:`epoch_gradient`.

    Parameters
    ----------
    loss : Module
        One of the losses of this package.
    size : int
        Number of rows to keep.

    Attributes
    ----------
    n_kept : int
        Number of rows in the bank.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import PairLogisticLoss, ScoreBank
    >>> loss_of = ScoreBank(PairLogisticLoss(), size=1000)
    >>> loss_of(torch.tensor([0.0, 1.0]), torch.tensor([0, 0]))  # no pair yet
    tensor(0.)
    >>> loss_of(torch.tensor([3.0]), torch.tensor([1]))
    tensor(0.0878)
    >>> loss_of.n_kept
    3
    """

    def __init__(self, loss: Any, size: int) -> None:
        super().__init__()
        check_integer("size", size)
        self.loss = loss
        self.size = size
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        self._logits: deque[torch.Tensor] = deque()
        self._labels: deque[torch.Tensor] = deque()
        self.n_kept = 0

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the loss of the batch and the bank, and take the batch in.

        Parameters
        ----------
        logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
            As of the loss.

        Returns
        -------
        tensor
            A number.
        """
        check_tensors(logits, labels)
        labels = labels.to(torch.float32)
        if not self.n_kept:
            value: torch.Tensor = self.loss(logits, labels)
        else:
            bank = (
                torch.cat(tuple(self._logits)).to(logits),
                torch.cat(tuple(self._labels)).to(labels),
            )
            factor = (len(logits) + self.n_kept) / len(logits)
            nothing = (logits[:0].detach(), labels[:0])
            value = with_constants(self.loss, (logits, labels), nothing, bank, factor)
        self._take_in(logits.detach(), labels)
        return value

    def _take_in(self, logits: torch.Tensor, labels: torch.Tensor) -> None:
        self._logits.append(logits[-self.size :].clone())
        self._labels.append(labels[-self.size :].clone())
        self.n_kept += len(self._logits[-1])
        while self.n_kept > self.size:
            surplus = min(self.n_kept - self.size, len(self._logits[0]))
            for kept in (self._logits, self._labels):
                oldest = kept.popleft()[surplus:]
                if len(oldest):
                    kept.appendleft(oldest)
            self.n_kept -= surplus
