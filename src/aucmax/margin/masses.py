r"""The row weights that a margin risk allows: sums of masses, each with a cap.

The row weights under which a margin risk is minus a mean margin are sums of masses v,
with :math:`0 \le v \le u` and fixed totals: one mass per row for the reduction to
instances, one per pair for the soft margin over pairs. An interior-point method needs
them in the terms below, where P sums masses to signed row weights, E to their totals,
and :math:`\Theta` is a diagonal matrix.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve

from aucmax._core.validation import BoolArray, FloatArray
from aucmax.hypotheses.stump_matrices import StumpGrid
from aucmax.risks.contract import Risk
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin

_MIN_FREE_SHARE = 1e-6  # of the caps, so that there are interior points
_MAX_PAIRS = 250_000  # each with a mass of its own
TOTAL = 0.5  # of the masses of a class, or of all pairs


class RowMasses:
    """One mass per row; those of each class add up to one half."""

    n_totals = 2
    serve_many_rows = True  # few stumps need no matrix over the rows

    def __init__(self, caps: FloatArray, labels: BoolArray) -> None:
        self.caps = caps
        self._labels = labels
        self._signs = np.where(labels, 1.0, -1.0)

    def to_rows(self, masses: FloatArray) -> FloatArray:
        """Return the signed row weights P v."""
        return self._signs * masses

    def margins(self, scores: FloatArray) -> FloatArray:
        """Return P^T s: the margin that each mass weighs."""
        return self._signs * scores

    def totals(self, masses: FloatArray) -> FloatArray:
        """Return E v."""
        positive = masses[self._labels].sum()
        return np.array([positive, masses[~self._labels].sum()])

    def spread(self, totals: FloatArray) -> FloatArray:
        """Return E^T of one number per total, broadcastable to the masses."""
        return np.asarray(np.where(self._labels, totals[0], totals[1]))

    def between_rows(self, theta: FloatArray, scores: FloatArray) -> FloatArray:
        """Return P Theta P^T s, of one column of scores or many."""
        return np.asarray((theta * scores.T).T)

    def solver(
        self, theta: FloatArray, grid: StumpGrid, weights: FloatArray
    ) -> Callable[[FloatArray], FloatArray]:
        """Return a solver of (I + P Theta P^T M) x = b; M = H diag(weights) H^T."""
        if grid.n_stumps < theta.size:
            return _solver_over_stumps(theta, grid, weights)
        # symmetric once divided by theta
        matrix = grid.row_products(weights)
        matrix[np.diag_indices_from(matrix)] += 1.0 / theta
        factor = cho_factor(matrix, overwrite_a=True, check_finite=False)
        return lambda b: np.asarray(
            cho_solve(factor, (b.T / theta).T, check_finite=False)
        )


def _solver_over_stumps(
    theta: FloatArray, grid: StumpGrid, weights: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Solve for the rows by way of the stumps, where these are fewer."""
    # (I + Theta H W H')^-1 = I - Theta H (W^-1 + H' Theta H)^-1 H'
    matrix = grid.column_products(theta)
    matrix[np.diag_indices_from(matrix)] += 1.0 / weights
    factor = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)

    def near(b: FloatArray) -> FloatArray:
        answer = cho_solve(factor, grid.edges(b), check_finite=False)
        return np.asarray(b - theta * grid.scores(answer))

    def solve(b: FloatArray) -> FloatArray:
        if b.ndim > 1:
            return np.column_stack([solve(column) for column in b.T])
        x = near(b)
        # a difference of large numbers: without this, steps soon go astray
        pushed = grid.scores(weights * grid.edges(x))
        return x + near(b - x - theta * pushed)

    return solve


class PairMasses:
    """One mass per pair, of total one half; for few rows, as all pairs are listed."""

    n_totals = 1
    serve_many_rows = False

    def __init__(self, caps: FloatArray, labels: BoolArray) -> None:
        self.caps = caps  # positives by negatives
        self._positive, self._negative = np.flatnonzero(labels), np.flatnonzero(~labels)
        self._n_rows = labels.size

    def to_rows(self, masses: FloatArray) -> FloatArray:
        """Return the signed row weights P v."""
        rows = np.empty(self._n_rows)
        rows[self._positive] = masses.sum(axis=1)
        rows[self._negative] = -masses.sum(axis=0)
        return rows

    def margins(self, scores: FloatArray) -> FloatArray:
        """Return P^T s: the margin that each mass weighs."""
        return np.subtract.outer(scores[self._positive], scores[self._negative])

    def totals(self, masses: FloatArray) -> FloatArray:
        """Return E v."""
        return np.array([masses.sum()])

    def spread(self, totals: FloatArray) -> FloatArray:
        """Return E^T of one number per total, broadcastable to the masses."""
        return totals

    def between_rows(self, theta: FloatArray, scores: FloatArray) -> FloatArray:
        """Return P Theta P^T s: the Laplacian of the pairs."""
        positive, negative = scores[self._positive], scores[self._negative]
        product = np.empty_like(scores)
        product[self._positive] = (theta.sum(axis=1) * positive.T).T - theta @ negative
        product[self._negative] = (
            theta.sum(axis=0) * negative.T
        ).T - theta.T @ positive
        return product

    def solver(
        self, theta: FloatArray, grid: StumpGrid, weights: FloatArray
    ) -> Callable[[FloatArray], FloatArray]:
        """Return a solver of (I + P Theta P^T M) x = b; see :class:`RowMasses`."""
        matrix = self.between_rows(theta, grid.row_products(weights))
        matrix[np.diag_indices_from(matrix)] += 1.0
        factor = lu_factor(matrix, overwrite_a=True, check_finite=False)
        return lambda b: np.asarray(lu_solve(factor, b, check_finite=False))


Masses: TypeAlias = RowMasses | PairMasses


def masses_of(
    risk: Risk, labels: BoolArray, sample_weight: FloatArray | None
) -> Masses | None:
    """Return the masses of a risk, or None if it has none, too many, or no choice."""
    weight = np.ones(labels.size) if sample_weight is None else sample_weight
    positive, negative = weight[labels], weight[~labels]
    masses: Masses
    if (weight == 0.0).any():
        return None
    if isinstance(risk, InstanceMargin):
        nus = np.where(labels, risk.nu_pos, risk.nu_neg)
        masses = RowMasses(TOTAL * weight / nus, labels)
    elif isinstance(risk, PairMargin) and positive.size * negative.size <= _MAX_PAIRS:
        pairs = np.multiply.outer(positive, negative)
        masses = PairMasses(TOTAL * pairs / risk.nu, labels)
    else:
        return None
    is_free = masses.totals(masses.caps) * (1.0 - _MIN_FREE_SHARE) > TOTAL
    return masses if is_free.all() else None
