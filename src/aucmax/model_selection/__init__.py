"""Choose a model: cross-validation on equal folds, paired tests, AutoRanker.

Names load their module on first use, so that the list of models can be shown without
waiting for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.model_selection.models import (
    BASELINES,
    LEVEL_MODELS,
    MODELS,
    ModelChoice,
    compared_models,
    table_model,
    trained_ranges,
)

if TYPE_CHECKING:
    from aucmax.model_selection.aim import MEASURES, Aim, choose_aim
    from aucmax.model_selection.auto_ranker import AutoRanker
    from aucmax.model_selection.candidates import CANDIDATES
    from aucmax.model_selection.cross_validation import compare_models
    from aucmax.model_selection.judges import Summary, summarise_scores
    from aucmax.model_selection.parameters import parse_parameters
    from aucmax.model_selection.reporting import report_model
    from aucmax.model_selection.results import (
        Comparison,
        FittedFold,
        ModelResult,
        VersusBaseline,
    )
    from aucmax.model_selection.search import AutoProgress
    from aucmax.model_selection.splits import choose_folds, find_notices

_HOME = {
    "AutoProgress": "search",
    "AutoRanker": "auto_ranker",
    "CANDIDATES": "candidates",
    "MEASURES": "aim",
    "Aim": "aim",
    "Comparison": "results",
    "FittedFold": "results",
    "ModelResult": "results",
    "Summary": "judges",
    "VersusBaseline": "results",
    "choose_aim": "aim",
    "choose_folds": "splits",
    "compare_models": "cross_validation",
    "find_notices": "splits",
    "parse_parameters": "parameters",
    "report_model": "reporting",
    "summarise_scores": "judges",
}

__all__ = [
    "BASELINES",
    "CANDIDATES",
    "LEVEL_MODELS",
    "MEASURES",
    "MODELS",
    "Aim",
    "AutoProgress",
    "AutoRanker",
    "Comparison",
    "FittedFold",
    "ModelChoice",
    "ModelResult",
    "Summary",
    "VersusBaseline",
    "choose_aim",
    "choose_folds",
    "compare_models",
    "compared_models",
    "find_notices",
    "parse_parameters",
    "report_model",
    "summarise_scores",
    "table_model",
    "trained_ranges",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"aucmax.model_selection.{_HOME[name]}"), name)
    raise AttributeError(f"module 'aucmax.model_selection' has no attribute {name!r}")
