"""Which hypotheses a user may choose, and the problem each choice makes."""

from typing import Any

import numpy as np

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.hypotheses import PrecomputedColumns, ScaledColumns
from aucmax.margin.column_problem import ColumnProblem
from aucmax.margin.problem import MarginProblem
from aucmax.margin.stump_problem import StumpProblem
from aucmax.solvers import StoppingRule

__all__ = ["HYPOTHESES", "make_problem"]

HYPOTHESES = ("features", "signed", "stumps", "precomputed")


def make_problem(
    kind: str,
    X: Any,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    *,
    names: Any,
    stopping: StoppingRule,
) -> MarginProblem:
    """Make the problem of one kind of hypotheses on checked data."""
    if kind == "stumps":
        problem = StumpProblem(X, labels, sample_weight, stopping, names)
        _check_any(problem.stumps.n_stumps)
        return problem
    is_own = kind == "precomputed"
    hypotheses = (PrecomputedColumns if is_own else ScaledColumns).fit(X, names)
    varying = np.flatnonzero(~hypotheses.constant)
    _check_any(varying.size)
    # a constant hypothesis of the user's own is one all the same: its margin is 0
    all_count = is_own or varying.size == hypotheses.n_hypotheses
    return ColumnProblem(
        hypotheses,
        labels,
        sample_weight,
        stopping,
        None if all_count else varying,
        signed=kind == "signed",
    )


def _check_any(n_varying: int) -> None:
    if n_varying == 0:
        raise ValueError(
            "every column of X is constant, so no hypothesis can tell rows apart. Give "
            "at least one feature that varies."
        )
