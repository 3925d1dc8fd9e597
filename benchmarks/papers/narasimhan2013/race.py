"""Cutting planes against the projected subgradient: the slides' last figure.

All solvers see the same four problems: the L2 or the L1 norm of the weights, as a
price (C) or as a limit (a radius), with the tight bound on [0, 0.1]. The radius is the
norm of the solution with the price, so that the problems are comparable. The textbook
method is for the limits alone, as on the slides.
"""

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from aucmax import AUCSVC
from aucmax.regularizers.l1 import L1Ball
from aucmax.regularizers.l2 import L2Ball
from aucmax.risks import PartialHinge
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Progress
from benchmarks.papers.narasimhan2013.data import load

TEXTBOOK = "textbook"
SOLVERS = {
    "bundle": "cutting planes",
    "subgradient": "subgradient",
    TEXTBOOK: "subgradient, textbook",
}
SETS = ("thrombin", "spambase")
# so that L1 leaves out most columns
PRICES = {("thrombin", "l1"): 1000.0, ("spambase", "l1"): 3.0}
USUAL_PRICE = 100.0
BALLS = {"l2": (L2Ball, 2), "l1": (L1Ball, 1)}  # and the orders of their norms
FPR_RANGE = (0.0, 0.1)
TOLERANCE = 1e-6


def lanes(sets: Iterable[str]) -> list[tuple[str, str, bool, str]]:
    """Return all solvers on all problems: the first four fields of a race."""
    every = product(sets, BALLS, (False, True), SOLVERS)
    return [one for one in every if one[2] or one[3] != TEXTBOOK]


@dataclass
class Race:
    """How one solver came nearer to the optimum of one problem.

    Attributes
    ----------
    density : float
        The share of the weights that are not 0 at the end.
    bound : float
        The largest lower bound of the optimum that the run proves; the textbook method
        proves none, hence 0.
    passes, seconds, values : list of float
        After each iteration; the values are the best objective so far.
    """

    data: str
    penalty: str
    has_radius: bool
    solver: str
    density: float
    bound: float
    passes: list[float]
    seconds: list[float]
    values: list[float]

    @property
    def problem(self) -> str:
        """The problem in words."""
        return f"{self.penalty.upper()}, {'limit' if self.has_radius else 'price'}"

    def __str__(self) -> str:
        reached = f"{self.values[-1]:.6g} after {self.passes[-1]:.0f} passes"
        return f"{reached}, {self.seconds[-1]:.1f} s"


def excesses(races: Sequence[Race]) -> list[np.ndarray]:
    """Return the values above the largest bound of all runs, relative to that bound."""
    floors: dict[tuple[str, str], float] = {}
    for one in races:
        key = one.data, one.problem
        floors[key] = max(floors.get(key, -np.inf), one.bound)
    relative = []
    for one in races:
        floor = floors[one.data, one.problem]
        relative.append(np.maximum(np.array(one.values) - floor, 0.0) / floor)
    return relative


def run_race(
    data: str, penalty: str, has_radius: bool, solver: str, most_seconds: float
) -> Race:
    """Let one solver run on one problem."""
    problem = load(data)
    every = np.arange(problem.y.size)
    split = problem.split(every, every[:1])
    X, y = split.X, split.y
    model = AUCSVC(
        PRICES.get((data, penalty), USUAL_PRICE), fpr_range=FPR_RANGE, penalty=penalty
    )
    history: list[Progress] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if has_radius:
            # the same start for all solvers: no clock in it
            priced = clone(model).set_params(tol=1e-2, max_iter=200).fit(X, y)
            radius = float(np.linalg.norm(priced.coef_[0], BALLS[penalty][1]))
            model.set_params(radius=radius)
        if solver == TEXTBOOK:
            density = _textbook(X, y, penalty, radius, most_seconds, history)
        else:
            model.set_params(solver=solver, tol=TOLERANCE, max_iter=100_000)
            model.set_params(max_time=most_seconds, callback=history.append)
            density = float(np.mean(model.fit(X, y).coef_ != 0.0))
    bound = max(step.value - step.gap for step in history)
    kept = _thinned(history)
    columns = (
        [getattr(step, name) for step in kept]
        for name in ("n_passes", "seconds", "value")
    )
    return Race(data, penalty, has_radius, solver, density, bound, *columns)


def _textbook(
    X: Any,
    y: np.ndarray,
    penalty: str,
    radius: float,
    most_seconds: float,
    history: list[Progress],
) -> float:
    r"""Step by radius / (|g| sqrt(t)), project, keep the best point so far."""
    objective = LinearObjective(X, PartialHinge(FPR_RANGE).bind(y), 1.0)
    ball = BALLS[penalty][0](radius)
    weights = np.zeros(X.shape[1])
    best, density, start = np.inf, 0.0, time.perf_counter()
    reach = radius if penalty == "l2" else radius / np.sqrt(weights.size)
    while not history or history[-1].seconds < most_seconds:
        support = objective.support(objective.at(weights))
        if support.value < best:
            best, density = support.value, float(np.mean(weights != 0.0))
        gradient = objective.pull_back(support)
        n_steps = len(history) + 1
        step = reach / (np.linalg.norm(gradient) * np.sqrt(n_steps))
        weights = ball.prox(weights - step * gradient, 1.0)
        seconds = time.perf_counter() - start
        history.append(Progress(n_steps, objective.n_passes, best, best, seconds))
    return density


def _thinned(history: list[Progress]) -> list[Progress]:
    """Keep every step that is 2 % later than the last one kept, and the last."""
    kept = [history[0]]
    for step in history[1:]:
        if step.n_passes >= 1.02 * kept[-1].n_passes or step is history[-1]:
            kept.append(step)
    return kept
