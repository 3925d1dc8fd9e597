"""How certain is a metric, and do models differ? Intervals, tests, sample sizes."""

from aucmax.inference.differences import compare_auc, compare_metric
from aucmax.inference.metric_intervals import (
    auc_interval,
    metric_interval,
)
from aucmax.inference.resampling import bootstrap_interval, roc_band
from aucmax.inference.results import (
    MetricComparison,
    MetricDifference,
    MetricInterval,
)
from aucmax.inference.sample_size import plan_auc
from aucmax.inference.survival import (
    compare_concordance,
    concordance_interval,
    cumulative_dynamic_auc,
)

__all__ = [
    "MetricComparison",
    "MetricDifference",
    "MetricInterval",
    "auc_interval",
    "bootstrap_interval",
    "compare_auc",
    "compare_concordance",
    "compare_metric",
    "concordance_interval",
    "cumulative_dynamic_auc",
    "metric_interval",
    "plan_auc",
    "roc_band",
]
