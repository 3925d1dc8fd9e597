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
    from aucmax.comparison.results import Comparison

_HOME = {"Comparison": "results", "compare_models": "cross_validation"}

__all__ = [
    "BASELINES",
    "COMPARED",
    "LEVEL_MODELS",
    "MODELS",
    "Comparison",
    "ModelChoice",
    "compare_models",
    "table_model",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"aucmax.comparison.{_HOME[name]}"), name)
    raise AttributeError(f"module 'aucmax.comparison' has no attribute {name!r}")
