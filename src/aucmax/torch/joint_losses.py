"""Losses over more rows than a batch: earlier batches, and those of other processes."""

from collections import deque
from typing import Any

import torch
import torch.distributed as processes

from aucmax._core.parameters import check_integer
from aucmax.torch._batch import check_tensors


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
            own = _with_slope(logits, (len(logits) + self.n_kept) / len(logits))
            value = self.loss(
                torch.cat((own, torch.cat(tuple(self._logits)).to(logits))),
                torch.cat((labels, torch.cat(tuple(self._labels)).to(labels))),
            )
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


class GatheredLoss(torch.nn.Module):
    """A loss of the batches of all processes together, as if they were one batch.

    Each process sends its logits and labels, a few numbers per row, to all others, and
    finds the loss of all rows; its gradient goes to the rows of its own. After
    ``DistributedDataParallel`` has averaged the gradients of the parameters, they are
    those of one process with all rows. Batches may differ in size; if the rows of one
    process are not a batch, all of them raise an error, and none waits. Without
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
        n_processes = self._n_processes if is_joined else 1
        if n_processes == 1:
            value: torch.Tensor = self.loss(logits, labels, qid=qid)
            return value
        counts = self._agree(logits, labels, qid)
        scores = self._gather(logits.detach(), counts)
        factor = float(n_processes) if self.averaged else 1.0
        scores[processes.get_rank(self.group)] = _with_slope(logits, factor)
        targets = self._gather(labels.to(torch.float32).detach(), counts)
        if qid is not None:
            own_qid = torch.as_tensor(qid, device=logits.device)
            qid = torch.cat(self._gather(own_qid, counts))
        value = self.loss(torch.cat(scores), torch.cat(targets), qid=qid)
        return value

    def _agree(self, logits: Any, labels: Any, qid: Any) -> list[int]:
        """Return how many rows each process has; raise in all if one has no batch.

        A process that raised alone would leave the others waiting for it.
        """
        problem: Exception | None = None
        try:
            check_tensors(logits, labels)
            if qid is not None and len(qid) != len(logits):
                problem = ValueError(
                    f"there are {len(logits)} rows, but qid has {len(qid)}"
                )
        except (TypeError, ValueError) as error:
            problem = error
        own = torch.tensor([-1, 0, 0])
        if problem is None:
            n_labels = logits.shape[1] if logits.ndim == 2 else 0
            own = torch.tensor([len(logits), n_labels, qid is not None])
        if isinstance(logits, torch.Tensor):
            own = own.to(logits.device)
        found = [torch.empty_like(own) for _ in range(self._n_processes)]
        processes.all_gather(found, own, group=self.group)
        if problem is not None:
            raise problem
        known = [tuple(one.tolist()) for one in found]
        for place, one in enumerate(known):
            if one[0] < 0:
                raise RuntimeError(
                    f"process {place} has rows that are no batch; its error says why"
                )
            if one[1:] != known[0][1:]:
                raise ValueError(
                    "all processes must have logits of as many columns, and all of "
                    f"them qid or none; processes 0 and {place} differ"
                )
        return [one[0] for one in known]

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


def _with_slope(logits: torch.Tensor, factor: float) -> torch.Tensor:
    """Return the same numbers with `factor` times the slope: the difference is 0."""
    return logits.detach() + factor * (logits - logits.detach())
