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
    from aucmax.comparison.parameters import parse_parameters
    from aucmax.comparison.reporting import report_model
    from aucmax.comparison.results import (
        Comparison,
        FittedFold,
        ModelResult,
        VersusBaseline,
    )
    from aucmax.comparison.splits import find_notices

_HOME = {
    "MEASURES": "aim",
    "Aim": "aim",
    "Comparison": "results",
    "FittedFold": "results",
    "ModelResult": "results",
    "Summary": "judges",
    "VersusBaseline": "results",
    "choose_aim": "aim",
    "choose_folds": "folds",
    "compare_models": "cross_validation",
    "find_notices": "splits",
    "parse_parameters": "parameters",
    "report_model": "reporting",
    "summarise_scores": "judges",
}

__all__ = [
    "BASELINES",
    "LEVEL_MODELS",
    "MEASURES",
    "MODELS",
    "Aim",
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
        return getattr(import_module(f"aucmax.comparison.{_HOME[name]}"), name)
    raise AttributeError(f"module 'aucmax.comparison' has no attribute {name!r}")
