"""A loss over the rows of all processes."""

from typing import Any

import torch
import torch.distributed as processes

from aucmax.torch._batch import check_tensors
from aucmax.torch._joint import with_constants

__all__ = ["GatheredLoss"]


class GatheredLoss(torch.nn.Module):
    """A loss of the batches of all processes together, as if they were one batch.

    Each process sends its logits and labels, a few numbers per row, to all others, and
    finds the loss of all rows; its gradient goes to the rows of its own. After
    ``DistributedDataParallel`` has averaged the gradients of the parameters, they are
    those of one process with all rows. Batches may differ in size. Without
    ``torch.distributed``, or with one process, it is the loss itself.

    Parameters
    ----------
    loss : Module
        One of the losses of this package.
    group : process group, default=None
        The processes that take part; by default all.
    averaged : bool, default=True
        Whether gradients are averaged over the processes afterwards, as
        ``DistributedDataParallel`` does. If they are added up instead, say False.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import GatheredLoss, PairLogisticLoss
    >>> loss_of = GatheredLoss(PairLogisticLoss())
    >>> loss_of(torch.tensor([2.0, 0.0, -1.0]), torch.tensor([1, 0, 0]))
    tensor(0.0878)
    """

    def __init__(self, loss: Any, group: Any = None, *, averaged: bool = True) -> None:
        super().__init__()
        self.loss = loss
        self.group = group
        self.averaged = averaged

    def forward(
        self, logits: torch.Tensor, labels: torch.Tensor, *, qid: Any = None
    ) -> torch.Tensor:
        """Return the loss of the rows of all processes.

        Parameters
        ----------
        logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
            The rows of this process.
        qid : tensor of shape (n_rows,), default=None
            The query of each row; a query may be spread over processes.

        Returns
        -------
        tensor
            A number, the same in all processes.
        """
        is_joined = processes.is_available() and processes.is_initialized()
        n_processes = processes.get_world_size(self.group) if is_joined else 1
        if n_processes == 1:
            value: torch.Tensor = self.loss(logits, labels, qid=qid)
            return value
        check_tensors(logits, labels)
        own = (logits, labels.to(torch.float32))
        place = processes.get_rank(self.group)
        scores, targets = (self._gather(one.detach()) for one in own)
        if qid is not None:
            qid = torch.cat(self._gather(torch.as_tensor(qid, device=logits.device)))
        nothing = [logits[:0].detach()], [own[1][:0]]
        before = tuple(
            torch.cat(none + rows[:place])
            for none, rows in zip(nothing, (scores, targets), strict=True)
        )
        after = tuple(
            torch.cat(none + rows[place + 1 :])
            for none, rows in zip(nothing, (scores, targets), strict=True)
        )
        factor = float(n_processes) if self.averaged else 1.0
        return with_constants(self.loss, own, before, after, factor, qid=qid)

    def _gather(self, rows: torch.Tensor) -> list[torch.Tensor]:
        """Return the rows of each process, in the order of the processes."""
        n_processes = processes.get_world_size(self.group)
        sizes = [rows.new_zeros(1, dtype=torch.int64) for _ in range(n_processes)]
        own = torch.tensor([len(rows)], device=rows.device)
        processes.all_gather(sizes, own, group=self.group)
        counts = [int(size.item()) for size in sizes]
        padded = rows.new_zeros((max(counts), *rows.shape[1:]))
        padded[: len(rows)] = rows
        found = [torch.empty_like(padded) for _ in range(n_processes)]
        processes.all_gather(found, padded, group=self.group)
        return [one[:count] for one, count in zip(found, counts, strict=True)]
