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
    from aucmax.model_selection.goals import MEASURES, Goal, choose_goal
    from aucmax.model_selection.model_report import report_model
    from aucmax.model_selection.typed_parameters import parse_parameters

# loaded on first use, so that the list of models is there without scikit-learn
_LAZY = {
    "goals": ("MEASURES", "Goal", "choose_goal"),
    "auto_ranker": ("AutoRanker",),
    "auto_search": ("AutoProgress",),
    "comparison": ("Comparison", "FittedFold", "ModelResult", "VersusBaseline"),
    "cross_validation": ("PlannedComparison", "compare_models", "find_notices"),
    "fold_estimates": ("Summary", "summarise_scores"),
    "model_report": ("report_model",),
    "typed_parameters": ("parse_parameters",),
}

__all__ = [
    "BASELINES",
    "CANDIDATES",
    "LEVEL_MODELS",
    "MEASURES",
    "MODELS",
    "AutoProgress",
    "AutoRanker",
    "Comparison",
    "FittedFold",
    "Goal",
    "ModelResult",
    "NamedModel",
    "PlannedComparison",
    "Summary",
    "VersusBaseline",
    "choose_goal",
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
    for module, names in _LAZY.items():
        if name in names:
            return getattr(import_module(f"aucmax.model_selection.{module}"), name)
    raise AttributeError(f"module 'aucmax.model_selection' has no attribute {name!r}")
