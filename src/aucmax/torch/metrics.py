"""AUC, partial AUC and average precision over an epoch: update, compute, reset."""

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import torch

from aucmax._core.parameters import check_range
from aucmax._core.validation import FloatArray, IntArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import MetricInterval, auc_interval, metric_interval
from aucmax.inference.intervals import area_interval
from aucmax.inference.results import check_confidence
from aucmax.metrics import average_precision_score, partial_auc_score
from aucmax.torch._batch import check_finite, check_tensors, checked_labels

_MIN_BITS, _MAX_BITS = 8, 24


class _RowMetric:
    """A metric that keeps all rows since the last reset."""

    def __init__(self) -> None:
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
        scores = preds.detach().cpu()
        if scores.dtype in (torch.float16, torch.bfloat16):
            scores = scores.float()
        check_finite(scores.numpy(), "Scores", "")
        labels = checked_labels(target, takes_levels=False)
        if labels.dtype != bool:
            raise ValueError("A metric needs all labels, but some are NaN.")
        self._take(scores.numpy().copy(), labels.copy())

    def _take(self, scores: Any, labels: Any) -> None:
        self._scores.append(scores)
        self._labels.append(labels)

    def _rows(self) -> tuple[Any, Any]:
        if not self._scores:
            raise NotEnoughClassesError("There are no rows yet: call update first.")
        if len(self._scores) > 1:  # concatenate once
            self._scores = [np.concatenate(self._scores)]
            self._labels = [np.concatenate(self._labels)]
        return self._labels[0], self._scores[0]


class AveragePrecision(_RowMetric):
    """The average precision of all rows since the last reset, exact.

    Has the methods of a torchmetrics metric, without that dependency. Tied scores count
    as one block, as in scikit-learn.

    See Also
    --------
    aucmax.metrics.average_precision_score : The definition.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import AveragePrecision
    >>> metric = AveragePrecision()
    >>> metric.update(torch.tensor([3.0, 2.0]), torch.tensor([1, 0]))
    >>> metric.update(torch.tensor([1.0, 0.0]), torch.tensor([1, 0]))
    >>> metric.compute()
    tensor(0.8333, dtype=torch.float64)
    """

    def compute(self) -> torch.Tensor:
        """Return average precision.

        Returns
        -------
        tensor
            A float64 scalar.
        """
        return torch.tensor(average_precision_score(*self._rows()), dtype=torch.float64)

    def interval(self, confidence: float = 0.95) -> MetricInterval:
        """Return average precision with its interval.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the interval is meant to cover.

        Returns
        -------
        MetricInterval
            See :func:`aucmax.inference.metric_interval`.
        """
        return metric_interval(*self._rows(), confidence=confidence)


class PartialAUROC(_RowMetric):
    """The partial AUC of all rows since the last reset, exact.

    Has the methods of a torchmetrics metric, without that dependency. The value is the
    mean over the part of the ROC curve.

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
    >>> from aucmax.torch import PartialAUROC
    >>> metric = PartialAUROC(fpr_range=(0, 0.5))
    >>> metric.update(torch.tensor([3.0, 2.0]), torch.tensor([1, 0]))
    >>> metric.update(torch.tensor([1.0, 0.0]), torch.tensor([1, 0]))
    >>> metric.compute()
    tensor(0.5000, dtype=torch.float64)
    """

    def __init__(
        self,
        fpr_range: Sequence[float] = (0.0, 1.0),
        tpr_range: Sequence[float] = (0.0, 1.0),
    ) -> None:
        self.fpr_range = check_range("fpr_range", fpr_range)
        self.tpr_range = check_range("tpr_range", tpr_range)
        super().__init__()

    def compute(self) -> torch.Tensor:
        """Return the area.

        Returns
        -------
        tensor
            A float64 scalar.
        """
        return torch.tensor(
            partial_auc_score(*self._rows(), **self._ranges()), dtype=torch.float64
        )

    def interval(self, confidence: float = 0.95) -> MetricInterval:
        """Return the area with DeLong's interval.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the interval is meant to cover.

        Returns
        -------
        MetricInterval
            See :func:`aucmax.inference.auc_interval`.
        """
        return auc_interval(*self._rows(), confidence=confidence, **self._ranges())

    def _ranges(self) -> dict[str, Any]:
        return {"fpr_range": self.fpr_range, "tpr_range": self.tpr_range}


