"""Explanations of a model: importance, dependence and contributions of columns."""

from aucmax.inspection.contributions import Contributions, contributions
from aucmax.inspection.dependence import RankDependence, rank_dependence
from aucmax.inspection.importance import Importances, permutation_importance

__all__ = [
    "Contributions",
    "Importances",
    "RankDependence",
    "contributions",
    "permutation_importance",
    "rank_dependence",
]
