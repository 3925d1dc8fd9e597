"""The cuts of a bundle: lines below the risk, and their inner products."""

import numpy as np

from aucmax._validation import FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.base import (
    MasterSolution,
    Regularizer,
    RegularizerWithMaster,
)

__all__ = ["Cuts"]


class Cuts:
    r"""Lines :math:`R(w) \ge o_k + \langle a_k, w \rangle` with their Gram matrix.

    Cuts bound the risk alone, whatever C and regularizer, so that a later solve with
    another C starts from them.

    Parameters
    ----------
    n_parameters : int
        Length of a slope.
    capacity : int, default=100
        The most cuts kept. The one that has served longest ago leaves first; those in
        use at the last minimum of the model stay, so the lower bound never falls.
    """

    def __init__(self, n_parameters: int, capacity: int = 100) -> None:
        self.capacity = capacity
        self._rows = np.empty((0, n_parameters))  # grows ahead of what is in use
        self.offsets = np.empty(0)
        self.gram = np.empty((0, 0))
        self.multipliers = np.empty(0)
        self._last_used = np.empty(0, dtype=np.int64)
        self._clock = 0

    @property
    def gradients(self) -> FloatArray:
        """Slopes of the cuts, shape (n_cuts, n_parameters)."""
        return self._rows[: len(self)]

    def __len__(self) -> int:
        return self.offsets.size

    def resize(self, capacity: int) -> None:
        """Change how many cuts are kept."""
        self.capacity = capacity
        while len(self) > capacity:
            self._drop(int(np.argmin(self._last_used)))

    def add(self, gradient: FloatArray, offset: float) -> None:
        """Take in one cut, in O(n_cuts * n_parameters)."""
        with np.errstate(over="ignore"):
            square = float(gradient @ gradient)
        if not np.isfinite(square):
            raise FloatingPointError("the square of a cut's slope overflows")
        self._clock += 1
        if len(self) >= self.capacity:
            self._drop(int(np.argmin(self._last_used)))
        k = len(self)
        if k == self._rows.shape[0]:
            room = min(max(8, k + k // 2), self.capacity)
            more = np.empty((room - k, gradient.size))
            self._rows = np.concatenate([self._rows, more])
        products = self.gradients @ gradient
        self._rows[k] = gradient
        gram = np.empty((k + 1, k + 1))
        gram[:k, :k] = self.gram
        gram[k, :k] = gram[:k, k] = products
        gram[k, k] = square
        self.gram = gram
        self.offsets = np.append(self.offsets, offset)
        self.multipliers = np.append(self.multipliers, 0.0 if k else 1.0)
        self._last_used = np.append(self._last_used, self._clock)

    def minimize(self, regularizer: Regularizer, C: float) -> MasterSolution:
        """Minimise the regularizer plus C times the highest cut."""
        if not isinstance(regularizer, RegularizerWithMaster):
            raise IncompatibleError(
                f"{type(regularizer).__name__} has no minimize_model, which a "
                "cutting-plane method needs. Try L2."
            )
        solution = regularizer.minimize_model(
            self.gradients, self.offsets, self.gram, C, self.multipliers
        )
        self.multipliers = solution.multipliers
        self._last_used[self.multipliers > 0.0] = self._clock
        return solution

    def _drop(self, index: int) -> None:
        keep = np.arange(len(self)) != index
        self._rows[index : len(self) - 1] = self._rows[index + 1 : len(self)]
        self.offsets = self.offsets[keep]
        self.gram = self.gram[np.ix_(keep, keep)]
        self.multipliers = self.multipliers[keep]
        self.multipliers /= self.multipliers.sum()
        self._last_used = self._last_used[keep]
