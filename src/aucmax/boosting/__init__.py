"""Boosted rankers: a weighted sum of hypotheses, added one a round."""

from aucmax.boosting.rankboost import RankBoost
from aucmax.boosting.rounds import BoostingProgress
from aucmax.boosting.softrankboost import SoftRankBoost

__all__ = ["BoostingProgress", "RankBoost", "SoftRankBoost"]
