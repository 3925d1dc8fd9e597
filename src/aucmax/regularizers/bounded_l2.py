"""Half the squared Euclidean norm, where some weights may not be negative."""

from dataclasses import dataclass

import numpy as np

from aucmax._core.validation import FloatArray
from aucmax.regularizers.l2 import L2

__all__ = ["BoundedL2"]


@dataclass(frozen=True)
class BoundedL2:
    r"""Half the squared norm of weights whose last ones are not negative.

    .. math:: \Omega(w) = \tfrac12 \|w\|^2 \text{ if } w_j \ge 0
              \text{ for } j \ge \text{first}, \text{ else } \infty

    All methods cost O(n).

    Parameters
    ----------
    first_bounded : int, default=0
        The first of the weights that may not be negative.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.regularizers import BoundedL2
    >>> BoundedL2(first_bounded=1).prox(np.array([-2.0, -2.0, 2.0]), 1.0)
    array([-1.,  0.,  1.])
    """

    first_bounded: int = 0

    def value(self, parameters: FloatArray) -> float:
        """Return half the squared norm, or infinity."""
        if (parameters[self.first_bounded :] < 0.0).any():
            return np.inf
        return L2().value(parameters)

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return the parameters themselves."""
        return parameters

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        """Shrink the point, and lift it where it would be negative."""
        shrunk = L2().prox(point, step)
        np.maximum(shrunk[self.first_bounded :], 0, out=shrunk[self.first_bounded :])
        return shrunk

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of the price plus the positive part of a line."""
        # a bounded weight stays 0 where the line rises with it
        falling = slope.copy()
        np.minimum(falling[self.first_bounded :], 0, out=falling[self.first_bounded :])
        return L2().lower_bound(constant, falling)
