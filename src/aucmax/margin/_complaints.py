"""What a user should hear about a fit that is not all it could be."""

from collections.abc import Mapping
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from aucmax.exceptions import MarginWarning
from aucmax.margin.problem import MarginProblem, MarginResult

__all__ = ["complaint"]


def complaint(
    parameters: Mapping[str, Any],
    result: MarginResult,
    problem: MarginProblem,
    n_iter: int,
) -> tuple[str, type[Warning]] | None:
    """Return the text and the category of a warning, or None."""
    if not result.converged:
        return _unfinished(parameters["tol"], result, problem, n_iter)
    if result.margin <= problem.tolerance(0.0):
        return _no_margin(parameters, result.margin)
    return None


def _unfinished(
    tol: float, result: MarginResult, problem: MarginProblem, n_iter: int
) -> tuple[str, type[Warning]]:
    relative = result.gap / max(abs(result.margin), problem.floor)
    missed = (
        f"tol={tol:g} was not reached"
        if relative > tol
        else "the search for nu_pos was cut short"
    )
    return (
        f"stopped at a relative gap of {relative:.2g} after {n_iter} iterations; "
        f"{missed}. Allow more max_iter or max_time, or accept the gap."
    ), ConvergenceWarning


def _no_margin(
    parameters: Mapping[str, Any], margin: float
) -> tuple[str, type[Warning]]:
    is_hard = parameters["formulation"] == "hard"
    share = "" if is_hard else f" of epsilon={parameters['epsilon']:g}"
    text = (
        f"the largest margin{share} is {margin:.3g}, not above 0: no combination of "
        "these hypotheses beats chance by a margin on the pairs that count."
    )
    if not is_hard:
        text += " Raise epsilon to let more pairs miss it."
    if parameters["hypotheses"] == "features":
        text += " Try hypotheses='signed' or 'stumps'."
    return text, MarginWarning
