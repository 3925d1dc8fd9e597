"""Compiled sums of the partial likelihood of Cox's model."""

# mypy: disable-error-code="no-untyped-def"

import math
from collections import namedtuple

import numpy as np

from aucmax._core.compiled import njit

#: rows by stratum and time: where distinct times start (and the end), the first time of
#: each stratum (and the end), scores, weights, and weights of events (0: censored)
RowsAtRisk = namedtuple("RowsAtRisk", "times strata scores weights events")


@njit(cache=True, nogil=True)
def sum_likelihood(rows, gradient, hessian):
    """Fill both derivatives of the negative log-likelihood; return its value.

    Sums over a risk set are kept in units of exp(its log), and those over past times in
    units of exp(-log) of the present risk set, which only shrinks: no factor exceeds 1.
    """
    value = 0.0
    logs = np.empty(rows.times.size - 1)  # of the sum of w exp(s) over each risk set
    deaths = np.empty(rows.times.size - 1)
    for stratum in range(rows.strata.size - 1):
        first, last = rows.strata[stratum], rows.strata[stratum + 1]
        top, total = -np.inf, 0.0
        for time in range(last - 1, first - 1, -1):
            deaths[time] = 0.0
            for row in range(rows.times[time], rows.times[time + 1]):
                weight, score = rows.weights[row], rows.scores[row]
                if weight == 0.0:
                    continue
                if score > top:
                    total *= math.exp(top - score)
                    top = score
                total += weight * math.exp(score - top)
                deaths[time] += rows.events[row]
            logs[time] = top + math.log(total) if total > 0.0 else -np.inf
        hazard, square, before = 0.0, 0.0, np.inf
        for time in range(first, last):
            if logs[time] > -np.inf:
                shrunk = math.exp(logs[time] - before)
                before = logs[time]
                hazard = hazard * shrunk + deaths[time]
                square = square * shrunk * shrunk + deaths[time]
            for row in range(rows.times[time], rows.times[time + 1]):
                gradient[row] = hessian[row] = 0.0
                if rows.weights[row] > 0.0:
                    value += rows.events[row] * (before - rows.scores[row])
                    # above 709 math.exp raises; only weights below 1e-308 lead there
                    height = min(rows.scores[row] - before, 709.0)
                    share = rows.weights[row] * math.exp(height)
                    gradient[row] = share * hazard - rows.events[row]
                    hessian[row] = max(share * hazard - share * share * square, 0.0)
    return value
