"""Margins over instances: the smallest positives against the largest negatives."""

import math
from bisect import bisect_left
from typing import Any

import numpy as np
from scipy.optimize import brentq

from aucmax._core.validation import FloatArray
from aucmax.risks._pairs import margin_rows
from aucmax.risks._pairs.class_rows import SmoothChoice
from aucmax.risks._pairs.margin_rows import MAX_EXCESS, BoundMargin, Lowest, MarginRisk
from aucmax.risks.contract import Form, Support


class InstanceMargin(MarginRisk):
    r"""Half of: mean of the largest negatives less mean of the smallest positives.

    .. math:: R(s) = \frac{1}{2} \Big( \frac{1}{\nu_-} \sum_{\text{largest}} w_j s_j
              - \frac{1}{\nu_+} \sum_{\text{smallest}} w_i s_i \Big)

    over the worst rows of each class, of weights :math:`\nu_-` and :math:`\nu_+`; ties
    at the end share by weight. At most :class:`PairMargin` with :math:`\nu = \nu_+
    \nu_-`, its reduction to instances: problems (7) and (8) of Suehiro, Hatano,
    Takimoto, ALT 2011. Convex and positively homogeneous. Two selections, O(n_rows).
    """

    def __init__(self, nu_pos: float, nu_neg: float) -> None:
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg


class BoundInstanceMargin(BoundMargin):
    """The instance margin of given rows."""

    risk: InstanceMargin
    can_be_smoothed = True

    def _prepare(self) -> None:
        positive, negative = (own.total_weight for own in self._classes)
        self._nus = (
            margin_rows.checked_nu("nu_pos", self.risk.nu_pos, "positives", positive),
            margin_rows.checked_nu("nu_neg", self.risk.nu_neg, "negatives", negative),
        )

    def _nus_at(self, scores: FloatArray, width: float = 0.0) -> tuple[float, float]:
        """Return the weights of the worst rows of each class."""
        return self._nus

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        positive, negative = (own.with_scores(scores) for own in self._classes)
        return margin_rows.half_difference_of_means(
            (positive, negative), self._nus_at(scores), scores.size
        )

    def _smoothed(self, scores: FloatArray, width: float) -> Support:
        # shares fall from 1 to 0 over the width
        value, _ = self._value_and_gradient(scores)
        subgradient = np.zeros(scores.size)
        nus = self._nus_at(scores, width)
        choices = self._smooth_choices(scores, nus, width)
        for choice, nu in zip(choices, nus, strict=True):
            chosen = choice.chosen
            shares = 0.5 * chosen.side / nu * chosen.explicit_weights
            subgradient[chosen.rows] = shares
        return Support(value, subgradient, 0.0)

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        nu_pos, nu_neg = nus = self._nus_at(scores, width)
        positive, negative = self._smooth_choices(scores, nus, width)

        def form(columns: Any) -> FloatArray:
            hessian: FloatArray = positive.scatter(columns) * (0.5 / nu_pos)
            hessian += negative.scatter(columns) * (0.5 / nu_neg)
            return hessian

        return form

    def _smooth_choices(
        self, scores: FloatArray, nus: tuple[float, float], width: float
    ) -> list[SmoothChoice]:
        return [
            SmoothChoice.from_class(
                own.with_scores(scores), nu / own.total_weight, width
            )
            for own, nu in zip(self._classes, nus, strict=True)
        ]


InstanceMargin._bound = BoundInstanceMargin


_END_OF_INTERVAL = 1e-9  # share of an interval of nu+
_ACCURACY = 1e-4  # relative, of the nu+ of a smoothed risk


class TangentMargin(MarginRisk):
    r"""The worst instance margin over :math:`\nu_+`, along the tangent at a centre.

    .. math:: R(s) = \max_{\nu_+, d} \Big\{ -\frac{1}{2} \Big( \sum_{i \in P} d_i s_i
              - \sum_{j \in N} d_j s_j \Big) \;:\;
              0 \le d_i \le w_i \Big( \frac{2}{\nu_c} - \frac{\nu_+}{\nu_c^2} \Big), \;
              0 \le d_j \le w_j \frac{\nu_+}{\nu} \Big\}

    where each class' :math:`d` adds up to 1 and :math:`\nu_+` runs over :math:`[\nu /
    W_-, \; 2 \nu_c - \nu_c^2 / W_+]`: problem (9) of Suehiro, Hatano, Takimoto, ALT
    2011. The bound on the positives is the tangent at :math:`\nu_c` of :math:`w_i /
    \nu_+`, so the risk is at least that of ``InstanceMargin(nu_center, nu /
    nu_center)``, and at most the largest over :math:`\nu_+`. For fixed scores the rest
    is convex and piecewise linear in :math:`\nu_+`: bisection finds the minimum.
    """

    def __init__(self, nu: float, nu_center: float) -> None:
        self.nu = nu
        self.nu_center = nu_center


