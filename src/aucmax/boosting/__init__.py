"""Boosted rankers: a sum of hypotheses, added one per round."""

from aucmax.boosting.boosted_ranker import BoostingProgress
from aucmax.boosting.rankboost import RankBoost
from aucmax.boosting.softrankboost import SoftRankBoost

__all__ = ["BoostingProgress", "RankBoost", "SoftRankBoost"]
