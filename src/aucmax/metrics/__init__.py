"""How good is this ranking? Scores and labels in, one number out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aucmax.metrics.concordance import concordance_index, survival_target
from aucmax.metrics.multiclass import (
    multiclass_auc_score,
    multiclass_precision_at_k,
    ordinal_auc_score,
)
from aucmax.metrics.retrieval import (
    mean_average_precision,
    ndcg_score,
    precision_at_k,
)
from aucmax.metrics.roc import (
    partial_auc_score,
    roc_auc_score,
    roc_curve,
)
from aucmax.metrics.structured import (
    auc_at_k_score,
    binned_auc_score,
    unnested_auc_score,
)
from aucmax.metrics.top_of_list import (
    average_precision_score,
    precision_at_recall,
    recall_at_fpr,
    recall_at_k,
    recall_at_precision,
)

if TYPE_CHECKING:
    from aucmax.metrics.scorers import metric_scorer

__all__ = [
    "auc_at_k_score",
    "average_precision_score",
    "binned_auc_score",
    "concordance_index",
    "mean_average_precision",
    "metric_scorer",
    "multiclass_auc_score",
    "multiclass_precision_at_k",
    "ndcg_score",
    "ordinal_auc_score",
    "partial_auc_score",
    "precision_at_k",
    "precision_at_recall",
    "recall_at_fpr",
    "recall_at_k",
    "recall_at_precision",
    "roc_auc_score",
    "roc_curve",
    "survival_target",
    "unnested_auc_score",
]


def __getattr__(name: str) -> Any:
    # scorers need scikit-learn, which takes seconds to import; metrics do not
    if name in __all__:
        return getattr(import_module("aucmax.metrics.scorers"), name)
    raise AttributeError(f"module 'aucmax.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
