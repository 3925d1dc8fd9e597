"""From convex solutions down to a local optimum of a bounded risk."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.regularizer import ProximalRegularizer
from aucmax.risks import BoundRisk
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.descent import Descent, descend, pull_back
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Point, Solution, Start, StoppingRule

_GAP_OF_A_START = 1e-2  # relative gap of a convex solution that is only a start
_MIN_GAIN = 1e-2  # share of the tolerance; a step that gains less ends a descent


class BoundedLossSolver:
    """Minimise a smooth risk that is not convex by descent from convex solutions.

    Starts are first scaled, which costs no pass; all descents share one pass per
    iteration. The solution has the lowest objective of all iterates that rank the
    training rows no worse than the best start, by the metric `measure` of their scores.
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
        objective: LinearObjective,
        regularizer: ProximalRegularizer,
        start: Start | None = None,
    ) -> Solution:
        """Return the best point, with a gap of NaN; a start replaces convex ones."""
        monitor = self.stopping.monitor()
        if start is None or not start.point.parameters.any():
            points = self._convex_solutions(objective, regularizer)
        else:
            points = {"given": start.point}
        descents = [Descent(objective, regularizer, one) for one in points.values()]
        self.starts = [
            {
                "start": name,
                "start_objective": descent.value,
                "start_metric": self.measure(descent.point.scores),
            }
            for name, descent in zip(points, descents, strict=True)
        ]
        metrics = [float(start["start_metric"]) for start in self.starts]
        enough = max(metrics)
        for descent in descents:
            descent.scale()
        pull_back(objective, descents)
        ranked = [d for d, m in zip(descents, metrics, strict=True) if m == enough]
        first = min(ranked, key=lambda descent: descent.value)
        point, value, gradient = first.point, first.value, first.gradient
        active = descents
        while active:
            best = min(descent.value for descent in descents)
            if monitor.should_stop(objective.n_passes, best, -np.inf):
                break
            moved = active
            active = descend(objective, moved, _MIN_GAIN * self.stopping.tol)
            for descent in moved:
                ranks_well = self.measure(descent.point.scores) >= enough
                if descent.value < value and ranks_well:
                    point, value = descent.point, descent.value
                    gradient = descent.gradient
        monitor.converged = not active
        for start_record, descent in zip(self.starts, descents, strict=True):
            start_record["objective"] = descent.value
            start_record["metric"] = self.measure(descent.point.scores)
        self.gradient_norm = float(np.linalg.norm(gradient))
        no_cuts = Cuts(objective.n_parameters)
        return monitor.solution(point, value, np.nan, no_cuts)

    def _convex_solutions(
        self, objective: LinearObjective, regularizer: ProximalRegularizer
    ) -> dict[str, Point]:
        """Return rough solutions of convex risks, by name, to start from.

        If all are 0, the start is the difference of the class means.
        """
        rule = replace(
            self.stopping,
            tol=max(self.stopping.tol, _GAP_OF_A_START),
            callback=None,
        )
        solutions = {}
        for name, risk in self.convex_risks.items():
            convex = objective.with_risk(risk)
            point = SOLVERS["auto"](rule).minimize(convex, regularizer).point
            objective.n_passes = convex.n_passes
            if point.parameters.any():
                solutions[name] = point
        if not solutions:
            # all pairs weigh the same at 0, so minus the gradient is that difference
            zero = objective.at(np.zeros(objective.n_parameters))
            difference = -objective.pull_back(objective.support(zero))
            # a step of 0 projects it onto a ball, and changes nothing otherwise
            weights = regularizer.prox(difference, 0.0)
            solutions["class means"] = objective.at(weights)
        return solutions
