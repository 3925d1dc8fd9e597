"""A step along a line on which a convex function falls."""

from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

__all__ = ["Step", "search"]

T = TypeVar("T")


class Step(NamedTuple, Generic[T]):
    """A step length, the slope there, and whatever the evaluation brought along."""

    length: float
    slope: float
    found: T


def search(
    evaluate: Callable[[float], tuple[float, T]],
    slope: float,
    *,
    first: float = 1.0,
    longest: float = float("inf"),
    accuracy: float = 0.5,
    max_evaluations: int = 12,
) -> Step[T]:
    """Find where a convex function along a line has nearly stopped falling.

    Parameters
    ----------
    evaluate : callable
        Maps a step length to the slope there and anything worth keeping.
    slope : float
        The slope at 0; negative.
    first : float, default=1.0
        The step tried first.
    longest : float, default=inf
        The longest step; taken if the function still falls there.
    accuracy : float, default=0.5
        A slope of at most this share of the one at 0 ends the search.
    max_evaluations : int, default=12
        The most evaluations.

    Returns
    -------
    Step
        The last step evaluated. Between a falling and a rising end the next trial is
        the secant's, by the Illinois variant of regula falsi.
    """
    low, low_slope = 0.0, slope
    high, high_slope = float("inf"), 0.0
    length = min(first, longest)
    for remaining in range(max_evaluations - 1, -1, -1):
        here, found = evaluate(length)
        close = abs(here) <= accuracy * abs(slope)
        if close or remaining == 0 or (here < 0.0 and length >= longest):
            break
        # an end that stays where it is pulls less and less, so that the other moves
        if here < 0.0:
            low, low_slope, high_slope = length, here, high_slope / 2.0
        else:
            high, high_slope, low_slope = length, here, low_slope / 2.0
        if high < float("inf"):
            share = low_slope / (low_slope - high_slope)
            length = low + min(max(share, 1e-3), 0.999) * (high - low)
        else:
            length = min(_farther(low, low_slope, slope), longest)
    return Step(length, here, found)


def _farther(length: float, here: float, slope: float) -> float:
    """Extrapolate the slope to 0, within reason, where no rise has been seen yet."""
    steepening = (here - slope) / length
    reach = -here / steepening if steepening > 0.0 else 3.0 * length
    return length + min(max(reach, 0.5 * length), 9.0 * length)
