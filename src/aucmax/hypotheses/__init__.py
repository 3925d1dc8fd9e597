"""What is combined? Hypotheses that map a row to [-1, 1], as columns or stumps."""

from aucmax.hypotheses.base import Hypotheses
from aucmax.hypotheses.callables import evaluate_callables
from aucmax.hypotheses.column_reader import ColumnReader
from aucmax.hypotheses.ensemble import (
    FeatureEnsemble,
    StumpEnsemble,
    fitted_ensemble,
)
from aucmax.hypotheses.precomputed import PrecomputedColumns
from aucmax.hypotheses.scaled_columns import ScaledColumns, on_range
from aucmax.hypotheses.stump_columns import StumpColumns
from aucmax.hypotheses.stump_grid import StumpGrid
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
