r"""The 1-norm margin family as linear programs over all pairs: the tests' oracle.

Hypotheses h_k have the values ``H[row, k]``. Every problem of the family asks for
weights of the hypotheses, on the simplex or in the L1 ball; its dual asks for dual
weights d+ of the positive and d- of the negative rows, each with sum 1, that leave
every hypothesis a small edge:

    gamma = min over d+, d- of max over k of
            (sum_i d+_i h_k(x+_i) - sum_j d-_j h_k(x-_j)) / 2

The problems differ only in which dual weights are allowed. CVXPY writes these programs
and HiGHS solves them. Problems have the numbers of Suehiro, Hatano and Takimoto (ALT
2011); without a cap, a dual weight is at most 1, and 0 for a row without weight.
"""

import cvxpy as cp
import numpy as np


def solve_pairs(H, labels, nu, **options):
    """Maximise the mean of the nu smallest pair margins: problems (2) and (3)."""
    return _over_pairs(H, labels, lambda weights: weights / nu, **options)


def solve_hard_pairs(H, labels, **options):
    """Maximise the smallest pair margin, pair by pair: problem (4)."""
    return _over_pairs(H, labels, lambda weights: 1.0 * (weights > 0.0), **options)


def solve_hard_with_bias(H, labels, **options):
    """Maximise the smallest margin of a row, with a bias: problem (5)."""
    return _over_rows(
        H, labels, lambda p, n: (1.0 * (p > 0.0), 1.0 * (n > 0.0)), **options
    )


def solve_instances(H, labels, nu_pos, nu_neg, **options):
    """Reduce pairs to instances, for given nu+ and nu-: problems (7) and (8)."""
    return _over_rows(H, labels, lambda p, n: (p / nu_pos, n / nu_neg), **options)


def solve_tangent(H, labels, nu, center, **options):
    """Choose nu+ near a center as well: problem (9); return its value and nu+.

    Dual weights may reach w_i (2 / center - nu+ / center^2) and w_j nu+ / nu, where
    nu / W- <= nu+ <= 2 center - center^2 / W+ is a variable.
    """
    share = cp.Variable()  # nu+ / center

    def allowed(weights):
        duals, totals = [_up_to(np.ones(w.size)) for w in weights], [*map(sum, weights)]
        return duals, [
            cp.sum(duals[1]) == 1.0,
            share >= min(min(nu / totals[1], totals[0]) / center, 1.0),
            share <= max(2.0 - center / totals[0], 1.0),
            duals[0] <= weights[0] / center * (2.0 - share),
            duals[1] <= weights[1] * (center / nu) * share,
        ]

    value = _least_edge(H, labels, allowed, **options)
    return value, center * float(share.value)


def _over_rows(H, labels, caps_of, **options):
    """Solve a problem with a dual weight per row."""

    def allowed(weights):
        duals = [_up_to(caps) for caps in caps_of(*weights)]
        return duals, [cp.sum(duals[1]) == 1.0]

    return _least_edge(H, labels, allowed, **options)


def _over_pairs(H, labels, caps_of, **options):
    """Solve a problem with a dual weight per pair, of which rows have the sums."""

    def allowed(weights):
        pairs = _up_to(caps_of(np.outer(*weights)))
        duals = [_up_to(np.ones(w.size)) for w in weights]
        sums = cp.sum(pairs, axis=1), cp.sum(pairs, axis=0)
        return duals, [sums[0] == duals[0], sums[1] == duals[1]]

    return _least_edge(H, labels, allowed, **options)


def _up_to(caps):
    """Return dual weights from 0 to their caps, as bounds of the variables.

    In units of their mean, so that HiGHS's absolute tolerances suit any size.
    """
    bounds = [np.zeros(caps.shape), caps.size * np.minimum(caps, 1.0)]
    return cp.Variable(caps.shape, bounds=bounds) / caps.size


def _least_edge(H, labels, allowed, weights_set="simplex", sample_weight=None):
    """Minimise the largest edge; of hypotheses and their negatives for "l1"."""
    H, weight = np.asarray(H, dtype=float), np.ones(labels.size)
    weight = weight if sample_weight is None else np.asarray(sample_weight)
    duals, limits = allowed((weight[labels], weight[~labels]))
    edges = (H[labels].T @ duals[0] - H[~labels].T @ duals[1]) / 2.0
    largest = cp.max(edges) if weights_set == "simplex" else cp.norm_inf(edges)
    # a total that others imply would cost HiGHS much time
    problem = cp.Problem(cp.Minimize(largest), [cp.sum(duals[0]) == 1.0, *limits])
    problem.solve(solver=cp.SCIPY, scipy_options={"method": "highs-ipm"})
    assert problem.status == cp.OPTIMAL
    return float(problem.value)
