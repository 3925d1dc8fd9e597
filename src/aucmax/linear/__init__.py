"""Linear models: scores are ``X @ w``."""

from aucmax.linear.auc_svc import AUCSVC
from aucmax.linear.level_sum import LevelSumRanker
from aucmax.linear.linear_ranker_cv import LinearRankerCV, SearchProgress

__all__ = ["AUCSVC", "LevelSumRanker", "LinearRankerCV", "SearchProgress"]
