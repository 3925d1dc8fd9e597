"""The AUC over an epoch: update, compute, reset."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from aucmax._core.parameters import check_range
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import MetricInterval, auc_interval
from aucmax.metrics import partial_auc_score
from aucmax.torch._batch import check_finite, check_tensors, checked_labels


class AUROC:
    """The AUC, or partial AUC, of all rows since the last reset, exact.

    Has the methods of a torchmetrics metric, without that dependency. The partial AUC
    is the mean over the part of the ROC curve.

    Parameters
    ----------
    fpr_range, tpr_range : pair of float, default=(0.0, 1.0)
        The part of the ROC curve: ``fpr_range=(0, 0.1)`` is the top tenth of the
        negatives, ``tpr_range=(0.9, 1)`` the lowest tenth of the positives.

    See Also
    --------
    aucmax.metrics.partial_auc_score : The definition.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import AUROC
    >>> metric = AUROC()
    >>> metric.update(torch.tensor([3.0, 2.0]), torch.tensor([1, 0]))
    >>> metric.update(torch.tensor([1.0, 0.0]), torch.tensor([1, 0]))
    >>> metric.compute()
    tensor(0.7500, dtype=torch.float64)
    >>> print(metric.interval())
    AUC 0.7500 (95% interval 0.0000 to 1.0000)
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        tpr_range: Sequence[float] = (0.0, 1.0),
    ) -> None:
        self.fpr_range = check_range("fpr_range", fpr_range)
        self.tpr_range = check_range("tpr_range", tpr_range)
        self._ranges: Any = {"fpr_range": self.fpr_range, "tpr_range": self.tpr_range}
        self.reset()

    def reset(self) -> None:
        """Forget all rows."""
        self._scores: list[Any] = []
        self._labels: list[Any] = []

    def update(self, preds: torch.Tensor, target: torch.Tensor) -> None:
        """Add the rows of a batch.

        Parameters
        ----------
        preds : tensor of shape (n_rows,)
            Scores: logits or probabilities.
        target : tensor of shape (n_rows,)
            Labels, 0 or 1.
        """
        check_tensors(preds, target)
        if preds.ndim != 1:
            raise ValueError(
                f"A metric needs one score per row, got shape {tuple(preds.shape)}; "
                "use one metric per label."
            )
        scores = preds.detach().cpu().double().numpy()
        check_finite(scores, "Scores", "")
        labels = checked_labels(target, takes_levels=False)
        if labels.dtype != bool:
            raise ValueError("A metric needs all labels, but some are NaN.")
        self._scores.append(scores.copy())
        self._labels.append(labels.copy())

    def compute(self) -> torch.Tensor:
        """Return the area.

        Returns
        -------
        tensor
            A float64 scalar.
        """
        area = partial_auc_score(*self._rows(), **self._ranges)
        return torch.tensor(area, dtype=torch.float64)

    def interval(self, confidence_level: float = 0.95) -> MetricInterval:
        """Return the area with its interval.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Probability that the interval is meant to cover.

        Returns
        -------
        MetricInterval
            See :func:`aucmax.inference.auc_interval`.
        """
        options = {"confidence_level": confidence_level, **self._ranges}
        return auc_interval(*self._rows(), **options)

    def _rows(self) -> tuple[Any, Any]:
        if not self._scores:
            raise NotEnoughClassesError("There are no rows yet: call update first.")
        if len(self._scores) > 1:  # concatenate once
            self._scores = [np.concatenate(self._scores)]
            self._labels = [np.concatenate(self._labels)]
        return self._labels[0], self._scores[0]
