"""Linear models: scores are ``X @ w``."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.linear.auc_svc import AUCSVC
from aucmax.linear.level_sum import LevelSumRanker

if TYPE_CHECKING:
    from aucmax.linear.linear_ranker_cv import LinearRankerCV, SearchProgress

__all__ = ["AUCSVC", "LevelSumRanker", "LinearRankerCV", "SearchProgress"]


def __getattr__(name: str) -> Any:
    # its folds and its rivals need more of scikit-learn than the models do
    if name in __all__:
        return getattr(import_module("aucmax.linear.linear_ranker_cv"), name)
    raise AttributeError(f"module 'aucmax.linear' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
