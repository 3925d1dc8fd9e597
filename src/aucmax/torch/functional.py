"""The losses as functions, for code that keeps no modules.

Each takes logits and labels, then the parameters of its loss, and `sample_weight` and
`qid` by name.

Examples
--------
>>> import torch
>>> from aucmax.torch.functional import pair_hinge_loss, pair_logistic_loss
>>> logits, labels = torch.tensor([2.0, 0.0, -1.0]), torch.tensor([1, 0, 0])
>>> pair_logistic_loss(logits, labels)
tensor(0.0878)
>>> pair_hinge_loss(logits, labels, margin=3.0)
tensor(0.5000)
"""

import inspect
from collections.abc import Callable
from typing import Any

import torch

from aucmax.torch.losses import (
    LambdaLoss,
    PairHingeLoss,
    PairLogisticLoss,
    PairLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
)

_OF_ROWS = ("sample_weight", "qid")  # what goes to the call, not to the loss
_DOCUMENTATION = """Return the loss of a batch: {loss} as a function.

Parameters
----------
logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
    As of the loss.
*args, **kwargs
    The parameters of :class:`aucmax.torch.{loss}`; `sample_weight` and `qid`.

Returns
-------
tensor
    A number.
"""


def _as_function(name: str, loss: type[PairLoss]) -> Callable[..., torch.Tensor]:
    def function(
        logits: torch.Tensor, labels: torch.Tensor, *args: Any, **kwargs: Any
    ) -> torch.Tensor:
        rows = {key: kwargs.pop(key) for key in _OF_ROWS if key in kwargs}
        value: torch.Tensor = loss(*args, **kwargs)(logits, labels, **rows)
        return value

    function.__name__ = function.__qualname__ = name
    function.__doc__ = _DOCUMENTATION.format(loss=loss.__name__)
    own = inspect.signature(loss).parameters.values()
    tensors = inspect.signature(PairLoss.forward)
    given = [one for key, one in tensors.parameters.items() if key != "self"]
    ordered = sorted((*given, *own), key=lambda one: one.kind)
    function.__signature__ = tensors.replace(parameters=ordered)  # type: ignore[attr-defined]
    return function


lambda_loss = _as_function("lambda_loss", LambdaLoss)
pair_hinge_loss = _as_function("pair_hinge_loss", PairHingeLoss)
pair_logistic_loss = _as_function("pair_logistic_loss", PairLogisticLoss)
pair_sigmoid_loss = _as_function("pair_sigmoid_loss", PairSigmoidLoss)
partial_auc_loss = _as_function("partial_auc_loss", PartialAUCLoss)
