"""Models that rank: the area under the ROC curve itself, with certificates.

Importing ``aucmax`` is cheap: each public name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax._version import __version__

if TYPE_CHECKING:
    from aucmax import (
        comparison,
        datasets,
        decisions,
        inspection,
        metrics,
        objectives,
        plots,
        risks,
        structured,
        tables,
    )
    from aucmax.auto import AutoRanker
    from aucmax.boosting import RankBoost, SoftRankBoost
    from aucmax.linear import AUCSVC, LevelSumRanker, LinearRankerCV
    from aucmax.margin import MarginRanker
    from aucmax.persistence import load, save
    from aucmax.structured import GraphRanker
    from aucmax.trees import LambdaMART

_HOME = {
    "AUCSVC": "aucmax.linear",
    "AutoRanker": "aucmax.auto",
    "GraphRanker": "aucmax.structured",
    "LambdaMART": "aucmax.trees",
    "LevelSumRanker": "aucmax.linear",
    "LinearRankerCV": "aucmax.linear",
    "MarginRanker": "aucmax.margin",
    "RankBoost": "aucmax.boosting",
    "SoftRankBoost": "aucmax.boosting",
    "load": "aucmax.persistence",
    "save": "aucmax.persistence",
}
_MODULES = (
    "comparison",
    "datasets",
    "decisions",
    "inspection",
    "metrics",
    "objectives",
    "plots",
    "risks",
    "structured",
    "tables",
)

__all__ = [
    "AUCSVC",
    "AutoRanker",
    "GraphRanker",
    "LambdaMART",
    "LevelSumRanker",
    "LinearRankerCV",
    "MarginRanker",
    "RankBoost",
    "SoftRankBoost",
    "__version__",
    "comparison",
    "datasets",
    "decisions",
    "inspection",
    "load",
    "metrics",
    "objectives",
    "plots",
    "risks",
    "save",
    "structured",
    "tables",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"aucmax.{name}")
    raise AttributeError(f"module 'aucmax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
