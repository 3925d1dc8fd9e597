r"""Linear programs written block by block and solved by HiGHS, for the tests' oracles.

    minimise cost @ x   subject to   row_low <= A x <= row_high,  low <= x <= high

Bounds are infinite where there is none. `reach` are finite bounds of abs(x) that some
optimum is known to meet; they make a proven lower bound out of any multipliers.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

METHODS = {"interior-point": "highs-ipm", "simplex": "highs-ds"}


class LinearSolution(NamedTuple):
    x: np.ndarray
    multipliers: np.ndarray  # how much the optimum grows with the bounds of the rows
    value: float
    gap: float  # `value` minus the lower bound that the multipliers prove


class LinearModel:
    """Collects variables and constraints in blocks."""

    def __init__(self):
        self._columns = []  # (4, n) each: cost, low, high, reach
        self._rows = []  # (2, n) each: low, high
        self._blocks = []  # values, rows and columns of entries
        self._n_columns = self._n_rows = 0

    def variables(self, n, low=0.0, high=np.inf, *, reach, cost=0.0):
        """Take in n variables; return their columns."""
        self._columns.append(_stacked(n, cost, low, high, reach))
        self._n_columns += n
        return slice(self._n_columns - n, self._n_columns)

    def constrain(self, terms, low=-np.inf, high=np.inf):
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

    def minimised(self, method="interior-point"):
        """Solve the program written so far, at a vertex."""
        data, rows, columns = (
            np.concatenate(parts) for parts in zip(*self._blocks, strict=True)
        )
        shape = (self._n_rows, self._n_columns)
        matrix = sparse.coo_array((data, (rows, columns)), shape=shape).tocsr()
        cost, low, high, reach = np.concatenate(self._columns, axis=1)
        row_low, row_high = np.concatenate(self._rows, axis=1)
        is_equation = row_low == row_high
        above = np.flatnonzero(~is_equation & np.isfinite(row_high))
        below = np.flatnonzero(~is_equation & np.isfinite(row_low))
        solution = linprog(
            cost,
            A_ub=sparse.vstack([matrix[above], -matrix[below]]),
            b_ub=np.append(row_high[above], -row_low[below]),
            A_eq=matrix[is_equation],
            b_eq=row_high[is_equation],
            bounds=np.column_stack([low, high]),
            method=METHODS[method],
        )
        assert solution.status == 0, solution.message
        multipliers = np.zeros(self._n_rows)
        multipliers[is_equation] = solution.eqlin.marginals
        multipliers[above] += solution.ineqlin.marginals[: above.size]
        multipliers[below] -= solution.ineqlin.marginals[above.size :]
        # weak duality: a multiplier that leans on a missing side proves nothing
        y = np.clip(
            multipliers,
            np.where(np.isposinf(row_high), 0.0, -np.inf),
            np.where(np.isneginf(row_low), 0.0, np.inf),
        )
        low, high = np.maximum(low, -reach), np.minimum(high, reach)
        proven = _least(y, row_low, row_high) + _least(cost - matrix.T @ y, low, high)
        value = float(cost @ solution.x)
        return LinearSolution(solution.x, multipliers, value, value - proven)


def _least(slopes, low, high):
    """Return the least value of a linear function over a box."""
    falling, rising = slopes < 0.0, slopes > 0.0
    return float(slopes[rising] @ low[rising] + slopes[falling] @ high[falling])


def _stacked(n, *values):
    return np.stack([np.broadcast_to(np.asarray(v, dtype=float), (n,)) for v in values])
