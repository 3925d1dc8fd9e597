"""The objectives of trees: risks over all pairs, and the metrics that they aim at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike, NDArray

from aucmax._core.parameters import check_choice, check_range
from aucmax.metrics.metric_names import NamedMetric, parse_metric
from aucmax.risks import Concordance, CoxLikelihood, PairLogistic

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
class PairObjective:
    """One choice of the parameter `objective`."""

    name: str  # its key in `OBJECTIVES`
    # of any kind, whole numbers from 0, or events and censored times
    labels: Literal["two", "levels", "times"]
    metric: str  # the name of the metric that it aims at
    rank_weighted: bool = False  # whether pairs are weighted by difference of ranks
    pair_weights: str = "equal"  # the weight of a pair of levels

    def metric_at(self, truncation: int | None) -> NamedMetric:
        """Return the metric that it aims at."""
        is_top = self.pair_weights == "ndcg" and truncation is not None
        return parse_metric(f"{self.metric}@{truncation}" if is_top else self.metric)

    def risk(
        self,
        fpr_range: Sequence[float] = DEFAULT_RANGE,
        outside_weight: float = OUTSIDE_WEIGHT,
        n_jobs: int = 1,
        truncation: int | None = None,
    ) -> Any:
        """Return the risk; only "pauc" has a range, and only "ndcg" a truncation."""
        if self.labels == "times":
            is_cox = self.name == "cox"
            return CoxLikelihood() if is_cox else Concordance(accuracy=ACCURACY)
        trained = 0.0, 1.0
        if self.metric == "partial_auc":
            low, high = check_range("fpr_range", fpr_range)
            trained = low, min(1.0, _WIDER * high)
        return PairLogistic(
            self.rank_weighted,
            pair_weights=self.pair_weights,
            truncation=truncation,
            fpr_range=trained,
            outside_weight=outside_weight,
            accuracy=ACCURACY,
            n_jobs=n_jobs,
        )


#: objectives by name, as the parameter `objective` has them
OBJECTIVES: dict[str, PairObjective] = {
    objective.name: objective
    for objective in (
        PairObjective("logistic", "two", "auc"),
        PairObjective("auc", "two", "auc", rank_weighted=True),
        PairObjective("pauc", "two", "partial_auc"),
        PairObjective(
            "mauc", "levels", "mauc", rank_weighted=True, pair_weights="mauc"
        ),
        PairObjective("ordinal", "levels", "ordinal_auc"),
        PairObjective(
            "ndcg", "levels", "ndcg", rank_weighted=True, pair_weights="ndcg"
        ),
        PairObjective("concordance", "times", "concordance"),
        PairObjective("cox", "times", "concordance"),
    )
}


def find_objective(name: str) -> PairObjective:
    """Return the objective of this name, or raise an error that lists all names."""
    check_choice("objective", name, OBJECTIVES)
    return OBJECTIVES[name]


def prepare_measure(
    metric: NamedMetric,
    labels: NDArray[Any],
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    fpr_range: Sequence[float] = DEFAULT_RANGE,
) -> Callable[[ArrayLike], float]:
    """Return a metric of rows as a function of scores; it averages over queries."""
    options = {"fpr_range": fpr_range} if metric.kind.takes_range else {}
    return metric.prepare(labels, qid=qid, sample_weight=sample_weight, **options)
