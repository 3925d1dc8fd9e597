"""The linear programs of margins agree with those of the paper, written as printed."""

import numpy as np
import pytest
from scipy.optimize import linprog

from margin_programs import solve_instances, solve_pairs, solve_tangent

BOTH_SETS = pytest.mark.parametrize("weights_set", ["simplex", "l1"])


def random_problem(seed, m=22, n_hypotheses=6):
    """Few distinct values, so that ties are the rule."""
    generator = np.random.default_rng(seed)
    labels = np.arange(m) < m // 3
    generator.shuffle(labels)
    H = generator.integers(-3, 4, size=(m, n_hypotheses)) / 3.0
    H[labels, :2] = np.clip(H[labels, :2] + 1.0, -1.0, 1.0)
    return H, labels


def largest_margin(margins, costs, n_thresholds):
    """Maximise the mean threshold less the costs of what is below: (2) and (8).

    Margins are those of each hypothesis; the last columns say which threshold counts.
    """
    n_slacks, n = margins.shape[0], margins.shape[1] - n_thresholds
    program = linprog(
        np.concatenate([np.zeros(n), np.full(n_thresholds, -1.0), costs]),
        A_ub=np.hstack([-margins, -np.eye(n_slacks)]),
        b_ub=np.zeros(n_slacks),
        A_eq=[[1.0] * n + [0.0] * (n_thresholds + n_slacks)],
        b_eq=[1.0],
        bounds=[(0, None)] * n + [(None, None)] * n_thresholds + [(0, None)] * n_slacks,
    )
    return -program.fun


@BOTH_SETS
def test_pairs_agree_with_problem_2(weights_set):
    H, labels = random_problem(5)
    H = H if weights_set == "simplex" else np.hstack([H, -H])
    margins = (H[labels][:, None, :] - H[~labels]).reshape(-1, H.shape[1]) / 2.0
    margins = np.column_stack([margins, np.full(len(margins), -1.0)])
    expected = largest_margin(margins, np.full(len(margins), 1.0 / 9.5), 1)
    value = solve_pairs(H[:, :6], labels, 9.5, weights_set=weights_set)
    assert value == pytest.approx(expected, abs=1e-8)


@BOTH_SETS
def test_instances_agree_with_problem_8(weights_set):
    H, labels = random_problem(5)
    H = H if weights_set == "simplex" else np.hstack([H, -H])
    # thresholds of both classes, of which rho is the sum and the bias the difference
    margins = np.column_stack(
        [np.where(labels, 1, -1)[:, None] * H / 2.0, -1.0 * labels]
    )
    margins = np.column_stack([margins, -1.0 * ~labels])
    expected = largest_margin(margins, np.where(labels, 1 / 2.5, 1 / 4.2), 2)
    value = solve_instances(H[:, :6], labels, 2.5, 4.2, weights_set=weights_set)
    assert value == pytest.approx(expected, abs=1e-8)


@BOTH_SETS
@pytest.mark.parametrize("seed", range(2))
def test_a_tangent_has_the_least_margin_of_all_nu(weights_set, seed):
    H, labels = random_problem(seed)
    nu, center = 14.0, 3.0
    value, best = solve_tangent(H, labels, nu, center, weights_set=weights_set)
    low, high = nu / 15, 2 * center - center**2 / 7
    assert low - 1e-9 <= best <= high + 1e-9

    def margin(nu_pos):
        caps = 1 / (2 / center - nu_pos / center**2), nu / nu_pos
        return solve_instances(H, labels, *caps, weights_set=weights_set)

    assert margin(best) == pytest.approx(value, abs=1e-8)
    assert min(map(margin, np.linspace(low, high, 9))) >= value - 1e-8
