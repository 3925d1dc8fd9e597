"""Boosted trees: LambdaMART, and what is LightGBM's or XGBoost's."""

from aucmax.trees.lambdamart import LambdaMART
from aucmax.trees.lambdarank_baseline import LambdaRankBaseline
from aucmax.trees.lightgbm_baseline import LightGBMBaseline
from aucmax.trees.rounds import TreeProgress

__all__ = ["LambdaMART", "LambdaRankBaseline", "LightGBMBaseline", "TreeProgress"]
