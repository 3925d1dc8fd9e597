"""Solve linear programs with SciPy's HiGHS, and check what it returns.

HiGHS accepts NaN, and ignores entries that it cannot use. So every number is checked
before it goes in, and the bounds of the solution are computed again afterwards.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from aucmax._core.validation import FloatArray
from aucmax.solvers._linear_model import LinearProgram

__all__ = ["METHODS", "LinearProgramSolution", "solve_program"]

METHODS = {"interior-point": "highs-ipm", "simplex": "highs-ds"}
_MIN_ENTRY = 1e-9  # HiGHS drops entries of the matrix that are not larger
_MAX_ENTRY = 1e15  # HiGHS rejects entries of the matrix that are not smaller
_MAX_ERROR = 1e-6  # of a bound, and of the gap relative to the value
_OPTIMAL, _LIMIT = 0, 1  # SciPy's status


@dataclass(frozen=True)
class LinearProgramSolution:
    """A vertex that HiGHS found, and how good it is by our own arithmetic."""

    x: FloatArray
    multipliers: FloatArray  # of the rows: how much the optimum grows with their bounds
    value: float  # the objective at x
    gap: float  # `value` minus the lower bound that the multipliers prove


def solve_program(
    program: LinearProgram,
    *,
    method: str = "interior-point",
    time_limit: float | None = None,
) -> LinearProgramSolution:
    """Minimise a linear program with HiGHS; the solution is checked.

    Parameters
    ----------
    program : LinearProgram
        The program; it should be scaled so that numbers near 1 matter.
    method : {"interior-point", "simplex"}
        The method of HiGHS; an interior point is moved to a vertex.
    time_limit : float, optional
        Stop after this many seconds.

    Returns
    -------
    LinearProgramSolution
        The solution, with bounds and gap recomputed.

    Raises
    ------
    ValueError
        If a number of the program is not finite, or the method is not known.
    TimeoutError
        If the time limit was reached.
    RuntimeError
        If HiGHS finds no optimum, or one that fails our own check.
    """
    if method not in METHODS:
        known = " or ".join(repr(name) for name in METHODS)
        raise ValueError(f"method must be {known}, got {method!r}.")
    if time_limit is not None and not time_limit > 0.0:
        raise ValueError(f"time_limit must be positive or None, got {time_limit!r}.")
    _check_numbers(program)
    limit = {} if time_limit is None else {"time_limit": time_limit}
    arguments, sides = _scipy_form(program)
    found = _run(**arguments, method=METHODS[method], options=limit)
    if found.status == _LIMIT:
        raise TimeoutError(
            f"HiGHS found no optimum within time_limit={time_limit} seconds. Allow "
            "more time."
        )
    if found.status != _OPTIMAL:
        raise RuntimeError(f"HiGHS found no optimum: {found.message}")
    return _checked_solution(program, found, sides)


def _check_numbers(program: LinearProgram) -> None:
    for name in ("cost", "reach"):
        if not np.isfinite(getattr(program, name)).all():
            raise ValueError(f"the {name} of a linear program must be finite.")
    for name in ("row_low", "row_high", "low", "high"):
        if np.isnan(getattr(program, name)).any():
            raise ValueError(f"{name} of a linear program holds NaN.")
    entries = program.matrix.data
    if not np.isfinite(entries).all():
        raise ValueError("the matrix of a linear program must be finite.")
    if entries.size and np.abs(entries).max() >= _MAX_ENTRY:
        raise ValueError(
            f"the matrix of a linear program has {np.abs(entries).max():g}, and HiGHS "
            f"accepts entries below {_MAX_ENTRY:g} only. Scale the data."
        )


def _scipy_form(program: LinearProgram) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split l <= A x <= u into equations and upper bounds; return their rows, too."""
    matrix = program.matrix.tocsr()
    # else HiGHS would drop them by itself, without a report
    matrix.data[np.abs(matrix.data) <= _MIN_ENTRY] = 0.0
    matrix.eliminate_zeros()
    is_equation = program.row_low == program.row_high
    equations = np.flatnonzero(is_equation)
    above = np.flatnonzero(~is_equation & np.isfinite(program.row_high))
    below = np.flatnonzero(~is_equation & np.isfinite(program.row_low))
    arguments: dict[str, Any] = {
        "c": program.cost,
        "bounds": np.column_stack([program.low, program.high]),
    }
    if equations.size:
        arguments |= {"A_eq": matrix[equations], "b_eq": program.row_high[equations]}
    if above.size or below.size:
        rows = np.concatenate([above, below])
        signs = np.concatenate([np.ones(above.size), -np.ones(below.size)])
        bounds = np.concatenate([program.row_high[above], -program.row_low[below]])
        arguments |= {"A_ub": signs[:, None] * matrix[rows], "b_ub": bounds}
    return arguments, {"eqlin": equations, "above": above, "below": below}


def _run(**arguments: Any) -> Any:
    """Run HiGHS in a thread of its own, so that Ctrl-C is heard at once.

    SciPy cannot stop HiGHS: after Ctrl-C the thread runs on until its time limit, or
    until the process ends.
    """
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(linprog(**arguments))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=work, name="aucmax-highs", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)  # without an end, waiting cannot be interrupted on Windows
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def _checked_solution(
    program: LinearProgram, found: Any, sides: dict[str, Any]
) -> LinearProgramSolution:
    x = np.asarray(found.x, dtype=np.float64)
    multipliers = np.zeros(program.row_low.size)
    if sides["eqlin"].size:
        multipliers[sides["eqlin"]] = found.eqlin.marginals
    n_above = sides["above"].size
    if n_above or sides["below"].size:
        multipliers[sides["above"]] += found.ineqlin.marginals[:n_above]
        multipliers[sides["below"]] -= found.ineqlin.marginals[n_above:]
    if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
        raise RuntimeError("HiGHS called a solution optimal that is not finite.")
    value = float(program.cost @ x)
    gap = value - program.lower_bound(multipliers)
    residual = program.residual(x)
    if residual > _MAX_ERROR or abs(gap) > _MAX_ERROR * max(1.0, abs(value)):
        raise RuntimeError(
            "HiGHS called a solution optimal that breaks a bound by "
            f"{residual:.2g} and whose gap is {gap:.2g} at a value of {value:.6g}. "
            "Try the other method, or scale the data."
        )
    return LinearProgramSolution(x, multipliers, value, gap)
