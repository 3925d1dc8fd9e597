"""Which model ranks best? Equal folds, paired tests, and the list of models.

Names load their module on first use, so that the list of models can be shown without
waiting for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.comparison.models import (
    BASELINES,
    COMPARED,
    LEVEL_MODELS,
    MODELS,
    ModelChoice,
    table_model,
)

if TYPE_CHECKING:
    from aucmax.comparison.cross_validation import compare_models
    from aucmax.comparison.folds import choose_folds
    from aucmax.comparison.judges import Summary, summarise_scores
    from aucmax.comparison.measures import MEASURES
    from aucmax.comparison.results import Comparison, ModelResult, VersusBaseline

_HOME = {
    "MEASURES": "measures",
    "Comparison": "results",
    "ModelResult": "results",
    "Summary": "judges",
    "VersusBaseline": "results",
    "choose_folds": "folds",
    "compare_models": "cross_validation",
    "summarise_scores": "judges",
}

__all__ = [
    "BASELINES",
    "COMPARED",
    "LEVEL_MODELS",
    "MEASURES",
    "MODELS",
    "Comparison",
    "ModelChoice",
    "ModelResult",
    "Summary",
    "VersusBaseline",
    "choose_folds",
    "compare_models",
    "summarise_scores",
    "table_model",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"aucmax.comparison.{_HOME[name]}"), name)
    raise AttributeError(f"module 'aucmax.comparison' has no attribute {name!r}")
