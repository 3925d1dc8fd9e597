"""Which model ranks best? Equal folds, paired tests, and the list of models.

Names load their module on first use, so that the list of models can be shown without
waiting for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.comparison.models import (
    BASELINES,
    LEVEL_MODELS,
    MODELS,
    ModelChoice,
    compared_models,
    table_model,
    trained_ranges,
)

if TYPE_CHECKING:
    from aucmax.comparison.aim import MEASURES, Aim, choose_aim
    from aucmax.comparison.cross_validation import compare_models
    from aucmax.comparison.folds import choose_folds
    from aucmax.comparison.judges import Summary, summarise_scores
    from aucmax.comparison.measures import has_constant_scores
    from aucmax.comparison.results import Comparison, ModelResult, VersusBaseline

_HOME = {
    "MEASURES": "aim",
    "Aim": "aim",
    "Comparison": "results",
    "ModelResult": "results",
    "Summary": "judges",
    "VersusBaseline": "results",
    "choose_aim": "aim",
    "choose_folds": "folds",
    "compare_models": "cross_validation",
    "has_constant_scores": "measures",
    "summarise_scores": "judges",
}

__all__ = [
    "BASELINES",
    "LEVEL_MODELS",
    "MEASURES",
    "MODELS",
    "Aim",
    "Comparison",
    "ModelChoice",
    "ModelResult",
    "Summary",
    "VersusBaseline",
    "choose_aim",
    "choose_folds",
    "compare_models",
    "compared_models",
    "has_constant_scores",
    "summarise_scores",
    "table_model",
    "trained_ranges",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"aucmax.comparison.{_HOME[name]}"), name)
    raise AttributeError(f"module 'aucmax.comparison' has no attribute {name!r}")
