"""Which hypothesis is best now? One answer for each round of boosting."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from aucmax._validation import FloatArray
from aucmax.hypotheses import ScaledColumns, Stumps, on_range, stump

__all__ = ["LEARNERS", "Hypothesis", "WeakLearner"]

# Edges closer than this, relative to the largest, are equal up to rounding of the sums:
# the first column wins, so that repeated rows choose as weighted rows do.
_TIE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}


class Hypothesis(NamedTuple):
    """One hypothesis: a column, the direction, and the threshold if it is a stump."""

    column: int
    direction: float
    threshold: float = np.nan


class WeakLearner(Protocol):
    """A set of hypotheses that knows the best of them for any row weights."""

    def best(self, row_weights: FloatArray) -> Hypothesis:
        """Return a hypothesis of the largest edge, the sum of row weight times value.

        Of equal edges the lowest column wins.
        """

    def values(self, hypothesis: Hypothesis, column: FloatArray) -> FloatArray:
        """Evaluate a hypothesis on the values of its column."""

    def fitted_attributes(self, kept: Sequence[Hypothesis]) -> dict[str, FloatArray]:
        """Return what a model must keep to evaluate these, besides columns."""


class FeatureLearner:
    """The columns scaled to [-1, 1]: one product with the data a round."""

    is_signed = False

    def __init__(self, X: Any) -> None:
        self._columns = ScaledColumns.fit(X)
        self._tie = _TIE[X.dtype]

    def best(self, row_weights: FloatArray) -> Hypothesis:
        """Return the column of the largest edge."""
        edges = self._columns.edges(row_weights)
        column = first_of_largest(np.abs(edges) if self.is_signed else edges, self._tie)
        return Hypothesis(column, -1.0 if self.is_signed and edges[column] < 0 else 1.0)

    def values(self, hypothesis: Hypothesis, column: FloatArray) -> FloatArray:
        """Scale a column."""
        low, high = self._columns.low, self._columns.high
        k = hypothesis.column
        return hypothesis.direction * on_range(column, float(low[k]), float(high[k]))

    def fitted_attributes(self, kept: Sequence[Hypothesis]) -> dict[str, FloatArray]:
        """Return the range of each column."""
        return {"low_": self._columns.low, "high_": self._columns.high}


class SignedFeatureLearner(FeatureLearner):
    """The columns scaled to [-1, 1] and their negatives."""

    is_signed = True


class StumpLearner:
    """Every threshold of every column, both directions: one sweep a round."""

    def __init__(self, X: Any) -> None:
        self._stumps = Stumps.fit(X)

    def best(self, row_weights: FloatArray) -> Hypothesis:
        """Return the stump of the largest edge."""
        best = self._stumps.best(row_weights, per_column=False)
        if best.column.size == 0:  # every column is constant
            return Hypothesis(0, 1.0, np.inf)
        return Hypothesis(
            int(best.column[0]), float(best.direction[0]), float(best.threshold[0])
        )

    def values(self, hypothesis: Hypothesis, column: FloatArray) -> FloatArray:
        """Compare a column with the threshold."""
        return hypothesis.direction * stump(column, hypothesis.threshold)

    def fitted_attributes(self, kept: Sequence[Hypothesis]) -> dict[str, FloatArray]:
        """Return the thresholds."""
        return {"thresholds_": np.array([h.threshold for h in kept], dtype=np.float64)}


def first_of_largest(strengths: FloatArray, tie: float) -> int:
    """Return the first place whose entry is the largest up to rounding."""
    largest = strengths.max()
    return int(np.argmax(strengths >= largest - tie * abs(largest)))


#: choices of the parameter `hypotheses`
LEARNERS: dict[str, type[FeatureLearner] | type[StumpLearner]] = {
    "stumps": StumpLearner,
    "features": FeatureLearner,
    "signed": SignedFeatureLearner,
}
