"""The objectives of trees: risks over all pairs, and the metrics that they aim at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from aucmax._core.parameters import check_choice, check_range
from aucmax.metrics import (
    multiclass_auc_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from aucmax.metrics.multiclass import prepare_metric
from aucmax.risks import PairLogistic

DEFAULT_RANGE = (0.0, 0.1)
# Relative error of hessians (of gradients 3e-6): trees round to single precision.
ACCURACY = 2e-5
# Negatives outside the range need some weight: else trees lift them freely, and the
# range jumps. Chosen on public tables, with and without noise in their labels.
OUTSIDE_WEIGHT = 0.3
# Factor by which the range of the training objective is wider, since the requested one
# has few rows and changes from round to round. Chosen in the same way.
_WIDER = 3.0


@dataclass(frozen=True)
class PairMetric:
    """A metric of scores: higher is better, and queries are averaged."""

    name: str  # its key in `METRICS`
    labels: Literal["two", "levels"]  # two labels only, or levels of relevance too
    function: Callable[..., float]  # takes labels, scores, and the keyword `qid`
    takes_range: bool = False  # and the keyword `fpr_range`

    def prepare(
        self,
        labels: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        fpr_range: Sequence[float] = DEFAULT_RANGE,
    ) -> Callable[[ArrayLike], float]:
        """Return the metric as a function of scores."""
        options = {"fpr_range": fpr_range} if self.takes_range else {}
        return prepare_metric(
            self.function, labels, qid=qid, sample_weight=sample_weight, **options
        )


#: metrics by name, as the parameter `eval_metric` has them
METRICS: dict[str, PairMetric] = {
    metric.name: metric
    for metric in (
        PairMetric("roc_auc", "two", roc_auc_score),
        PairMetric("partial_auc", "two", partial_auc_score, takes_range=True),
        PairMetric("multiclass_auc", "levels", multiclass_auc_score),
        PairMetric("ordinal_auc", "levels", ordinal_auc_score),
    )
}


@dataclass(frozen=True)
class PairObjective:
    """One choice of the parameter `objective`."""

    name: str  # its key in `OBJECTIVES`
    labels: Literal["two", "levels"]  # of any kind, or whole numbers from 0
    metric: str  # the metric that it aims at, a key of `METRICS`
    rank_weighted: bool = False  # whether pairs are weighted by difference of ranks
    pair_weights: str = "equal"  # "equal" or "mauc": the weight of a pair of levels

    def risk(
        self,
        fpr_range: Sequence[float] = DEFAULT_RANGE,
        outside_weight: float = OUTSIDE_WEIGHT,
        n_jobs: int = 1,
    ) -> PairLogistic:
        """Return the risk; only "pauc" uses the range and the weight outside."""
        trained = 0.0, 1.0
        if METRICS[self.metric].takes_range:
            low, high = check_range("fpr_range", fpr_range)
            trained = low, min(1.0, _WIDER * high)
        return PairLogistic(
            self.rank_weighted,
            pair_weights=self.pair_weights,
            fpr_range=trained,
            outside_weight=outside_weight,
            accuracy=ACCURACY,
            n_jobs=n_jobs,
        )


#: objectives by name, as the parameter `objective` has them
OBJECTIVES: dict[str, PairObjective] = {
    objective.name: objective
    for objective in (
        PairObjective("logistic", "two", "roc_auc"),
        PairObjective("auc", "two", "roc_auc", rank_weighted=True),
        PairObjective("pauc", "two", "partial_auc"),
        PairObjective(
            "mauc", "levels", "multiclass_auc", rank_weighted=True, pair_weights="mauc"
        ),
        PairObjective("ordinal", "levels", "ordinal_auc"),
    )
}


def find_objective(name: str) -> PairObjective:
    """Return the objective of this name, or raise an error that lists all names."""
    check_choice("objective", name, OBJECTIVES)
    return OBJECTIVES[name]
