import numpy as np
import pytest

from aucmax.regularizers.l2 import L2
from aucmax.risks.contract import Support
from aucmax.solvers.cuts import Cuts


def line(offset, slope=(0.0, 0.0)):
    return Support(0.0, np.array(slope), offset)


def filled(n_cuts, capacity=100, seed=0):
    generator = np.random.default_rng(seed)
    cuts = Cuts(3, capacity)
    for _ in range(n_cuts):
        cuts.add(generator.normal(size=3), line(generator.normal()))
        cuts.minimize(L2(), 1.0)
    return cuts


def test_gram_matrix_is_kept_as_cuts_come_and_go():
    cuts = filled(9, capacity=5)
    assert len(cuts) == 5
    np.testing.assert_allclose(cuts.gram, cuts.gradients @ cuts.gradients.T)


def test_lower_bound_never_falls_while_cuts_are_added():
    generator = np.random.default_rng(1)
    cuts, bounds = Cuts(3, 100), []
    for _ in range(12):
        cuts.add(generator.normal(size=3), line(generator.normal()))
        bounds.append(cuts.minimize(L2(), 1.0)[1])
    assert np.diff(bounds).min() >= -1e-12


def test_cuts_in_use_survive_when_the_store_is_full():
    cuts = filled(6, capacity=6)
    used = cuts.gradients[cuts.multipliers > 0.0]
    cuts.add(np.array([9.0, 9.0, 9.0]), line(-100.0))
    for gradient in used:
        assert (cuts.gradients == gradient).all(axis=1).any()


def test_a_smaller_store_keeps_the_cuts_in_use():
    cuts = filled(12)
    before = cuts.minimize(L2(), 1.0)[1]
    n_used = int((cuts.multipliers > 0.0).sum())
    cuts.resize(n_used)
    assert len(cuts) == n_used
    assert cuts.minimize(L2(), 1.0)[1] == pytest.approx(before, rel=1e-12)


def test_flat_and_equal_cuts_have_a_minimum():
    cuts = Cuts(2)
    for offset in (0.3, 0.7, 0.7, 0.1):
        cuts.add(np.zeros(2), line(offset))
        bound = cuts.minimize(L2(), 2.0)[1]
        assert bound == pytest.approx(2.0 * cuts.offsets.max())


def with_sources(n_cuts, capacity=100, seed=0):
    """Cuts whose slopes over 4 parameters are those over 6 scores, pulled back."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(6, 4))
    cuts = Cuts(4, capacity, keep_sources=True)
    for _ in range(n_cuts):
        slope = generator.normal(size=6)
        cuts.add(slope @ X, line(generator.normal(), slope))
    return cuts, X


@pytest.mark.parametrize("capacity", [1, 2, 3, 7])
def test_a_cut_that_leaves_hands_its_share_on(capacity):
    cuts, X = with_sources(8)
    before = cuts.minimize(L2(), 1.0)[1]
    mixed, gradient = cuts.mixed_source(), cuts.multipliers @ cuts.gradients
    constant = cuts.multipliers @ cuts.offsets
    cuts.resize(capacity)
    assert len(cuts) == capacity
    assert cuts.multipliers.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(cuts.multipliers @ cuts.gradients, gradient, atol=1e-12)
    assert cuts.multipliers @ cuts.offsets == pytest.approx(constant)
    np.testing.assert_allclose(cuts.mixed_source(), mixed, atol=1e-12)
    assert cuts.minimize(L2(), 1.0)[1] >= before - 1e-12
    # what is left are cuts: mixtures of those there were
    np.testing.assert_allclose(np.array(cuts.sources) @ X, cuts.gradients, atol=1e-12)
    np.testing.assert_allclose(cuts.gram, cuts.gradients @ cuts.gradients.T)


def test_many_cuts_stay_only_as_long_as_they_serve():
    generator = np.random.default_rng(0)
    cuts = Cuts(3, 200)
    for _ in range(300):
        cuts.add(generator.normal(size=3), line(0.0))
        cuts.minimize(L2(), 1.0)
    assert len(cuts) == 120


def test_cuts_in_use_stay_until_the_store_is_full():
    generator = np.random.default_rng(0)
    cuts = Cuts(3, 200)
    for _ in range(300):
        cuts.add(generator.normal(size=3), line(0.0))
        cuts._last_used[:] = cuts._clock
    assert len(cuts) == 200


def test_slopes_that_overflow_are_refused():
    with pytest.raises(FloatingPointError, match="overflows"):
        Cuts(2).add(np.array([1e200, 0.0]), line(0.0))


@pytest.mark.parametrize("n_known", [0, 3, 6])
@pytest.mark.parametrize("index", [0, 2, 5])
def test_a_cut_leaves_with_all_that_belongs_to_it(index, n_known):
    generator = np.random.default_rng(0)
    cuts = Cuts(4, keep_sources=True)
    for k in range(6):
        gradient = generator.normal(size=4)
        cuts.add(gradient, line(float(k), gradient))
        if k + 1 == n_known:
            assert cuts.gram.shape == (n_known, n_known)
    cuts._last_used[index] = -1
    cuts.multipliers = np.eye(6)[(index + 1) % 6]
    cuts.resize(5)
    assert sorted(cuts.offsets) == [k for k in range(6) if k != index]
    np.testing.assert_array_equal(cuts.sources, cuts.gradients)
    assert cuts.offsets[cuts.multipliers == 1.0] == (index + 1) % 6
    np.testing.assert_allclose(cuts.gram, cuts.gradients @ cuts.gradients.T)
