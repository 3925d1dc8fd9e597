"""Linear models: scores are ``X @ w``."""

from aucmax.linear.auc_svc import AUCSVC

__all__ = ["AUCSVC"]
