"""Boosted rankers: a sum of hypotheses, added one per round."""

from aucmax.boosting.rankboost import RankBoost
from aucmax.boosting.rounds import BoostingProgress
from aucmax.boosting.softrankboost import SoftRankBoost

__all__ = ["BoostingProgress", "RankBoost", "SoftRankBoost"]
