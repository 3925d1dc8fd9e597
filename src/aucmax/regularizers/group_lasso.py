"""The group lasso (Yuan, Lin, 2006): groups of weights are kept or dropped together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.regularizers.l1 import bound_below_norm
from aucmax.regularizers.projections import nearest_in_l1_ball
from aucmax.regularizers.regularizer import Ball


@dataclass(frozen=True, eq=False)
class GroupLasso:
    r"""The sum over groups of norms, :math:`\sum_g \sqrt{n_g} \, \|w_g\|_2`."""

    groups: ArrayLike  # the group of each weight, numbered from 0 without a gap

    def __post_init__(self) -> None:
        _check_groups(self.groups)

    def value(self, parameters: FloatArray) -> float:
        """Return the sum of the groups' norms."""
        return _Lengths(parameters, self.groups).norm

    def gradient(self, parameters: FloatArray) -> FloatArray:
        """Return a subgradient, which is 0 in each group that is 0."""
        return _Lengths(parameters, self.groups).changed_to(1.0)

    def prox(self, point: FloatArray, step: float) -> FloatArray:
        """Shorten each group by the step, at most to 0."""
        lengths = _Lengths(point, self.groups)
        return lengths.changed_to(np.maximum(lengths.q - step, 0.0))

    def lower_bound(self, constant: float, slope: FloatArray) -> float:
        """Return the minimum of the norm plus the positive part of a line."""
        return bound_below_norm(constant, _Lengths(slope, self.groups).dual_norm)


@dataclass(frozen=True, eq=False)
class GroupLassoBall(Ball):
    r"""Weights in groups, :math:`\sum_g \sqrt{n_g} \, \|w_g\|_2 \le r`."""

    groups: ArrayLike  # the group of each weight, numbered from 0 without a gap

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_groups(self.groups)

    def norm(self, parameters: FloatArray) -> float:
        """Return the sum of the groups' norms."""
        return _Lengths(parameters, self.groups).norm

    def support(self, direction: FloatArray) -> float:
        """Return the largest inner product of the direction with a point inside."""
        return self.radius * _Lengths(direction, self.groups).dual_norm

    def _nearest(self, point: FloatArray) -> FloatArray:
        lengths = _Lengths(point, self.groups)
        nearest = nearest_in_l1_ball(lengths.q, self.radius, lengths.sizes)
        return lengths.changed_to(nearest)


class _Lengths:
    r"""The length of each group of a vector, :math:`q_g = \|w_g\| / \sqrt{n_g}`.

    In these, the group norm is :math:`\sum_g n_g q_g`, its dual :math:`\max_g q_g`, and
    the squared distance of vectors whose groups differ in length alone is :math:`\sum_g
    n_g (q_g - q'_g)^2`.
    """

    def __init__(self, vector: FloatArray, groups: ArrayLike) -> None:
        self.vector = vector
        self.groups = np.asarray(groups)
        if self.groups.size != vector.size:
            raise ValueError(
                f"groups holds the group of {self.groups.size} weights, but there are "
                f"{vector.size} weights; it needs one number for each."
            )
        self.sizes = np.bincount(self.groups).astype(np.float64)
        squares = np.bincount(self.groups, weights=np.square(vector))
        self.q: FloatArray = np.sqrt(squares / self.sizes)

    @property
    def norm(self) -> float:
        return float((self.sizes * self.q).sum())

    @property
    def dual_norm(self) -> float:
        return float(self.q.max(initial=0.0))

    def changed_to(self, q: FloatArray | float) -> FloatArray:
        """Return the vector with groups of other lengths; one of length 0 stays."""
        lengths = np.where(self.q > 0.0, self.q, 1.0)
        changed: FloatArray = self.vector / lengths[self.groups]
        changed *= np.broadcast_to(q, lengths.shape)[self.groups]
        return changed + 0.0  # no zero has a sign


def _check_groups(groups: ArrayLike) -> None:
    numbers = np.asarray(groups)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or numbers.size == 0:
        raise ValueError(
            "groups must be a list of whole numbers, the group of each weight, got "
            f"{numbers.dtype} of shape {numbers.shape}."
        )
    present = np.unique(numbers)
    if not np.array_equal(present, np.arange(present.size)):
        raise ValueError(
            f"groups must be numbered from 0 without a gap, got {present.tolist()}."
        )
