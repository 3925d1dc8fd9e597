"""The formulations of the paper: which margin to maximise, and how to choose nu+.

Also the checks of their parameters and rows, and the warnings after a fit.
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aucmax._core import parameters
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.exceptions import MarginWarning
from aucmax.hypotheses.hypothesis_ranker import check_hypotheses
from aucmax.margin.margin_certificate import ROUNDING_OF_SUMS, ClassSizes
from aucmax.margin.margin_problem import MarginProblem, MarginSolution
from aucmax.margin.nu_search import descend, minimize_curve
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin

_HYPOTHESES = ("features", "signed", "stumps", "precomputed")
_EPSILONS = (
    *(0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15),
    *(0.1, 0.07, 0.05, 0.03, 0.02, 0.01),
)
_MIN_MARGIN = 0.1  # of the largest mean margin over all pairs
_LOOSENESS = 10.0  # of the margins that are compared with it


MarginRisk: TypeAlias = PairMargin | InstanceMargin


def _pair_margin(sizes: ClassSizes, epsilon: float, *_: float | None) -> PairMargin:
    """Return the soft margin over pairs: problems (2) and (3)."""
    return PairMargin(epsilon * sizes.n_pairs)


def _hard_margin(sizes: ClassSizes, *_: float | None) -> PairMargin:
    """Return the smallest margin of any pair: problems (4) and (5)."""
    return PairMargin(sizes.lightest_pair)


def _instance_margin(
    sizes: ClassSizes, epsilon: float, nu_pos: float | None, nu_neg: float | None
) -> InstanceMargin:
    """Return the margin of the reduction to instances: problems (7) and (8)."""
    totals = {"nu_pos": sizes.positive, "nu_neg": sizes.negative}
    params = {"nu_pos": nu_pos, "nu_neg": nu_neg}
    for name, nu in params.items():
        limit = totals[name] * (1.0 + ROUNDING_OF_SUMS)
        if nu is not None and not 0.0 < nu <= limit:
            raise ValueError(
                f"{name} must be above 0 and at most {totals[name]:g}, the weight of "
                f"its class, got {nu!r}."
            )
    # by Corollary 4 both have equal shares, unless one is set
    product, share = epsilon * sizes.n_pairs, float(np.sqrt(epsilon))
    if nu_pos is None:
        nu_pos = share * sizes.positive if nu_neg is None else product / nu_neg
    if nu_neg is None:
        is_set = params["nu_pos"] is not None
        nu_neg = product / nu_pos if is_set else share * sizes.negative
    for (name, total), nu in zip(totals.items(), (nu_pos, nu_neg), strict=True):
        if nu > total * (1.0 + ROUNDING_OF_SUMS):
            raise ValueError(
                f"{name} = {nu:g} follows from epsilon and the other nu, but its "
                f"class weighs {total:g}. Give both nu_pos and nu_neg, or a smaller "
                "epsilon."
            )
    return InstanceMargin(float(nu_pos), float(nu_neg))


class Formulation(NamedTuple):
    """Which margin to maximise, and how."""

    # minus the margin, from the sizes of the classes, epsilon, nu+ and nu-; an error if
    # these do not fit the classes
    risk: Callable[[ClassSizes, float, float | None, float | None], MarginRisk]
    # for a better nu+, from a problem, a risk, a start and the points of its curve;
    # None for a single solve
    search: Callable[[MarginProblem, Any, Any, int], MarginSolution] | None = None
    is_hard: bool = False  # every pair counts, so that `epsilon` is not used
    is_over_rows: bool = False  # nu+ and nu- may be set; both replace `epsilon`


FORMULATIONS = {
    "pairs": Formulation(_pair_margin),
    "hard": Formulation(_hard_margin, is_hard=True),
    "instances": Formulation(_instance_margin, is_over_rows=True),
    "adaptive": Formulation(_instance_margin, descend, is_over_rows=True),
    "global": Formulation(_instance_margin, minimize_curve, is_over_rows=True),
}


def uses_epsilon(estimator: Any) -> bool:
    """Return whether the epsilon of an estimator makes a difference."""
    formulation = FORMULATIONS[estimator.formulation]
    has_both = estimator.nu_pos is not None and estimator.nu_neg is not None
    return not (formulation.is_hard or (formulation.is_over_rows and has_both))


def choose_epsilon(
    problem: MarginProblem, risk_at: Callable[[float], MarginRisk]
) -> float:
    """Return the smallest epsilon that leaves a clear margin."""
    # A tenth of the margin at epsilon = 1: near 0, noise decides, far above, easy pairs
    # do. Margins grow with epsilon, so 4 of 15 candidates are solved.
    start = problem.solve(risk_at(1.0), looseness=_LOOSENESS)
    goal = _MIN_MARGIN * start.margin
    chosen, too_small = 0, len(_EPSILONS)
    while too_small - chosen > 1 and not problem.is_over:
        middle = (chosen + too_small) // 2
        # without cuts, which would be those of smaller epsilons as well
        solution = problem.solve(
            risk_at(_EPSILONS[middle]), start, looseness=_LOOSENESS, enough=goal
        )
        if solution.margin >= goal > 0.0:
            chosen, start = middle, solution
        else:
            too_small = middle
    return _EPSILONS[chosen]


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


def warn_of_margin(
    estimator: Any,
    solution: MarginSolution,
    problem: MarginProblem,
    epsilon: float,
) -> None:
    """Warn if the solution is not certified, or if its margin is not above 0."""
    if not solution.converged:
        stopping = replace(problem.stopping, floor=problem.floor)
        solution.warn_if_unfinished(stopping, stacklevel=5)
        return
    if solution.margin > problem.tolerance(0.0):
        return
    if FORMULATIONS[estimator.formulation].is_hard:
        message = (
            f"the largest margin is {solution.margin:.3g}, not above 0: no combination "
            "of these hypotheses ranks every pair right. Use formulation='pairs' to "
            "let some pairs miss the margin."
        )
    else:
        message = (
            f"the largest margin at epsilon={epsilon:g} is {solution.margin:.3g}, not "
            "above 0: no combination of these hypotheses ranks that share of the "
            "pairs, the worst ones, right on average."
        )
        if not solution.point.parameters.any():
            message += " No hypothesis has any weight, so all scores are equal."
        message += " Raise epsilon to let more pairs miss the margin, or use 'auto'."
        if estimator.hypotheses == "features":
            message += " Or try hypotheses='signed' or 'stumps'."
    warnings.warn(message, MarginWarning, stacklevel=4)
