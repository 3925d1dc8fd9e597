"""AUC objectives and metrics for your own training code in LightGBM and XGBoost.

There is none for CatBoost: it hands an objective written in Python pieces of at most
1,000 rows (version 1.2), without their queries, so that no pairs can be formed.
"""

from aucmax.trees.plugins import Plugin, lightgbm, xgboost

__all__ = ["Plugin", "lightgbm", "xgboost"]
