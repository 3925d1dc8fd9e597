"""Choose a model: cross-validation on equal folds, paired tests, AutoRanker."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.model_selection.models import MODELS

if TYPE_CHECKING:
    from aucmax.model_selection.auto_ranker import AutoRanker
    from aucmax.model_selection.auto_search import AutoProgress
    from aucmax.model_selection.baselines import (
        LambdaRankBaseline,
        LightGBMBaseline,
        XGBoostRanker,
    )
    from aucmax.model_selection.comparison import (
        Comparison,
        ModelResult,
        VersusBaseline,
    )
    from aucmax.model_selection.cross_validation import compare_models
    from aucmax.model_selection.forest import Forest

# loaded on first use, so that the list of models is there without scikit-learn
_HOME = {
    "AutoProgress": "auto_search",
    "AutoRanker": "auto_ranker",
    "Forest": "forest",
    "LambdaRankBaseline": "baselines",
    "LightGBMBaseline": "baselines",
    "XGBoostRanker": "baselines",
    "compare_models": "cross_validation",
}

__all__ = [
    "MODELS",
    "AutoProgress",
    "AutoRanker",
    "Comparison",
    "Forest",
    "LambdaRankBaseline",
    "LightGBMBaseline",
    "ModelResult",
    "VersusBaseline",
    "XGBoostRanker",
    "compare_models",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"aucmax.model_selection.{_HOME.get(name, 'comparison')}")
    return getattr(module, name)
