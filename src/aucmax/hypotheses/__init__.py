"""Hypotheses that map a row to [-1, 1], as columns, stumps or functions."""

from aucmax.hypotheses.column_access import ColumnReader
from aucmax.hypotheses.hypothesis_ensembles import (
    FeatureEnsemble,
    StumpEnsemble,
    fitted_ensemble,
)
from aucmax.hypotheses.own_hypotheses import PrecomputedColumns, evaluate_callables
from aucmax.hypotheses.scaled_columns import Hypotheses, ScaledColumns, on_range
from aucmax.hypotheses.stump_matrices import StumpColumns, StumpGrid
from aucmax.hypotheses.stumps import BestStumps, Stumps, stump, stump_values

__all__ = [
    "BestStumps",
    "ColumnReader",
    "FeatureEnsemble",
    "Hypotheses",
    "PrecomputedColumns",
    "ScaledColumns",
    "StumpColumns",
    "StumpEnsemble",
    "StumpGrid",
    "Stumps",
    "evaluate_callables",
    "fitted_ensemble",
    "on_range",
    "stump",
    "stump_values",
]
