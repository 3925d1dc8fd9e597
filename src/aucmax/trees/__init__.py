"""Trees: LambdaMART on LightGBM, and plug-ins for LightGBM and XGBoost."""

from aucmax.trees.lambdamart import LambdaMART
from aucmax.trees.tree_rounds import TreeProgress

__all__ = ["LambdaMART", "TreeProgress"]
