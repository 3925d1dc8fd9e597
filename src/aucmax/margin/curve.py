"""The margin of the reduction as a function of nu+."""

import math
from dataclasses import dataclass

from aucmax._core import saved_state as saved
from aucmax._core.validation import FloatArray
from aucmax.margin.record import Record

__all__ = ["MarginCurve"]


@dataclass(frozen=True, eq=False)
class MarginCurve(Record):
    r"""The curve :math:`\hat\gamma(\nu^+)`, where it was solved and bounded.

    Attributes
    ----------
    nu_pos : ndarray of shape (n_points,)
        Where the reduction was solved, ascending.
    gamma_hat : ndarray of shape (n_points,)
        Its margin there.
    lower_nu_pos : ndarray of shape (n_grid,)
        A finer grid.
    lower_bound : ndarray of shape (n_grid,)
        The curve is nowhere below this.
    best : int
        Index of the lowest point.
    nu : float
        The product of nu+ and nu-.
    """

    nu_pos: FloatArray
    gamma_hat: FloatArray
    lower_nu_pos: FloatArray
    lower_bound: FloatArray
    best: int
    nu: float

    _saved_state = saved.fields(
        nu_pos=saved.array("f", None),
        gamma_hat=saved.array("f", "nu_pos"),
        lower_nu_pos=saved.array("f", None),
        lower_bound=saved.array("f", "lower_nu_pos"),
        best=saved.count,
        nu=saved.between(0, math.inf),
    )

    def _check_state(self) -> None:
        """Reject a loaded curve whose lowest point is not among its points."""
        if self.best >= self.nu_pos.size:
            raise ValueError("best is not among the points of the curve")
