r"""One door to HiGHS: a linear program in, a checked solution out.

HiGHS reports trouble by return values, takes NaN without complaint, and drops what it
cannot use. So nothing goes in unseen, every answer is looked at, and the bounds of the
solution are computed again here, with the numbers of the caller.
"""

import importlib
import math
import sys
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import Any

import numpy as np

from aucmax._validation import FloatArray
from aucmax.solvers._linear_model import LinearProgram

__all__ = ["METHODS", "LinearProgramSolution", "solve_program"]

METHODS = {
    "interior-point": {"solver": "ipm", "run_crossover": "on"},
    "simplex": {"solver": "simplex"},
}
_SMALLEST_ENTRY = 1e-9  # HiGHS drops entries of the matrix that are not larger
_LARGEST_ENTRY = 1e15  # HiGHS refuses entries of the matrix that are not smaller
_LARGEST_ERROR = 1e-6  # of a bound, and of the gap relative to the value


@dataclass(frozen=True)
class LinearProgramSolution:
    """What HiGHS found, and how good it is by our own arithmetic."""

    x: FloatArray
    multipliers: FloatArray  # of the rows: how much the optimum grows with their bounds
    value: float  # the objective at x
    gap: float  # `value` minus the lower bound that the multipliers prove
    n_iter: int  # of all of HiGHS's methods together


def solve_program(
    program: LinearProgram,
    *,
    method: str = "interior-point",
    time_limit: float | None = None,
) -> LinearProgramSolution:
    """Solve a linear program with HiGHS, to a vertex.

    Parameters
    ----------
    program : LinearProgram
        The program; it should be scaled so that numbers near 1 matter.
    method : {"interior-point", "simplex"}
        What HiGHS runs; an interior point is moved to a vertex.
    time_limit : float, optional
        The most seconds.

    Returns
    -------
    LinearProgramSolution
        The solution; its bounds and its gap were computed anew.

    Raises
    ------
    ValueError
        If a number of the program is not finite, or the method is not known.
    TimeoutError
        If the time limit was reached.
    RuntimeError
        If HiGHS finds no optimum, or one that does not bear our own check.
    """
    if method not in METHODS:
        known = " or ".join(repr(name) for name in METHODS)
        raise ValueError(f"method must be {known}, got {method!r}.")
    if time_limit is not None and not time_limit > 0.0:
        raise ValueError(f"time_limit must be positive or None, got {time_limit!r}.")
    _check_numbers(program)
    highs = _load(program, {**METHODS[method], "time_limit": time_limit})
    _accept(_run(highs), "run")
    _check_status(highs, time_limit)
    return _checked_solution(program, highs)


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
    if entries.size and np.abs(entries).max() >= _LARGEST_ENTRY:
        raise ValueError(
            f"the matrix of a linear program has {np.abs(entries).max():g}, and HiGHS "
            f"takes no entry of {_LARGEST_ENTRY:g} or more. Scale the data."
        )


def _import_highspy() -> Any:
    """Import HiGHS, which only the process can have that has no other version of it."""
    try:
        return importlib.import_module("highspy")
    except ImportError as error:
        if "ortools" not in sys.modules:
            raise
        raise ImportError(
            "HiGHS cannot be loaded into a process that has imported OR-Tools, which "
            "brings another version of it along. Use one of them per process, or a "
            f"solver that needs no linear program ({error})."
        ) from error


def _load(program: LinearProgram, options: dict[str, Any]) -> Any:
    """Hand the program over in whole arrays."""
    highspy = _import_highspy()
    highs = highspy.Highs()
    for name, value in {"output_flag": False, **options}.items():
        if value is not None:
            _accept(highs.setOptionValue(name, value), f"setting {name}={value!r}")
    matrix = program.matrix.copy()
    # else HiGHS would drop them by itself, with a warning that looks like any other
    matrix.data[np.abs(matrix.data) <= _SMALLEST_ENTRY] = 0.0
    matrix.eliminate_zeros()
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = matrix.shape
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = program.low, program.high
    model.row_lower_, model.row_upper_ = program.row_low, program.row_high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = matrix.indptr
    model.a_matrix_.index_ = matrix.indices
    model.a_matrix_.value_ = matrix.data
    _accept(highs.passModel(model), "passModel")
    return highs


def _run(highs: Any) -> Any:
    """Run HiGHS in a thread of its own, so that Ctrl-C ends it."""
    outcome: list[Any] = []
    highs.HandleUserInterrupt = True
    thread = Thread(target=lambda: outcome.append(highs.run()), daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        highs.cancelSolve()
        with suppress(KeyboardInterrupt):
            thread.join()
        raise
    return outcome[0]


def _accept(status: Any, action: str) -> None:
    """Refuse every answer but a plain yes; after a run, its result is judged."""
    highspy = _import_highspy()
    fine = {highspy.HighsStatus.kOk}
    if action == "run":
        fine.add(highspy.HighsStatus.kWarning)
    if status not in fine:
        raise RuntimeError(f"HiGHS answered {status.name} to {action}.")


def _check_status(highs: Any, time_limit: float | None) -> None:
    highspy = _import_highspy()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise TimeoutError(
            f"HiGHS found no optimum within time_limit={time_limit:g} seconds. Allow "
            "more time, or use the bundle solver, which never lists the pairs."
        )
    if status != highspy.HighsModelStatus.kOptimal:
        raise RuntimeError(
            f"HiGHS ended with status {highs.modelStatusToString(status)!r} instead "
            "of an optimum."
        )


def _checked_solution(program: LinearProgram, highs: Any) -> LinearProgramSolution:
    solution, info = highs.getSolution(), highs.getInfo()
    x = np.asarray(solution.col_value, dtype=np.float64)
    multipliers = np.asarray(solution.row_dual, dtype=np.float64)
    if not (np.isfinite(x).all() and np.isfinite(multipliers).all()):
        raise RuntimeError("HiGHS called a solution optimal that is not finite.")
    value = float(program.cost @ x)
    gap = value - program.lower_bound(multipliers)
    residual = program.residual(x)
    if residual > _LARGEST_ERROR or abs(gap) > _LARGEST_ERROR * max(1.0, abs(value)):
        raise RuntimeError(
            "HiGHS called a solution optimal that breaks a bound by "
            f"{residual:.2g} and whose gap is {gap:.2g} at a value of {value:.6g}. "
            "Try the other method, or scale the data."
        )
    counts = ("simplex", "ipm", "crossover")
    n_iter = sum(max(0, getattr(info, f"{name}_iteration_count")) for name in counts)
    return LinearProgramSolution(x, multipliers, value, gap, math.floor(n_iter))
