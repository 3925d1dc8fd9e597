"""Models that rank: the area under the ROC curve itself, with certificates.

Importing ``aucmax`` is cheap: each public name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aucmax import datasets, metrics, objectives, plots, risks, structured
    from aucmax.boosting import LambdaMART, RankBoost, SoftRankBoost
    from aucmax.linear import AUCSVC, LevelSumRanker
    from aucmax.margin import MarginRanker
    from aucmax.persistence import load, save
    from aucmax.structured import GraphRanker

__version__ = "0.1.0"

_HOME = {
    "AUCSVC": "aucmax.linear",
    "GraphRanker": "aucmax.structured",
    "LambdaMART": "aucmax.boosting",
    "LevelSumRanker": "aucmax.linear",
    "MarginRanker": "aucmax.margin",
    "RankBoost": "aucmax.boosting",
    "SoftRankBoost": "aucmax.boosting",
    "load": "aucmax.persistence",
    "save": "aucmax.persistence",
}
_MODULES = ("datasets", "metrics", "objectives", "plots", "risks", "structured")

__all__ = [
    "AUCSVC",
    "GraphRanker",
    "LambdaMART",
    "LevelSumRanker",
    "MarginRanker",
    "RankBoost",
    "SoftRankBoost",
    "datasets",
    "load",
    "metrics",
    "objectives",
    "plots",
    "risks",
    "save",
    "structured",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"aucmax.{name}")
    raise AttributeError(f"module 'aucmax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
