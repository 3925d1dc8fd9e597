"""Explanations of a model: importance, dependence and contributions of columns."""

from aucmax.inspection.contributions import Contributions, contributions
from aucmax.inspection.importance import Importances, permutation_importance

__all__ = ["Contributions", "Importances", "contributions", "permutation_importance"]
