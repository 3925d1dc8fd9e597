"""The mean of the smallest pair margins: the risk of the soft margin over pairs."""

import math
from typing import Any, NamedTuple

import numpy as np

from aucmax._core.sorting import RowNumbers
from aucmax._core.validation import BoolArray, FloatArray
from aucmax.risks._pairs.class_rows import ClassMembers, split_classes
from aucmax.risks._pairs.margin_rows import BoundMargin, MarginRisk, checked_nu
from aucmax.risks._pairs.pair_laplacians import append_column, without_threshold
from aucmax.risks._pairs.sorted_pairs import (
    Ramp,
    SortedPairs,
    difference_of_rank,
    sorted_pairs,
)
from aucmax.risks.contract import Form, Support

# A Hessian of more rows of a class is that of a sample: steps need no more, and it
# costs their number times that of columns squared.
_MAX_ROWS_OF_A_HESSIAN = 5_000
_MIN_SHARE_OF_A_SAMPLE = 0.01  # of the pairs in the mean; fewer depend on single rows


class PairMargin(MarginRisk):
    r"""Minus the mean of the `nu` smallest pair margins, of weight `nu` together.

    .. math:: R(s) = \max_d \Big\{ -\sum_{i \in P} \sum_{j \in N}
              d_{ij} \, \frac{s_i - s_j}{2} \;:\; \sum_{ij} d_{ij} = 1, \;
              0 \le d_{ij} \le \frac{w_i w_j}{\nu} \Big\}

    with row weights :math:`w` (1 by default): problems (2) and (3) of Suehiro, Hatano,
    Takimoto, ALT 2011. ``nu=1`` without weights is the hard margin; :math:`\nu = W_+
    W_-` the plain mean. Pairs that tie (as floating-point numbers) at the largest of
    these margins share it by weight. Convex and positively homogeneous. Costs two sorts
    and a handful of sweeps; pairs are counted in integers without weights.
    """

    def __init__(self, nu: float) -> None:
        self.nu = nu


class BoundPairMargin(BoundMargin):
    """The pair margin of given rows."""

    risk: PairMargin
    can_be_smoothed = True

    def _prepare(self) -> None:
        positive, negative = (own.total_weight for own in self._classes)
        nu = checked_nu("nu", self.risk.nu, "pairs", positive * negative)
        self._classes_of_hessian = self._classes
        if nu >= _MIN_SHARE_OF_A_SAMPLE * positive * negative:
            first, second = map(_sample, self._classes)
            self._classes_of_hessian = first, second

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        pairs, nu = self._sorted_pairs(scores)
        smallest = _Smallest.from_pairs(pairs, nu)
        subgradient = np.zeros(scores.size)
        subgradient[pairs.positive.rows] = -0.5 * smallest.positive_shares
        subgradient[pairs.negative.rows] = 0.5 * smallest.negative_shares
        return smallest.risk, subgradient

    def _smoothed(self, scores: FloatArray, width: float) -> Support:
        # shares fall from 1 to 0 over the width
        pairs, nu = self._sorted_pairs(scores)
        smallest = _Smallest.from_pairs(pairs, nu)
        ramp = Ramp.from_pairs(pairs, nu, width, smallest.threshold)
        subgradient = np.zeros(scores.size)
        subgradient[pairs.positive.rows] = -0.5 / nu * ramp.positive_shares
        subgradient[pairs.negative.rows] = 0.5 / nu * ramp.negative_shares
        return Support(smallest.risk, subgradient, 0.0)

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        pairs = sorted_pairs(self._classes_of_hessian, scores)
        nu = min(self.risk.nu, pairs.total_weight)
        ramp = Ramp.from_pairs(pairs, nu, width, difference_of_rank(pairs, nu))
        form = ramp.curvature(pairs)
        is_negative = (~self.labels).astype(np.float64)

        def at_even_weight(columns: Any) -> FloatArray:
            # the threshold follows the scores, so that the shares add up to nu
            wide = form(append_column(columns, is_negative))
            hessian = without_threshold(wide[:-1, :-1], wide[:-1, -1], wide[-1, -1])
            return 0.5 / nu * hessian

        return at_even_weight

    def threshold(self, scores: FloatArray) -> float:
        """Return the largest pair margin that has a share in the mean."""
        return difference_of_rank(*self._sorted_pairs(scores)) / 2.0

    def _sorted_pairs(self, scores: FloatArray) -> tuple[SortedPairs, float]:
        """Return the pairs, and nu, or their weight where rounding puts nu above it."""
        low, high = float(scores.min()), float(scores.max())
        if not math.isfinite(high - low):
            raise ValueError(
                f"scores run from {low:g} to {high:g}, further than float64 can "
                "subtract; divide them by a constant."
            )
        pairs = sorted_pairs(self._classes, scores)
        return pairs, min(self.risk.nu, pairs.total_weight)


