"""Trees: LambdaMART, plug-ins for LightGBM and XGBoost, baselines, and forests."""

from aucmax.trees.baselines import (
    LambdaRankBaseline,
    LightGBMBaseline,
    XGBoostRanker,
)
from aucmax.trees.forest import Forest
from aucmax.trees.lambdamart import LambdaMART
from aucmax.trees.tree_rounds import TreeProgress

__all__ = [
    "Forest",
    "LambdaMART",
    "LambdaRankBaseline",
    "LightGBMBaseline",
    "TreeProgress",
    "XGBoostRanker",
]