class AUROC(PartialAUROC):
    r"""The AUC of all rows since the last reset, exact or in bounded memory.

    Has the methods of a torchmetrics metric, without that dependency.

    Parameters
    ----------
    cell_bits : int, default=None
        If given, rows are counted in 2 ** cell_bits cells instead of kept, and memory
        does not grow. Cells are finer near 0: each power of two of the scores has
        the same number of them. Rows of one cell count as ties, which changes the AUC
        by at most

        .. math:: \frac{1}{2pn} \sum_c p_c n_c

        for :math:`p_c` positives and :math:`n_c` negatives in cell c: :attr:`error`.
        Pass logits instead of probabilities near 1.

    Attributes
    ----------
    error : float
        Bound on the distance to the exact value; 0 without cells.

    Examples
    --------
    >>> import torch
    >>> from aucmax.torch import AUROC
    >>> metric = AUROC()
    >>> metric.update(torch.tensor([3.0, 2.0, 1.0, 0.0]), torch.tensor([1, 0, 1, 0]))
    >>> metric.compute()
    tensor(0.7500, dtype=torch.float64)
    >>> print(metric.interval())
    AUC 0.7500 (95% interval 0.0000 to 1.0000)
    """

    def __init__(self, cell_bits: int | None = None) -> None:
        if cell_bits is not None and not _MIN_BITS <= cell_bits <= _MAX_BITS:
            raise ValueError(
                f"cell_bits must be from {_MIN_BITS} to {_MAX_BITS}, or None, got "
                f"{cell_bits!r}."
            )
        self.cell_bits = cell_bits
        super().__init__()

    def reset(self) -> None:
        """Forget all rows."""
        super().reset()
        if self.cell_bits is not None:
            self._counts = np.zeros((2, 2**self.cell_bits), dtype=np.int64)

    def compute(self) -> torch.Tensor:
        """Return the area.

        Returns
        -------
        tensor
            A float64 scalar.
        """
        if self.cell_bits is None:
            return super().compute()
        area = _CountedRows(self._counts).area
        return torch.tensor(area, dtype=torch.float64)

    def interval(self, confidence: float = 0.95) -> MetricInterval:
        """Return the area with DeLong's interval, which ignores :attr:`error`.

        Parameters
        ----------
        confidence : float, default=0.95
            Probability that the interval is meant to cover.

        Returns
        -------
        MetricInterval
            See :func:`aucmax.inference.auc_interval`.
        """
        if self.cell_bits is None:
            return super().interval(confidence)
        return _CountedRows(self._counts).interval(confidence)

    @property
    def error(self) -> float:
        """Bound on the distance to the exact value."""
        return 0.0 if self.cell_bits is None else _CountedRows(self._counts).error

    def _take(self, scores: Any, labels: Any) -> None:
        if self.cell_bits is None:
            super()._take(scores, labels)
            return
        cells = _cells(scores, self.cell_bits)
        for own in (0, 1):
            members = cells[labels == own]
            self._counts[own] += np.bincount(members, minlength=2**self.cell_bits)


class _CountedRows:
    """Negatives and positives in cells, as ties."""

    def __init__(self, counts: IntArray) -> None:
        self.negatives, self.positives = counts
        self.n, self.p = int(self.negatives.sum()), int(self.positives.sum())
        if self.n == 0 or self.p == 0:
            raise NotEnoughClassesError(
                f"There are {self.p} positives and {self.n} negatives; an AUC needs "
                "both."
            )
        # shares of negatives below each cell, and of positives above it
        self.below: FloatArray = _midranks(self.negatives) / self.n
        self.above: FloatArray = 1.0 - _midranks(self.positives) / self.p
        self.area = float(self.positives @ self.below / self.p)

    @property
    def error(self) -> float:
        tied = (self.positives / self.p) @ (self.negatives / self.n)
        return float(0.5 * tied)

    def interval(self, confidence: float) -> MetricInterval:
        check_confidence(confidence)
        if min(self.p, self.n) < 2:
            raise NotEnoughClassesError("An interval needs two rows of each class.")
        variance = 0.0
        for counts, shares in (
            (self.positives, self.below),
            (self.negatives, self.above),
        ):
            size = counts.sum()
            variance += counts @ (shares - self.area) ** 2 / size / (size - 1)
        error = sqrt(variance)
        rows = float(self.p), float(self.n)
        ends = area_interval(self.area, error, confidence, rows)
        return MetricInterval(self.area, *ends, error, confidence, rows)


def _midranks(counts: IntArray) -> FloatArray:
    """Return the number of rows below each cell plus half of those in it."""
    return np.asarray(np.cumsum(counts) - 0.5 * counts)


def _cells(scores: Any, bits: int) -> IntArray:
    """Return the leading bits of integers in the order of the scores."""
    patterns = np.asarray(scores, dtype=np.float32) + np.float32(0.0)  # no -0.0
    ordered = patterns.view(np.uint32)
    negative = ordered >> 31 == 1
    ordered = np.where(negative, ~ordered, ordered | np.uint32(1 << 31))
    return (ordered >> np.uint32(32 - bits)).astype(np.int64)
