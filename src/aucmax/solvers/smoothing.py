"""How wide kinks are rounded off, and what that costs."""

from math import sqrt

from aucmax.risks.contract import Support
from aucmax.solvers.solver import Objective, Point, Start, inner

__all__ = ["WIDEST", "first_width", "height", "lost_by_smoothing", "narrowed"]

WIDEST = 2.2  # every pair lies on the rounded part if all scores are equal
_WIDTH_AT_A_START = 0.1  # first width at a good start, which a wider one would leave
_STRONGEST_NARROWING = 0.1  # factor of the width per iteration


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
