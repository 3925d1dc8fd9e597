"""How boosting weighs the rows, and how far it follows a hypothesis."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["Reweighting"]


class Reweighting(ABC):
    """The weights of the rows, and the scores that they follow from.

    `row_weights` are positive for positives, where they sum to 1/2, and negative for
    negatives, where they sum to -1/2: the edge of a hypothesis is the sum of weight
    times value. `loss` is the mean loss of the training pairs, and `verdict` says why
    the algorithm itself is done, once it is.
    """

    #: what `_records` holds of each round
    recorded: ClassVar[tuple[str, ...]]

    def __init__(self, labels: BoolArray, weight: FloatArray) -> None:
        self.row_weights = np.empty(labels.size)
        self.loss = 1.0
        self.verdict = ""
        self._labels = labels
        self._weight = weight
        self._scores = np.zeros(labels.size)
        self._totals = float(weight[labels].sum()), float(weight[~labels].sum())
        self._records: list[tuple[float, ...]] = []

    @abstractmethod
    def advance(self, values: FloatArray, edge: float) -> float:
        """Add a hypothesis, by its values on the rows; return its weight."""

    def history(self) -> dict[str, FloatArray]:
        """Return what was recorded in each round, by name."""
        table = np.array(self._records).reshape(-1, len(self.recorded))
        columns = (column.copy() for column in table.T)
        return dict(zip(self.recorded, columns, strict=True))

    def weights(self, steps: FloatArray) -> FloatArray:
        """Return the weights of a model of the first rounds."""
        return steps

    def guarantees(self, n_rounds: int) -> dict[str, float]:
        """Return what is known of a model of the first rounds, as attributes."""
        return {}
