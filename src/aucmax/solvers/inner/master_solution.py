"""What a small problem over the cuts ends with."""

from typing import NamedTuple

from aucmax._validation import FloatArray

__all__ = ["MasterSolution"]


class MasterSolution(NamedTuple):
    """The minimiser of a regularizer plus a piecewise-linear model of the risk.

    Attributes
    ----------
    parameters : ndarray of shape (n_parameters,)
        Where the model's minimum lies.
    multipliers : ndarray of shape (n_cuts,)
        The share of each cut at that minimum: nonnegative, of sum 1.
    lower_bound : float
        The minimum, from the dual: the true objective is nowhere below it.
    """

    parameters: FloatArray
    multipliers: FloatArray
    lower_bound: float
