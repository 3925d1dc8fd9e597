"""A risk of scores that are linear in the parameters: half of what a solver sees."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.risks.base import Risk, SmoothableRisk, Support
from aucmax.solvers.contract import Point, inner

__all__ = ["RiskObjective"]

_ROUNDING = 1e-14  # share of a line's terms by which rounding may have raised it


class RiskObjective(ABC):
    """C times the risk of the scores; a subclass has the data that give them.

    A pair weighs the product of its rows' `sample_weight`. `n_passes` counts passes
    over the data so far; a product in one direction is half a pass.
    """

    def __init__(
        self,
        labels: BoolArray,
        risk: Risk,
        sample_weight: FloatArray | None = None,
        C: float = 1.0,
    ) -> None:
        self.labels = labels
        self.risk = risk
        self.sample_weight = sample_weight
        self.C = C
        self.n_passes = 0.0

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Length of the parameter vector."""

    @property
    def least_risk(self) -> float:
        """The least that the risk can be, as far as it tells."""
        return float(getattr(self.risk, "least_value", -np.inf))

    @property
    def is_smoothable(self) -> bool:
        """Whether the risk offers what a second-order solver needs."""
        # a class may offer the methods, and some of its risks may not
        return isinstance(self.risk, SmoothableRisk) and getattr(
            self.risk, "can_be_smoothed", True
        )

    @property
    def smoothable_risk(self) -> SmoothableRisk:
        """The risk, if it can be smoothed; else an error."""
        if not isinstance(self.risk, SmoothableRisk):
            raise IncompatibleError(
                f"{type(self.risk).__name__} cannot be smoothed, which a second-order "
                "solver needs. Try solver='bundle'."
            )
        return self.risk

    @abstractmethod
    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""

    def risk_value(self, point: Point) -> float:
        """Evaluate the risk itself: no pass."""
        return self.risk.value(point.scores, self.labels, self.sample_weight)

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk, smoothed if `width` > 0, in score space: no pass.

        The line is lowered by what rounding may have raised it.
        """
        if width > 0.0:
            line = self.smoothable_risk.smoothed(
                point.scores, self.labels, self.sample_weight, width=width
            )
            return _lowered(line)
        value, subgradient = self.risk.value_and_subgradient(
            point.scores, self.labels, self.sample_weight
        )
        margin = getattr(self.risk, "line_margin", None)
        if margin is None:
            offset = value - inner(subgradient, point.scores)
        else:
            offset = margin * float(subgradient[~self.labels].sum())
        return _lowered(Support(value, subgradient, offset))

    def row_curvature(self, point: Point, width: float) -> Callable[[Any], FloatArray]:
        """Return the smoothed risk's Hessian L over scores, as V -> V^T L V."""
        return self.smoothable_risk.curvature(
            point.scores, self.labels, self.sample_weight, width=width
        )

    @abstractmethod
    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over parameters: the backward half."""


def _lowered(line: Support) -> Support:
    terms = abs(line.offset) + abs(line.value - line.offset)
    return line._replace(offset=line.offset - _ROUNDING * terms)
