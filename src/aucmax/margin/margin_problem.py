"""The largest margin over weighted hypotheses, for any margin risk."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses.scaled_columns import ScaledColumns
from aucmax.hypotheses.stumps import StumpBins, Stumps
from aucmax.margin.margin_certificate import ClassSizes, MarginCurve
from aucmax.regularizers.l1 import L1Ball, Simplex
from aucmax.risks._pairs.pair_laplacians import append_column
from aucmax.risks.contract import BoundRisk, Risk, Support
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.risk_objective import RiskObjective, first_start
from aucmax.solvers.solver import Point, Progress, Solution, Start, StoppingRule

# an optimum may be 0: below this share of the best hypothesis' mean margin, the gap is
# judged as if the optimum were there
_FLOOR_SHARE = 0.01
_MIN_GAP = 16.0  # units in the last place: rounding hides a smaller gap
# times the weight that may go whatever its effect; each one tried costs half a pass
_PRUNED_MULTIPLES = (1.0, 8.0, 64.0)


Hypotheses: TypeAlias = ScaledColumns | Stumps


@dataclass
class MarginSolution(Solution):
    """The weights of the largest margin; `value` is minus that margin."""

    risk: Any = None  # the margin risk that was minimised
    path: Sequence["MarginSolution"] = ()  # the steps of a search for nu+
    curve: MarginCurve | None = None  # gamma_hat as a function of nu+

    @property
    def margin(self) -> float:
        """The margin reached; the largest one is at most this plus the gap."""
        return 0.0 - self.value  # not -0.0

    @property
    def nu_pos(self) -> float:
        """The nu+ of the risk, if it is over instances."""
        return float(self.risk.nu_pos)


class MarginObjective(RiskObjective):
    """The risk of ``H @ weights`` over the `usable` hypotheses."""

    def __init__(
        self, hypotheses: Hypotheses, risk: BoundRisk, usable: IntArray | None = None
    ) -> None:
        super().__init__(risk)
        self.hypotheses = hypotheses
        self.X = hypotheses.X
        self.usable = usable

    @property
    def n_parameters(self) -> int:
        """Number of hypotheses that may have weight."""
        if self.usable is None:
            return self.hypotheses.n_hypotheses
        return self.usable.size

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""
        if not parameters.any():
            return Point(parameters, np.zeros(self.n_rows))
        self.n_passes += 0.5
        return Point(parameters, self.hypotheses.scores(self.all_weights(parameters)))

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a gradient over scores into one over weights: the backward half."""
        self.n_passes += 0.5
        edges = self.hypotheses.edges(support.subgradient)
        return edges if self.usable is None else edges[self.usable]

    def columns(self, which: IntArray) -> Any:
        """Return some hypotheses on all rows, up to constants, which change no risk."""
        if self.usable is not None:
            which = self.usable[which]
        hypotheses: Any = self.hypotheses  # that are columns of the data
        chosen, share = hypotheses.up_to_constants(which)
        self.n_passes += share
        return chosen

    def all_weights(self, parameters: FloatArray) -> FloatArray:
        """Return the weights of all hypotheses: 0 for those that may have none."""
        if self.usable is None:
            return parameters
        weights = np.zeros(self.hypotheses.n_hypotheses)
        weights[self.usable] = parameters
        return weights


class StumpObjective(MarginObjective):
    """The same over all stumps, of which neighbours are nearly equal."""

    hypotheses: Stumps
    forms_columns = True
    min_damping = 1e-5
    min_entering = 20

    def columns(self, which: IntArray) -> StumpBins:
        """Return some stumps on all rows, as bins: their columns' share of a pass."""
        bins = self.hypotheses.as_bins(which)
        self.n_passes += np.unique(bins.starts).size / self.X.shape[1]
        return bins

    def hessian(
        self, columns: StumpBins, last: FloatArray, point: Point, width: float
    ) -> FloatArray:
        """Return the smoothed risk's Hessian over stumps and a last column."""
        form = self.risk.curvature(point.scores, width)
        return columns.hessian_over_stumps(form(append_column(columns.table, last)))

    def is_useful(self, gradient: FloatArray) -> BoolArray:
        """Return which stumps may be of use: those steeper than their neighbours."""
        return self.hypotheses.is_peak(gradient)


