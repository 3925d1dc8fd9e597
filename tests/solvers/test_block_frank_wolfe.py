"""Steps over known planes: upwards only, to the optimum, and safe if there are many."""

import cvxpy as cp
import numpy as np
import pytest

from aucmax.solvers.block_frank_wolfe import BlockPlanes, TangentL2

pytestmark = pytest.mark.kernel

N_PARAMETERS = 4


def planes_of(seed, n_blocks=3, n_planes=4, scale=1.0):
    """Planes of a few blocks, in order of addition."""
    rng = np.random.default_rng(seed)
    planes = BlockPlanes(n_blocks, N_PARAMETERS)
    for _ in range(n_planes):
        gradients = scale * rng.normal(size=(n_blocks, N_PARAMETERS))
        planes.add(gradients, rng.random(n_blocks))
    return planes


def penalty(seed, first_bounded):
    linear = 0.3 * np.random.default_rng(50 + seed).normal(size=N_PARAMETERS)
    return TangentL2(first_bounded, linear)


def dual(planes, C, regularizer):
    """The least of the penalty plus C times the mixture."""
    gradient, offset = planes.mixture()
    w = regularizer.minimizer(C * gradient)
    return regularizer.value(w) + C * (offset + gradient @ w)


def optimum(planes, C, regularizer):
    """The least of the penalty plus C times the highest planes, by another solver."""
    w = cp.Variable(N_PARAMETERS)
    k = planes.n_planes
    highest = [
        cp.max(planes.offsets[m, :k] + planes.gradients[m, :k] @ w)
        for m in range(len(planes.offsets))
    ]
    rules = [w[j] >= 0.0 for j in range(regularizer.first_bounded, N_PARAMETERS)]
    total = cp.sum_squares(w) / 2.0 - regularizer.linear @ w
    total += C * sum(highest) / len(highest)
    return cp.Problem(cp.Minimize(total), rules).solve(solver=cp.CLARABEL)


def check_multipliers(planes):
    assert planes.multipliers.min() >= 0.0
    np.testing.assert_allclose(planes.multipliers.sum(axis=1), 1.0, rtol=1e-12)
    assert not planes.multipliers[:, planes.n_planes :].any()


def test_the_minimizer_is_that_of_the_penalty_plus_a_plane():
    gradient = np.array([2.0, -2.0, 2.0, -2.0])
    for first_bounded, expected in (
        (4, [-1.5, 2.5, -1.5, 2.5]),
        (2, [-1.5, 2.5, 0.0, 2.5]),
        (0, [0.0, 2.5, 0.0, 2.5]),
    ):
        regularizer = TangentL2(first_bounded, np.full(4, 0.5))
        minimizer = regularizer.minimizer(gradient)
        np.testing.assert_array_equal(minimizer, expected)
    assert regularizer.value(np.array([1.0, 0.0, 2.0, 0.0])) == 2.5 - 1.5


@pytest.mark.parametrize("C", [100.0, 3.0, 0.1])
@pytest.mark.parametrize("first_bounded", [0, 2, N_PARAMETERS])
@pytest.mark.parametrize("seed", range(3))
def test_ascent_ends_at_the_optimum_over_the_planes(seed, first_bounded, C):
    planes, regularizer = planes_of(seed), penalty(seed, first_bounded)
    planes.ascend(regularizer, C, 1e-6)
    check_multipliers(planes)
    best = optimum(planes, C, regularizer)
    scale = max(C, abs(best))
    reached = dual(planes, C, regularizer)
    assert best - (1e-6 * C + 1e-7 * scale) <= reached <= best + 1e-7 * scale


@pytest.mark.parametrize("first_bounded", [0, 3, N_PARAMETERS])
def test_no_step_lowers_the_dual(first_bounded):
    planes, regularizer = planes_of(0, n_planes=5, scale=3.0), penalty(0, first_bounded)
    before = dual(planes, 10.0, regularizer)
    for enough in (10.0, 3.0, 1.0, 0.1, 0.01, 1e-3):
        planes.ascend(regularizer, 10.0, enough)
        check_multipliers(planes)
        after = dual(planes, 10.0, regularizer)
        assert after >= before - 1e-12 * abs(before)
        before = after


def test_the_first_plane_of_a_block_has_the_whole_share():
    planes = planes_of(0, n_blocks=2, n_planes=2)
    np.testing.assert_array_equal(planes.multipliers[:, :2], [[1.0, 0.0]] * 2)
    assert planes.n_planes == 2


@pytest.mark.parametrize(
    ("first_bounded", "capacity"), [(1, 2), (N_PARAMETERS, 2), (N_PARAMETERS, 3)]
)
def test_full_blocks_keep_the_dual_and_planes_below_the_risk(
    monkeypatch, first_bounded, capacity
):
    monkeypatch.setattr("aucmax.solvers.block_frank_wolfe._MAX_PLANES", capacity)
    regularizer = penalty(2, first_bounded)
    planes, rng = BlockPlanes(2, N_PARAMETERS), np.random.default_rng(0)
    added, n_mixed = [], 0
    for _ in range(12):
        gradients, offsets = rng.normal(size=(2, N_PARAMETERS)), rng.random(2)
        before = dual(planes, 5.0, regularizer) if added else None
        n_mixed += int((planes.multipliers > 0.0).all(axis=1).sum())
        planes.add(gradients, offsets)
        check_multipliers(planes)
        if before is not None:
            after = dual(planes, 5.0, regularizer)
            assert after == pytest.approx(before, rel=1e-12)
        added.append((gradients, offsets))
        planes.ascend(regularizer, 5.0, 1e-9)
    assert n_mixed > 0
    assert planes.n_planes == capacity
    for w in rng.normal(size=(50, N_PARAMETERS)):
        highest = np.max([b + a @ w for a, b in added], axis=0)
        kept = planes.offsets[:, :capacity] + planes.gradients[:, :capacity] @ w
        assert (kept.max(axis=1) <= highest + 1e-12).all()
