"""The formulations of the paper: which margin to maximise, and how to choose nu+.

Also the checks of their parameters and rows, and the warnings after a fit.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from aucmax._core import parameters
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.exceptions import MarginWarning
from aucmax.hypotheses.hypothesis_ranker import check_hypotheses
from aucmax.margin.margin_problem import MarginProblem, MarginResult
from aucmax.margin.margin_request import MarginRequest
from aucmax.margin.nu_search import descend, minimize_curve
from aucmax.risks.contract import Risk
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin

_HYPOTHESES = ("features", "signed", "stumps", "precomputed")
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
