"""The margin of the reduction as a function of nu+."""

from dataclasses import dataclass

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

    def _check_state(self) -> None:
        """Refuse a loaded curve whose parts do not fit together."""
        pairs = (
            (self.nu_pos, self.gamma_hat),
            (self.lower_nu_pos, self.lower_bound),
        )
        for places, heights in pairs:
            if places.ndim != 1 or places.shape != heights.shape:
                raise ValueError("the points of the curve do not fit together")
        if not 0 <= self.best < self.nu_pos.size or not self.nu > 0.0:
            raise ValueError("best or nu of the curve are not among its points")
