"""The checks of all losses: a batch of tensors as NumPy arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from aucmax._core.validation import (
    FloatArray,
    IntArray,
    check_qid,
    nonnegative_weights,
)

_SOFT_LABELS = (
    "Soft labels define no pairs of a positive and a negative: round them, and pass "
    "the certainty as sample_weight."
)
_OTHER_CLASSES = "Compare with the positive class: labels == 1."


@dataclass(frozen=True)
class Batch:
    """Scores of shape (n_rows, n_columns) with labels, weights and queries."""

    scores: FloatArray
    labels: NDArray[Any]
    sample_weight: FloatArray | None
    qid: IntArray | None
    accuracy: float

    @classmethod
    def from_tensors(
        cls, scores: Any, labels: Any, sample_weight: Any, qid: Any, loss: Any
    ) -> "Batch":
        """Check a batch, once; errors name the row."""
        numbers = scores.detach().cpu().double().numpy()
        check_finite(
            numbers,
            "Logits",
            f" in call {loss.n_calls} of this loss. This batch has not changed the "
            "model: lower the learning rate, clip the gradients, or check the inputs "
            "of this row",
        )
        n_rows = numbers.shape[0]
        if sample_weight is not None:
            weights = torch.as_tensor(sample_weight).detach().cpu().double()
            sample_weight = nonnegative_weights(weights.numpy(), n_rows)
        if qid is not None:
            qid = qid.cpu().numpy() if isinstance(qid, torch.Tensor) else qid
            qid = check_qid(qid, n_rows).codes
        return cls(
            numbers.reshape(n_rows, -1),
            checked_labels(labels, loss.takes_levels).reshape(n_rows, -1),
            sample_weight,
            qid,
            1e-12 if scores.dtype == torch.float64 else 1e-7,
        )

    def rows_with_label(self, place: int) -> Any:
        """Return the rows of a column that have a label and a positive weight."""
        labels = self.labels[:, place]
        keep = np.ones(labels.size, dtype=bool)
        if labels.dtype.kind == "f":
            keep = ~np.isnan(labels)
        if self.sample_weight is not None:
            keep &= self.sample_weight > 0.0
        return slice(None) if keep.all() else np.flatnonzero(keep)


def check_tensors(scores: Any, labels: Any) -> None:
    """Raise if types, shapes or devices do not match."""
    for name, value in (("logits", scores), ("labels", labels)):
        if not isinstance(value, torch.Tensor):
            raise TypeError(f"{name} must be a tensor, got {type(value).__name__}.")
    if not scores.is_floating_point():
        raise TypeError(
            f"Logits must be floating-point numbers, got {scores.dtype}. Are logits "
            "and labels in the right order? loss(logits, labels)."
        )
    if scores.device != labels.device:
        raise ValueError(
            f"Logits are on {scores.device} and labels on {labels.device}; move the "
            f"labels: labels.to({str(scores.device)!r})."
        )
    if scores.ndim not in (1, 2) or scores.shape != labels.shape:
        raise ValueError(
            f"Logits and labels must have the same shape, (n_rows,) or (n_rows, "
            f"n_labels), got {tuple(scores.shape)} and {tuple(labels.shape)}."
            f"{_advice(scores, labels)}"
        )
    if scores.numel() == 0:
        raise ValueError(
            f"The batch is empty: logits have shape {tuple(scores.shape)}."
        )


def check_finite(numbers: NDArray[Any], name: str, advice: str) -> None:
    """Raise for the first row that is not finite."""
    if not np.isfinite(numbers).all():
        place = np.argwhere(~np.isfinite(numbers))[0].tolist()
        raise ValueError(
            f"{name} must be finite, but {_where(place)} is {numbers[tuple(place)]}"
            f"{advice}."
        )


def _advice(scores: Any, labels: Any) -> str:
    if scores.ndim == 2 and scores.shape[1] == 1 and labels.ndim == 1:
        return " Drop the last dimension: logits.squeeze(1)."
    if scores.ndim == 2 and scores.shape[1] == 2 and labels.ndim == 1:
        return " Two logits per row rank by their difference: out[:, 1] - out[:, 0]."
    return ""


def checked_labels(labels: Any, takes_levels: bool) -> NDArray[Any]:
    """Return labels as booleans, as numbers if some are missing, or as levels."""
    numbers: NDArray[Any] = labels.detach().cpu().numpy()
    if labels.dtype in (torch.bfloat16, torch.float16):
        numbers = labels.detach().cpu().float().numpy()
    if numbers.dtype == bool:
        return numbers
    is_float = numbers.dtype.kind == "f"
    is_missing = np.isnan(numbers) if is_float else np.zeros(1, dtype=bool)
    is_valid = (numbers == np.rint(numbers)) & (numbers >= 0)
    if not takes_levels:
        is_valid &= numbers <= 1
    if not (is_valid | is_missing).all():
        place = np.argwhere(~(is_valid | is_missing))[0].tolist()
        expected = "levels 0, 1, 2, ..." if takes_levels else "0 or 1"
        label = numbers[tuple(place)]
        raise ValueError(
            f"Labels must be {expected} (or NaN where unknown), but {_where(place)} is "
            f"{label:g}. {_OTHER_CLASSES if label == np.rint(label) else _SOFT_LABELS}"
        )
    if is_missing.any():
        return numbers.astype(np.float64)
    return numbers.astype(np.int64) if takes_levels else numbers == 1


def _where(place: list[int]) -> str:
    row = f"row {place[0]}"
    return row if len(place) == 1 else f"{row}, column {place[1]}"
