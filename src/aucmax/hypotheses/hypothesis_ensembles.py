"""Weighted hypotheses as a scoring function of any rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.hypotheses.column_access import ColumnReader
from aucmax.hypotheses.scaled_columns import ScaledColumns, on_range
from aucmax.hypotheses.stumps import Stumps, stump, stump_scores


@dataclass
class _Ensemble:
    """Hypotheses in the order of their rounds."""

    columns: IntArray  # the column that each one looks at
    weights: FloatArray  # negative where the hypothesis is turned round

    def state(self) -> dict[str, Any]:
        """Return what an estimator keeps of it: see :func:`fitted_ensemble`."""
        return {
            "columns_": self.columns,
            "weights_": np.abs(self.weights),
            "directions_": np.where(self.weights < 0.0, -1.0, 1.0),
        }

    def staged_scores(self, X: Any) -> Iterator[FloatArray]:
        """Yield the scores after each round."""
        reader = ColumnReader(X)
        scores = np.zeros(X.shape[0])
        for number, column in enumerate(self.columns):
            values = self._values(number, reader.read(int(column)))
            scores += self.weights[number] * values
            yield scores.copy()

    def _values(self, number: int, column: FloatArray) -> FloatArray:
        raise NotImplementedError


@dataclass
class FeatureEnsemble(_Ensemble):
    """Columns scaled to [-1, 1] by their range in the training data: one product."""

    low: FloatArray
    high: FloatArray

    def state(self) -> dict[str, Any]:
        """Return what an estimator keeps of it."""
        return {**super().state(), "low_": self.low, "high_": self.high}

    def scores(self, X: Any) -> FloatArray:
        """Score rows."""
        return ScaledColumns(X, self.low, self.high).scores(self._by_column())

    def linear_form(self, threshold: float) -> dict[str, FloatArray]:
        """Return the same function as weights of the raw features and an intercept."""
        scaled = ScaledColumns(np.empty((0, self.low.size)), self.low, self.high)
        weights = self._by_column()
        return {
            "coef_": (scaled.scale * weights)[None, :],
            "intercept_": np.array([scaled.shift @ weights - threshold]),
        }

    def _by_column(self) -> FloatArray:
        weights = np.zeros(self.low.size)
        np.add.at(weights, self.columns, self.weights)
        return weights

    def _values(self, number: int, column: FloatArray) -> FloatArray:
        k = self.columns[number]
        return on_range(column, float(self.low[k]), float(self.high[k]))


@dataclass
class StumpEnsemble(_Ensemble):
    """Stumps: together a sum of step functions, one per column."""

    thresholds: FloatArray

    def state(self) -> dict[str, Any]:
        """Return what an estimator keeps of it."""
        return {**super().state(), "thresholds_": self.thresholds}

    def scores(self, X: Any) -> FloatArray:
        """Score rows: one binary search for each value of a column that is used."""
        return stump_scores(X, self.columns, self.thresholds, self.weights)

    def linear_form(self, threshold: float) -> dict[str, FloatArray]:
        """Return nothing: there is no such form."""
        return {}

    def _values(self, number: int, column: FloatArray) -> FloatArray:
        return stump(column, float(self.thresholds[number]))


def weighted_ensemble(
    hypotheses: ScaledColumns | Stumps, weights: FloatArray
) -> FeatureEnsemble | StumpEnsemble:
    """Return the scoring function of hypotheses; weights of 0 are left out."""
    used = np.flatnonzero(weights)
    if isinstance(hypotheses, Stumps):
        columns, thresholds = hypotheses.column(used), hypotheses.threshold[used]
        return StumpEnsemble(columns, weights[used], thresholds)
    return FeatureEnsemble(used, weights[used], hypotheses.low, hypotheses.high)


def fitted_ensemble(state: Mapping[str, Any]) -> FeatureEnsemble | StumpEnsemble:
    """Return the scoring function of an estimator's fitted attributes."""
    weights = state["weights_"] * state["directions_"]
    if "thresholds_" in state:
        return StumpEnsemble(state["columns_"], weights, state["thresholds_"])
    return FeatureEnsemble(state["columns_"], weights, state["low_"], state["high_"])
