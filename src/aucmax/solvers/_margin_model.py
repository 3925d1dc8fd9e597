"""What all margin programs share: masses on rows, and edges below the margin.

Masses are counted in units of the mean cap, ``mass = unit * d``: totals are `unit`,
caps are near 1, and the absolute tolerances of a solver mean the same at any size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from aucmax._validation import BoolArray, FloatArray, check_sample_weight
from aucmax.exceptions import NotEnoughClassesError
from aucmax.solvers._highs import LinearProgramSolution
from aucmax.solvers._linear_model import LinearModel, Variables

__all__ = [
    "MarginModel",
    "MarginSolution",
    "Rows",
    "WeightsSet",
    "check_nu",
    "uncapped",
]

WeightsSet = Literal["simplex", "l1"]
_LARGEST_EXCESS = 1e-9  # share of the total weight, by which a nu may exceed it


@dataclass(frozen=True)
class MarginSolution:
    r"""The optimum of a problem of the 1-norm margin family.

    Attributes
    ----------
    alpha : ndarray of shape (n_hypotheses,)
        Weights of the hypotheses.
    value : float
        The optimum :math:`\gamma`.
    gap : float
        `value` minus the margin that `alpha` is proven to have: rounding, near 0.
    d_pos : ndarray of shape (n_positive,)
        Masses of the positive rows, in the order of the rows; their sum is 1.
    d_neg : ndarray of shape (n_negative,)
        Masses of the negative rows.
    rho : float
        The target margin of the primal form: pairs, or rows, below it pay.
    bias : float or None
        The bias b of problems (5), (8) and (9); None for problems over pairs.
    nu_pos : float or None
        The minimiser :math:`\nu^+` of problem (9); None for the others.
    """

    alpha: FloatArray
    value: float
    gap: float
    d_pos: FloatArray
    d_neg: FloatArray
    rho: float
    bias: float | None = None
    nu_pos: float | None = None


@dataclass(frozen=True)
class Rows:
    """Values of the hypotheses on the rows of each class, and the rows' weights."""

    H_pos: FloatArray
    H_neg: FloatArray
    weight_pos: FloatArray
    weight_neg: FloatArray

    @classmethod
    def checked(
        cls, H: ArrayLike, labels: BoolArray, sample_weight: ArrayLike | None
    ) -> Rows:
        """Check the arguments and split them by class."""
        values = _checked_matrix(H)
        is_positive = np.asarray(labels)
        if is_positive.dtype != bool or is_positive.shape != values.shape[:1]:
            raise ValueError(
                f"labels must be {values.shape[0]} booleans, one for each row of H, "
                f"got shape {is_positive.shape} of dtype {is_positive.dtype}."
            )
        weights = check_sample_weight(sample_weight, values.shape[0])
        if weights is None:
            weights = np.ones(values.shape[0])
        for name, mine in (("positive", is_positive), ("negative", ~is_positive)):
            if not weights[mine].any():
                raise NotEnoughClassesError(
                    f"no {name} row has a weight; a margin needs rows of both classes."
                )
        return cls(
            values[is_positive],
            values[~is_positive],
            weights[is_positive],
            weights[~is_positive],
        )

    @property
    def total_pos(self) -> float:
        """The weight of all positives."""
        return float(self.weight_pos.sum())

    @property
    def total_neg(self) -> float:
        """The weight of all negatives."""
        return float(self.weight_neg.sum())


def _checked_matrix(H: ArrayLike) -> FloatArray:
    values = np.asarray(H)
    if values.ndim != 2 or values.shape[1] == 0 or values.dtype.kind not in "fiub":
        raise ValueError(
            "H must be a matrix of numbers with a row for each label and a column for "
            f"each hypothesis, got shape {values.shape} of dtype {values.dtype}."
        )
    finite = np.isfinite(values)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"H must be finite, but row {row}, column {column} is "
            f"{values[row, column]}."
        )
    return values.astype(np.float64, copy=False)


def check_nu(nu: float, most: float, name: str, of_what: str) -> float:
    """Return nu if it lies in (0, most], up to rounding."""
    if not 0.0 < nu <= most * (1.0 + _LARGEST_EXCESS):
        raise ValueError(
            f"{name} must be above 0 and at most the weight of all {of_what}, "
            f"{most:g}, got {nu!r}."
        )
    return min(float(nu), most)


def uncapped(weights: FloatArray) -> FloatArray:
    """Return the caps of a hard margin: none, but 0 for a row of weight 0."""
    return np.where(weights > 0.0, np.inf, 0.0)


