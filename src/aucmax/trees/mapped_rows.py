"""Rows of a memory map on their way into LightGBM's bins, some at a time.

LightGBM needs about a byte for each cell once they are in bins. By its ``Sequence`` it
asks for a sample of the rows, and then for all of them in batches, so that neither the
matrix nor a part of its rows is ever in memory as a whole.
"""

from typing import Any

import numpy as np

from aucmax._core.validation import FloatArray, IntArray

__all__ = ["MappedRows"]

_CELLS_AT_ONCE = 1 << 20  # 8 megabytes


class MappedRows:
    """Some rows of a memory map, or all, with columns divided by powers of two."""

    def __init__(
        self, X: Any, exponents: IntArray | None, rows: IntArray | None = None
    ) -> None:
        self._X = X
        self._exponents = exponents
        self._rows = rows
        self.shape = (X.shape[0] if rows is None else rows.size, X.shape[1])

    def __getitem__(self, rows: IntArray) -> "MappedRows":
        chosen = rows if self._rows is None else self._rows[rows]
        return MappedRows(self._X, self._exponents, chosen)

    def read(self, place: Any) -> FloatArray:
        """Read a row, or a slice of them."""
        found = self._X[place if self._rows is None else self._rows[place]]
        found = np.array(found, dtype=np.float64, order="C")
        if self._exponents is None:
            return found
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(found, -self._exponents))

    def sequence(self) -> Any:
        """Return what LightGBM reads from."""
        import lightgbm

        owner = self

        class Rows(lightgbm.Sequence):
            batch_size = max(1, _CELLS_AT_ONCE // owner.shape[1])

            def __getitem__(self, place: Any) -> FloatArray:
                return owner.read(place)

            def __len__(self) -> int:
                return int(owner.shape[0])

        return Rows()
