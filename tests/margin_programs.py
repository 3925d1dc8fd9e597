r"""The 1-norm margin family as linear programs over all pairs: the tests' oracle.

Hypotheses h_k have the values ``H[row, k]``. Every problem of the family asks for
weights alpha of the hypotheses; its dual asks for dual weights d+ of the positive and
d- of the negative rows, each with sum 1, that leave every hypothesis a small edge:

    gamma = min over d+, d- of max over k of
            (sum_i d+_i h_k(x+_i) - sum_j d-_j h_k(x-_j)) / 2

The problems differ only in which dual weights are allowed. HiGHS gets this dual form,
with marginals as additional variables where dual weights lie on pairs: that keeps the
matrix sparse. The weights alpha are its multipliers. Dual weights are in units of the
mean cap, so that HiGHS's absolute tolerances mean the same at any size. Problems have
the numbers of Suehiro, Hatano and Takimoto (ALT 2011).
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from linear_model import LinearModel


@dataclass(frozen=True)
class MarginSolution:
    """The optimum: weights, value, dual weights, and what the primal form has."""

    alpha: np.ndarray
    value: float
    gap: float  # `value` minus the margin that `alpha` is proven to have: rounding
    d_pos: np.ndarray
    d_neg: np.ndarray
    rho: float  # pairs, or rows, below this margin pay
    bias: float | None = None  # of problems (5), (8) and (9)
    nu_pos: float | None = None  # the minimiser of problem (9)


def solve_pairs(H, labels, nu, **options):
    """Maximise the mean of the nu smallest pair margins: problems (2) and (3)."""
    model = _MarginModel(H, labels, **options)
    return model.solved_over_pairs(np.outer(*model.weights) / nu)


def solve_hard_pairs(H, labels, **options):
    """Maximise the smallest pair margin, pair by pair: problem (4)."""
    model = _MarginModel(H, labels, **options)
    return model.solved_over_pairs(np.minimum.outer(*map(_uncapped, model.weights)))


def solve_hard_with_bias(H, labels, **options):
    """Maximise the smallest margin of a row, with a bias: problem (5)."""
    model = _MarginModel(H, labels, **options)
    return model.solved_over_rows(*map(_uncapped, model.weights))


def solve_instances(H, labels, nu_pos, nu_neg, **options):
    """Reduce pairs to instances, for given nu+ and nu-: problems (7) and (8)."""
    model = _MarginModel(H, labels, **options)
    return model.solved_over_rows(model.weights[0] / nu_pos, model.weights[1] / nu_neg)


def solve_tangent(H, labels, nu, nu_center, **options):
    """Choose nu+ near a center as well: problem (9).

    Dual weights may reach w_i (2 / center - nu+ / center^2) and w_j nu+ / nu, where
    nu / W- <= nu+ <= 2 center - center^2 / W+ is a variable.
    """
    model = _MarginModel(H, labels, **options)
    total_pos, total_neg = (float(weights.sum()) for weights in model.weights)
    center, least = min(float(nu_center), total_pos), min(nu / total_neg, total_pos)
    caps = model.weights[0] / center, model.weights[1] * (center / nu)
    # caps at the center; elsewhere, with q = nu+ / center, they are (2 - q) and q times
    # as large. A linear program in q, since the dual weights are bounded by constraints
    model.write(float(np.concatenate(caps).mean()), *map(_uncapped, model.weights))
    share = model.variables(
        1, min(least / center, 1.0), max(2.0 - center / total_pos, 1.0), reach=2.0
    )
    for duals, limits, sign in zip(model.dual_weights, caps, (1.0, -1.0), strict=True):
        slope = sign * model.unit * limits
        terms = [(duals, sparse.eye_array(limits.size)), (share, slope[:, None])]
        model.constrain(terms, high=slope + np.abs(slope))
    totals = [model.spend(duals) for duals in model.dual_weights]
    program = model.solved()
    nu_pos = center * float(program.x[share][0])
    return model.solution_over_rows(program, totals, nu_pos=nu_pos)


def _uncapped(weights):
    """Return the caps of a hard margin: none, but 0 for a row of weight 0."""
    return np.where(weights > 0.0, np.inf, 0.0)


class _MarginModel(LinearModel):
    """Dual weights of the rows, and a margin that no hypothesis' edge exceeds.

    `weights_set` is "simplex" (edges are bounded from above) or "l1" (from both sides).
    """

    def __init__(
        self,
        H,
        labels,
        *,
        weights_set="simplex",
        sample_weight=None,
        method="interior-point",
    ):
        super().__init__()
        H = np.asarray(H, dtype=float)
        weight = np.ones(len(H)) if sample_weight is None else np.asarray(sample_weight)
        self.weights = weight[labels].astype(float), weight[~labels].astype(float)
        self.H, self.weights_set = (H[labels], H[~labels]), weights_set
        self.method = method

    def write(self, mean_cap, caps_pos=None, caps_neg=None):
        """Write dual weights and edges; None for caps that later constraints imply."""
        self.unit = 1.0 / mean_cap if np.isfinite(mean_cap) else 1.0
        self.dual_weights = [
            self.variables(rows.shape[0], low=-np.inf, reach=self.unit)
            if caps is None
            else self.capped(caps)
            for rows, caps in zip(self.H, (caps_pos, caps_neg), strict=True)
        ]
        n = self.H[0].shape[1]
        largest = max(1.0, *(np.abs(values).max() for values in self.H))
        free = {"low": -np.inf, "reach": largest * self.unit}
        margin = self.variables(1, cost=1.0, **free)
        edges = [
            (duals, sign * values.T)
            for duals, sign, values in zip(
                self.dual_weights, (0.5, -0.5), self.H, strict=True
            )
        ]
        minus = np.full((n, 1), -1.0)
        if self.weights_set == "simplex":
            self.edges = self.constrain([*edges, (margin, minus)], high=0.0)
            return
        edge, each = self.variables(n, **free), sparse.eye_array(n)
        self.edges = self.constrain([*edges, (edge, -each)], low=0.0, high=0.0)
        self.constrain([(edge, each), (margin, minus)], high=0.0)
        self.constrain([(edge, -each), (margin, minus)], high=0.0)

    def capped(self, caps):
        return self.variables(caps.size, high=self.unit * caps, reach=self.unit)

    def spend(self, duals):
        """Let shares sum to 1."""
        ones = np.ones((1, duals.stop - duals.start))
        return self.constrain([(duals, ones)], self.unit, self.unit)

    def solved(self):
        return self.minimised(self.method)

    def solved_over_pairs(self, caps):
        """Solve a problem with a dual weight per pair; caps have the shape (p, n)."""
        p, n = caps.shape
        self.write(float(caps.mean()))
        pairs = self.capped(caps.ravel())
        pair, ones = np.arange(p * n), np.ones(p * n)
        for duals, owner, size in zip(
            self.dual_weights, (pair // n, pair % n), (p, n), strict=True
        ):
            incidence = sparse.coo_array((ones, (owner, pair)), shape=(size, p * n))
            terms = [(pairs, incidence), (duals, -sparse.eye_array(size))]
            self.constrain(terms, low=0.0, high=0.0)
        total = self.spend(self.dual_weights[0])
        program = self.solved()
        return self.solution(program, rho=float(program.multipliers[total][0]))

    def solved_over_rows(self, *caps):
        """Solve a problem of dual weights on rows."""
        self.write(float(np.concatenate(caps).mean()), *caps)
        totals = [self.spend(duals) for duals in self.dual_weights]
        return self.solution_over_rows(self.solved(), totals)

    def solution_over_rows(self, program, totals, nu_pos=None):
        """Read rho and bias of problem (8) off the multipliers of the totals.

        These are half the scores at which rows begin to pay: (rho - bias) / 2 for the
        scores of positives, (rho + bias) / 2 for minus the scores of negatives.
        """
        pos, neg = (float(program.multipliers[total][0]) for total in totals)
        return self.solution(program, rho=pos + neg, bias=neg - pos, nu_pos=nu_pos)

    def solution(self, program, **more):
        """Read both weights off the solution, and round them to feasible ones."""
        alpha = -program.multipliers[self.edges]
        if self.weights_set == "simplex":
            alpha = np.maximum(alpha, 0.0)
            alpha /= alpha.sum()
        else:
            alpha /= max(1.0, np.abs(alpha).sum())
        d_pos, d_neg = (
            np.maximum(program.x[duals], 0.0) for duals in self.dual_weights
        )
        return MarginSolution(
            alpha=alpha,
            value=program.value / self.unit,
            gap=program.gap / self.unit,
            d_pos=d_pos / d_pos.sum(),
            d_neg=d_neg / d_neg.sum(),
            **more,
        )
