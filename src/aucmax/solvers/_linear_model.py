r"""A linear program written down block by block, and what weak duality proves of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from aucmax._core.validation import FloatArray

__all__ = ["LinearModel", "LinearProgram", "Variables"]

Variables: TypeAlias = slice  # of the columns; constraints are slices of the rows


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
