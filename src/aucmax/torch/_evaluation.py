"""A loss as one step of differentiation, by kernels on the CPU, else by tensors."""

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from aucmax.torch._batch import Batch, check_tensors
from aucmax.torch._tensor_risk import TensorBatch


def evaluate(
    loss: Any, scores: torch.Tensor, labels: Any, sample_weight: Any, qid: Any
) -> torch.Tensor:
    """Return the value of a loss, with its gradient attached."""
    check_tensors(scores, labels)
    if torch.compiler.is_compiling() and loss.form is not None:
        return _within_a_graph(loss, scores, labels, sample_weight, qid)
    value: torch.Tensor = _outside_of_graphs(loss, scores, labels, sample_weight, qid)
    return value


def by_kernels(scores: torch.Tensor) -> bool:
    """Return whether the compiled kernels can read the scores."""
    return bool(scores.device.type == "cpu")


def _scale_gradient(ctx: Any, factor: torch.Tensor, _: Any) -> Any:
    (gradient,) = ctx.saved_tensors
    return factor * gradient, None, None, None, None


class PairRisk(torch.autograd.Function):
    """The value of a loss, with the gradient that was computed along with it."""

    @staticmethod
    def forward(
        scores: torch.Tensor, labels: Any, weight: Any, qid: Any, loss: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        batch = scores, labels, weight, qid
        result = None
        if loss.form is not None and not by_kernels(scores):
            result = _on_the_device(loss, *batch)
        value, gradient = result or _on_the_host(loss, *batch)
        dtype = _loss_dtype(scores)
        return value.to(scores.device, dtype), gradient.to(scores.device, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(output[1])
        ctx.mark_non_differentiable(output[1])

    backward = staticmethod(once_differentiable(_scale_gradient))


def _count_and_apply(loss: Any, *batch: Any) -> torch.Tensor:
    loss.n_calls += 1
    value: torch.Tensor
    value, _ = PairRisk.apply(*batch, loss)
    return value


#: a graph breaks here, and resumes after the loss
_outside_of_graphs = torch.compiler.disable(_count_and_apply)


def _within_a_graph(loss: Any, scores: torch.Tensor, *others: Any) -> torch.Tensor:
    """Return the loss without reading any value: NaN if some are invalid."""
    with torch.no_grad():
        batch = TensorBatch.from_tensors(scores, *others)
        value, gradient, _ = batch.value_and_gradient(loss.form)
        is_valid = batch.is_valid & batch.covers_a_row(loss.form)
        value = torch.where(is_valid, value, torch.nan)
    dtype = _loss_dtype(scores)
    # 0, with the gradient of the loss
    nothing = (gradient.to(dtype) * (scores - scores.detach()).to(dtype)).sum()
    return value.to(dtype) + nothing


def _on_the_device(
    loss: Any, scores: torch.Tensor, *others: Any
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Return value and gradient, or None if some values are invalid."""
    batch = TensorBatch.from_tensors(scores, *others)
    value, gradient, has_pairs = batch.value_and_gradient(loss.form)
    flags = torch.stack((batch.is_valid, batch.covers_a_row(loss.form), has_pairs))
    is_valid, is_covered, has_any = flags.tolist()  # the only wait for the device
    if not (is_valid and is_covered):
        return None
    loss.n_without_pairs += not has_any
    return value, gradient


def _on_the_host(
    loss: Any, scores: torch.Tensor, labels: Any, sample_weight: Any, qid: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return value and gradient by the kernels; errors name the row."""
    batch = Batch.from_tensors(scores, labels, sample_weight, qid, loss)
    value, gradient = loss.by_kernels(batch)
    exact = torch.tensor(value, dtype=torch.float64)
    return exact, torch.from_numpy(gradient.reshape(scores.shape))


def _loss_dtype(scores: torch.Tensor) -> torch.dtype:
    return torch.float64 if scores.dtype == torch.float64 else torch.float32
