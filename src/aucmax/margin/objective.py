"""Weighted hypotheses under a margin risk: what a solver sees of the data."""

from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.hypotheses import Hypotheses
from aucmax.risks.contract import BoundRisk, Support
from aucmax.solvers.base import Point
from aucmax.solvers.risk_objective import RiskObjective

__all__ = ["MarginObjective"]


class MarginObjective(RiskObjective):
    """The risk of ``H @ weights``, over the `usable` hypotheses: all if not given.

    The number of hypotheses may grow between solves.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        risk: BoundRisk,
        usable: IntArray | None = None,
    ) -> None:
        super().__init__(risk)
        self.hypotheses = hypotheses
        self.usable = usable

    @property
    def n_parameters(self) -> int:
        """Number of hypotheses that may have weight."""
        if self.usable is None:
            return self.hypotheses.n_hypotheses
        return self.usable.size

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""
        self.n_passes += 0.5
        return Point(parameters, self.hypotheses.scores(self.widened(parameters)))

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over weights: the backward half."""
        self.n_passes += 0.5
        return self.narrowed(self.hypotheses.edges(support.subgradient))

    def columns(self, which: IntArray) -> Any:
        """Return some hypotheses on all rows, up to constants: their share of a pass.

        Dense or sparse; a constant added to all scores changes no risk.
        """
        if self.usable is not None:
            which = self.usable[which]
        hypotheses: Any = self.hypotheses  # that are columns of the data
        chosen, share = hypotheses.up_to_constants(which)
        self.n_passes += share
        return chosen

    def origin(self) -> Point:
        """Return the point where all weights and all scores are 0: no pass."""
        return Point(np.zeros(self.n_parameters), np.zeros(self.labels.size))

    def widened(self, parameters: FloatArray) -> FloatArray:
        """Return the weights of all hypotheses: 0 for those that may have none."""
        if self.usable is None:
            return parameters
        weights = np.zeros(self.hypotheses.n_hypotheses)
        weights[self.usable] = parameters
        return weights

    def narrowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the hypotheses that may have weight."""
        return weights if self.usable is None else weights[self.usable]
