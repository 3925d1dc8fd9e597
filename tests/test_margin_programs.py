import numpy as np
import pytest
from scipy.optimize import linprog

from margin_programs import (
    solve_hard_pairs,
    solve_hard_with_bias,
    solve_instances,
    solve_pairs,
    solve_tangent,
)

SEEDS = range(4)
BOTH_SETS = pytest.mark.parametrize("weights_set", ["simplex", "l1"])


def random_problem(seed, m=22, n_hypotheses=6):
    """Few distinct values, so that ties are the rule."""
    generator = np.random.default_rng(seed)
    labels = np.arange(m) < m // 3
    generator.shuffle(labels)
    H = generator.integers(-3, 4, size=(m, n_hypotheses)) / 3.0
    H[labels, :2] = np.clip(H[labels, :2] + 1.0, -1.0, 1.0)
    return H, labels


def mean_of_smallest(values, weights, nu):
    """The mean of the nu smallest values by weight, the last one by its remainder."""
    order = np.argsort(values)
    before = np.cumsum(weights[order]) - weights[order]
    shares = np.clip(nu - before, 0.0, weights[order])
    return shares @ values[order] / nu


def pair_margins(scores, labels):
    return np.subtract.outer(scores[labels], scores[~labels]).ravel() / 2


def pair_value(scores, labels, nu, weights):
    pair_weights = np.outer(weights[labels], weights[~labels]).ravel()
    return mean_of_smallest(pair_margins(scores, labels), pair_weights, nu)


def instance_value(scores, labels, nu_pos, nu_neg, weights):
    low = mean_of_smallest(scores[labels], weights[labels], nu_pos)
    high = -mean_of_smallest(-scores[~labels], weights[~labels], nu_neg)
    return (low - high) / 2


def edges(H, labels, solution):
    return (solution.d_pos @ H[labels] - solution.d_neg @ H[~labels]) / 2


def assert_is_an_optimum(H, labels, solution, weights_set):
    """Both sides are feasible and meet: no third number is needed as the truth."""
    bound = edges(H, labels, solution)
    if weights_set == "simplex":
        assert solution.alpha.min() >= 0.0
        assert solution.alpha.sum() == pytest.approx(1.0, abs=1e-12)
        assert bound.max() == pytest.approx(solution.value, abs=1e-9)
    else:
        assert np.abs(solution.alpha).sum() <= 1.0 + 1e-12
        assert np.abs(bound).max() == pytest.approx(solution.value, abs=1e-9)
    for duals in (solution.d_pos, solution.d_neg):
        assert duals.min() >= 0.0
        assert duals.sum() == pytest.approx(1.0, abs=1e-12)
    assert abs(solution.gap) < 1e-9


@pytest.mark.slow
@BOTH_SETS
@pytest.mark.parametrize("method", ["interior-point", "simplex"])
@pytest.mark.parametrize("nu", [0.5, 1.0, 7.3, 40.0, 105.0])
def test_pairs_value_is_the_mean_of_the_smallest_margins(nu, method, weights_set):
    for seed in SEEDS:
        H, labels = random_problem(seed)
        solution = solve_pairs(H, labels, nu, weights_set=weights_set, method=method)
        assert_is_an_optimum(H, labels, solution, weights_set)
        scores, weights = H @ solution.alpha, np.ones(labels.size)
        achieved = pair_value(scores, labels, nu, weights)
        assert achieved == pytest.approx(solution.value, abs=1e-9)
        margins = pair_margins(scores, labels)
        # rho is the largest margin with a share: fewer than nu pairs are below it
        assert (margins < solution.rho - 1e-9).sum() <= nu + 1e-9
        assert (margins <= solution.rho + 1e-9).sum() >= min(nu, 1.0)
        shortfall = np.maximum(solution.rho - margins, 0.0).sum() / nu
        assert solution.rho - shortfall == pytest.approx(solution.value, abs=1e-9)


