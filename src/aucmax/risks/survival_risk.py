"""The common part of risks of censored times, bound to rows."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.censored_times import SurvivalRows, split_target
from aucmax._core.validation import FloatArray
from aucmax.risks.contract import BoundRisk, Risk


class BoundSurvivalRisk(BoundRisk):
    """A risk bound to events and times; `labels` has the events, `target` both."""

    n_skipped = 0  # strata without pairs need no warning
    row_scale = 1.0  # brings derivatives to about one per row, for trees

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
        self.n_queries = self.rows.starts.size - 1

    def value_and_gradient(self, scores: ArrayLike) -> tuple[float, FloatArray]:
        """Return the risk and its gradient."""
        return self.value_gradient_hessian(scores)[:2]

    def value_gradient_hessian(
        self, scores: ArrayLike
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the risk, its gradient, and the diagonal of its second derivatives."""
        return self._sum_up(scores)

    @abstractmethod
    def _sum_up(
        self, scores: ArrayLike, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, if needed, and both derivatives."""

    def gradient_hessian(
        self,
        scores: ArrayLike,
        *,
        scaled: bool = False,
        out: tuple[FloatArray, FloatArray] | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Return (or fill) both derivatives; `scaled` times `row_scale`."""
        out = out or (np.empty(self.n_rows), np.empty(self.n_rows))
        found = self._sum_up(scores, with_value=False)[1:]
        for result, derivative in zip(out, found, strict=True):
            result[:] = derivative * self.row_scale if scaled else derivative
        return out
