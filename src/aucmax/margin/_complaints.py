"""What a user should hear about a fit that is not all it could be."""

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from aucmax.exceptions import MarginWarning
from aucmax.margin.formulations import FORMULATIONS
from aucmax.margin.problem import MarginProblem, MarginResult

__all__ = ["complaint"]


def complaint(
    estimator: Any,
    result: MarginResult,
    problem: MarginProblem,
    epsilon: float,
    n_iter: int,
) -> tuple[str, type[Warning]] | None:
    """Return the text and the category of a warning, or None."""
    if not result.converged:
        relative = problem.relative_gap(result)
        missed = (
            f"tol={estimator.tol:g} was not reached"
            if relative > estimator.tol
            else "the search for nu_pos was cut short"
        )
        return (
            f"stopped at a relative gap of {relative:.2g} after {n_iter} iterations; "
            f"{missed}. {_what_ended_it(estimator, problem, n_iter)}"
        ), ConvergenceWarning
    if result.margin > problem.tolerance(0.0):
        return None
    if FORMULATIONS[estimator.formulation].is_hard:
        return (
            f"the largest margin is {result.margin:.3g}, not above 0: no combination "
            "of these hypotheses ranks every pair right. Use formulation='pairs' to "
            "let some pairs miss the margin."
        ), MarginWarning
    text = (
        f"the largest margin at epsilon={epsilon:g} is {result.margin:.3g}, not above "
        "0: no combination of these hypotheses ranks that share of the pairs, the "
        "worst ones, right on average."
    )
    if not result.weights.any():
        text += " No hypothesis has any weight, so all scores are equal."
    text += " Raise epsilon to let more pairs miss the margin, or use 'auto'."
    if estimator.hypotheses == "features":
        text += " Or try hypotheses='signed' or 'stumps'."
    return text, MarginWarning


def _what_ended_it(estimator: Any, problem: MarginProblem, n_iter: int) -> str:
    if problem.limits.seconds_left == 0.0:
        return "That is max_time: allow more, or accept the gap."
    if problem.limits.is_over:
        return "The callback asked to stop."
    if n_iter >= estimator.max_iter:
        return "Allow more max_iter, or accept the gap."
    return "Rounding keeps the gap from falling further: accept the gap."
