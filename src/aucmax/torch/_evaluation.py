"""A risk of the library as one step of automatic differentiation.

The sums over all pairs are the library's compiled kernels, which run on the processor:
of any other device, the scores of the batch travel there (a number per row) and the
gradient back. Everything is in float64 in between, whatever the scores are.
"""

from typing import Any

import torch

from aucmax.torch._batch import Batch

__all__ = ["evaluate"]


class HostRisk(torch.autograd.Function):
    """Value and gradient at once; the gradient is an output, so it has a slope, too."""

    @staticmethod
    def forward(
        scores: torch.Tensor, labels: Any, sample_weight: Any, qid: Any, loss: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        batch = Batch.of(scores, labels, sample_weight, qid, loss)
        value, gradient = loss._evaluate(batch)
        kind = torch.float64 if scores.dtype == torch.float64 else torch.float32
        return (
            torch.tensor(value, dtype=kind, device=scores.device),
            torch.from_numpy(gradient.reshape(scores.shape)).to(scores.device, kind),
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        scores, *ctx.others = inputs
        ctx.save_for_backward(scores, output[1])
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx: Any, by_value: Any, by_gradient: Any) -> Any:
        scores, gradient = ctx.saved_tensors
        slope = torch.zeros_like(gradient) if by_value is None else by_value * gradient
        if by_gradient is not None:
            slope = slope + CurvatureProduct.apply(scores, by_gradient, *ctx.others)
        return slope.to(scores.dtype), None, None, None, None

    @staticmethod
    def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
        """Take one batch after the other: each is a sort of its own."""
        results = []
        for place in range(info.batch_size):
            own = (
                one if dim is None else one.select(dim, place)
                for one, dim in zip(inputs, in_dims, strict=True)
            )
            results.append(HostRisk.apply(*own))
        values, gradients = zip(*results, strict=True)
        return (torch.stack(values), torch.stack(gradients)), (0, 0)


class CurvatureProduct(torch.autograd.Function):
    """The second derivatives of a risk times a vector."""

    @staticmethod
    def forward(ctx: Any, scores: Any, vector: Any, *others: Any) -> torch.Tensor:
        batch, loss = Batch.of(scores, *others), others[-1]
        columns = vector.detach().to("cpu", torch.float64).numpy()
        product = loss._curvature_times(batch, columns.reshape(batch.scores.shape))
        return torch.from_numpy(product.reshape(scores.shape)).to(vector)

    @staticmethod
    def backward(ctx: Any, *slopes: Any) -> Any:
        raise NotImplementedError("Third derivatives of this loss are not available.")


def _evaluate(
    loss: Any, scores: torch.Tensor, labels: Any, sample_weight: Any, qid: Any
) -> torch.Tensor:
    value: torch.Tensor
    value, _ = HostRisk.apply(scores, labels, sample_weight, qid, loss)
    return value


#: under ``torch.compile`` the graph breaks here, and goes on after the loss
evaluate = torch.compiler.disable(_evaluate)
