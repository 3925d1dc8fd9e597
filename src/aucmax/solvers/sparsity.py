"""True zeros: weights that a regularizer would remove, and the tolerance can spare."""

import numpy as np

from aucmax.regularizers.regularizer import ProximalRegularizer, Regularizer
from aucmax.solvers.solver import Objective, Solution, StoppingRule, value_at

_SHORTEST_STEP, _MAX_STEP = -8.0, 3.0  # powers of 10 times the largest weight
_MAX_INTERVAL = 0.5  # powers of 10 to which the bisection goes
_MAX_TRIES = 4  # points whose value is looked at
_MAX_COST = 0.1  # share of the tolerance; weights that cost more are no dust


def drop_negligible_weights(
    solution: Solution,
    objective: Objective,
    regularizer: Regularizer,
    stopping: StoppingRule,
) -> Solution:
    r"""Set weights to 0 that the certificate of the solution says are not needed.

    A point between two sparse ones is not sparse. The mixed cuts of the certificate
    have nearly the slope :math:`a` of the risk at the optimum, so a proximal step
    :math:`\mathrm{prox}(w - \tau C a)` has nearly the zeros of the optimum, the more of
    them the longer the step. By bisection, the longest step is found whose zeros cost
    next to nothing and leave the gap within the tolerance. Costs at most two passes,
    and none if nothing is in question. Without a proximal operator the solution stays
    as it is.
    """
    w = solution.point.parameters
    if not isinstance(regularizer, ProximalRegularizer) or not w.any():
        return solution
    largest = float(np.abs(w).max())
    bound, before = solution.value - solution.gap, solution.value
    slope = objective.C * solution.cuts.mixed(solution.cuts.multipliers)
    fewest, refused = int(np.count_nonzero(w)), 0  # weights kept
    short, long, n_tries = _SHORTEST_STEP, _MAX_STEP, 0
    while long - short > _MAX_INTERVAL and n_tries < _MAX_TRIES:
        power = (short + long) / 2.0
        step = largest * 10.0**power
        kept = np.where(regularizer.prox(w - step * slope, step) != 0.0, w, 0.0)
        n_kept = int(np.count_nonzero(kept))
        if n_kept >= fewest:
            short = power
        elif n_kept <= refused:
            long = power
        else:
            n_tries += 1
            point = objective.at(kept)
            value = value_at(point, objective, regularizer)
            gap = max(value - bound, 0.0)
            is_dust = stopping.is_reached(value, (value - before) / _MAX_COST)
            if is_dust and (stopping.is_reached(value, gap) or value <= before):
                solution.point, solution.value, solution.gap = point, value, gap
                fewest, short = n_kept, power
            else:
                refused, long = n_kept, power
    return solution
