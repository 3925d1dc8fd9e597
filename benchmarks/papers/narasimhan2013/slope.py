r"""How fast the tight risk falls when the weights leave 0.

At :math:`w = 0` every pair is within the margin, so that along a direction of length 1
the risk of [0, b] begins to fall by the mean score of the positives less that of the
highest b of the negatives. The most that any direction offers is the distance of the
mean positive from all means of negatives in which none weighs more than
:math:`1 / (bn)` (minimax). If it is 0, convexity makes :math:`w = 0` optimal for every
C.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from benchmarks.papers.narasimhan2013.data import load
from benchmarks.papers.narasimhan2013.methods import ENDS

MOST_ROUNDS = 150
PRECISION = 1e-2  # relative, of the squared distance
NOTHING = 1e-3  # of the distance for b = 1: less than this is taken for 0


@dataclass
class Slope:
    """The largest fall of the risk at 0, for each upper end of the range."""

    data: str
    ends: list[float]
    falls: list[float]

    def __str__(self) -> str:
        return "  ".join(f"{fall:.4f}" for fall in self.falls)


def slope_of(data: str) -> Slope:
    """Compute the falls on all rows of one data set."""
    problem = load(data)
    every = np.arange(problem.y.size)
    X = problem.split(every, every[:1]).X
    positive = np.asarray(X[problem.y].mean(axis=0)).ravel()
    negatives = X[~problem.y]
    falls = [_distance(positive, negatives, end) for end in ENDS]
    falls = [fall if fall > NOTHING * falls[-1] else 0.0 for fall in falls]
    return Slope(data, list(ENDS), falls)


def _distance(positive: np.ndarray, negatives: Any, share: float) -> float:
    """Return the distance of a point from the means that are allowed.

    Frank and Wolfe's method: each round adds the mean that is farthest along the
    present direction, then mixes all of them anew.
    """
    away = [positive - _farthest_mean(positive, negatives, share)]
    for _ in range(MOST_ROUNDS):
        # shares that sum to 1, by a heavy last equation
        heavy = 1e3 * max(float(np.abs(away).max()), 1e-12)
        equations = np.vstack([np.transpose(away), np.full(len(away), heavy)])
        goal = np.append(np.zeros(positive.size), heavy)
        mixture, _ = nnls(equations, goal, maxiter=10_000)
        mixture /= mixture.sum()
        direction = mixture @ np.array(away)
        squared = float(direction @ direction)
        added = positive - _farthest_mean(direction, negatives, share)
        if squared - float(direction @ added) <= PRECISION * squared:
            break
        away = [one for one, part in zip(away, mixture, strict=True) if part > 0.0]
        away.append(added)
    return float(np.sqrt(squared))


def _farthest_mean(direction: np.ndarray, negatives: Any, share: float) -> np.ndarray:
    scores = np.asarray(negatives @ direction)
    order = np.argsort(-scores)
    total = share * scores.size
    # a row that straddles the end counts in part
    weights = np.clip(total - np.arange(scores.size), 0.0, 1.0) / total
    chosen = np.empty_like(scores)
    chosen[order] = weights
    return np.asarray(negatives.T @ chosen)
