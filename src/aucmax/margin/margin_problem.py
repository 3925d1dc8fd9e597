"""The largest margin over weighted hypotheses, for any margin risk."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.hypotheses.scaled_columns import ScaledColumns
from aucmax.hypotheses.stumps import StumpBins, Stumps
from aucmax.margin.margin_certificate import MarginCurve
from aucmax.margin.margin_request import ClassSizes
from aucmax.regularizers.l1 import L1Ball, Simplex
from aucmax.risks.contract import BoundRisk, Risk, Support
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.risk_objective import RiskObjective
from aucmax.solvers.solver import Point, Progress, Start, StoppingRule

# an optimum may be 0: below this share of the best hypothesis' mean margin, the gap is
# judged as if the optimum were there
_FLOOR_SHARE = 0.01
_MIN_GAP = 16.0  # units in the last place: rounding hides a smaller gap
# times the weight that may go whatever its effect; each one tried costs half a pass
_PRUNED_MULTIPLES = (1.0, 8.0, 64.0)


Hypotheses: TypeAlias = ScaledColumns | Stumps


@dataclass
class MarginResult:
    """The weights of the largest margin found, and its certificate, the gap."""

    risk: Any  # minus the margin: a margin risk
    weights: FloatArray  # one for each hypothesis of the problem
    scores: FloatArray  # of the rows
    margin: float
    gap: float  # the largest margin of all is at most `margin` + `gap`
    converged: bool = False  # whether the gap is within the tolerance
    # the dual solution: shares of the rows, of sum 1/2 over the positives and -1/2 over
    # the negatives, under which no hypothesis has an edge above `margin` + `gap`
    row_weights: FloatArray | None = field(default=None, repr=False)
    cuts: Cuts | None = field(default=None, repr=False)
    path: Sequence["MarginResult"] = ()  # the steps of a search for nu+
    curve: MarginCurve | None = None  # gamma_hat as a function of nu+

    @property
    def nu_pos(self) -> float:
        """The nu+ of the risk, if it is over instances."""
        return float(self.risk.nu_pos)


class Limits:
    """One stopping rule, one clock and one count of iterations for all solves."""

    def __init__(self, stopping: StoppingRule) -> None:
        self.stopping = stopping  # `tol` and `max_iter` of each solve, others of all
        self.n_iter = 0  # of the solves that are done
        self._stopped_by_callback = False
        self._start = time.perf_counter()

    @property
    def seconds_left(self) -> float | None:
        """The rest of the time, or None if there is no limit."""
        limit = self.stopping.max_time
        if limit is None:
            return None
        return max(limit - (time.perf_counter() - self._start), 0.0)

    @property
    def is_over(self) -> bool:
        """Whether time is up, or the callback has stopped the fit."""
        return self._stopped_by_callback or self.seconds_left == 0.0

    def rule(
        self, floor: float, looseness: float = 1.0, enough: float = np.inf
    ) -> StoppingRule:
        """Return the rule of the next solve, which may be loose or end at a margin."""

        def callback(progress: Progress) -> bool:
            return self.report(progress) or -progress.value >= enough

        return StoppingRule(
            looseness * self.stopping.tol,
            self.stopping.max_iter,
            self.seconds_left,
            callback,
            floor,
        )

    def report(self, progress: Progress) -> bool:
        """Report where a solve stands; return whether to stop everything."""
        if self.stopping.callback is not None:
            whole = progress._replace(
                n_iter=self.n_iter + progress.n_iter,
                value=0.0 - progress.value,  # not -0.0
                seconds=time.perf_counter() - self._start,
            )
            self._stopped_by_callback |= bool(self.stopping.callback(whole))
        return self._stopped_by_callback


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
            return self.origin()
        self.n_passes += 0.5
        return Point(parameters, self.hypotheses.scores(self.widened(parameters)))

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over weights: the backward half."""
        self.n_passes += 0.5
        return self.narrowed(self.hypotheses.edges(support.subgradient))

    def columns(self, which: IntArray) -> Any:
        """Return some hypotheses on all rows, up to constants, which change no risk."""
        if self.usable is not None:
            which = self.usable[which]
        hypotheses: Any = self.hypotheses  # that are columns of the data
        chosen, share = hypotheses.up_to_constants(which)
        self.n_passes += share
        return chosen

    def origin(self) -> Point:
        """Return the point where all weights and all scores are 0: no pass."""
        return Point(np.zeros(self.n_parameters), np.zeros(self.risk.labels.size))

    def widened(self, parameters: FloatArray) -> FloatArray:
        """Return the weights of all hypotheses: 0 for those that may have none."""
        if self.usable is None:
            return parameters
        weights = np.zeros(self.hypotheses.n_hypotheses)
        weights[self.usable] = parameters
        return weights

    def narrowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the hypotheses that may have weight."""
        return weights if self.usable is None else weights[self.usable]


class StumpObjective(MarginObjective):
    """The same over all stumps, of which neighbours are nearly equal."""

    hypotheses: Stumps
    forms_columns = True
    min_damping = 1e-4
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
        return columns.hessian_over_stumps(
            super().hessian(columns.table, last, point, width)
        )

    def is_useful(self, gradient: FloatArray) -> BoolArray:
        """Return which stumps may be of use: those steeper than their neighbours."""
        return self.hypotheses.is_peak(gradient)


class MarginProblem:
    """The data, and the optimum of any margin risk on it; `risk` is the latest one.

    Hypotheses count with either sign if they are `signed`.
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
        self.signed = signed
        self.labels = labels
        self.sample_weight = sample_weight
        self.limits = Limits(stopping)
        self.floor = 0.0  # gaps are relative to the margin, or to this if it is larger
        sizes = ClassSizes.of(labels, sample_weight)
        self.risk: Risk = InstanceMargin(sizes.positive, sizes.negative)
        bound = self.risk.bind(labels, sample_weight)
        self._is_stumps = isinstance(hypotheses, Stumps)
        kind = StumpObjective if self._is_stumps else MarginObjective
        self._objective = kind(hypotheses, bound, usable)

    def solve(
        self,
        risk: Risk,
        start: MarginResult | None = None,
        *,
        keep_row_weights: bool = False,  # costs one number per row and cut
        reuse_cuts: bool = False,  # whether the cuts of `start` lie below this risk
        looseness: float = 1.0,  # of the gap, in tolerances
        enough: float = np.inf,  # the margin at which the solve ends
    ) -> MarginResult:
        """Find the weights of the largest margin, minus the risk, from `start` on."""
        objective = self._under(risk)
        rule = self.limits.rule(self.floor, looseness, enough)
        objective.keeps_row_weights = keep_row_weights
        first = None
        if start is not None:
            point = Point(objective.narrowed(start.weights), start.scores)
            first = Start(point, start.cuts if reuse_cuts else None)
        hull = L1Ball() if self.signed else Simplex()
        solution = SOLVERS["auto"](rule).minimize(objective, hull, first)
        self.limits.n_iter += solution.n_iter
        return MarginResult(
            self.risk,
            objective.widened(solution.point.parameters),
            solution.point.scores,
            0.0 - solution.value,  # not -0.0
            solution.gap,
            solution.converged,
            -solution.cuts.mixed_source() if keep_row_weights else None,
            solution.cuts,
        )

    @property
    def n_passes(self) -> float:
        """Passes over the data so far; a sweep over sorted columns is half a pass."""
        return self._objective.n_passes

    def tolerance(self, margin: float) -> float:
        """Return the gap allowed at a margin."""
        return self.limits.stopping.tol * max(abs(margin), self.floor)

    def relative_gap(self, result: MarginResult) -> float:
        """Return the gap as the tolerance measures it."""
        return result.gap / max(abs(result.margin), self.floor)

    def pruned(self, result: MarginResult, budget: float = 1.0) -> MarginResult:
        """Drop the smallest weights that `budget` times the tolerance allows."""
        order = np.argsort(np.abs(result.weights))
        order = order[result.weights[order] != 0.0]
        loss = budget * self.tolerance(result.margin) - result.gap
        if not result.converged or loss <= 0.0 or order.size == 0:
            return result
        weight = np.abs(result.weights[order]).cumsum()
        best, n_before = result, 0
        for multiple in _PRUNED_MULTIPLES:
            # weight w moved from one hypothesis to another moves a margin by 2 w
            allowed = min(multiple * loss / 2.0, 0.5) * weight[-1]
            n_dropped = int(np.searchsorted(weight, allowed))
            if n_dropped == n_before:
                continue
            n_before = n_dropped
            candidate = self._without(result, order[:n_dropped])
            if candidate.margin < result.margin - loss:
                break
            best = candidate
        return best

    def _without(self, result: MarginResult, dropped: IntArray) -> MarginResult:
        """Return the result without some of its weights."""
        weights: FloatArray = result.weights.copy()
        weights[dropped] = 0.0
        weights *= np.abs(result.weights).sum() / np.abs(weights).sum()
        scores = self._objective.at(self._objective.narrowed(weights)).scores
        bound = result.risk.bind(self.labels, self.sample_weight)
        margin = 0.0 - bound.value(scores)
        gap = max(result.margin + result.gap - margin, 0.0)
        return replace(result, weights=weights, scores=scores, margin=margin, gap=gap)

    def _under(self, risk: Risk) -> MarginObjective:
        """Return the objective of a risk; before the first one, find the floor."""
        if not self.floor:
            mean = self._objective.support(self._objective.origin())
            edges = self._objective.pull_back(mean)
            precision = float(np.finfo(self.hypotheses.dtype).eps)
            rounding = _MIN_GAP * precision / self.limits.stopping.tol
            self.floor = max(_FLOOR_SHARE * float(np.abs(edges).max()), rounding)
        self.risk = risk
        self._objective.risk = risk.bind(self.labels, self.sample_weight)
        return self._objective