@BOTH_SETS
def test_pairs_agree_with_an_independent_solver(weights_set):
    H, labels = random_problem(5)
    nu = 9.5
    margins = (H[labels][:, None, :] - H[~labels][None, :, :]).reshape(
        -1, H.shape[1]
    ) / 2
    if weights_set == "l1":
        margins = np.hstack([margins, -margins])
    n_pairs, n = margins.shape
    # problem (2) as printed: weights, rho, slacks
    program = linprog(
        np.concatenate([np.zeros(n), [-1.0], np.full(n_pairs, 1 / nu)]),
        A_ub=np.hstack([-margins, np.ones((n_pairs, 1)), -np.eye(n_pairs)]),
        b_ub=np.zeros(n_pairs),
        A_eq=[[1.0] * n + [0.0] * (1 + n_pairs)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)] + [(0, None)] * n_pairs,
    )
    solution = solve_pairs(H, labels, nu, weights_set=weights_set)
    assert solution.value == pytest.approx(-program.fun, abs=1e-9)


@BOTH_SETS
def test_instances_value_is_the_difference_of_two_means(weights_set):
    for seed in SEEDS:
        H, labels = random_problem(seed)
        nu_pos, nu_neg = 2.5 + seed / 3, 4.2
        solution = solve_instances(H, labels, nu_pos, nu_neg, weights_set=weights_set)
        assert_is_an_optimum(H, labels, solution, weights_set)
        assert solution.d_pos.max() <= 1 / nu_pos + 1e-9
        assert solution.d_neg.max() <= 1 / nu_neg + 1e-9
        scores, ones = H @ solution.alpha, np.ones(labels.size)
        achieved = instance_value(scores, labels, nu_pos, nu_neg, ones)
        assert achieved == pytest.approx(solution.value, abs=1e-9)
        # rho and bias solve problem (8): the primal objective is the value
        paid_pos = np.maximum(solution.rho - solution.bias - scores[labels], 0.0)
        paid_neg = np.maximum(solution.rho + solution.bias + scores[~labels], 0.0)
        primal = solution.rho - paid_pos.sum() / (2 * nu_pos)
        primal -= paid_neg.sum() / (2 * nu_neg)
        assert primal == pytest.approx(solution.value, abs=1e-9)


@BOTH_SETS
def test_hard_margins_over_pairs_and_with_bias_are_equal(weights_set):
    for seed in SEEDS:
        H, labels = random_problem(seed)
        pairs = solve_hard_pairs(H, labels, weights_set=weights_set)
        biased = solve_hard_with_bias(H, labels, weights_set=weights_set)
        assert_is_an_optimum(H, labels, pairs, weights_set)
        assert_is_an_optimum(H, labels, biased, weights_set)
        assert pairs.value == pytest.approx(biased.value, abs=1e-9)
        assert pairs.rho == pytest.approx(pairs.value, abs=1e-9)
        assert biased.rho == pytest.approx(biased.value, abs=1e-9)
        smallest = pair_margins(H @ pairs.alpha, labels).min()
        assert smallest == pytest.approx(pairs.value, abs=1e-9)


def tangent_value(scores, labels, nu, center, nu_pos, weights):
    """Problem (9) for fixed scores and nu_pos: two means, with moved caps."""
    moved = 1 / (2 / center - nu_pos / center**2)
    return instance_value(scores, labels, moved, nu / nu_pos, weights)


@BOTH_SETS
def test_tangent_optimum_is_a_saddle_point(weights_set):
    for seed in SEEDS:
        H, labels = random_problem(seed)
        nu, center = 14.0, 3.0
        solution = solve_tangent(H, labels, nu, center, weights_set=weights_set)
        assert_is_an_optimum(H, labels, solution, weights_set)
        low, high = nu / 15, 2 * center - center**2 / 7
        assert low - 1e-9 <= solution.nu_pos <= high + 1e-9
        cap = 2 / center - solution.nu_pos / center**2
        assert solution.d_pos.max() <= cap + 1e-9
        assert solution.d_neg.max() <= solution.nu_pos / nu + 1e-9
        # no nu_pos leaves these weights a smaller margin
        scores, ones = H @ solution.alpha, np.ones(labels.size)
        for nu_pos in np.append(np.linspace(low, high, 50), solution.nu_pos):
            value = tangent_value(scores, labels, nu, center, nu_pos, ones)
            assert value >= solution.value - 1e-9
