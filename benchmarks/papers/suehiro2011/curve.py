"""Figure 1: the margin of the reduction as a function of nu+, and its minimum."""

import warnings
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np

from aucmax.datasets import make_r_of_k
from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker

EPSILON = 0.1
SHOWN = (0.5, 8, 0.05)  # share of positives, r of 10, noise
SHARES, TARGETS, NOISES = (0.5, 0.7, 0.3), (8, 3, 1), (0.05, 0.1, 0.15)


@dataclass
class Curve:
    """The curve of one small artificial set, and the heuristic's luck on several.

    Attributes
    ----------
    curve : dict
        The fields of `MarginCurve`.
    steps : list of pairs of float
        The way of the heuristic: nu+ and margin.
    gap : float
        How much lower the minimum can be, relative: certified.
    n_sets, n_missed : int
        Sets tried, and those where the heuristic ends above the certified minimum by
        more than 1 % of the curve's value at its start.
    """

    curve: dict[str, Any]
    steps: list[list[float]]
    gap: float
    n_sets: int
    n_missed: int

    def __str__(self) -> str:
        best = self.curve["best"]
        lowest = self.curve["nu_pos"][best], self.curve["gamma_hat"][best]
        points = {
            "Corollary 4": self.steps[0],
            "heuristic": self.steps[-1],
            f"lowest (gap {self.gap:.1e})": lowest,
        }
        shown = (f"{k}: nu+ {nu:.3g}, margin {m:.4f}" for k, (nu, m) in points.items())
        return f"{', '.join(shown)}; missed on {self.n_missed} of {self.n_sets} sets"


def study_curve(n_sets: int) -> Curve:
    """Trace the curve of one artificial set, and look for the minimum on several."""
    model = _fitted(*SHOWN, curve_points=100)
    missed = 0
    for settings in islice(product(SHARES, TARGETS, NOISES), n_sets):
        one = _fitted(*settings)
        steps = _steps(one)
        excess = steps[-1, 1] - one.curve_.gamma_hat[one.curve_.best]
        missed += bool(excess > 0.01 * abs(steps[0, 1]))
    return Curve(
        vars(model.curve_),
        _steps(model).tolist(),
        float(model.certificate_.gap),
        n_sets,
        missed,
    )


def _steps(model: MarginRanker) -> np.ndarray:
    """Return nu+ and margin after each step of the heuristic."""
    return np.column_stack([model.history_["nu_pos"], model.history_["margin"]])


def _fitted(share: float, r: int, noise: float, **options: Any) -> MarginRanker:
    X, y = make_r_of_k(
        200, 20, r=r, k=10, positive_ratio=share, label_noise=noise, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        return MarginRanker("features", "global", EPSILON, **options).fit(X, y)
