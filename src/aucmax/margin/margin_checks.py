"""Checks of parameters and rows before a fit, and warnings after it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from aucmax._core import parameters
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.exceptions import MarginWarning
from aucmax.hypotheses.hypothesis_ranker import check_hypotheses
from aucmax.margin.formulations import FORMULATIONS
from aucmax.margin.margin_problem import MarginProblem, MarginResult

_HYPOTHESES = ("features", "signed", "stumps", "precomputed")


def check_parameters(estimator: Any) -> None:
    """Raise an error that names the first parameter whose value makes no sense."""
    parameters.check_choice("formulation", estimator.formulation, FORMULATIONS)
    check_hypotheses(estimator.hypotheses, _HYPOTHESES)
    if not is_automatic(estimator.epsilon):
        parameters.check_interval(
            "epsilon, unless it is 'auto',", estimator.epsilon, 1.0
        )
    elif FORMULATIONS[estimator.formulation].is_over_rows and (
        (estimator.nu_pos is None) != (estimator.nu_neg is None)
    ):
        raise ValueError(
            "with only one of nu_pos and nu_neg, the other one follows from epsilon: "
            "give a number for epsilon instead of 'auto', or give both."
        )
    for name in ("nu_pos", "nu_neg"):
        if getattr(estimator, name) is not None:
            parameters.check_positive(name, getattr(estimator, name))
    parameters.check_positive("tol", estimator.tol)
    parameters.check_integer("max_iter", estimator.max_iter)
    parameters.check_max_time(estimator.max_time)
    parameters.check_integer("curve_points", estimator.curve_points, 0)


def is_automatic(epsilon: Any) -> bool:
    """Return whether epsilon is to be chosen."""
    return isinstance(epsilon, str) and epsilon == "auto"


def check_class_rows(
    classes: NDArray[Any], labels: BoolArray, weight: FloatArray | None
) -> None:
    """Raise an error if a class is a single row, of a weight below that of two."""
    for label, members in zip(classes, (~labels, labels), strict=True):
        rows = np.flatnonzero(members)
        if rows.size < 2 and (weight is None or weight[rows].sum() < 2.0):
            raise ValueError(
                f"class {label!r} has only 1 row with any weight; a margin over pairs "
                "needs at least two rows of each class."
            )


def convergence_warning(
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
        return "Raise max_time, or accept the gap."
    if problem.limits.is_over:
        return "The callback stopped the fit."
    if n_iter >= estimator.max_iter:
        return "Raise max_iter, or accept the gap."
    return "Rounding keeps the gap from falling further: accept the gap."