class MarginProblem:
    """The data, and the optimum of any margin risk on it.

    Hypotheses count with either sign if they are `signed`. All solves share one clock
    and one count of iterations; `max_iter` limits each of them.
    """

    def __init__(
        self,
        hypotheses: Hypotheses,
        labels: BoolArray,
        sample_weight: FloatArray | None,
        stopping: StoppingRule,
        usable: IntArray | None = None,
        *,
        signed: bool,
    ) -> None:
        self.hypotheses = hypotheses
        self.labels = labels
        self.sample_weight = sample_weight
        self.stopping = stopping
        self.history: Sequence[Progress] = ()  # of all solves
        self.sizes = ClassSizes.from_labels(labels, sample_weight)
        self._hull = L1Ball() if signed else Simplex()
        self.stopped_by_callback = False
        mean = InstanceMargin(*self.sizes[:2]).bind(labels, sample_weight)
        is_stumps = isinstance(hypotheses, Stumps)
        objective = StumpObjective if is_stumps else MarginObjective
        self._objective = objective(hypotheses, mean, usable)
        no_weights = np.zeros(self._objective.n_parameters)
        support = self._objective.support(self._objective.at(no_weights))
        largest = float(np.abs(self._objective.pull_back(support)).max())
        rounding = _MIN_GAP * float(np.finfo(hypotheses.dtype).eps) / stopping.tol
        #: gaps are relative to the margin, or to this if it is larger
        self.floor = max(_FLOOR_SHARE * largest, rounding)

    @property
    def n_passes(self) -> float:
        """Passes over the data so far; a sweep over sorted columns is half a pass."""
        return self._objective.n_passes

    @property
    def is_over(self) -> bool:
        """Whether time is up, or the callback has stopped the fit."""
        limit = self.stopping.max_time
        seconds = self.history[-1].seconds if self.history else 0.0
        return self.stopped_by_callback or (limit is not None and seconds >= limit)

    def solve(
        self,
        risk: Risk,
        start: MarginSolution | None = None,
        *,
        keep_dual_weights: bool = False,  # costs one number per row and cut
        reuse_cuts: bool = False,  # whether the cuts of `start` lie below this risk
        looseness: float = 1.0,  # of the gap, in tolerances
        enough: float = np.inf,  # the margin at which the solve ends
    ) -> MarginSolution:
        """Find the weights of the largest margin, minus the risk, from `start` on."""
        objective, stopping = self._objective, self.stopping
        objective.risk = risk.bind(self.labels, self.sample_weight)
        objective.keeps_row_weights = keep_dual_weights
        rule = replace(
            stopping,
            tol=looseness * stopping.tol,
            max_iter=len(self.history) + stopping.max_iter,
            callback=partial(self._report, enough),
            floor=self.floor,
        )
        if start is None:
            point, cuts = first_start(objective, self._hull).point, None
        else:
            point, cuts = start.point, start.cuts if reuse_cuts else None
        first = Start(point, cuts, self.history)
        solution = SOLVERS["auto"](rule).minimize(objective, self._hull, first)
        self.history = solution.history
        return MarginSolution(**vars(solution), risk=risk)

    def _report(self, enough: float, progress: Progress) -> bool:
        """Report where a solve stands; return whether to stop it."""
        shown = progress._replace(value=0.0 - progress.value)  # not -0.0
        if self.stopping.callback is not None:
            self.stopped_by_callback |= bool(self.stopping.callback(shown))
        return self.stopped_by_callback or shown.value >= enough

    def weights(self, solution: MarginSolution) -> FloatArray:
        """Return the weights of all hypotheses."""
        return self._objective.all_weights(solution.point.parameters)

    def dual_weights(self, solution: MarginSolution) -> FloatArray:
        """Return the row weights under which no edge exceeds the margin plus the gap.

        They are the dual solution, of sum 1/2 over the positives and -1/2 over the
        negatives, of a solve that kept them.
        """
        return -np.asarray(solution.cuts.mixed_source())

    def tolerance(self, margin: float) -> float:
        """Return the gap allowed at a margin."""
        return self.stopping.tol * max(abs(margin), self.floor)

    def pruned(self, solution: MarginSolution, budget: float = 1.0) -> MarginSolution:
        """Drop the smallest weights that `budget` times the tolerance allows."""
        sizes = np.abs(solution.point.parameters)
        order = np.argsort(sizes)
        order = order[sizes[order] > 0.0]
        loss = budget * self.tolerance(solution.margin) - solution.gap
        if not solution.converged or loss <= 0.0 or order.size == 0:
            return solution
        weight = sizes[order].cumsum()
        best, last_dropped = solution, 0
        for multiple in _PRUNED_MULTIPLES:
            # weight w moved from one hypothesis to another moves a margin by 2 w
            allowed = min(multiple * loss / 2.0, 0.5) * weight[-1]
            n_dropped = int(np.searchsorted(weight, allowed))
            if n_dropped == last_dropped:
                continue
            last_dropped = n_dropped
            candidate = self._without(solution, order[:n_dropped])
            if candidate.margin < solution.margin - loss:
                break
            best = candidate
        return best

    def _without(self, solution: MarginSolution, dropped: IntArray) -> MarginSolution:
        """Return the solution without some of its weights."""
        weights = solution.point.parameters.copy()
        weights[dropped] = 0.0
        weights *= np.abs(solution.point.parameters).sum() / np.abs(weights).sum()
        point = self._objective.at(weights)
        bound = solution.risk.bind(self.labels, self.sample_weight)
        value = float(bound.value(point.scores))
        gap = max(value - (solution.value - solution.gap), 0.0)
        return replace(solution, point=point, value=value, gap=gap)
