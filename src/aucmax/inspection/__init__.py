"""Why a model ranks as it does: which columns carry it, how, and row by row."""

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
