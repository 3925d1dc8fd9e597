"""Decision stumps: every threshold of every column, in both directions."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray, IntArray
from aucmax.hypotheses import _kernels
from aucmax.hypotheses._ranges import column_ranges
from aucmax.hypotheses._sorted_columns import SortedColumns, sort_columns
from aucmax.hypotheses.base import dense_columns

__all__ = ["BestStumps", "Stumps", "midpoints", "stump", "stump_values"]


class BestStumps(NamedTuple):
    """The best stump of each column that has any.

    Attributes
    ----------
    column : ndarray of int64 of shape (n_best,)
        Columns, ascending.
    threshold : ndarray of float64 of shape (n_best,)
        The stump asks whether ``x > threshold``.
    direction : ndarray of float64 of shape (n_best,)
        1 if the stump is 1 above the threshold, -1 if it is 1 up to it.
    edge : ndarray of float64 of shape (n_best,)
        The stump's edge, never negative.
    """

    column: IntArray
    threshold: FloatArray
    direction: FloatArray
    edge: FloatArray


class Stumps:
    r"""All stumps on some data, sorted once, so that one sweep finds the best.

    .. math:: h(x) = \mathrm{direction} \cdot
              \begin{cases} 1 & x_k > \mathrm{threshold} \\ -1 & \text{else}
              \end{cases}

    for every column k and every threshold halfway between two neighbouring distinct
    values of it. Where that rounds to the upper value, the lower one is the threshold,
    so that the rows are always split between the two. The edge of a stump under signed
    row weights g is :math:`\sum_r g_r h(x_r)`.

    Sorting costs O(m log m) for each column of m rows, or O(m) where its values are
    spread out. What is kept is a row number, four bytes, for each value that
    is not zero: at most half of float64 data. Sparse data are never made dense.

    Parameters
    ----------
    X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
        Finite data, float32 or float64.
    sorted_columns : SortedColumns
        The order of each column; see :meth:`fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.hypotheses import Stumps
    >>> stumps = Stumps.fit(np.array([[1.0], [2.0], [5.0], [5.0]]))
    >>> stumps.n_stumps
    4
    >>> column, threshold, direction, edge = stumps.best(np.array([1.0, 1.0, -1, -1]))
    >>> threshold, direction, edge
    (array([3.5]), array([-1.]), array([4.]))
    """

    def __init__(self, X: Any, sorted_columns: SortedColumns) -> None:
        self.X = X
        self._sorted = sorted_columns
        self._n_thresholds = int(np.count_nonzero(sorted_columns.order < 0))

    @classmethod
    def fit(cls, X: Any, names: Any = None) -> Self:
        """Sort each column.

        Parameters
        ----------
        X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
            Data, float32 or float64.
        names : sequence of str, optional
            Names of the columns, for messages.

        Raises
        ------
        ValueError
            If some value is NaN or infinite; the message names row and column.
        """
        column_ranges(X, names)
        return cls(X, sort_columns(X))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_stumps(self) -> int:
        """Number of stumps: two for each threshold."""
        return 2 * self._n_thresholds

    def best(self, row_weights: FloatArray, *, per_column: bool = True) -> BestStumps:
        """Find the stump with the largest edge in each column that is not constant.

        Of edges that are equal up to rounding, 1e-9 of the larger one, the lowest
        threshold wins, direction 1 before -1, and the lowest column. One addition for
        each value that is not zero, so O(n_rows * n_columns) at most.

        Parameters
        ----------
        row_weights : ndarray of float64 of shape (n_rows,)
            Signed row weights.
        per_column : bool, default=True
            Whether to answer for each column, or with the best stump of all alone.
        """
        places = np.empty(self._sorted.middles.size, dtype=np.int64)
        edges = np.empty(places.size)
        _kernels.best_places(
            np.ascontiguousarray(row_weights, dtype=np.float64),
            float(row_weights.sum()),
            *self._sorted,
            places,
            edges,
        )
        column = np.flatnonzero(places >= 0)
        if not per_column and column.size:
            strengths = np.abs(edges[column])
            first = np.argmax(strengths >= strengths.max() * (1.0 - _kernels.TIE))
            column = column[first : first + 1]
        edge = edges[column]
        threshold = self._thresholds(column, places[column])
        return BestStumps(
            column, threshold, np.where(edge < 0.0, -1.0, 1.0), np.abs(edge)
        )

    def _thresholds(self, column: IntArray, place: IntArray) -> FloatArray:
        """Return the thresholds next to these places of the order."""
        middle = self._sorted.middles[column]
        neighbour = np.where(place < middle, place + 1, place - 1)
        # between the last place below the zeros and the first above lie the zeros
        is_zero = (place < middle) == (neighbour >= middle)
        own, other = self._values(column, place), np.zeros(column.size)
        other[~is_zero] = self._values(column[~is_zero], neighbour[~is_zero])
        return midpoints(np.minimum(own, other), np.maximum(own, other))

    def _values(self, column: IntArray, place: IntArray) -> FloatArray:
        values: Any = self.X[self._sorted.rows(place), column]
        # what sparse matrices answer depends on their kind and on SciPy's version
        values = values.toarray() if hasattr(values, "toarray") else values
        return np.asarray(values, dtype=np.float64).ravel()


def stump(values: FloatArray, threshold: float) -> FloatArray:
    """Return 1 where a value is above the threshold, else -1."""
    return np.where(values > threshold, 1.0, -1.0)


def stump_values(
    X: Any, columns: ArrayLike, thresholds: ArrayLike, directions: ArrayLike
) -> FloatArray:
    """Evaluate stumps: ``direction`` where ``x > threshold``, else ``-direction``.

    Parameters
    ----------
    X : ndarray, memmap, or CSR or CSC array of shape (n_rows, n_columns)
        Any rows.
    columns : array-like of int of shape (n_stumps,)
        The column of each stump; a column may occur many times.
    thresholds, directions : array-like of shape (n_stumps,)
        The threshold and the direction, 1 or -1, of each stump.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_stumps)
        Ones and minus ones.
    """
    direction = np.asarray(directions, dtype=np.float64)
    # a float64 array: compared with a Python float, float32 data would round it
    threshold = np.asarray(thresholds, dtype=np.float64)
    above = dense_columns(X, np.asarray(columns, dtype=np.int64)) > threshold
    return np.where(above, direction, -direction)


def midpoints(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return thresholds that part values: halfway, or the lower one by rounding."""
    middle = lower / 2.0 + upper / 2.0
    return np.where((lower <= middle) & (middle < upper), middle, lower)
