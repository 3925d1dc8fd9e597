"""The gradient of a loss over all pairs of an epoch, in the memory of a batch."""

from collections.abc import Iterable, Iterator
from typing import Any

import torch

# relative change of a score between the passes: rounding, not other rows
_MAX_SCORE_CHANGE = 1e-3


def epoch_gradient(
    model: torch.nn.Module, loader: Iterable[Any], loss: Any, *, device: Any = None
) -> torch.Tensor:
    """Add the gradient of a loss over all rows of the loader to ``.grad``.

    A first pass computes the score of each row without a graph, then the gradient of
    the loss with respect to all scores. A second pass propagates it through the model,
    batch by batch. The result equals that of one batch with all rows; it costs two
    forward passes, and the memory of one batch plus a few numbers per row.

    Both passes see the same numbers: the second starts from the same random state of
    PyTorch, so shuffling and dropout repeat, and buffers such as the running means of
    batch normalization are updated once. (Batch normalization itself uses the batches
    of the loader.)

    Parameters
    ----------
    model : Module
        Returns one score per row, or one per row and label; its mode (training or
        evaluation) is not changed.
    loader : iterable of (inputs, labels)
        Yields the same batches twice, as a ``DataLoader`` does.
    loss : Module
        One of the losses of this package, or any function of all logits and labels.
    device : device, default=None
        Where to move inputs and labels; by default the device of the parameters.

    Returns
    -------
    tensor
        The loss, without a graph.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import PairLogisticLoss, epoch_gradient
    >>> X, y = torch.randn(100, 3), torch.arange(100) % 2
    >>> rows = torch.utils.data.TensorDataset(X, y)
    >>> loader = torch.utils.data.DataLoader(rows, batch_size=10, shuffle=True)
    >>> model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0))
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> for epoch in range(3):
    ...     optimizer.zero_grad()
    ...     loss = epoch_gradient(model, loader, PairLogisticLoss())
    ...     optimizer.step()
    """
    if device is None:
        device = next((one.device for one in model.parameters()), torch.device("cpu"))
    state = _RandomState(loader)
    buffers = {name: one.clone() for name, one in model.named_buffers()}
    scores, labels = [], []
    try:
        with torch.no_grad():
            for inputs, own in _batches(loader, device):
                scores.append(model(inputs).detach().clone())
                labels.append(own)
    finally:
        for name, one in model.named_buffers():
            one.copy_(buffers[name])
    if not scores:
        raise ValueError("The loader yields no batches.")
    state.restore()
    every = torch.cat(scores).requires_grad_()
    value: torch.Tensor = loss(every, torch.cat(labels))
    (slopes,) = torch.autograd.grad(value, every)
    parts = slopes.split([len(own) for own in scores])
    batches = _batches(loader, device)
    for place, slope in enumerate(parts):
        inputs, own = next(batches, (None, None))
        _check_same(own, labels[place], place)
        found = model(inputs)
        _check_close(found.detach(), scores[place], place)
        found.backward(slope)
    if next(batches, None) is not None:
        raise ValueError(_OTHERS.format(what="yields more batches", place=len(parts)))
    return value.detach()


_OTHERS = (
    "In the second pass the loader {what} from batch {place} on, so the gradient would "
    "belong to other rows; discard .grad. Batches must not depend on random numbers "
    "other than PyTorch's own."
)


def _batches(loader: Iterable[Any], device: Any) -> Iterator[tuple[Any, torch.Tensor]]:
    for batch in loader:
        if not isinstance(batch, tuple | list) or len(batch) != 2:
            raise TypeError(
                "The loader must yield pairs (inputs, labels); put several inputs into "
                "a tuple or a dict that the model unpacks."
            )
        inputs, labels = batch
        yield _moved(inputs, device), labels.to(device)


def _moved(inputs: Any, device: Any) -> Any:
    """Move tensors, including those in tuples, lists and dicts."""
    if isinstance(inputs, torch.Tensor):
        return inputs.to(device)
    if isinstance(inputs, dict):
        return {name: _moved(one, device) for name, one in inputs.items()}
    if isinstance(inputs, tuple | list):
        return type(inputs)(_moved(one, device) for one in inputs)
    return inputs


def _check_same(found: Any, expected: torch.Tensor, place: int) -> None:
    is_same = found is not None and found.shape == expected.shape
    if not is_same or not torch.equal(found.nan_to_num(-1), expected.nan_to_num(-1)):
        raise ValueError(_OTHERS.format(what="yields other labels", place=place))


def _check_close(found: torch.Tensor, expected: torch.Tensor, place: int) -> None:
    scale = 1.0 + expected.abs().max()
    if not (found - expected).abs().max() <= _MAX_SCORE_CHANGE * scale:
        raise ValueError(_OTHERS.format(what="leads to other scores", place=place))


class _RandomState:
    """The state of all random generators that a pass over a loader uses."""

    def __init__(self, loader: Any) -> None:
        self.cpu = torch.get_rng_state()
        self.cuda = []
        if torch.cuda.is_available():
            self.cuda = torch.cuda.get_rng_state_all()
        samplers = (
            loader,
            getattr(loader, "sampler", None),
            getattr(loader, "batch_sampler", None),
        )
        found = {id(g): g for g in (getattr(s, "generator", None) for s in samplers)}
        self.own = [(g, g.get_state()) for g in found.values() if g is not None]

    def restore(self) -> None:
        torch.set_rng_state(self.cpu)
        if self.cuda:
            torch.cuda.set_rng_state_all(self.cuda)
        for generator, state in self.own:
            generator.set_state(state)
