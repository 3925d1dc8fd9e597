"""Boosted rankers: a sum of hypotheses or trees, added one a round."""

from aucmax.boosting.lambdamart import LambdaMART
from aucmax.boosting.rankboost import RankBoost
from aucmax.boosting.rounds import BoostingProgress
from aucmax.boosting.softrankboost import SoftRankBoost
from aucmax.boosting.tree_rounds import TreeProgress

__all__ = [
    "BoostingProgress",
    "LambdaMART",
    "RankBoost",
    "SoftRankBoost",
    "TreeProgress",
]
