"""How wide kinks are rounded off, and what that costs."""

from math import sqrt

from aucmax.risks.base import Support
from aucmax.solvers.base import Point, inner

__all__ = ["WIDEST", "height", "lost_by_smoothing", "narrowed"]

WIDEST = 2.2  # every pair lies on the slope when all scores are equal
_MOST_NARROWING = 0.1


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
    return width * max(sqrt(allowed / lost), _MOST_NARROWING)
