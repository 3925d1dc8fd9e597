"""Choose a model: cross-validation on equal folds, paired tests, AutoRanker."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.model_selection.models import MODELS

if TYPE_CHECKING:
    from aucmax.model_selection.auto_ranker import AutoRanker
    from aucmax.model_selection.baselines import LambdaRankBaseline, LightGBMBaseline
    from aucmax.model_selection.comparison import Comparison
    from aucmax.model_selection.cross_validation import compare_models

# loaded on first use, so that the list of models is there without scikit-learn
_MODULES = {
    "AutoRanker": "auto_ranker",
    "Comparison": "comparison",
    "LambdaRankBaseline": "baselines",
    "LightGBMBaseline": "baselines",
    "compare_models": "cross_validation",
}

__all__ = [
    "MODELS",
    "AutoRanker",
    "Comparison",
    "LambdaRankBaseline",
    "LightGBMBaseline",
    "compare_models",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = import_module(f"aucmax.model_selection.{_MODULES[name]}")
    return getattr(module, name)
