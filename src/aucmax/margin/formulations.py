"""The formulations of the paper: which margin to maximise, and how to choose nu+."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from aucmax.margin.margin_problem import MarginProblem, MarginResult
from aucmax.margin.margin_request import MarginRequest
from aucmax.margin.nu_search import descend, minimize_curve
from aucmax.risks.contract import Risk
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin

_EPSILONS = (
    *(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15),
    *(0.1, 0.07, 0.05, 0.03, 0.02, 0.01),
)
_MIN_MARGIN = 0.1  # of the largest mean margin over all pairs
_LOOSENESS = 10.0  # of the margins that are compared with it


_Search: TypeAlias = Callable[
    [MarginProblem, "PairMargin | InstanceMargin", MarginRequest, MarginResult | None],
    MarginResult,
]


class Formulation(NamedTuple):
    """Which margin to maximise, and how."""

    # minus the margin of a request, or an error if that does not fit the classes
    risk: Callable[[MarginRequest], PairMargin | InstanceMargin]
    search: _Search | None = None  # for a better nu+; None for a single solve
    is_hard: bool = False  # every pair counts, so that `epsilon` is not used
    is_over_rows: bool = False  # nu+ and nu- may be given; both replace `epsilon`

    def uses_epsilon(self, request: MarginRequest) -> bool:
        """Return whether the epsilon of a request makes a difference."""
        is_given = request.nu_pos is not None and request.nu_neg is not None
        return not (self.is_hard or (self.is_over_rows and is_given))


FORMULATIONS = {
    "pairs": Formulation(MarginRequest.pair_risk),
    "hard": Formulation(MarginRequest.hard_risk, is_hard=True),
    "instances": Formulation(MarginRequest.row_risk, is_over_rows=True),
    "adaptive": Formulation(MarginRequest.row_risk, descend, is_over_rows=True),
    "global": Formulation(MarginRequest.row_risk, minimize_curve, is_over_rows=True),
}


def choose_epsilon(
    problem: MarginProblem,
    risk: Callable[[MarginRequest], Risk],
    request: MarginRequest,
) -> MarginRequest:
    """Return the request with the smallest epsilon that leaves a clear margin."""
    # A tenth of the margin at epsilon = 1: near 0, noise decides, far above, easy pairs
    # do. Margins grow with epsilon, so 4 of 15 candidates are solved.
    candidates = [request._replace(epsilon=epsilon) for epsilon in _EPSILONS]
    start = problem.solve(risk(request._replace(epsilon=1.0)), looseness=_LOOSENESS)
    goal = _MIN_MARGIN * start.margin
    chosen, too_small = 0, len(candidates)
    while too_small - chosen > 1 and not problem.limits.is_over:
        middle = (chosen + too_small) // 2
        # without cuts, which would be those of smaller epsilons as well
        result = problem.solve(
            risk(candidates[middle]), start, looseness=_LOOSENESS, enough=goal
        )
        if result.margin >= goal > 0.0:
            chosen, start = middle, result
        else:
            too_small = middle
    return candidates[chosen]
