"""Shared by all solvers: the objective, the stopping rule, the solution.

Every solver minimises ``regularizer(w) + C * risk(scores(w))`` and sees the data only
through a :class:`RiskObjective`. A **pass** is one product of the data with parameters
(forward) plus one with row weights (back). Scores are linear in the parameters, so
points between two known ones cost no pass.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError

_MAX_IDLE_STREAK = 50  # iterations without a smaller gap, if the gap is small
_MAX_IDLE_GAP = 1e-4  # share of the value; rounding may keep a gap from falling


def inner(a: FloatArray, b: FloatArray) -> float:
    """Return the inner product of two score vectors."""
    # not by BLAS, which wakes its threads for a product that takes microseconds
    return float(np.einsum("i,i->", a, b))


def require(part: object, ability: str, solver: str, advice: str) -> None:
    """Raise an error unless a part of the problem has a method or attribute."""
    if not hasattr(part, ability):
        raise IncompatibleError(
            f"{type(part).__name__} has no {ability}, which {solver} needs. {advice}"
        )


class Point(NamedTuple):
    """Parameters together with the scores they give; a point or a direction."""

    parameters: FloatArray
    scores: FloatArray

    def moved(self, direction: "Point", step: float) -> "Point":
        """Return this point plus `step` times a direction: no pass."""
        return Point(
            self.parameters + step * direction.parameters,
            self.scores + step * direction.scores,
        )

    def towards(self, target: "Point") -> "Point":
        """Return the direction from here to a target: no pass."""
        return Point(target.parameters - self.parameters, target.scores - self.scores)


class Progress(NamedTuple):
    """Progress of a solver, passed to the callback after each iteration.

    Attributes
    ----------
    n_iter : int
        Iterations so far.
    n_passes : float
        Passes over the data so far.
    value : float
        The best objective found.
    gap : float
        Best objective minus the certified lower bound.
    seconds : float
        Time since the start.
    """

    n_iter: int
    n_passes: float
    value: float
    gap: float
    seconds: float

    def __str__(self) -> str:
        relative = self.gap / abs(self.value) if self.value else np.inf
        bound = f"relative gap {relative:.1e}" if self.gap < np.inf else "no bound"
        return (
            f"iteration {self.n_iter}, {self.n_passes:g} passes, {self.seconds:.2f} s, "
            f"objective {self.value:.6g}, {bound}"
        )


Callback = Callable[[Progress], object]


class Start(NamedTuple):
    """Where a solver begins, such as the solution for a neighbouring C."""

    point: Point
    cuts: Any = None  # below the same risk: `Cuts`, or planes of the solver's own type
    history: Sequence[Progress] = ()  # of another solver on the same problem


@dataclass
class Solution:
    """The best point found, with its certificate."""

    point: Point
    value: float  # the objective there
    gap: float  # `value` minus the certified lower bound of the optimum
    cuts: Any  # that certify it; they bound the risk alone, so they serve every C
    n_iter: int
    converged: bool  # whether the relative gap fell to the tolerance
    history: list[Progress] = field(default_factory=list, repr=False)
    stopped_by_callback: bool = False

    def warn_if_unfinished(self, rule: "StoppingRule", stacklevel: int = 4) -> None:
        """Warn with the gap reached and the reason to stop, unless converged."""
        if self.converged:
            return
        scale = max(abs(self.value), rule.floor)
        relative = self.gap / scale if scale else np.inf
        missed = f"tol={rule.tol:g} was not reached"
        if rule.is_reached(self.value, self.gap):
            missed = "the search was cut short"
        seconds = self.history[-1].seconds
        if rule.max_time is not None and seconds >= rule.max_time:
            why = "Raise max_time, scale the columns, or accept the gap."
        elif self.stopped_by_callback:
            why = "The callback stopped the fit."
        elif self.n_iter >= rule.max_iter:
            why = "Raise max_iter, scale the columns, or accept the gap."
        else:
            why = (
                "Rounding keeps the gap from falling further: scale the columns, or "
                "accept the gap; more iterations would not help."
            )
        warnings.warn(
            f"stopped at a relative gap of {relative:.2g} after {self.n_iter} "
            f"iterations and {seconds:.1f} s; {missed}. {why}",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


class Solver(Protocol):
    """Minimises an objective plus a regularizer, and certifies the result."""

    # a missing method is an IncompatibleError before the first iteration
    def minimize(
        self, objective: Any, regularizer: Any, start: Start | None = None
    ) -> Solution:
        """Minimise from `start`, the origin, or the middle of the set."""


@dataclass
class StoppingRule:
    """When to stop, and the callback."""

    tol: float = 1e-3  # the gap to reach, relative to the objective's value
    max_iter: int = 1000
    max_time: float | None = None  # in seconds
    callback: Callback | None = None  # a true return value stops
    floor: float = 0.0  # the gap is relative to at least this value

    def is_reached(self, value: float, gap: float) -> bool:
        """Return whether a gap is within the tolerance."""
        return gap <= self.tol * max(abs(value), self.floor)

    def monitor(self, history: Sequence[Progress] = ()) -> "Monitor":
        """Start the clock, or resume it after the history of another solver."""
        return Monitor(self, history)


class Monitor:
    """Applies a stopping rule; keeps time and history."""

    def __init__(self, rule: StoppingRule, history: Sequence[Progress]) -> None:
        self.rule = rule
        self.history = list(history)
        self.converged = False
        self.stopped_by_callback = False
        elapsed = history[-1].seconds if history else 0.0
        self._start = time.perf_counter() - elapsed
        self._last_gain = len(self.history)

    def should_stop(self, n_passes: float, value: float, lower_bound: float) -> bool:
        """Record one iteration; return whether to stop after it."""
        rule = self.rule
        seconds = time.perf_counter() - self._start
        gap = max(value - lower_bound, 0.0)
        n_iter = len(self.history) + 1
        progress = Progress(n_iter, n_passes, value, gap, seconds)
        self.history.append(progress)
        self.converged = rule.is_reached(value, gap)
        self.stopped_by_callback = rule.callback is not None and bool(
            rule.callback(progress)
        )
        late = rule.max_time is not None and seconds >= rule.max_time
        at_end = self.converged or self.stopped_by_callback or late
        return at_end or self._is_exhausted(progress)

    def solution(self, point: Point, value: float, gap: float, cuts: Any) -> Solution:
        """Return the solution with the history that led to it."""
        n_iter, stopped = len(self.history), self.stopped_by_callback
        return Solution(
            point, value, gap, cuts, n_iter, self.converged, self.history, stopped
        )

    def _is_exhausted(self, progress: Progress) -> bool:
        """Return whether iterations ran out, or rounding leaves nothing to gain."""
        record = self.history[self._last_gain]
        if progress.gap < record.gap:
            self._last_gain = len(self.history) - 1
        idle = len(self.history) - 1 - self._last_gain >= _MAX_IDLE_STREAK
        scale = max(abs(progress.value), self.rule.floor)
        done = idle and progress.gap <= _MAX_IDLE_GAP * scale
        return progress.n_iter >= self.rule.max_iter or done
