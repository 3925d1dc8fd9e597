"""Leave out weights that the tolerance does not need."""

from dataclasses import replace

import numpy as np

from aucmax._core.validation import FloatArray, IntArray
from aucmax.margin.problem import MarginProblem, MarginResult
from aucmax.risks.contract import Risk

__all__ = ["pruned"]

# times the weight that may go whatever it does; each one tried costs half a pass
_MULTIPLES_TRIED = (1.0, 8.0, 64.0)


def pruned(
    problem: MarginProblem, risk: Risk, result: MarginResult, budget: float = 1.0
) -> MarginResult:
    """Drop as many of the smallest weights as `budget` times the tolerance allows.

    A solver that moves through the inside of a simplex leaves a little weight on most
    hypotheses. What is dropped is given to the others in proportion, and the margin
    computed anew: a little smaller at most, with the same certified margin + gap.
    """
    order = np.argsort(np.abs(result.weights))
    order = order[result.weights[order] != 0.0]
    loss = budget * problem.tolerance(result.margin) - result.gap
    if not result.converged or loss <= 0.0 or order.size == 0:
        return result
    weight = np.abs(result.weights[order]).cumsum()
    best, n_before = result, 0
    for multiple in _MULTIPLES_TRIED:
        # weight w moved from one hypothesis to another moves a margin by 2 w at most
        allowed = min(multiple * loss / 2.0, 0.5) * weight[-1]
        n_dropped = int(np.searchsorted(weight, allowed))
        if n_dropped == n_before:
            continue
        n_before = n_dropped
        candidate = _rescored(problem, risk, result, order[:n_dropped])
        if candidate.margin < result.margin - loss:
            break
        best = candidate
    return best


def _rescored(
    problem: MarginProblem, risk: Risk, result: MarginResult, dropped: IntArray
) -> MarginResult:
    """Return the result without some of its weights."""
    weights: FloatArray = result.weights.copy()
    weights[dropped] = 0.0
    weights *= np.abs(result.weights).sum() / np.abs(weights).sum()
    scores = problem.scores(weights)
    margin = 0.0 - risk.bind(problem.labels, problem.sample_weight).value(scores)
    gap = max(result.margin + result.gap - margin, 0.0)
    return replace(result, weights=weights, scores=scores, margin=margin, gap=gap)
