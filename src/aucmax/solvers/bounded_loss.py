"""From convex solutions down to a local optimum of a bounded risk."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import ProximalRegularizer
from aucmax.risks import BoundRisk
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.descent import BatchObjective, Descent, descend, pull_back
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule

_GAP_OF_A_START = 1e-2  # relative; a convex solution that is only a start needs no less
_MAX_ITERATIONS_OF_A_START = 50
_MIN_GAIN = 1e-2  # share of the tolerance, of the value; a step that gains less is idle
_MAX_IDLE_STREAK = 2  # steps, after which a descent ends


class MultiRiskObjective(BatchObjective, Protocol):
    """An objective whose data can be put under another risk."""

    n_passes: float

    def with_risk(self, risk: BoundRisk) -> "MultiRiskObjective":
        """Return the same data under another risk; passes are counted on."""


class _Chosen(NamedTuple):
    """A point, the objective there, and the length of its gradient."""

    point: Point
    value: float
    gradient_norm: float


class BoundedLossSolver:
    """Minimise a smooth risk that is not convex, from several convex solutions.

    Each start is first moved along its ray to the best scale, which costs no pass, and
    all go down abreast, for one pass per iteration together. Of all points met, the one
    with the lowest objective is taken that ranks the training rows no worse than the
    best start does.

    The metric `measure` is of the training rows' scores: the higher the better.
    `gradient_norm` is that of the risk alone where the regularizer is not quadratic;
    `starts` lists objective and metric at each start and at the end of its descent.
    """

    def __init__(
        self,
        stopping: StoppingRule,
        convex_risks: Mapping[str, BoundRisk],
        measure: Callable[[FloatArray], float],
    ) -> None:
        self.stopping = stopping
        self.convex_risks = convex_risks
        self.measure = measure
        self.gradient_norm = 0.0
        self.starts: list[dict[str, float | str]] = []

    def minimize(
        self,
        objective: MultiRiskObjective,
        regularizer: ProximalRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """Return the best point found; its gap is NaN, since nothing bounds it.

        A start that is given, such as the solution for a neighbouring C, takes the
        place of the convex solutions.
        """
        watch = self.stopping.watch()
        if start is None or not start.point.parameters.any():
            points = self._convex_solutions(objective, regularizer)
        else:
            points = {"given": start.point}
        descents = [Descent(objective, regularizer, one) for one in points.values()]
        records = [self._record(*one) for one in zip(points, descents, strict=True)]
        enough = max(float(record["metric"]) for record in records)
        for descent in descents:
            descent.scale()
        pull_back(objective, descents)
        ranked = [
            descent
            for descent, r in zip(descents, records, strict=True)
            if r["metric"] == enough
        ]
        chosen = min(map(_chosen, ranked), key=lambda one: one.value)
        going, n_idle = descents, dict.fromkeys(descents, 0)
        while going:
            best = min(descent.value for descent in descents)
            if watch.should_stop(objective, best, -np.inf):
                break
            descend(objective, going)
            for descent in going:
                ranks_well = self.measure(descent.point.scores) >= enough
                if descent.value < chosen.value and ranks_well:
                    chosen = _chosen(descent)
                least = _MIN_GAIN * self.stopping.tol * abs(descent.value)
                n_idle[descent] = n_idle[descent] + 1 if descent.gain <= least else 0
            going = [one for one in going if n_idle[one] < _MAX_IDLE_STREAK]
        watch.converged = not going
        ends = [self._record(*one) for one in zip(points, descents, strict=True)]
        self.starts = [
            {
                "start": before["start"],
                "start_objective": before["objective"],
                "start_metric": before["metric"],
                "objective": after["objective"],
                "metric": after["metric"],
            }
            for before, after in zip(records, ends, strict=True)
        ]
        self.gradient_norm = chosen.gradient_norm
        no_cuts = Cuts(objective.n_parameters)
        return watch.solution(chosen.point, chosen.value, np.nan, no_cuts)

    def _convex_solutions(
        self, objective: MultiRiskObjective, regularizer: ProximalRegularizer
    ) -> dict[str, Point]:
        """Solve the convex problems roughly; leave out solutions that rank nothing.

        Where none is left, the direction from one class to the other has to do.
        """
        rule = replace(
            self.stopping,
            tol=max(self.stopping.tol, _GAP_OF_A_START),
            max_iter=min(self.stopping.max_iter, _MAX_ITERATIONS_OF_A_START),
            callback=None,
        )
        found = {}
        for name, risk in self.convex_risks.items():
            convex = objective.with_risk(risk)
            point = SOLVERS["auto"](rule).minimize(convex, regularizer).point
            objective.n_passes = convex.n_passes
            if point.parameters.any():
                found[name] = point
        if not found:
            zero = objective.at(np.zeros(objective.n_parameters))
            downhill = -objective.pull_back(objective.support(zero))
            allowed = regularizer.prox(downhill, 0.0)
            found["class means"] = objective.at(allowed)
        return found

    def _record(self, name: str, descent: Descent) -> dict[str, float | str]:
        metric = self.measure(descent.point.scores)
        return {"start": name, "objective": descent.value, "metric": metric}


def _chosen(descent: Descent) -> _Chosen:
    norm = float(np.linalg.norm(descent.gradient))
    return _Chosen(descent.point, descent.value, norm)
