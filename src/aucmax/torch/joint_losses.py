"""A loss over more rows than a batch."""

from typing import Any

import torch

from aucmax._core.parameters import check_integer
from aucmax.torch._batch import check_tensors


class ScoreBank(torch.nn.Module):
    """A loss over the batch and earlier rows, which are constants.

    With 1% positives, half of the batches of 64 rows have none, and a range of 0.05
    covers too few rows. The bank keeps the scores of the latest rows: the loss is over
    all pairs of the batch and the bank, and only rows of the batch get a gradient. The
    gradient is multiplied by the ratio of all rows to the rows of the batch, so its
    size does not depend on the size of the bank.

    Scores in the bank are not updated as the model changes. For the exact gradient of
    all pairs of an epoch, see :func:`epoch_gradient`.

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
        self._kept: tuple[torch.Tensor, torch.Tensor] | None = None
        self.n_kept = 0

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return the loss of the batch and the bank, and add the batch to the bank.

        Parameters
        ----------
        logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
            As for the loss.

        Returns
        -------
        tensor
            A number.
        """
        check_tensors(logits, labels)
        labels = labels.to(torch.float32)
        kept_logits, kept_labels = logits.detach()[:0], labels[:0]
        scaled = logits
        if self._kept is not None:
            kept_logits, kept_labels = (
                self._kept[0].to(logits),
                self._kept[1].to(labels),
            )
            scaled = _scale_gradient(logits, (len(logits) + self.n_kept) / len(logits))
        value: torch.Tensor = self.loss(
            torch.cat((scaled, kept_logits)),
            torch.cat((labels, kept_labels)),
        )
        self._kept = (
            torch.cat((kept_logits, logits.detach()))[-self.size :],
            torch.cat((kept_labels, labels))[-self.size :],
        )
        self.n_kept = len(self._kept[0])
        return value


def _scale_gradient(logits: torch.Tensor, factor: float) -> torch.Tensor:
    """Return the same numbers with `factor` times their gradient."""
    return logits.detach() + factor * (logits - logits.detach())
