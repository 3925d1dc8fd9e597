"""True zeros: weights that the regularizer and the tolerance do not need."""

import numpy as np

from aucmax.regularizers.regularizer import ProximalRegularizer, Regularizer
from aucmax.solvers.risk_objective import RiskObjective, value_at
from aucmax.solvers.solver import Solution, StoppingRule

_MIN_STEP, _MAX_STEP = -8.0, 3.0  # powers of 10 times the largest weight
_MAX_INTERVAL = 0.5  # powers of 10 to which the bisection goes
_MAX_TRIES = 4  # points that are evaluated
_MAX_COST = 0.1  # share of the tolerance; weights that cost more stay


def drop_negligible_weights(
    solution: Solution,
    objective: RiskObjective,
    regularizer: Regularizer,
    stopping: StoppingRule,
) -> Solution:
    r"""Set weights to 0 that the certificate of the solution does not need.

    The mixed cuts of the certificate have nearly the slope :math:`a` of the risk at the
    optimum, so a proximal step :math:`\mathrm{prox}(w - \tau C a)` has nearly its
    zeros, the more the longer the step. Bisection finds the longest step whose zeros
    leave the gap within the tolerance, in at most two passes.
    """
    w = solution.point.parameters
    is_margin = objective.least_value == -np.inf  # which have an own pruning
    if is_margin or not isinstance(regularizer, ProximalRegularizer) or not w.any():
        return solution
    largest = float(np.abs(w).max())
    bound, before = solution.value - solution.gap, solution.value
    slope = objective.C * solution.cuts.mixed(solution.cuts.multipliers)
    n_fewest, too_few = int(np.count_nonzero(w)), 0  # weights kept
    short, long, n_tries = _MIN_STEP, _MAX_STEP, 0
    while long - short > _MAX_INTERVAL and n_tries < _MAX_TRIES:
        power = (short + long) / 2.0
        step = largest * 10.0**power
        kept = np.where(regularizer.prox(w - step * slope, step) != 0.0, w, 0.0)
        n_kept = int(np.count_nonzero(kept))
        if n_kept >= n_fewest:
            short = power
        elif n_kept <= too_few:
            long = power
        else:
            n_tries += 1
            point = objective.at(kept)
            value = value_at(point, objective, regularizer)
            gap = max(value - bound, 0.0)
            is_cheap = stopping.is_reached(value, (value - before) / _MAX_COST)
            if is_cheap and (stopping.is_reached(value, gap) or value <= before):
                solution.point, solution.value, solution.gap = point, value, gap
                n_fewest, short = n_kept, power
            else:
                too_few, long = n_kept, power
    return solution
