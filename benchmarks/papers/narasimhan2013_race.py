"""Cutting planes against the projected subgradient: the slides' last figure.

All solvers see the same four problems: the L2 or the L1 norm of the weights, as a
price (C) or as a limit (a radius), with the tight bound on [0, 0.1]. The radius is the
norm of the solution with the price, so that the problems are comparable. The textbook
method is for the limits alone, as on the slides.
"""

import time
import warnings
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucmax import AUCSVC
from aucmax.linear.objective import LinearObjective
from aucmax.regularizers import L1Ball, L2Ball
from aucmax.risks import PartialHinge
from aucmax.solvers import Progress
from benchmarks.papers.narasimhan2013_data import Split, load

TEXTBOOK = "textbook"
SOLVERS = {
    "bundle": "cutting planes",
    "subgradient": "subgradient",
    TEXTBOOK: "subgradient, textbook",
}
SETS = ("thrombin", "spambase")
PENALTIES = ("l2", "l1")
# so that L1 leaves out most columns
PRICES = {("thrombin", "l1"): 1000.0, ("spambase", "l1"): 3.0}
USUAL_PRICE = 100.0
ORDERS = {"l2": 2, "l1": 1}  # of the norms
BALLS = {"l2": L2Ball, "l1": L1Ball}
FPR_RANGE = (0.0, 0.1)
TOLERANCE = 1e-6


class Lane(NamedTuple):
    """One problem for one solver."""

    data: str
    penalty: str
    has_radius: bool
    solver: str
    most_seconds: float


@dataclass
class Race:
    """How one solver came nearer to the optimum of one problem.

    Attributes
    ----------
    density : float
        The share of the weights that are not 0 at the end.
    passes, seconds : list of float
        After each iteration.
    excess : list of float
        The best objective so far above the largest lower bound of all runs, relative
        to that bound.
    certified : list of float
        The gap that the solver itself can prove then, relative; the textbook method
        proves none.
    """

    data: str
    penalty: str
    has_radius: bool
    solver: str
    density: float
    passes: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)
    certified: list[float] = field(default_factory=list)

    @property
    def problem(self) -> str:
        """What is minimised, in words."""
        return f"{self.penalty.upper()}, {'limit' if self.has_radius else 'price'}"

    def first_below(self, gap: float) -> tuple[float, float] | None:
        """Return passes and seconds after which the excess is below a gap."""
        steps = zip(self.passes, self.seconds, self.excess, strict=True)
        return next(((p, s) for p, s, excess in steps if excess <= gap), None)


class _Run(NamedTuple):
    history: list[Progress]
    density: float


def run_race(lane: Lane) -> _Run:
    """Let one solver run on one problem."""
    problem = load(lane.data)
    every = np.arange(problem.y.size)
    split = problem.split(every, every[:1])
    options: dict[str, Any] = {"fpr_range": FPR_RANGE, "penalty": lane.penalty}
    C = PRICES.get((lane.data, lane.penalty), USUAL_PRICE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if lane.has_radius:
            # the same start for all solvers: no clock in it
            priced = AUCSVC(C, tol=1e-2, max_iter=200, **options).fit(split.X, split.y)
            order = ORDERS[lane.penalty]
            options["radius"] = float(np.linalg.norm(priced.coef_[0], order))
        if lane.solver == TEXTBOOK:
            return _textbook(split, lane, options["radius"])
        history: list[Progress] = []
        racer = AUCSVC(
            C,
            solver=lane.solver,
            tol=TOLERANCE,
            max_iter=100_000,
            max_time=lane.most_seconds,
            callback=history.append,
            **options,
        ).fit(split.X, split.y)
    return _Run(history, float(np.mean(racer.coef_ != 0.0)))


def _textbook(split: Split, lane: Lane, radius: float) -> _Run:
    r"""Step by radius / (|g| sqrt(t)), project, keep the best point met."""
    objective = LinearObjective(split.X, split.y, PartialHinge(FPR_RANGE), 1.0)
    ball = BALLS[lane.penalty](radius)
    weights = np.zeros(split.X.shape[1])
    history: list[Progress] = []
    best, density, start = np.inf, 0.0, time.perf_counter()
    reach = radius if lane.penalty == "l2" else radius / np.sqrt(weights.size)
    while not history or history[-1].seconds < lane.most_seconds:
        support = objective.support(objective.at(weights))
        if support.value < best:
            best, density = support.value, float(np.mean(weights != 0.0))
        slope = objective.pull_back(support)
        step = reach / (np.linalg.norm(slope) * np.sqrt(len(history) + 1.0))
        weights = ball.prox(weights - step * slope, 1.0)
        seconds = time.perf_counter() - start
        history.append(
            Progress(len(history) + 1, objective.n_passes, best, best, seconds)
        )
    return _Run(history, density)


def run_races(
    sets: tuple[str, ...],
    most_seconds: float,
    pool: Executor,
    report: Callable[[str], None],
) -> list[Race]:
    """Run the solvers on all problems; the best lower bound judges them all."""
    lanes = [
        Lane(data, penalty, has_radius, solver, most_seconds)
        for data in sets
        for penalty in PENALTIES
        for has_radius in (False, True)
        for solver in SOLVERS
        if has_radius or solver != TEXTBOOK
    ]
    runs = list(pool.map(run_race, lanes))
    floors: dict[tuple[Any, ...], float] = {}
    for lane, run in zip(lanes, runs, strict=True):
        bound = max(step.value - step.gap for step in run.history)
        floors[lane[:3]] = max(floors.get(lane[:3], -np.inf), bound)
    races = []
    for lane, run in zip(lanes, runs, strict=True):
        race = Race(*lane[:4], run.density)
        floor = floors[lane[:3]]
        for step in _thinned(run.history):
            race.passes.append(step.n_passes)
            race.seconds.append(step.seconds)
            race.excess.append(max(step.value - floor, 0.0) / floor)
            race.certified.append(step.gap / floor)
        races.append(race)
        report(
            f"  {race.data:<12} {race.problem:<10} {SOLVERS[race.solver]:<22} "
            f"excess {race.excess[-1]:.1e} after {race.passes[-1]:.0f} passes, "
            f"{race.seconds[-1]:.1f} s"
        )
    return races


def _thinned(history: list[Progress]) -> list[Progress]:
    """Keep every step that is 2 % later than the last one kept, and the last."""
    kept = [history[0]]
    for step in history[1:]:
        if step.n_passes >= 1.02 * kept[-1].n_passes or step is history[-1]:
            kept.append(step)
    return kept
