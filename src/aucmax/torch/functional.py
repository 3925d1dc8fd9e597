"""The losses as functions, for code that keeps no modules."""

from collections.abc import Sequence
from typing import Any

import torch

from aucmax.torch.losses import (
    LambdaLoss,
    PairHingeLoss,
    PairLogisticLoss,
    PairSigmoidLoss,
    PartialAUCLoss,
)

__all__ = [
    "lambda_loss",
    "pair_hinge_loss",
    "pair_logistic_loss",
    "pair_sigmoid_loss",
    "partial_auc_loss",
]


def pair_logistic_loss(
    logits: torch.Tensor, labels: torch.Tensor, **options: Any
) -> torch.Tensor:
    """Return the logistic loss of all pairs of a positive and a negative.

    Parameters
    ----------
    logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
        As of :class:`PairLogisticLoss`.
    **options : tensor
        `sample_weight` and `qid`.

    Returns
    -------
    tensor
        A number.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch.functional import pair_logistic_loss
    >>> pair_logistic_loss(torch.tensor([2.0, 0.0, -1.0]), torch.tensor([1, 0, 0]))
    tensor(0.0878)
    """
    return PairLogisticLoss()(logits, labels, **options)


def pair_hinge_loss(
    logits: torch.Tensor, labels: torch.Tensor, margin: float = 1.0, **options: Any
) -> torch.Tensor:
    """Return the hinge of all pairs of a positive and a negative.

    Parameters
    ----------
    logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
        As of :class:`PairHingeLoss`.
    margin : float, default=1.0
        Pairs farther apart cost nothing.
    **options : tensor
        `sample_weight` and `qid`.

    Returns
    -------
    tensor
        A number.
    """
    return PairHingeLoss(margin)(logits, labels, **options)


def pair_sigmoid_loss(
    logits: torch.Tensor, labels: torch.Tensor, tau: float = 1.0, **options: Any
) -> torch.Tensor:
    """Return the sigmoid of all pairs of a positive and a negative.

    Parameters
    ----------
    logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
        As of :class:`PairSigmoidLoss`.
    tau : float, default=1.0
        The width of the sigmoid.
    **options : tensor
        `sample_weight` and `qid`.

    Returns
    -------
    tensor
        A number.
    """
    return PairSigmoidLoss(tau)(logits, labels, **options)


def partial_auc_loss(
    logits: torch.Tensor,
    labels: torch.Tensor,
    fpr_range: Sequence[float] = (0.0, 1.0),
    tpr_range: Sequence[float] = (0.0, 1.0),
    *,
    loss: str = "sigmoid",
    tau: float = 1.0,
    **options: Any,
) -> torch.Tensor:
    """Return the loss of the pairs in a part of the ROC curve.

    Parameters
    ----------
    logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
        As of :class:`PartialAUCLoss`.
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the curve.
    loss : {"sigmoid", "logistic", "hinge"}, default="sigmoid"
        The loss of a pair.
    tau : float, default=1.0
        The width of the sigmoid.
    **options : tensor
        `sample_weight` and `qid`.

    Returns
    -------
    tensor
        A number.
    """
    loss_of = PartialAUCLoss(fpr_range, tpr_range, loss=loss, tau=tau)
    return loss_of(logits, labels, **options)


def lambda_loss(
    logits: torch.Tensor, labels: torch.Tensor, metric: str = "auc", **options: Any
) -> torch.Tensor:
    """Return the logistic loss of pairs, each by what swapping its rows would change.

    Parameters
    ----------
    logits, labels : tensor of shape (n_rows,) or (n_rows, n_labels)
        As of :class:`LambdaLoss`.
    metric : {"auc", "mauc"}, default="auc"
        What is changed.
    **options : tensor
        `sample_weight` and `qid`.

    Returns
    -------
    tensor
        A number.
    """
    return LambdaLoss(metric)(logits, labels, **options)
