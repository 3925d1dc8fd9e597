"""Models that rank: the area under the ROC curve itself, with certificates.

Importing ``aucmax`` is cheap: each public name loads its module on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax._core.dask_dispatch import set_dask_loader
from aucmax._version import __version__

if TYPE_CHECKING:
    from aucmax import (
        datasets,
        decisions,
        graphs,
        inference,
        inspection,
        metrics,
        model_selection,
        objectives,
        plots,
        risks,
        tables,
    )
    from aucmax.boosting import RankBoost, SoftRankBoost
    from aucmax.graphs import GraphRanker
    from aucmax.linear import AUCSVC, LevelSumRanker, LinearRankerCV
    from aucmax.margin import MarginRanker
    from aucmax.model_selection import AutoRanker
    from aucmax.persistence import load, save
    from aucmax.trees import LambdaMART

_HOME = {
    "AUCSVC": "aucmax.linear",
    "AutoRanker": "aucmax.model_selection",
    "GraphRanker": "aucmax.graphs",
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
    "datasets",
    "decisions",
    "graphs",
    "inference",
    "inspection",
    "metrics",
    "model_selection",
    "objectives",
    "plots",
    "risks",
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
    "datasets",
    "decisions",
    "graphs",
    "inference",
    "inspection",
    "load",
    "metrics",
    "model_selection",
    "objectives",
    "plots",
    "risks",
    "save",
    "tables",
]


def _load_dask() -> None:
    import aucmax.dask  # noqa: F401


set_dask_loader(_load_dask)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"aucmax.{name}")
    raise AttributeError(f"module 'aucmax' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
