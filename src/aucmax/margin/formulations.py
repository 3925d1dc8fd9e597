"""The formulations of the paper: which margin to maximise, and how to choose nu+."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from aucmax.margin.adaptive import CurvePoint, descend
from aucmax.margin.branch_and_bound import minimize_curve
from aucmax.margin.certificate import Certificate, certify_instances, certify_pairs
from aucmax.margin.curve import MarginCurve
from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.margin.pruning import pruned
from aucmax.margin.request import Request
from aucmax.risks import InstanceMargin, PairMargin

__all__ = ["FORMULATIONS", "Fitted", "Formulation"]


@dataclass
class Fitted:
    """A formulation's answer."""

    result: MarginResult
    risk: PairMargin | InstanceMargin  # what was minimised in the end
    unpruned: MarginResult  # where a neighbouring fit starts: cuts and all
    steps: Sequence[CurvePoint] = ()  # the heuristic's way
    curve: MarginCurve | None = None  # gamma_hat as a function of nu+

    def certificate(self, problem: MarginProblem) -> Certificate:
        """Certify the result on the rows of the problem."""
        result, risk = self.result, self.risk
        rows = result.scores, problem.labels, problem.sample_weight
        relative = problem.relative_gap(result)
        if isinstance(risk, PairMargin):
            return certify_pairs(risk, *rows, relative)
        return certify_instances(risk.nu_pos, risk.nu_neg, *rows, relative)


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


Search: TypeAlias = Callable[[MarginProblem, Request, MarginResult | None], Fitted]


class Formulation(NamedTuple):
    """Which margin to maximise.

    `risk` returns minus the margin that a request asks for, or raises an error if that
    does not fit the classes. `search` finds a better nu+ than that of the request,
    where it is to be chosen.
    """

    risk: Callable[[Request], PairMargin | InstanceMargin]
    search: Search | None = None
    is_hard: bool = False  # every pair counts, so that `epsilon` is not used
    is_over_rows: bool = False  # nu+ and nu- may be given; both replace `epsilon`

    def uses_epsilon(self, request: Request) -> bool:
        """Tell whether the epsilon of a request makes a difference."""
        is_given = request.nu_pos is not None and request.nu_neg is not None
        return not (self.is_hard or (self.is_over_rows and is_given))

    def fit(
        self, problem: MarginProblem, request: Request, start: MarginResult | None
    ) -> Fitted:
        """Solve a request, perhaps from the answer to one of a larger epsilon."""
        if self.search is not None:
            return self.search(problem, request, start)
        risk = self.risk(request)
        # row weights allowed for a larger nu are allowed for a smaller one, so that
        # along a path the cuts stay valid
        result = problem.solve(risk, start, reuse_cuts=True)
        return Fitted(pruned(problem, risk, result), risk, result)


FORMULATIONS = {
    "pairs": Formulation(Request.pair_risk),
    "hard": Formulation(Request.hard_risk, is_hard=True),
    "instances": Formulation(Request.row_risk, is_over_rows=True),
    "adaptive": Formulation(Request.row_risk, fit_adaptive, is_over_rows=True),
    "global": Formulation(Request.row_risk, fit_global, is_over_rows=True),
}
