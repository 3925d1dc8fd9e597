"""A risk of scores that are linear in the parameters: half of what a solver sees."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks.contract import BoundRisk, Support
from aucmax.solvers.solver import Point, inner

__all__ = ["RiskObjective"]

_ROUNDING = 1e-14  # share of a line's terms by which rounding may have raised it


class RiskObjective(ABC):
    """C times the risk of the scores; a subclass has the data that give them.

    `n_passes` counts passes over the data so far; a product in one direction is half a
    pass.
    """

    def __init__(self, risk: BoundRisk, C: float = 1.0) -> None:
        self.risk = risk
        self.C = C
        self.n_passes = 0.0

    @property
    def labels(self) -> BoolArray:
        """True for the positives among the rows."""
        return self.risk.labels

    @property
    def sample_weight(self) -> FloatArray | None:
        """Row weights; a pair weighs the product of its rows'."""
        return self.risk.sample_weight

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Length of the parameter vector."""

    @property
    def least_risk(self) -> float:
        """A lower bound of the risk."""
        return self.risk.least_value

    @property
    def is_smoothable(self) -> bool:
        """Whether the risk offers what a second-order solver needs."""
        return self.risk.can_be_smoothed

    @abstractmethod
    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""

    def risk_value(self, point: Point) -> float:
        """Evaluate the risk itself: no pass."""
        return self.risk.value(point.scores)

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk, smoothed if `width` > 0, in score space: no pass.

        The line is lowered by what rounding may have raised it.
        """
        if width > 0.0:
            return _lowered(self.risk.smoothed(point.scores, width))
        value, subgradient = self.risk.value_and_gradient(point.scores)
        margin = self.risk.line_margin
        if margin is None:
            offset = value - inner(subgradient, point.scores)
        else:
            offset = margin * float(subgradient[~self.labels].sum())
        return _lowered(Support(value, subgradient, offset))

    def row_curvature(self, point: Point, width: float) -> Callable[[Any], FloatArray]:
        """Return the smoothed risk's Hessian L over scores, as V -> V^T L V."""
        return self.risk.curvature(point.scores, width)

    @abstractmethod
    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over parameters: the backward half."""


def _lowered(line: Support) -> Support:
    terms = abs(line.offset) + abs(line.value - line.offset)
    return line._replace(offset=line.offset - _ROUNDING * terms)
