"""The interior-point method of all linear and quadratic programs here.

A program is a set of complementary variables, x * y = 0 with x, y >= 0, and linear
equations between them; it gives a step of Newton's method towards any change of the
products. Mehrotra's predictor aims at 0 (SIAM Journal on Optimization 2, 1992); how far
it gets decides how much to aim at instead, and the corrector takes back its error of
second order. Gondzio's correctors (Computational Optimization and Applications 6, 1996)
bring products that are far from their mean back to it, and save a third of the steps.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.validation import FloatArray

_CORRECTOR_REACH = 0.3  # share of the way by which a corrector is to lengthen a step
_MIN_CORRECTOR_GAIN = 0.05  # share of the way that makes a corrector worth its cost
_MAX_IMBALANCE = 10.0  # of a product, against the mean aimed at

_min = np.minimum.reduce  # x.min() takes longer to find this than to compare


class Direction(NamedTuple):
    """A step of all variables; `free` has those that have no sign."""

    x: FloatArray
    y: FloatArray
    free: tuple[Any, Any]


def mehrotra_step(
    x: FloatArray,
    y: FloatArray,
    direction: Callable[[FloatArray], Direction],
    *,
    share: float = 1.0,
    n_correctors: int = 0,
    one_length: bool = False,
) -> tuple[Direction, float, float]:
    """Return a direction, and how far x and y may follow it: at most 1."""
    # direction(aim) changes x * y by aim; one_length makes x and y go equally far, as
    # they must if the equations of one contain the other; lengths are NaN where
    # rounding has spoiled the system

    def lengths(way: Direction, share: float) -> tuple[float, float]:
        by_x, by_y = _to_bound(x, way.x), _to_bound(y, way.y)
        if one_length:
            by_x = by_y = min(by_x, by_y)
        return min(share * by_x, 1.0), min(share * by_y, 1.0)

    products = x * y
    total = x @ y
    way = direction(-products)
    by_x, by_y = lengths(way, 1.0)
    left = (x + by_x * way.x) @ (y + by_y * way.y)
    mean = (left / total) ** 3 * (total / products.size)
    aim = mean - products - way.x * way.y
    way = direction(aim)
    by_x, by_y = lengths(way, share)
    for _ in range(n_correctors):
        reached = x + min(by_x + _CORRECTOR_REACH, 1.0) * way.x
        reached *= y + min(by_y + _CORRECTOR_REACH, 1.0) * way.y
        # towards the mean, but no product is lowered by much
        highest = _MAX_IMBALANCE * mean
        central = np.clip(reached, mean / _MAX_IMBALANCE, highest)
        aim = aim + np.maximum(central - reached, -highest)
        other = direction(aim)
        longer = lengths(other, share)
        if sum(longer) < by_x + by_y + _MIN_CORRECTOR_GAIN:
            break
        way, (by_x, by_y) = other, longer
    return way, by_x, by_y


def _to_bound(place: FloatArray, way: FloatArray) -> float:
    """Return how far it is to the first bound; NaN if that is not known."""
    fastest = float(_min(way / place))
    return np.inf if fastest >= 0.0 else -1.0 / fastest
