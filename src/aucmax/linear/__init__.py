"""Linear models: scores are ``X @ w``."""

from aucmax.linear.auc_svc import AUCSVC
from aucmax.linear.level_sum import LevelSumRanker

__all__ = ["AUCSVC", "LevelSumRanker"]