PairMargin._bound = BoundPairMargin


def _sample(members: ClassMembers) -> ClassMembers:
    """Return a class, or the same few of its rows each time, as heavy as all."""
    if members.rows.size <= _MAX_ROWS_OF_A_HESSIAN:
        return members
    drawn = np.random.default_rng(0).choice(
        members.rows.size, _MAX_ROWS_OF_A_HESSIAN, replace=False
    )
    drawn.sort()
    weights = np.ones(drawn.size) if members.weights is None else members.weights[drawn]
    weights = weights * (members.total_weight / weights.sum())
    return ClassMembers(members.rows[drawn], weights, members.side)


def pairs_with_margin(
    scores: FloatArray,
    labels: BoolArray,
    margin: float,
    sample_weight: FloatArray | None = None,
) -> float:
    r"""Return the number (or weight) of pairs with :math:`s_i - s_j \ge 2 \rho`."""
    pairs = sorted_pairs(split_classes(labels, sample_weight), scores)
    _, below = pairs.split_at(2.0 * margin)
    return pairs.total_weight - pairs.weight_from(below)


class _Smallest(NamedTuple):
    """The smallest pairs of weight nu: the risk, and the shares of the rows in it."""

    risk: float
    threshold: float  # the largest difference that has a share
    positive_shares: FloatArray
    negative_shares: FloatArray

    @classmethod
    def from_pairs(cls, pairs: SortedPairs, nu: float) -> "_Smallest":
        threshold = difference_of_rank(pairs, nu)
        up_to, below = pairs.split_at(threshold)
        positive, negative = _shares(pairs, below, nu)
        # The mean is the threshold less what the pairs below it fall short of it: so
        # neither a constant in all scores nor ties cost any digits. The scores are
        # seen from those of a pair at the threshold.
        tied = int(np.argmax(up_to < below))
        s, t = pairs.positive.values, pairs.negative.values
        shortfall = _inner(negative, t - t[up_to[tied]])
        shortfall -= _inner(positive, s - s[tied])
        risk = 0.5 * (shortfall - threshold)

        weight_below = pairs.weight_from(below)
        weight_tied = pairs.weight_from(up_to) - weight_below
        # sums of weights are rounded, and the ties may be lost in them
        share = (nu - weight_below) / weight_tied if weight_tied > 0.0 else 1.0
        share = min(max(share, 0.0), 1.0)
        for own, with_ties in zip(
            (positive, negative), _shares(pairs, up_to, nu), strict=True
        ):
            own += share * (with_ties - own)
        return cls(risk, threshold, positive, negative)


def _shares(
    pairs: SortedPairs, first: RowNumbers, nu: float
) -> tuple[FloatArray, FloatArray]:
    """Return the weight of each row's pairs in the set, in units of nu."""
    positive = pairs.positive_weights_from(first)
    negative = pairs.negative_weights_from(first)
    positive /= nu
    negative /= nu
    return positive, negative


def _inner(shares: FloatArray, values: FloatArray) -> float:
    """Return the inner product, summed in pairs: more digits than BLAS, no threads."""
    values *= shares
    return float(values.sum())
