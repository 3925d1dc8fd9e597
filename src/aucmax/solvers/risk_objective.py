"""The risk of linear scores that a solver sees, and how wide its kinks are rounded."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import sqrt
from typing import Any

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks.contract import BoundRisk, Support
from aucmax.solvers.solver import Objective, Point, Start, inner

WIDEST = 2.2  # every pair lies on the rounded part if all scores are equal
_WIDTH_AT_A_START = 0.1  # first width at a good start, which a wider one would leave
_STRONGEST_NARROWING = 0.1  # factor of the width per iteration
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


def first_width(objective: Objective, start: Start | None) -> float:
    """Return the width to begin with; 0 if the risk cannot be smoothed."""
    if not objective.is_smoothable:
        return 0.0
    return WIDEST if start is None else _WIDTH_AT_A_START


def height(support: Support, point: Point) -> float:
    """Return the height of a line at a point."""
    return support.offset + inner(support.subgradient, point.scores)


def lost_by_smoothing(support: Support, point: Point) -> float:
    """Return how far a smoothed risk's line is below the risk where it was found."""
    return support.value - height(support, point)


def narrowed(width: float, lost: float, allowed: float) -> float:
    """Shrink a width until it loses no more than is allowed, or to a tenth at most."""
    if lost <= allowed:
        return width
    # what smoothing loses falls with the square of the width
    return width * max(sqrt(allowed / lost), _STRONGEST_NARROWING)
