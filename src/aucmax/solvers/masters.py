r"""Where a bundle method goes next: the minimum of the regularizer plus its cuts.

A quadratic regularizer (L2) is minimised together with the highest cut as it is. Any
other one that has a proximal operator is kept near the center, since the model alone
may have its minimum far away or nowhere:

.. math:: \min_w \; \Omega(w) + C \max_k (o_k + \langle a_k, w \rangle)
          + \frac{1}{2 \tau} \|w - c\|^2 .

Its dual is a function of the cuts' shares: see :mod:`aucmax.solvers.certificate`.
"""

from typing import NamedTuple, Protocol

from aucmax._core.validation import FloatArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import (
    ProximalRegularizer,
    QuadraticRegularizer,
    Regularizer,
)
from aucmax.solvers.certificate import (
    CutCertificate,
    Mixture,
    NearModel,
    step_to_zero,
)
from aucmax.solvers.cuts import Cuts

__all__ = ["Master", "Proposal", "master_for"]

_SMALLEST_PROMISE = 0.5  # share of the gap; if a proposal promises less, tau grows
_LARGEST_PROMISE = 0.75  # share of the gap; if it promises more, tau shrinks
_TAU_FACTOR = 1.5  # by which tau grows or shrinks
_MOST_STEPS = 40  # Newton steps per proposal
_SMALLEST_DUAL_GAP = 0.1  # share of the promised decrease; less does not matter
_SMALLEST_RELATIVE_DUAL_GAP = 1e-12  # share of the value; less is rounding
_LARGEST_HIDDEN_SHARE = 0.5  # share of the decrease; if more is hidden, the bound lags


class Proposal(NamedTuple):
    """What a model of the objective proposes."""

    parameters: FloatArray  # where to go
    lower_bound: float  # the true objective is nowhere below it
    promise: float  # what the model expects the objective to be there


class Master(Protocol):
    """A model of the objective, made of cuts and the regularizer."""

    def propose(self, center: FloatArray, value: float) -> Proposal:
        """Return where the model is low, seen from a center with that value."""


def master_for(regularizer: Regularizer, cuts: Cuts, C: float) -> Master:
    """Choose the master problem that a regularizer allows."""
    if isinstance(regularizer, QuadraticRegularizer):
        return _ExactMaster(regularizer, cuts, C)
    if isinstance(regularizer, ProximalRegularizer):
        return _ProximalMaster(regularizer, cuts, C)
    raise IncompatibleError(
        f"{type(regularizer).__name__} has neither a curvature nor prox, one of which "
        "a cutting-plane method needs. Try L2."
    )


class _ExactMaster(NamedTuple):
    """The model alone."""

    regularizer: QuadraticRegularizer
    cuts: Cuts
    C: float

    def propose(self, center: FloatArray, value: float) -> Proposal:
        solution = self.cuts.minimize(self.regularizer, self.C)
        bound = solution.lower_bound
        return Proposal(solution.parameters, bound, bound)


class _ProximalMaster:
    """The model near the center, for a proposal; less near, for a bound.

    The nearness tau is steered so that a proposal promises about half of the gap. Where
    shares found with a tau so small say little about the optimum, a certificate finds
    others.
    """

    def __init__(self, regularizer: ProximalRegularizer, cuts: Cuts, C: float) -> None:
        self._regularizer = regularizer
        self._cuts = cuts
        self._C = C
        self._tau = 0.0
        self._certificate = CutCertificate(regularizer, cuts, C)
        self._bound = 0.0
        self._is_lagging = True

    def propose(self, center: FloatArray, value: float) -> Proposal:
        if self._tau == 0.0:
            self._tau = step_to_zero(self._cuts, self._C, value)
        if self._is_lagging:
            bound = self._certificate.improve(center, value)
            self._bound = max(self._bound, bound)
        model = NearModel(self._regularizer, self._cuts, self._C, center, self._tau)
        near = self._solved(model)
        bound = model.bound(near)
        self._bound = max(self._bound, bound)
        hidden, decrease = near.value - bound, value - near.value
        self._is_lagging = hidden > _LARGEST_HIDDEN_SHARE * decrease
        self._steer((value - near.highest) / ((value - self._bound) or 1.0))
        return Proposal(near.parameters, self._bound, near.highest)

    def _solved(self, model: NearModel) -> Mixture:
        """Raise the shares' value until it is close to what the point costs."""
        cuts = self._cuts
        mixture = model.at(cuts.multipliers)
        at_center = self._regularizer.value(model.center)
        at_center += self._C * float(cuts.heights(model.center).max())
        for _ in range(_MOST_STEPS):
            enough = _SMALLEST_DUAL_GAP * (at_center - mixture.highest)
            enough = max(enough, _SMALLEST_RELATIVE_DUAL_GAP * abs(at_center))
            if mixture.highest - mixture.value <= enough:
                break
            higher = model.higher(mixture)
            if higher is None:
                break
            mixture = higher
        cuts.share_out(mixture.shares)
        return mixture

    def _steer(self, promised: float) -> None:
        """Let tau follow the share of the gap that a proposal promises to close."""
        if promised < _SMALLEST_PROMISE:
            self._tau *= _TAU_FACTOR
        elif promised > _LARGEST_PROMISE:
            self._tau /= _TAU_FACTOR
