"""Parameters and rows, checked before anything is solved."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aucmax._core.parameters import (
    check_choice,
    check_integer,
    check_interval,
    check_max_time,
    check_positive,
)
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.hypotheses.hypothesis_ranker import check_hypotheses
from aucmax.margin.formulations import FORMULATIONS
from aucmax.margin.hypothesis_sets import HYPOTHESES

__all__ = ["check_class_rows", "check_parameters", "is_automatic"]


def check_parameters(estimator: Any) -> None:
    """Raise an error that names the first parameter whose value makes no sense."""
    check_choice("formulation", estimator.formulation, FORMULATIONS)
    check_hypotheses(estimator.hypotheses, HYPOTHESES)
    if not is_automatic(estimator.epsilon):
        check_interval("epsilon, unless it is 'auto',", estimator.epsilon, 1.0)
    elif FORMULATIONS[estimator.formulation].is_over_rows and (
        (estimator.nu_pos is None) != (estimator.nu_neg is None)
    ):
        raise ValueError(
            "with only one of nu_pos and nu_neg, the other one follows from epsilon: "
            "give a number for epsilon instead of 'auto', or give both."
        )
    for name in ("nu_pos", "nu_neg"):
        if getattr(estimator, name) is not None:
            check_positive(name, getattr(estimator, name))
    check_positive("tol", estimator.tol)
    check_integer("max_iter", estimator.max_iter)
    check_max_time(estimator.max_time)
    curve_points = estimator.curve_points
    if not isinstance(curve_points, Integral) or curve_points < 0:
        raise ValueError(
            f"curve_points must be an integer of at least 0, got {curve_points!r}."
        )


def is_automatic(epsilon: Any) -> bool:
    """Tell whether epsilon is to be chosen."""
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
