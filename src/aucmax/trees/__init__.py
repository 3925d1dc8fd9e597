"""Boosted trees: LambdaMART, plug-ins for LightGBM and XGBoost, and baselines."""

from aucmax.trees.baselines import (
    LambdaRankBaseline,
    LightGBMBaseline,
    XGBoostRanker,
)
from aucmax.trees.lambdamart import LambdaMART
from aucmax.trees.tree_rounds import TreeProgress

__all__ = [
    "LambdaMART",
    "LambdaRankBaseline",
    "LightGBMBaseline",
    "TreeProgress",
    "XGBoostRanker",
]
