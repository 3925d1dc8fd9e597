"""Steps over known planes: exact, upwards only, and safe when there are too many."""

import cvxpy as cp
import numpy as np
import pytest

from aucmax.graphs._plane_kernels import ascend
from aucmax.graphs.graph_training import insert_planes, weights_at

pytestmark = pytest.mark.kernel

N_PARAMETERS = 4


class Planes:
    """Planes of a few graphs, their shares, and a slope that is taken away."""

    def __init__(self, seed, counts=(3, 4, 1), capacity=5, scale=1.0):
        rng = np.random.default_rng(seed)
        self.counts = np.array(counts, dtype=np.int64)
        shape = len(counts), capacity
        self.slopes = np.zeros((*shape, N_PARAMETERS))
        self.offsets, self.shares = np.zeros(shape), np.zeros(shape)
        for m, count in enumerate(counts):
            self.slopes[m, :count] = scale * rng.normal(size=(count, N_PARAMETERS))
            self.offsets[m, :count] = rng.random(count)
            self.shares[m, rng.integers(count)] = 1.0
        self.falling = 0.3 * scale * rng.normal(size=N_PARAMETERS)

    def slope(self):
        mixed = sum(self.shares[m] @ self.slopes[m] for m in range(len(self.shares)))
        return mixed / len(self.shares) - self.falling

    def dual(self, C, first_bounded):
        """The least of the price plus C times the mixture."""
        value = C * (self.shares * self.offsets).sum() / len(self.shares)
        for j, fall in enumerate(-C * self.slope()):
            if j < first_bounded or fall > 0.0:
                value -= fall * fall / 2.0
        return value

    def primal(self, w, C):
        """The price plus C times the mean of the highest planes, at given weights."""
        highest = [
            (self.offsets[m, :count] + self.slopes[m, :count] @ w).max()
            for m, count in enumerate(self.counts)
        ]
        return w @ w / 2.0 + C * (np.mean(highest) - self.falling @ w)

    def optimum(self, C, first_bounded):
        """The least of that, by an independent solver."""
        w = cp.Variable(N_PARAMETERS)
        highest = [
            cp.max(self.offsets[m, :count] + self.slopes[m, :count] @ w)
            for m, count in enumerate(self.counts)
        ]
        rules = [w[first_bounded:] >= 0.0] if first_bounded < N_PARAMETERS else []
        risk = sum(highest) / len(highest) - self.falling @ w
        total = cp.sum_squares(w) / 2.0 + C * risk
        return cp.Problem(cp.Minimize(total), rules).solve(solver=cp.CLARABEL)

    def ascend(self, C, first_bounded, enough, max_sweeps):
        slope = self.slope()
        ascend(
            self.slopes,
            self.offsets,
            self.shares,
            self.counts,
            slope,
            C,
            first_bounded,
            enough,
            max_sweeps,
        )
        return slope

    def check_shares(self):
        assert self.shares.min() >= 0.0
        np.testing.assert_allclose(self.shares.sum(axis=1), 1.0, rtol=1e-12)
        for m, count in enumerate(self.counts):
            assert not self.shares[m, count:].any()


def test_weights_minimise_the_price_plus_a_plane():
    slope = np.array([2.0, -2.0, 2.0, -2.0])
    np.testing.assert_array_equal(weights_at(slope, 0.25, 4), [-0.5, 0.5, -0.5, 0.5])
    np.testing.assert_array_equal(weights_at(slope, 0.25, 2), [-0.5, 0.5, 0.0, 0.5])
    np.testing.assert_array_equal(weights_at(slope, 0.25, 0), [0.0, 0.5, 0.0, 0.5])
    np.testing.assert_array_equal(slope, [2.0, -2.0, 2.0, -2.0])


@pytest.mark.parametrize("C", [100.0, 3.0, 0.1])
@pytest.mark.parametrize("first_bounded", [0, 2, N_PARAMETERS])
@pytest.mark.parametrize("seed", range(3))
def test_ascent_ends_within_enough_of_the_optimum(seed, first_bounded, C):
    planes = Planes(seed)
    enough = 1e-6
    slope = planes.ascend(C, first_bounded, enough, 3000)
    planes.check_shares()
    np.testing.assert_allclose(slope, planes.slope(), rtol=1e-9, atol=1e-12)
    weights = weights_at(slope, C, first_bounded)
    dual = planes.dual(C, first_bounded)
    primal = planes.primal(weights, C)
    optimum = planes.optimum(C, first_bounded)
    scale = max(C, abs(optimum))
    # the last sweep looks at planes before its own steps, which only raise the dual
    assert primal - dual <= 20 * enough * scale
    assert dual <= optimum + 1e-7 * scale
    assert dual >= optimum - (enough * C + 1e-7 * scale)


@pytest.mark.parametrize("first_bounded", [0, 3, N_PARAMETERS])
@pytest.mark.parametrize("seed", range(3))
def test_no_sweep_lowers_the_dual(seed, first_bounded):
    planes = Planes(seed, counts=(5, 5, 4), scale=3.0)
    before = planes.dual(10.0, first_bounded)
    for sweep in range(15):
        planes.ascend(10.0, first_bounded, 0.0, 1)
        planes.check_shares()
        after = planes.dual(10.0, first_bounded)
        assert after >= before - 1e-12 * abs(before)
        assert sweep > 0 or after > before
        before = after


