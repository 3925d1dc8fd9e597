"""Losses over more rows than a batch: earlier batches, and other processes."""

from typing import Any

import torch
import torch.distributed as processes

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


class GatheredLoss(torch.nn.Module):
    """A loss of the batches of all processes together, as if they were one batch.

    Each process sends its logits and labels to all others and computes the loss of all
    rows, with the gradient of its own. After ``DistributedDataParallel`` has averaged
    the gradients of the parameters, they equal those of one process with all rows.
    Batches may differ in size; if the input of one process is invalid, all processes
    raise. Without ``torch.distributed``, or with one process, it is the loss itself.

    Parameters
    ----------
    loss : Module
        One of the losses of this package.
    group : process group, default=None
        The participating processes; by default all.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import GatheredLoss, PairLogisticLoss
    >>> loss_of = GatheredLoss(PairLogisticLoss())
    >>> loss_of(torch.tensor([2.0, 0.0, -1.0]), torch.tensor([1, 0, 0]))
    tensor(0.0878)
    """

    def __init__(self, loss: Any, group: Any = None) -> None:
        super().__init__()
        self.loss = loss
        self.group = group

    def forward(
        self, logits: torch.Tensor, labels: torch.Tensor, *, qid: Any = None
    ) -> torch.Tensor:
        """Return the loss of the rows of all processes.

        Parameters
        ----------
        logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
            The rows of this process.
        qid : tensor of shape (n_rows,), default=None
            The query of each row; processes may share a query.

        Returns
        -------
        tensor
            A number, the same in all processes.
        """
        is_joined = processes.is_available() and processes.is_initialized()
        n_processes = self._n_processes if is_joined else 1
        if n_processes == 1:
            value: torch.Tensor = self.loss(logits, labels, qid=qid)
            return value
        counts = self._agree(logits, labels, qid)
        scores = self._gather(logits.detach(), counts)
        # gradients are averaged over the processes afterwards
        own = _scale_gradient(logits, float(n_processes))
        scores[processes.get_rank(self.group)] = own
        targets = self._gather(labels.to(torch.float32).detach(), counts)
        if qid is not None:
            own_qid = torch.as_tensor(qid, device=logits.device)
            qid = torch.cat(self._gather(own_qid, counts))
        value = self.loss(torch.cat(scores), torch.cat(targets), qid=qid)
        return value

    def _agree(self, logits: Any, labels: Any, qid: Any) -> list[int]:
        """Return the rows per process; raise in all if one input is invalid."""
        problem, shape = None, None
        try:
            check_tensors(logits, labels)
            if qid is not None and len(qid) != len(logits):
                raise ValueError(
                    f"there are {len(logits)} rows, but qid has {len(qid)}."
                )
            shape = len(logits), tuple(logits.shape[1:]), qid is not None
        except (TypeError, ValueError) as error:
            problem = error
        shapes: list[Any] = [None] * self._n_processes
        processes.all_gather_object(shapes, shape, group=self.group)
        if problem is not None:
            raise problem
        for place, other in enumerate(shapes):
            if other is None:
                raise RuntimeError(
                    f"the input of process {place} is invalid; see its error."
                )
            if other[1:] != shapes[0][1:]:
                raise ValueError(
                    "all processes must have the same number of columns, and all or "
                    f"none of them qid; processes 0 and {place} differ."
                )
        return [n_rows for n_rows, *_ in shapes]

    @property
    def _n_processes(self) -> int:
        return int(processes.get_world_size(self.group))

    def _gather(self, rows: torch.Tensor, counts: list[int]) -> list[torch.Tensor]:
        """Return the rows of each process, in the order of the processes."""
        padded = rows.new_zeros((max(counts), *rows.shape[1:]))
        padded[: len(rows)] = rows
        found = [torch.empty_like(padded) for _ in counts]
        processes.all_gather(found, padded, group=self.group)
        return [one[:count] for one, count in zip(found, counts, strict=True)]


def _scale_gradient(logits: torch.Tensor, factor: float) -> torch.Tensor:
    """Return the same numbers with `factor` times their gradient."""
    return logits.detach() + factor * (logits - logits.detach())
