"""Choose a model: cross-validation on equal folds, paired tests, AutoRanker."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.model_selection.models import (
    BASELINES,
    CANDIDATES,
    LEVEL_MODELS,
    MODELS,
    NamedModel,
    compared_models,
    find_model,
    table_model,
    trained_ranges,
)

if TYPE_CHECKING:
    from aucmax.model_selection.aim import MEASURES, Aim, choose_aim
    from aucmax.model_selection.auto_ranker import AutoRanker
    from aucmax.model_selection.auto_search import AutoProgress
    from aucmax.model_selection.comparison import (
        Comparison,
        FittedFold,
        ModelResult,
        VersusBaseline,
    )
    from aucmax.model_selection.cross_validation import (
        PlannedComparison,
        compare_models,
        find_notices,
    )
    from aucmax.model_selection.fold_estimates import Summary, summarise_scores
    from aucmax.model_selection.model_report import report_model
    from aucmax.model_selection.typed_parameters import parse_parameters

# loaded on first use, so that the list of models is there without scikit-learn
_HOME = {
    "AutoProgress": "auto_search",
    "AutoRanker": "auto_ranker",
    "MEASURES": "aim",
    "Aim": "aim",
    "Comparison": "comparison",
    "FittedFold": "comparison",
    "ModelResult": "comparison",
    "PlannedComparison": "cross_validation",
    "Summary": "fold_estimates",
    "VersusBaseline": "comparison",
    "choose_aim": "aim",
    "compare_models": "cross_validation",
    "find_notices": "cross_validation",
    "parse_parameters": "typed_parameters",
    "report_model": "model_report",
    "summarise_scores": "fold_estimates",
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
    "ModelResult",
    "NamedModel",
    "PlannedComparison",
    "Summary",
    "VersusBaseline",
    "choose_aim",
    "compare_models",
    "compared_models",
    "find_model",
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