class MarginModel(LinearModel):
    """Masses of the rows, and a margin that no hypothesis' edge exceeds.

    The set of weights "simplex" bounds the edges from above alone, "l1" from both
    sides. Mass is counted in `mean_cap`, 1 if nothing is capped. `caps_pos` and
    `caps_neg` are the largest shares of each row; None if constraints to come imply
    them. `unit` is the mass that a share of 1 stands for, `positives` and `negatives`
    are the columns of the masses, `edges` the rows that tie the edges; their
    multipliers are minus the weights.
    """

    def __init__(
        self,
        rows: Rows,
        weights_set: WeightsSet,
        mean_cap: float,
        caps_pos: FloatArray | None = None,
        caps_neg: FloatArray | None = None,
    ) -> None:
        super().__init__()
        self.weights_set = weights_set
        self.unit = 1.0 / mean_cap if np.isfinite(mean_cap) else 1.0
        self.positives = self._masses(rows.weight_pos.size, caps_pos)
        self.negatives = self._masses(rows.weight_neg.size, caps_neg)
        self.edges = self._bounded_edges(rows, weights_set)

    def masses(self, caps: FloatArray) -> Variables:
        """Take in masses with caps on their shares."""
        return self.variables(caps.size, high=self.unit * caps, reach=self.unit)

    def spend(self, masses: Variables) -> slice:
        """Let shares sum to 1."""
        ones = np.ones((1, masses.stop - masses.start))
        return self.constrain([(masses, ones)], self.unit, self.unit)

    def solution_over_rows(
        self,
        found: LinearProgramSolution,
        totals: tuple[slice, slice],
        nu_pos: float | None = None,
    ) -> MarginSolution:
        """Read rho and bias of problem (8) off the multipliers of the totals.

        These are half the scores at which rows begin to pay: (rho - bias) / 2 for the
        scores of positives, (rho + bias) / 2 for minus the scores of negatives.
        """
        pos, neg = (float(found.multipliers[total][0]) for total in totals)
        return self.solution(found, rho=pos + neg, bias=neg - pos, nu_pos=nu_pos)

    def solution(
        self,
        found: LinearProgramSolution,
        rho: float,
        bias: float | None = None,
        nu_pos: float | None = None,
    ) -> MarginSolution:
        """Read weights and masses off the solution, and round them to feasible ones."""
        alpha = -found.multipliers[self.edges]
        if self.weights_set == "simplex":
            alpha = np.maximum(alpha, 0.0)
            alpha /= alpha.sum()
        else:
            alpha /= max(1.0, np.abs(alpha).sum())
        d_pos = np.maximum(found.x[self.positives], 0.0)
        d_neg = np.maximum(found.x[self.negatives], 0.0)
        return MarginSolution(
            alpha=alpha,
            value=found.value / self.unit,
            gap=found.gap / self.unit,
            d_pos=d_pos / d_pos.sum(),
            d_neg=d_neg / d_neg.sum(),
            rho=rho,
            bias=bias,
            nu_pos=nu_pos,
        )

    def _masses(self, n: int, caps: FloatArray | None) -> Variables:
        if caps is None:
            return self.variables(n, low=-np.inf, reach=self.unit)
        return self.masses(caps)

    def _bounded_edges(self, rows: Rows, weights_set: WeightsSet) -> slice:
        if weights_set not in ("simplex", "l1"):
            raise ValueError(
                f"weights_set must be 'simplex' or 'l1', got {weights_set!r}."
            )
        n = rows.H_pos.shape[1]
        largest = max(np.abs(rows.H_pos).max(), np.abs(rows.H_neg).max(), 1.0)
        free = {"low": -np.inf, "reach": largest * self.unit}
        margin = self.variables(1, cost=1.0, **free)
        edges = [
            (self.positives, 0.5 * rows.H_pos.T),
            (self.negatives, -0.5 * rows.H_neg.T),
        ]
        minus = np.full((n, 1), -1.0)
        if weights_set == "simplex":
            return self.constrain([*edges, (margin, minus)], high=0.0)
        edge, each = self.variables(n, **free), sparse.eye_array(n)
        defined = self.constrain([*edges, (edge, -each)], low=0.0, high=0.0)
        self.constrain([(edge, each), (margin, minus)], high=0.0)
        self.constrain([(edge, -each), (margin, minus)], high=0.0)
        return defined
