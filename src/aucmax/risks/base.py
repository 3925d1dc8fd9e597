r"""What a risk is: a number to minimise that sees scores and labels, never the data.

A risk :math:`R` maps the scores of all rows to a number that is small when positives
stand above negatives. A solver uses it only through the methods below, so one risk
serves dense, sparse, boosted and structured models alike.

Contract, kept by the tests of each risk:

- the value equals the literal definition in ``tests/reference.py``;
- a subgradient :math:`g` at :math:`s` supports the risk from below:
  :math:`R(s') \ge R(s) + \langle g, s' - s \rangle` for every :math:`s'`;
- adding one constant to every score changes neither;
- where it has an attribute ``least_value``, it is never below that;
- where it has a ``line_margin`` that is not None, the slope belongs to a mean of
  hinges of that margin, and so do the pairs of its line, even if pairs next to a kink
  are taken to be at it: the line's offset is then the margin times the slopes of the
  negatives;
- no state: the same input gives the same output;
- O(m log m) time and O(m) memory for m rows, never the pairs themselves.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["Risk", "SmoothableRisk", "Support"]


class Support(NamedTuple):
    r"""A line below a risk, :math:`R(s') \ge o + \langle g, s' \rangle`.

    Attributes
    ----------
    value : float
        The risk at the scores asked for, or a bound a little above it.
    subgradient : ndarray of shape (n_rows,)
        The slope :math:`g`.
    offset : float
        The constant :math:`o`. The line touches the risk where it was asked for,
        unless the risk was smoothed there: then it passes a little below.
    """

    value: float
    subgradient: FloatArray
    offset: float


class Risk(Protocol):
    """What every risk offers.

    All methods take the scores of all rows, finite; their labels, True for positives,
    with both classes present; and, optionally, nonnegative weights of the rows, with a
    positive total in each class.
    """

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        return self.value_and_subgradient(scores, labels, sample_weight)[0]

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and one subgradient, from one sort."""


@runtime_checkable
class SmoothableRisk(Risk, Protocol):
    """A risk whose kinks can be rounded off, which second-order solvers need.

    Its methods take the `width`, above 0, of the interval that rounds off a kink. Where
    only some risks of a class can be smoothed, an attribute ``can_be_smoothed`` tells.
    """

    def smoothed(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient."""

    def curvature(
        self,
        scores: FloatArray,
        labels: BoolArray,
        sample_weight: FloatArray | None = None,
        *,
        width: float,
    ) -> Callable[[FloatArray], FloatArray]:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V.

        V has one row per score, and any number of columns.
        """
