r"""The 1-norm margin family as linear programs, for small data and for tests.

Hypotheses :math:`h_k` have the values ``H[row, k]``. Every problem of the family asks
for weights :math:`\alpha` of the hypotheses, and its dual for masses :math:`d^+` of the
positive and :math:`d^-` of the negative rows, each with sum 1, that leave every
hypothesis a small edge:

.. math:: \gamma = \min_{d^+, d^-} \max_k \tfrac12 \Big(
          \sum_i d^+_i h_k(x^+_i) - \sum_j d^-_j h_k(x^-_j) \Big)

The problems differ only in which masses are allowed. HiGHS gets this dual form, with
marginals as variables of their own where masses lie on pairs: that keeps the matrix
sparse. The weights :math:`\alpha` are its multipliers. Masses are counted in units of
the mean cap, so that HiGHS's absolute tolerances mean the same at any size.

References
----------
.. [1] D. Suehiro, K. Hatano, E. Takimoto. Approximate reduction from AUC maximization
   to 1-norm soft margin optimization. ALT 2011. Problems by its numbers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from aucmax._validation import BoolArray, FloatArray
from aucmax.solvers._highs import LinearProgramSolution, solve_program
from aucmax.solvers._margin_model import (
    MarginModel,
    MarginSolution,
    Rows,
    WeightsSet,
    check_nu,
    uncapped,
)

__all__ = [
    "MarginSolution",
    "Setting",
    "solve_hard_pairs",
    "solve_hard_with_bias",
    "solve_instances",
    "solve_pairs",
    "solve_tangent",
]

MAX_PAIRS = 100_000


@dataclass(frozen=True)
class Setting:
    r"""What all programs may be told by keyword.

    Parameters
    ----------
    weights_set : {"simplex", "l1"}, default="simplex"
        Whether `alpha` is a convex combination or has :math:`\|\alpha\|_1 \le 1`.
    sample_weight : array-like of shape (n_rows,), default=None
        Weights w of the rows; a row of weight 2 is that row twice.
    method : {"interior-point", "simplex"}, default="interior-point"
        What HiGHS runs.
    time_limit : float, default=None
        The most seconds.
    """

    weights_set: WeightsSet = "simplex"
    sample_weight: ArrayLike | None = None
    method: str = "interior-point"
    time_limit: float | None = None

    def rows(self, H: ArrayLike, labels: BoolArray) -> Rows:
        """Check the data and split them by class."""
        return Rows.checked(H, labels, self.sample_weight)

    def solved(self, model: MarginModel) -> LinearProgramSolution:
        """Hand a program to HiGHS."""
        return solve_program(
            model.program(), method=self.method, time_limit=self.time_limit
        )


def solve_pairs(
    H: ArrayLike,
    labels: BoolArray,
    nu: float,
    **options: Any,
) -> MarginSolution:
    r"""Maximise the mean of the nu smallest pair margins: problems (2) and (3).

    Pair (i, j) may carry mass up to :math:`w_i w_j / \nu`.

    Parameters
    ----------
    H : array-like of shape (n_rows, n_hypotheses)
        Values of the hypotheses.
    labels : ndarray of bool of shape (n_rows,)
        Which rows are positive.
    nu : float
        How many pairs, by weight, have a share in the mean; at most all of them.
    **options
        See :class:`Setting`.

    Returns
    -------
    MarginSolution
        The optimum.

    Raises
    ------
    ValueError
        If there are more than 100,000 pairs, or an argument is out of its range.
    TimeoutError
        If the time limit was reached.

    Examples
    --------
    >>> import numpy as np
    >>> from aucmax.solvers.linear_program import solve_pairs
    >>> H = np.array([[1.0, -0.5], [0.0, 1.0], [0.5, -1.0], [-1.0, 0.0]])
    >>> solution = solve_pairs(H, np.array([True, True, False, False]), nu=2)
    >>> round(solution.value, 6)
    0.3125
    """
    setting = Setting(**options)
    rows = setting.rows(H, labels)
    _check_few_pairs(rows)
    nu = check_nu(nu, rows.total_pos * rows.total_neg, "nu", "pairs")
    caps = np.outer(rows.weight_pos, rows.weight_neg) / nu
    return _solve_over_pairs(setting, rows, caps)


def solve_hard_pairs(H: ArrayLike, labels: BoolArray, **options: Any) -> MarginSolution:
    """Maximise the smallest pair margin, pair by pair: problem (4).

    Arguments are those of :func:`solve_pairs`; weights other than 0 make no difference,
    and `rho` equals `value`.
    """
    setting = Setting(**options)
    rows = setting.rows(H, labels)
    _check_few_pairs(rows)
    caps = np.minimum.outer(uncapped(rows.weight_pos), uncapped(rows.weight_neg))
    return _solve_over_pairs(setting, rows, caps)


def solve_hard_with_bias(
    H: ArrayLike, labels: BoolArray, **options: Any
) -> MarginSolution:
    """Maximise the smallest margin of a row, with a bias: problem (5).

    By Theorem 2 it has the optimum of problem (4), at a row instead of a pair each.
    Arguments are those of :func:`solve_hard_pairs`; the solution has the bias as well.
    """
    setting = Setting(**options)
    rows = setting.rows(H, labels)
    caps = uncapped(rows.weight_pos), uncapped(rows.weight_neg)
    return _solve_over_rows(setting, rows, *caps)


def solve_instances(
    H: ArrayLike,
    labels: BoolArray,
    nu_pos: float,
    nu_neg: float,
    **options: Any,
) -> MarginSolution:
    r"""Reduce pairs to instances, for given nu+ and nu-: problems (7) and (8).

    .. math:: \hat\gamma = \max_\alpha \tfrac12 \big[\text{mean of the } \nu^+
              \text{ smallest } s - \text{mean of the } \nu^- \text{ largest } t\big]

    Row i may carry mass up to :math:`w_i / \nu^+`, or :math:`w_j / \nu^-`.

    Parameters
    ----------
    H, labels, **options
        As in :func:`solve_pairs`.
    nu_pos, nu_neg : float
        How many rows of each class, by weight, have a share in the means.

    Returns
    -------
    MarginSolution
        The optimum with the bias of problem (8).
    """
    setting = Setting(**options)
    rows = setting.rows(H, labels)
    nu_pos = check_nu(nu_pos, rows.total_pos, "nu_pos", "positives")
    nu_neg = check_nu(nu_neg, rows.total_neg, "nu_neg", "negatives")
    caps = rows.weight_pos / nu_pos, rows.weight_neg / nu_neg
    return _solve_over_rows(setting, rows, *caps)


def solve_tangent(
    H: ArrayLike,
    labels: BoolArray,
    nu: float,
    nu_center: float,
    **options: Any,
) -> MarginSolution:
    r"""Choose nu+ near a center as well: problem (9).

    Masses may reach :math:`d^+_i \le w_i (2/\nu_c - \nu^+/\nu_c^2)`, below the tangent
    of :math:`w_i/\nu^+` at the center, and :math:`d^-_j \le w_j \nu^+/\nu`, where
    :math:`\nu/W^- \le \nu^+ \le 2\nu_c - \nu_c^2/W^+` is a variable. The optimum is at
    most that of problem (7) at the center, and at least that at the `nu_pos` returned.

    Parameters
    ----------
    H, labels, **options
        As in :func:`solve_pairs`.
    nu : float
        The product of nu+ and nu-.
    nu_center : float
        Where the tangent touches, from nu / W- to W+.

    Returns
    -------
    MarginSolution
        The optimum with its `nu_pos`.
    """
    setting = Setting(**options)
    rows = setting.rows(H, labels)
    nu = check_nu(nu, rows.total_pos * rows.total_neg, "nu", "pairs")
    center = check_nu(nu_center, rows.total_pos, "nu_center", "positives")
    least = min(nu / rows.total_neg, rows.total_pos)
    if center < least * (1.0 - 1e-9):
        raise ValueError(
            f"nu_center must be at least nu / W- = {least:g}, got {nu_center!r}: below "
            "it the negatives cannot carry mass 1."
        )
    caps_pos, caps_neg = rows.weight_pos / center, rows.weight_neg * (center / nu)
    mean_cap = float(np.concatenate([caps_pos, caps_neg]).mean())
    # caps at the center; elsewhere, with q = nu+ / center, they are (2 - q) and q times
    # as large. A linear program in q, since the masses are bounded by constraints
    free_pos, free_neg = uncapped(rows.weight_pos), uncapped(rows.weight_neg)
    model = MarginModel(rows, setting.weights_set, mean_cap, free_pos, free_neg)
    share = model.variables(
        1, min(least / center, 1.0), max(2.0 - center / rows.total_pos, 1.0), reach=2.0
    )
    for masses, caps, sign in (
        (model.positives, caps_pos, 1.0),
        (model.negatives, caps_neg, -1.0),
    ):
        slope = sign * model.unit * caps
        terms = [(masses, sparse.eye_array(caps.size)), (share, slope[:, None])]
        model.constrain(terms, high=slope + np.abs(slope))
    totals = model.spend(model.positives), model.spend(model.negatives)
    found = setting.solved(model)
    nu_pos = center * float(found.x[share][0])
    return model.solution_over_rows(found, totals, nu_pos=nu_pos)


def _solve_over_pairs(setting: Setting, rows: Rows, caps: FloatArray) -> MarginSolution:
    """Solve a problem of masses on pairs, whose caps have the shape (p, n)."""
    p, n = caps.shape
    model = MarginModel(rows, setting.weights_set, float(caps.mean()))
    pairs = model.masses(caps.ravel())
    pair, ones = np.arange(p * n), np.ones(p * n)
    for masses, owner, size in (
        (model.positives, pair // n, p),
        (model.negatives, pair % n, n),
    ):
        of_row = sparse.coo_array((ones, (owner, pair)), shape=(size, p * n))
        terms = [(pairs, of_row), (masses, -sparse.eye_array(size))]
        model.constrain(terms, low=0.0, high=0.0)
    total = model.spend(model.positives)
    found = setting.solved(model)
    return model.solution(found, rho=float(found.multipliers[total][0]))


def _solve_over_rows(
    setting: Setting, rows: Rows, caps_pos: FloatArray, caps_neg: FloatArray
) -> MarginSolution:
    """Solve a problem of masses on rows."""
    mean_cap = float(np.concatenate([caps_pos, caps_neg]).mean())
    model = MarginModel(rows, setting.weights_set, mean_cap, caps_pos, caps_neg)
    totals = model.spend(model.positives), model.spend(model.negatives)
    found = setting.solved(model)
    return model.solution_over_rows(found, totals)


def _check_few_pairs(rows: Rows) -> None:
    n_pairs = rows.weight_pos.size * rows.weight_neg.size
    if n_pairs > MAX_PAIRS:
        raise ValueError(
            f"a linear program over all {n_pairs:,} pairs is too large; at most "
            f"{MAX_PAIRS:,} are listed. Use the bundle solver, which solves the same "
            "problem at any size without listing pairs."
        )
