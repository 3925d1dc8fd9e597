"""Linear programs over a bounded box, solved by SciPy's HiGHS and checked."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog

from aucmax._core.validation import FloatArray

_MAX_ERROR = 1e-6  # of a bound, and of the gap relative to the value
_OPTIMAL, _LIMIT = 0, 1  # SciPy's status


@dataclass(frozen=True)
class BoxProgram:
    r"""Minimise :math:`c \cdot x` with :math:`A x \le b, E x = e, l \le x \le u`."""

    cost: FloatArray  # c
    matrix: Any  # A, sparse
    limits: FloatArray  # b
    equations: Any  # E, sparse
    totals: FloatArray  # e
    low: FloatArray  # l
    high: FloatArray  # u

    def lower_bound(self, multipliers: FloatArray, of_equations: FloatArray) -> float:
        """Return what weak duality proves of the optimum, for any row multipliers."""
        y = np.minimum(multipliers, 0.0)  # a positive one proves nothing
        reduced = self.cost - self.matrix.T @ y - self.equations.T @ of_equations
        least = np.where(reduced > 0.0, self.low, self.high)
        return float(y @ self.limits + of_equations @ self.totals + reduced @ least)

    def residual(self, x: FloatArray) -> float:
        """Return the largest violation of a bound."""
        broken = (
            self.matrix @ x - self.limits,
            np.abs(self.equations @ x - self.totals),
            self.low - x,
            x - self.high,
        )
        return max(float(side.max(initial=0.0)) for side in broken)


def solve_box_program(program: BoxProgram, time_limit: float | None) -> FloatArray:
    """Return a vertex of least cost; costs should be near 1, for HiGHS's tolerances."""
    # TimeoutError at the limit (seconds); RuntimeError without an optimum that passes
    if time_limit is not None and not time_limit > 0.0:
        raise ValueError(f"time_limit must be positive or None, got {time_limit!r}.")
    found = _run(
        c=program.cost,
        A_ub=program.matrix,
        b_ub=program.limits,
        A_eq=program.equations,
        b_eq=program.totals,
        bounds=np.column_stack([program.low, program.high]),
        method="highs-ds",  # the dual simplex method ends at a vertex
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if found.status == _LIMIT:
        raise TimeoutError(
            f"HiGHS did not solve the linear program of {program.cost.size:,} "
            f"variables within time_limit={time_limit:g} seconds."
        )
    if found.status != _OPTIMAL:
        raise RuntimeError(f"HiGHS found no optimum: {found.message}")
    x = np.asarray(found.x, dtype=np.float64)
    multipliers = found.ineqlin.marginals, found.eqlin.marginals
    if not all(np.isfinite(part).all() for part in (x, *multipliers)):
        raise RuntimeError("HiGHS reported an optimum that is not finite.")
    value = float(program.cost @ x)
    gap = value - program.lower_bound(*multipliers)
    residual = program.residual(x)
    if residual > _MAX_ERROR or abs(gap) > _MAX_ERROR * max(1.0, abs(value)):
        raise RuntimeError(
            f"HiGHS reported an optimum that violates a bound by {residual:.2g} and "
            f"has a gap of {gap:.2g} at a value of {value:.6g}. Scale the data."
        )
    return x


def _run(**arguments: Any) -> Any:
    """Run HiGHS in a separate thread, so that Ctrl-C works at once."""
    # SciPy cannot stop HiGHS: after Ctrl-C the thread runs on until its limit
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(linprog(**arguments))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=work, name="aucmax-highs", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)  # Windows cannot interrupt a join without a timeout
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]
