"""How many pairs may miss the margin? As few as the data allow."""

from collections.abc import Callable

from aucmax.margin.problem import MarginProblem
from aucmax.margin.request import Request
from aucmax.risks.contract import Risk

__all__ = ["choose_epsilon"]

_EPSILONS = (
    *(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15),
    *(0.1, 0.07, 0.05, 0.03, 0.02, 0.01),
)
_LEAST_MARGIN = 0.1  # of the largest mean margin over all pairs
_LOOSENESS = 10.0  # of the margins that are compared with it


def choose_epsilon(
    problem: MarginProblem, risk: Callable[[Request], Risk], request: Request
) -> Request:
    """Return the request with the smallest epsilon that leaves a clear margin.

    That is a tenth of the largest mean margin of all pairs, which is the margin at
    epsilon = 1. The harder the data are to rank, the larger is this epsilon: where the
    margin is near 0, noise decides, and where it is far above, easy pairs do. Margins
    grow with epsilon, so that 4 of 15 candidates are solved; if none has this margin,
    the largest is taken.
    """
    candidates = [request._replace(epsilon=epsilon) for epsilon in _EPSILONS]
    start = problem.solve(risk(request._replace(epsilon=1.0)), looseness=_LOOSENESS)
    aim = _LEAST_MARGIN * start.margin
    chosen, too_small = 0, len(candidates)
    while too_small - chosen > 1 and not problem.limits.is_over:
        middle = (chosen + too_small) // 2
        # without cuts, which would be those of smaller epsilons as well
        result = problem.solve(
            risk(candidates[middle]), start, looseness=_LOOSENESS, enough=aim
        )
        if result.margin >= aim > 0.0:
            chosen, start = middle, result
        else:
            too_small = middle
    return candidates[chosen]
