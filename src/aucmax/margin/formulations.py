"""The formulations of the paper: which margin to maximise, and how to choose nu+."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from aucmax.margin.adaptive import CurvePoint, descend
from aucmax.margin.branch_and_bound import minimize_curve
from aucmax.margin.certificate import Certificate, certify_instances, certify_pairs
from aucmax.margin.curve import MarginCurve
from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.margin.pruning import pruned
from aucmax.margin.request import Request
from aucmax.risks import InstanceMargin, PairMargin

__all__ = ["FORMULATIONS", "Fitted"]


@dataclass
class Fitted:
    """A formulation's answer.

    Attributes
    ----------
    result : MarginResult
        The weights and what certifies them.
    risk : PairMargin or InstanceMargin
        What was minimised in the end.
    steps : sequence of CurvePoint
        The heuristic's way.
    curve : MarginCurve or None
        gamma_hat as a function of nu+.
    unpruned : MarginResult
        Where a neighbouring fit starts: cuts and all.
    """

    result: MarginResult
    risk: PairMargin | InstanceMargin
    unpruned: MarginResult
    steps: Sequence[CurvePoint] = ()
    curve: MarginCurve | None = None

    def certificate(self, problem: MarginProblem) -> Certificate:
        """Certify the result on the rows of the problem."""
        result, risk = self.result, self.risk
        rows = result.scores, problem.labels, problem.sample_weight
        relative = result.gap / max(abs(result.margin), problem.floor)
        if isinstance(risk, PairMargin):
            return certify_pairs(risk, *rows, relative)
        return certify_instances(risk.nu_pos, risk.nu_neg, *rows, relative)


def fit_pairs(
    problem: MarginProblem, request: Request, start: MarginResult | None
) -> Fitted:
    """Maximise the soft margin over pairs: problems (2) and (3)."""
    return _fit_one(problem, PairMargin(request.nu), start)


def fit_hard(
    problem: MarginProblem, request: Request, start: MarginResult | None
) -> Fitted:
    """Maximise the smallest margin of any pair: problems (4) and (5)."""
    return _fit_one(problem, PairMargin(request.sizes.lightest_pair), start)


def fit_instances(
    problem: MarginProblem, request: Request, start: MarginResult | None
) -> Fitted:
    """Maximise the margin of the reduction to instances: problems (7) and (8)."""
    return _fit_one(problem, InstanceMargin(*request.nus()), start)


def _fit_one(
    problem: MarginProblem,
    risk: PairMargin | InstanceMargin,
    start: MarginResult | None,
) -> Fitted:
    # row weights allowed for a larger nu are allowed for a smaller one, so that along
    # a path the cuts stay valid
    result = problem.solve(risk, start, reuse_cuts=True)
    return Fitted(pruned(problem, risk, result), risk, result)


def fit_adaptive(
    problem: MarginProblem, request: Request, start: MarginResult | None
) -> Fitted:
    """Alternate problems (9) and (7): a local minimum of problem (6)."""
    path = descend(problem, request, start)
    nu_pos, result = path[-1]
    risk = InstanceMargin(nu_pos, request.product / nu_pos)
    return Fitted(result, risk, result, path)


def fit_global(
    problem: MarginProblem, request: Request, start: MarginResult | None
) -> Fitted:
    """Find the smallest gamma_hat over all nu+: the optimum of problem (6)."""
    nu = request.product
    path = descend(problem, request, start)
    bounds = request.sizes.nu_pos_range(nu)
    best, curve = minimize_curve(problem, nu, bounds, path, request.curve_points)
    risk = InstanceMargin(best.nu_pos, nu / best.nu_pos)
    return Fitted(best.result, risk, best.result, path, curve)


#: how to solve each formulation, perhaps from the answer to a neighbouring one
FORMULATIONS: dict[
    str, Callable[[MarginProblem, Request, MarginResult | None], Fitted]
] = {
    "pairs": fit_pairs,
    "hard": fit_hard,
    "instances": fit_instances,
    "adaptive": fit_adaptive,
    "global": fit_global,
}
