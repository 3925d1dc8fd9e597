"""How certain is a metric, and do models differ? Intervals, tests, sample sizes."""

from aucmax.inference.differences import compare_auc
from aucmax.inference.metric_intervals import (
    auc_interval,
    cv_auc_interval,
    metric_interval,
)
from aucmax.inference.resampling import ROCBand, bootstrap_interval, roc_band
from aucmax.inference.results import (
    DynamicAUC,
    MetricComparison,
    MetricDifference,
    MetricInterval,
)
from aucmax.inference.sample_size import AUCPlan, plan_auc
from aucmax.inference.survival import (
    compare_concordance,
    concordance_interval,
    cumulative_dynamic_auc,
)

__all__ = [
    "AUCPlan",
    "DynamicAUC",
    "MetricComparison",
    "MetricDifference",
    "MetricInterval",
    "ROCBand",
    "auc_interval",
    "bootstrap_interval",
    "compare_auc",
    "compare_concordance",
    "concordance_interval",
    "cumulative_dynamic_auc",
    "cv_auc_interval",
    "metric_interval",
    "plan_auc",
    "roc_band",
]