def test_a_first_step_is_an_exact_line_search():
    # two planes of one graph: the dual along their mixtures is a parabola
    planes = Planes(0, counts=(2,), capacity=2)
    planes.slopes[0] = [[1.0, 0.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]]
    planes.offsets[0] = [0.5, 0.6]
    planes.shares[0] = [1.0, 0.0]
    planes.falling[:] = 0.0
    planes.ascend(0.5, N_PARAMETERS, 0.0, 1)
    # with the share t of the second, 0.5 + 0.1 t - (1 - 2 t)**2 / 4 is highest at 0.55
    np.testing.assert_allclose(planes.shares[0], [0.45, 0.55])


def test_a_line_search_stops_at_a_bound_it_meets_on_the_way():
    # the bounded weight is (2 t - 1)+ / 2: flat up to t = 1/2, so all the rise is there
    planes = Planes(0, counts=(2,), capacity=2)
    planes.slopes[0] = [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, -1.0]]
    planes.offsets[0] = [0.5, 0.6]
    planes.shares[0] = [1.0, 0.0]
    planes.falling[:] = 0.0
    planes.ascend(0.5, 3, 0.0, 1)
    # 0.5 + 0.1 t - ((2 t - 1)+)**2 / 4
    np.testing.assert_allclose(planes.shares[0], [0.45, 0.55])
    planes.shares[0] = [1.0, 0.0]
    planes.offsets[0] = [0.5, 5.0]
    planes.ascend(0.5, 3, 0.0, 1)
    np.testing.assert_array_equal(planes.shares[0], [0.0, 1.0])


def test_a_plane_above_another_of_equal_slope_takes_its_whole_share():
    planes = Planes(0, counts=(2,), capacity=2)
    planes.slopes[0, 1] = planes.slopes[0, 0]
    planes.offsets[0] = [0.1, 0.2]
    planes.shares[0] = [1.0, 0.0]
    planes.ascend(10.0, 2, 0.0, 1)
    np.testing.assert_array_equal(planes.shares[0], [0.0, 1.0])


def test_equal_planes_keep_their_shares():
    planes = Planes(0, counts=(2,), capacity=2)
    planes.slopes[0, 1] = planes.slopes[0, 0]
    planes.offsets[0] = 0.1
    planes.shares[0] = [0.25, 0.75]
    planes.ascend(10.0, 2, 0.0, 3)
    np.testing.assert_array_equal(planes.shares[0], [0.25, 0.75])


def test_the_first_plane_of_a_graph_has_the_whole_share():
    planes = Planes(0, counts=(1, 1), capacity=3)
    planes.counts[:] = 0
    planes.shares[:] = 0.0
    slopes, offsets = np.arange(8.0).reshape(2, 4), np.array([0.5, 0.25])
    arrays = planes.slopes, planes.offsets, planes.shares, planes.counts
    insert_planes(*arrays, slopes, offsets)
    np.testing.assert_array_equal(planes.counts, 1)
    np.testing.assert_array_equal(planes.shares, [[1.0, 0.0, 0.0]] * 2)
    np.testing.assert_array_equal(planes.slopes[:, 0], slopes)
    insert_planes(*arrays, 2.0 * slopes, 2.0 * offsets)
    np.testing.assert_array_equal(planes.counts, 2)
    np.testing.assert_array_equal(planes.shares, [[1.0, 0.0, 0.0]] * 2)
    np.testing.assert_array_equal(planes.offsets[:, 1], 2.0 * offsets)


def test_a_full_graph_gives_up_a_plane_without_share():
    planes = Planes(1, counts=(3,), capacity=3)
    planes.shares[0] = [0.6, 0.0, 0.4]
    kept = planes.slopes[0, [0, 2]].copy()
    insert_planes(
        planes.slopes,
        planes.offsets,
        planes.shares,
        planes.counts,
        np.full((1, N_PARAMETERS), 7.0),
        np.array([0.7]),
    )
    np.testing.assert_array_equal(planes.slopes[0, [0, 2]], kept)
    np.testing.assert_array_equal(planes.slopes[0, 1], 7.0)
    np.testing.assert_array_equal(planes.shares[0], [0.6, 0.0, 0.4])
    assert planes.counts[0] == 3


@pytest.mark.parametrize(
    ("first_bounded", "capacity"), [(1, 2), (N_PARAMETERS, 2), (N_PARAMETERS, 3)]
)
def test_overflow_keeps_the_dual_and_planes_below_the_risk(first_bounded, capacity):
    planes = Planes(2, counts=(1, 1), capacity=capacity)
    rng = np.random.default_rng(0)
    known = [[(planes.offsets[m, 0], planes.slopes[m, 0].copy())] for m in range(2)]
    mixes = 0
    for _ in range(12):
        slopes, offsets = rng.normal(size=(2, N_PARAMETERS)), rng.random(2)
        before = planes.dual(5.0, first_bounded)
        mixes += int((planes.shares > 0.0).all(axis=1).sum())
        arrays = planes.slopes, planes.offsets, planes.shares, planes.counts
        insert_planes(*arrays, slopes, offsets)
        planes.check_shares()
        assert planes.dual(5.0, first_bounded) == pytest.approx(before, rel=1e-12)
        for m in range(2):
            known[m].append((offsets[m], slopes[m].copy()))
        planes.ascend(5.0, first_bounded, 1e-9, 20)
    assert mixes > 0
    for w in rng.normal(size=(50, N_PARAMETERS)):
        for m, count in enumerate(planes.counts):
            highest = max(b + a @ w for b, a in known[m])
            mixed = planes.offsets[m, :count] + planes.slopes[m, :count] @ w
            assert mixed.max() <= highest + 1e-12
