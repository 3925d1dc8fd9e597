"""The hypothesis of the largest edge, one search for each round of boosting."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.hypotheses.hypothesis_ensembles import FeatureEnsemble, StumpEnsemble
from aucmax.hypotheses.scaled_columns import PrecomputedColumns, ScaledColumns
from aucmax.hypotheses.stumps import Stumps, stump

# Edges closer than this, relative to the largest, are equal up to rounding of the sums:
# the first column wins, so that repeated rows choose as weighted rows do.
_MAX_TIE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}


class Hypothesis(NamedTuple):
    """One hypothesis: a column, the direction, and the threshold if it is a stump."""

    column: int
    direction: float
    threshold: float = np.nan


class FeatureLearner:
    """The columns within [-1, 1]: one product with the data per round."""

    def __init__(
        self,
        X: Any,
        names: Any = None,
        *,
        columns_type: type[ScaledColumns] = ScaledColumns,
        is_signed: bool = False,
    ) -> None:
        self._columns = columns_type.fit(X, names)
        self._is_signed = is_signed  # whether the negatives of columns count, too
        self._tie = _MAX_TIE[X.dtype]

    def best(self, row_weights: FloatArray) -> Hypothesis:
        """Return the column of the largest edge, the lowest of equal ones."""
        edges = self._columns.edges(row_weights)
        strengths = np.abs(edges) if self._is_signed else edges
        largest = strengths.max()
        column = int(np.argmax(strengths >= largest - self._tie * abs(largest)))
        is_negative = self._is_signed and edges[column] < 0.0
        return Hypothesis(column, -1.0 if is_negative else 1.0)

    def values(self, hypothesis: Hypothesis, column: FloatArray) -> FloatArray:
        """Scale a column."""
        return hypothesis.direction * self._columns.values(hypothesis.column, column)

    def ensemble(
        self, chosen: Sequence[Hypothesis], weights: FloatArray
    ) -> FeatureEnsemble:
        """Return a linear function of the columns."""
        columns, signed, _ = _by_field(chosen, weights)
        return FeatureEnsemble(columns, signed, self._columns.low, self._columns.high)


class StumpLearner:
    """Every threshold of every column, both directions: one sweep per round."""

    def __init__(self, X: Any, names: Any = None) -> None:
        self._stumps = Stumps.fit(X, names)

    def best(self, row_weights: FloatArray) -> Hypothesis:
        """Return the stump of the largest edge, of the lowest column of equal ones."""
        stumps = self._stumps
        if stumps.n_hypotheses == 0:  # every column is constant
            return Hypothesis(0, 1.0, np.inf)
        number, edge = stumps.best(row_weights)
        column, threshold = stumps.column(number), stumps.threshold[number]
        return Hypothesis(int(column), -1.0 if edge < 0.0 else 1.0, float(threshold))

    def values(self, hypothesis: Hypothesis, column: FloatArray) -> FloatArray:
        """Compare a column with the threshold."""
        return hypothesis.direction * stump(column, hypothesis.threshold)

    def ensemble(
        self, chosen: Sequence[Hypothesis], weights: FloatArray
    ) -> StumpEnsemble:
        """Return a sum of step functions of the columns."""
        return StumpEnsemble(*_by_field(chosen, weights))


def _by_field(
    chosen: Sequence[Hypothesis], weights: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return columns, weights with the sign of the direction, and thresholds."""
    table = np.array(chosen, dtype=np.float64).reshape(-1, 3)
    columns, directions, thresholds = table.T.copy()
    return columns.astype(np.int64), weights * directions, thresholds


WeakLearner: TypeAlias = FeatureLearner | StumpLearner

#: choices of the parameter `hypotheses`, besides functions
LEARNERS: dict[str, Callable[[Any, Any], WeakLearner]] = {
    "stumps": StumpLearner,
    "features": FeatureLearner,
    "signed": partial(FeatureLearner, is_signed=True),
    "precomputed": partial(FeatureLearner, columns_type=PrecomputedColumns),
}
