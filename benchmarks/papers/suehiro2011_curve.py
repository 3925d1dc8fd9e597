"""Figure 1: the margin of the reduction as a function of nu+, and its minimum."""

import warnings
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

from aucmax.datasets import make_r_of_k
from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker
from aucmax.plots import margin_curve

EPSILON = 0.1
SHOWN = (0.5, 8, 0.05)  # share of positives, r of 10, noise
GREEN = "#009e73"
SHARES, TARGETS, NOISES = (0.5, 0.7, 0.3), (8, 3, 1), (0.05, 0.1, 0.15)


@dataclass
class CurveSummary:
    """What the picture shows, in numbers.

    Attributes
    ----------
    corollary, adaptive, lowest : tuple of float
        nu+ and margin where the heuristic starts, where it ends, and at the minimum.
    gap : float
        How much lower the minimum can be, relative: certified.
    n_solved : int
        Points of the curve that were solved.
    n_sets, n_missed : int
        Small artificial sets tried, and those where the heuristic ends above the
        certified minimum by more than 1 % of the curve's value at its start.
    """

    corollary: list[float]
    adaptive: list[float]
    lowest: list[float]
    gap: float
    n_solved: int
    n_sets: int
    n_missed: int


def study_curve(path: Path, n_sets: int) -> CurveSummary:
    """Draw the curve of one artificial set, and look for the minimum on several."""
    model = MarginRanker("global", EPSILON, "features", curve_points=100)
    _fit(model, *SHOWN)
    draw_curve(model, path)
    curve, steps = model.curve_, _steps(model)
    missed = 0
    for settings in islice(product(SHARES, TARGETS, NOISES), n_sets):
        one = MarginRanker("global", EPSILON, "features")
        _fit(one, *settings)
        lowest = one.curve_.gamma_hat[one.curve_.best]
        margins = one.history_["margin"]
        missed += bool(margins[-1] - lowest > 0.01 * abs(margins[0]))
    return CurveSummary(
        steps[0].tolist(),
        steps[-1].tolist(),
        [float(curve.nu_pos[curve.best]), float(curve.gamma_hat[curve.best])],
        float(model.certificate_.gap),
        int(curve.nu_pos.size),
        n_sets,
        missed,
    )


def _fit(model: MarginRanker, share: float, r: int, noise: float) -> None:
    X, y = make_r_of_k(
        200, 20, r=r, k=10, positive_ratio=share, label_noise=noise, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        model.fit(X, y)


def _steps(model: MarginRanker) -> np.ndarray:
    """Return nu+ and margin after each step of the heuristic."""
    return np.column_stack([model.history_["nu_pos"], model.history_["margin"]])


def draw_curve(model: Any, path: Path) -> None:
    """Draw the curve, what is proven below it, and the way of the heuristic."""
    from matplotlib import pyplot

    steps = _steps(model)
    display = margin_curve(model.curve_)
    display.ax_.plot(
        *steps.T,
        color=GREEN,
        marker="s",
        markersize=5,
        linewidth=1.5,
        zorder=5,
        label=f"their heuristic, {len(steps) - 1} steps",
    )
    display.ax_.legend(loc="best", fontsize="small", framealpha=0.9, edgecolor="none")
    display.figure_.savefig(path, dpi=130)
    pyplot.close(display.figure_)
