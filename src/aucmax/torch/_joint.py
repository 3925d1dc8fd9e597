"""A batch together with rows that take part as constants."""

from typing import Any

import torch

__all__ = ["with_constants"]


def with_constants(
    loss: Any,
    own: tuple[torch.Tensor, ...],
    before: tuple[torch.Tensor, ...],
    after: tuple[torch.Tensor, ...],
    factor: float,
    **options: Any,
) -> torch.Tensor:
    """Return the loss of all rows, whose gradient in the own logits is multiplied.

    Each tuple has the logits and the labels of some rows.
    """
    logits, labels = own
    # the same numbers, since the difference is 0, with `factor` times the slope
    lifted = logits.detach() + factor * (logits - logits.detach())
    value: torch.Tensor = loss(
        torch.cat((before[0], lifted, after[0])),
        torch.cat((before[1], labels, after[1])),
        **options,
    )
    return value
