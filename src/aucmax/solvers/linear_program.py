"""Linear programs: written block by block, solved by SciPy's HiGHS, and checked.

HiGHS accepts NaN, and ignores entries that it cannot use. So every number is checked
before it goes in, and the bounds of the solution are computed again afterwards.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from aucmax._core.validation import FloatArray

__all__ = ["METHODS", "LinearModel", "LinearProgram", "solve_program"]

Variables: TypeAlias = slice  # of the columns; constraints are slices of the rows

METHODS = {"interior-point": "highs-ipm", "simplex": "highs-ds"}
_MIN_ENTRY = 1e-9  # HiGHS drops entries of the matrix that are not larger
_MAX_ENTRY = 1e15  # HiGHS rejects entries of the matrix that are not smaller
_MAX_ERROR = 1e-6  # of a bound, and of the gap relative to the value
_OPTIMAL, _LIMIT = 0, 1  # SciPy's status


@dataclass(frozen=True)
class LinearProgram:
    r"""A linear program whose variables all have a known range.

    .. math:: \min_x c \cdot x \quad\text{s.t.}\quad
              l \le A x \le u, \quad \lambda \le x \le \mu

    Bounds are infinite where there is none. `reach` are finite bounds of abs(x) that
    some optimum is known to meet. No solver sees them; they make a proven lower bound
    out of any multipliers.
    """

    cost: FloatArray  # c
    matrix: Any  # A, a csc_array
    row_low: FloatArray  # l
    row_high: FloatArray  # u
    low: FloatArray  # lambda
    high: FloatArray  # mu
    reach: FloatArray

    def lower_bound(self, multipliers: FloatArray) -> float:
        """Return what weak duality proves of the optimum, for any row multipliers."""
        # a multiplier that leans on a side which is not there proves nothing
        leaning_low = np.where(np.isneginf(self.row_low), 0.0, np.inf)
        leaning_high = np.where(np.isposinf(self.row_high), 0.0, -np.inf)
        y = np.clip(multipliers, leaning_high, leaning_low)
        reduced = self.cost - self.matrix.T @ y
        low = np.maximum(self.low, -self.reach)
        high = np.minimum(self.high, self.reach)
        return _least(y, self.row_low, self.row_high) + _least(reduced, low, high)

    def residual(self, x: FloatArray) -> float:
        """Return by how much the worst bound is broken."""
        rows = self.matrix @ x
        broken = (
            self.row_low - rows,
            rows - self.row_high,
            self.low - x,
            x - self.high,
        )
        return max(0.0, *(float(side.max()) for side in broken))


def _least(slopes: FloatArray, low: FloatArray, high: FloatArray) -> float:
    """Return the least value of a linear function over a box."""
    falling, rising = slopes < 0.0, slopes > 0.0
    return float(slopes[rising] @ low[rising] + slopes[falling] @ high[falling])


class LinearModel:
    """Collects variables and constraints in blocks."""

    def __init__(self) -> None:
        self._n_columns = 0
        self._n_rows = 0
        self._columns: list[FloatArray] = []  # (4, n) each: cost, low, high, reach
        self._rows: list[FloatArray] = []  # (2, n) each: low, high
        self._blocks: list[Any] = []

    def variables(
        self,
        n: int,
        low: float | FloatArray = 0.0,
        high: float | FloatArray = np.inf,
        *,
        reach: float,
        cost: float = 0.0,
    ) -> Variables:
        """Take in n variables; return their columns."""
        self._columns.append(_stacked(n, cost, low, high, reach))
        self._n_columns += n
        return slice(self._n_columns - n, self._n_columns)

    def constrain(
        self,
        terms: Sequence[tuple[Variables, Any]],
        low: float | FloatArray = -np.inf,
        high: float | FloatArray = np.inf,
    ) -> slice:
        """Bound a sum of matrices times variables; return the rows."""
        for columns, matrix in terms:
            block = sparse.coo_array(matrix)
            rows, places = block.coords
            self._blocks.append(
                (block.data, rows + self._n_rows, places + columns.start)
            )
        n = block.shape[0]
        self._rows.append(_stacked(n, low, high))
        self._n_rows += n
        return slice(self._n_rows - n, self._n_rows)

    def program(self) -> LinearProgram:
        """Return the program written so far."""
        data, rows, columns = (
            np.concatenate(parts) for parts in zip(*self._blocks, strict=True)
        )
        shape = (self._n_rows, self._n_columns)
        cost, low, high, reach = np.concatenate(self._columns, axis=1)
        row_low, row_high = np.concatenate(self._rows, axis=1)
        matrix = sparse.coo_array((data, (rows, columns)), shape=shape).tocsc()
        return LinearProgram(cost, matrix, row_low, row_high, low, high, reach)


def _stacked(n: int, *values: float | FloatArray) -> FloatArray:
    return np.stack([np.broadcast_to(np.asarray(v, dtype=float), (n,)) for v in values])


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
    """Minimise a linear program, scaled so that numbers near 1 matter, with HiGHS.

    An interior point is moved to a vertex. Raises TimeoutError at the time limit (in
    seconds), and RuntimeError if HiGHS finds no optimum or one that fails our check.
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
