"""The common part of risks of censored times, bound to rows."""

from typing import Any

from numpy.typing import ArrayLike

from aucmax._core.censored_times import SurvivalRows, split_target
from aucmax.risks.contract import BoundTreeRisk, Risk


class BoundSurvivalRisk(BoundTreeRisk):
    """A risk bound to events and times; `labels` has the events, `target` both."""

    def __init__(
        self,
        risk: Risk,
        target: Any,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        self.risk = risk
        self.target = target
        self.rows = SurvivalRows(*split_target(target), sample_weight, queries)
        self.labels = self.rows.event
        self.sample_weight = None if sample_weight is None else self.rows.weight
        self.n_rows = self.labels.size
        self.n_queries = self.rows.starts.size - 1  # strata need no warning