class BoundTangentMargin(BoundInstanceMargin):
    """The tangent margin of given rows."""

    risk: TangentMargin

    def _prepare(self) -> None:
        self._interval = self._checked_interval(
            *(own.total_weight for own in self._classes)
        )

    def _nus_at(self, scores: FloatArray, width: float = 0.0) -> tuple[float, float]:
        if width > 0.0:
            nu_pos = self._smooth_nu_pos(scores, width)
        else:
            nu_pos = self._inner_nu_pos(scores)
        return self._nus_of(nu_pos)

    def _nus_of(self, nu_pos: float) -> tuple[float, float]:
        """Return the weights that d spreads over, were all its bounds met."""
        center, (positive, negative) = self.risk.nu_center, self._classes
        return (
            min(center / (2.0 - nu_pos / center), positive.total_weight),
            min(self.risk.nu / nu_pos, negative.total_weight),
        )

    def _smooth_nu_pos(self, scores: FloatArray, width: float) -> float:
        """Return the nu_pos at which the smoothed margin is smallest."""
        first, last = self._interval

        def slope(nu_pos: float) -> float:
            choices = self._smooth_choices(scores, self._nus_of(nu_pos), width)
            rise, fall = (choice.shortfall(width) for choice in choices)
            return rise / self.risk.nu_center**2 - fall / self.risk.nu

        # at the ends, where all rows of a class count, there is no threshold
        inside = _END_OF_INTERVAL * (last - first)
        if last <= first or slope(first + inside) >= 0.0:
            return first
        if slope(last - inside) <= 0.0:
            return last
        nu_pos: float = brentq(slope, first + inside, last - inside, rtol=_ACCURACY)
        return nu_pos

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        fixed = super()._curvature(scores, width)
        nus = self._nus_at(scores, width)
        choices = self._smooth_choices(scores, nus, width)
        # by which the bounds of d change with nu_pos
        rates = -1.0 / self.risk.nu_center**2, 1.0 / self.risk.nu
        stiffness = 0.0
        for choice, nu, rate in zip(choices, nus, rates, strict=True):
            mass = float(choice.slopes.sum())
            stiffness += 0.5 * rate**2 * nu**3 / mass if mass > 0.0 else np.inf

        def form(columns: Any) -> FloatArray:
            hessian = fixed(columns)
            if not np.isfinite(stiffness):
                return hessian
            # nu_pos follows the scores, which adds curvature along one direction
            pulls = np.zeros(columns.shape[1])
            for choice, nu, rate in zip(choices, nus, rates, strict=True):
                rows = columns[choice.chosen.rows]
                center = choice.chosen.explicit_weights @ rows / nu
                moving = choice.slopes @ rows[choice.sloping] / choice.slopes.sum()
                pulls += 0.5 * choice.chosen.side * rate * nu * (center - moving)
            return np.asarray(hessian + np.outer(pulls, pulls) / stiffness)

        return form

    def _inner_nu_pos(self, scores: FloatArray) -> float:
        """Return the minimising nu_pos: of several, the nearest to `nu_center`."""
        sorted_classes = Lowest.from_scores(scores, self.labels, self.sample_weight)
        first, last = self._interval
        left, right = (
            min(max(self._first_ascent(*sorted_classes, strict), first), last)
            for strict in (False, True)
        )
        return min(max(self.risk.nu_center, left), right)

    def _first_ascent(self, positive: Lowest, negative: Lowest, strict: bool) -> float:
        """Return the first nu_pos from which on the margin does not fall, or rises."""
        # linear between points where the mean takes in a positive, or loses a negative
        p, n = positive.values.size, negative.values.size
        # only the ratio of the slopes matters; this keeps them within float64
        unit = max(positive.height(p - 1), negative.height(n - 1)) or 1.0

        def ascends(n_positives: int, n_negatives: int) -> bool:
            """Return whether the margin rises where this many rows count in full."""
            rise = positive.shortfall(n_positives) / unit / self.risk.nu_center**2
            fall = negative.shortfall(n_negatives) / unit / self.risk.nu
            return rise > fall if strict else rise >= fall

        def takes_in(k: int) -> float:
            """Return the nu_pos from which on the k-th positive counts in full."""
            if k == 0:
                return -math.inf
            return self.risk.nu_center * (
                2.0 - self.risk.nu_center / float(positive.cumulative_weights[k])
            )

        def ascends_behind(k: int) -> bool:
            nu_pos = takes_in(k)
            nu_neg = self.risk.nu / nu_pos if nu_pos > 0.0 else math.inf
            return ascends(k, int(negative.place(nu_neg)))

        k = bisect_left(range(p), True, key=ascends_behind)
        if k == 0:
            return -math.inf
        # the ascent starts where k positives come to count in full, or between there
        # and the k - 1 before, where a negative ceases to
        lost = bisect_left(range(n), True, key=lambda j: ascends(k - 1, n - 1 - j))
        if lost == n:
            return takes_in(k)
        return min(
            takes_in(k), self.risk.nu / float(negative.cumulative_weights[n - lost])
        )

    def _checked_interval(
        self, weight_pos: float, weight_neg: float
    ) -> tuple[float, float]:
        """Return the interval of nu_pos; it holds nu_center."""
        margin_rows.checked_nu("nu", self.risk.nu, "pairs", weight_pos * weight_neg)
        center, slack = self.risk.nu_center, 1.0 + MAX_EXCESS
        first = self.risk.nu / weight_neg
        if not first / slack <= center <= weight_pos * slack:
            raise ValueError(
                "nu_center must be at least nu / (weight of all negatives), "
                f"{first:.12g}, and at most the weight of all positives, "
                f"{weight_pos:.12g}, got {center!r}."
            )
        last = center * (2.0 - center / weight_pos)
        return min(first, center), max(last, center)


TangentMargin._bound = BoundTangentMargin
