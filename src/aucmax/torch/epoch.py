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
    generators = [(each, each.get_state()) for each in _generators(loader)]
    buffers = {name: buffer.clone() for name, buffer in model.named_buffers()}
    scores, labels = [], []
    try:
        # the second pass starts from the same random state
        devices = range(torch.cuda.device_count())
        with torch.no_grad(), torch.random.fork_rng(devices=devices):
            for inputs, batch_labels in _batches(loader, device):
                scores.append(model(inputs).detach().clone())
                labels.append(batch_labels)
    finally:
        for name, buffer in model.named_buffers():
            buffer.copy_(buffers[name])
    if not scores:
        raise ValueError("The loader yields no batches.")
    for generator, state in generators:
        generator.set_state(state)
    all_scores = torch.cat(scores).requires_grad_()
    value: torch.Tensor = loss(all_scores, torch.cat(labels))
    (gradient,) = torch.autograd.grad(value, all_scores)
    batches = _batches(loader, device)
    for place, part in enumerate(gradient.split([len(each) for each in scores])):
        inputs, batch_labels = next(batches, (None, None))
        if not _is_same(batch_labels, labels[place]):
            raise ValueError(_OTHERS.format(what="yields other labels", place=place))
        batch_scores = model(inputs)
        if not _is_close(batch_scores.detach(), scores[place]):
            raise ValueError(_OTHERS.format(what="leads to other scores", place=place))
        batch_scores.backward(part)
    if next(batches, None) is not None:
        what = "yields more batches"
        raise ValueError(_OTHERS.format(what=what, place=len(scores)))
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
        yield _move(inputs, device), labels.to(device)


def _move(inputs: object, device: object) -> Any:
    """Move tensors, including those in tuples, lists and dicts."""
    if isinstance(inputs, torch.Tensor):
        return inputs.to(device)
    if isinstance(inputs, dict):
        return {name: _move(one, device) for name, one in inputs.items()}
    if isinstance(inputs, tuple | list):
        return type(inputs)(_move(one, device) for one in inputs)
    return inputs


def _is_same(labels: Any, expected: torch.Tensor) -> bool:
    has_shape = labels is not None and labels.shape == expected.shape
    return has_shape and torch.equal(labels.nan_to_num(-1), expected.nan_to_num(-1))


def _is_close(scores: torch.Tensor, expected: torch.Tensor) -> bool:
    scale = 1.0 + expected.abs().max()
    return bool((scores - expected).abs().max() <= _MAX_SCORE_CHANGE * scale)


def _generators(loader: object) -> set[torch.Generator]:
    """Return the random generators of a loader and its samplers."""
    samplers = (getattr(loader, name, None) for name in ("sampler", "batch_sampler"))
    generators = {getattr(each, "generator", None) for each in (loader, *samplers)}
    return {each for each in generators if each is not None}
