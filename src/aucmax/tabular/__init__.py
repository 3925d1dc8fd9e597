"""Tables as people have them: learned preparation, models, and their comparison.

Names load their module on first use, so that the list of models can be shown without
waiting for scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.tabular.models import (
    BASELINES,
    COMPARED,
    LEVEL_MODELS,
    MODELS,
    ModelChoice,
)

if TYPE_CHECKING:
    from aucmax.tabular.comparison import compare_models
    from aucmax.tabular.encoder import TableEncoder
    from aucmax.tabular.grading import Grading
    from aucmax.tabular.lightgbm_baseline import LightGBMBaseline
    from aucmax.tabular.model import TableModel
    from aucmax.tabular.results import Comparison
    from aucmax.tabular.target import Target, encode_target, match_target

_HOME = {
    "Comparison": "results",
    "Grading": "grading",
    "LightGBMBaseline": "lightgbm_baseline",
    "TableEncoder": "encoder",
    "TableModel": "model",
    "Target": "target",
    "compare_models": "comparison",
    "encode_target": "target",
    "match_target": "target",
}

__all__ = [
    "BASELINES",
    "COMPARED",
    "LEVEL_MODELS",
    "MODELS",
    "Comparison",
    "Grading",
    "LightGBMBaseline",
    "ModelChoice",
    "TableEncoder",
    "TableModel",
    "Target",
    "compare_models",
    "encode_target",
    "match_target",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"aucmax.tabular.{_HOME[name]}"), name)
    raise AttributeError(f"module 'aucmax.tabular' has no attribute {name!r}")
