"""Which hypotheses a user may choose, and the problem each choice makes."""

from typing import Any, TypeAlias

import numpy as np

from aucmax._validation import BoolArray, FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.hypotheses import (
    FeatureEnsemble,
    PrecomputedColumns,
    ScaledColumns,
    StumpEnsemble,
)
from aucmax.margin.problem import ColumnProblem
from aucmax.margin.program_problem import ProgramProblem
from aucmax.margin.stump_problem import StumpProblem
from aucmax.solvers import StoppingRule

__all__ = ["HYPOTHESES", "SOLVERS", "AnyProblem", "ensemble_of", "make_problem"]

AnyProblem: TypeAlias = ColumnProblem | ProgramProblem | StumpProblem

HYPOTHESES = ("features", "signed", "stumps", "precomputed")
SOLVERS: dict[str, type[ColumnProblem] | type[ProgramProblem]] = {
    "bundle": ColumnProblem,
    "lp": ProgramProblem,
}


def make_problem(
    kind: str,
    X: Any,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    *,
    names: Any,
    stopping: StoppingRule,
    solver: str,
) -> AnyProblem:
    """Make the problem of one kind of hypotheses on checked data."""
    if kind == "stumps":
        if solver != "bundle":
            raise IncompatibleError(
                f"solver={solver!r} needs all hypotheses as columns, and stumps are "
                "generated one by one. Use solver='bundle', or list the stumps with "
                "aucmax.hypotheses.stump_values and hypotheses='precomputed'."
            )
        problem = StumpProblem(X, labels, sample_weight, stopping=stopping, names=names)
        _check_any(problem.stumps.n_stumps)
        return problem
    hypotheses: PrecomputedColumns | ScaledColumns
    if kind == "precomputed":
        hypotheses = PrecomputedColumns.fit(X, names)
        # a constant hypothesis is one all the same: with it, a margin is 0 at least
        usable = np.arange(hypotheses.n_hypotheses)
    else:
        hypotheses = ScaledColumns.fit(X, names)
        usable = np.flatnonzero(~hypotheses.constant)
    _check_any(int(np.count_nonzero(~hypotheses.constant)))
    return SOLVERS[solver](
        hypotheses,
        labels,
        sample_weight,
        signed=kind == "signed",
        usable=usable,
        stopping=stopping,
    )


def ensemble_of(
    problem: AnyProblem, weights: FloatArray
) -> FeatureEnsemble | StumpEnsemble:
    """Return the scoring function of these weights; zeros are left out."""
    used = np.flatnonzero(weights)
    if isinstance(problem, StumpProblem):
        chosen = problem.chosen
        return StumpEnsemble(chosen.column[used], weights[used], chosen.threshold[used])
    hypotheses = problem.hypotheses
    if isinstance(hypotheses, ScaledColumns):
        return FeatureEnsemble(used, weights[used], hypotheses.low, hypotheses.high)
    ones = np.ones(weights.size)
    return FeatureEnsemble(used, weights[used], -ones, ones)


def _check_any(n_varying: int) -> None:
    if n_varying == 0:
        raise ValueError(
            "every column of X is constant, so no hypothesis can tell rows apart. Give "
            "at least one feature that varies."
        )
