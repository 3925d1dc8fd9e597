"""A loss as one step of differentiation, by kernels on the CPU, else by tensors."""

from typing import Any

import torch

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


class PairRisk(torch.autograd.Function):
    """Value and gradient; the gradient is an output, so it can be differentiated."""

    @staticmethod
    def forward(
        scores: torch.Tensor, labels: Any, sample_weight: Any, qid: Any, loss: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        batch = scores, labels, sample_weight, qid
        result = None
        if loss.form is not None and not by_kernels(scores):
            result = _on_the_device(loss, *batch)
        value, gradient = result or _on_the_host(loss, *batch)
        dtype = _loss_dtype(scores)
        return value.to(scores.device, dtype), gradient.to(scores.device, dtype)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        scores, *ctx.others = inputs
        ctx.save_for_backward(scores, output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, by_value: Any, by_gradient: Any) -> Any:
        scores, gradient = ctx.saved_tensors
        total = torch.zeros_like(gradient) if by_value is None else by_value * gradient
        if by_gradient is not None:
            total = total + CurvatureProduct.apply(scores, by_gradient, *ctx.others)
        return total.to(scores.dtype), None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        """Evaluate one batch after the other: each needs its own sort."""
        results = []
        for place in range(info.batch_size):
            own = (
                one if dim is None else one.select(dim, place)
                for one, dim in zip(inputs, in_dims, strict=True)
            )
            results.append(PairRisk.apply(*own))
        values, gradients = zip(*results, strict=True)
        return (torch.stack(values), torch.stack(gradients)), (0, 0)


class CurvatureProduct(torch.autograd.Function):
    """The second derivatives of a loss times a vector."""

    @staticmethod
    def forward(ctx: Any, scores: Any, vector: Any, *others: Any) -> torch.Tensor:
        *given, loss = others
        if loss.form is None or not loss.form.has_second_derivatives:
            raise NotImplementedError(
                f"{loss} has no second derivatives; PairLogisticLoss and "
                "PairSigmoidLoss have."
            )
        batch = TensorBatch.from_tensors(scores, *given)
        return batch.curvature_times(loss.form, vector).to(vector)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        raise NotImplementedError("Third derivatives of this loss are not available.")


def _count_and_apply(loss: Any, *given: Any) -> torch.Tensor:
    loss.n_calls += 1
    value: torch.Tensor
    value, _ = PairRisk.apply(*given, loss)
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
