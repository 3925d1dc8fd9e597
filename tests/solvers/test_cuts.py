import numpy as np
import pytest

from aucmax.exceptions import IncompatibleError
from aucmax.regularizers import L2
from aucmax.solvers.cuts import Cuts


def filled(n_cuts, capacity=100, seed=0):
    generator = np.random.default_rng(seed)
    cuts = Cuts(3, capacity)
    for _ in range(n_cuts):
        cuts.add(generator.normal(size=3), generator.normal())
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
        cuts.add(generator.normal(size=3), generator.normal())
        bounds.append(cuts.minimize(L2(), 1.0).lower_bound)
    assert np.diff(bounds).min() >= -1e-12


def test_cuts_in_use_survive_when_the_store_is_full():
    cuts = filled(6, capacity=6)
    used = cuts.gradients[cuts.multipliers > 0.0]
    cuts.add(np.array([9.0, 9.0, 9.0]), -100.0)
    for gradient in used:
        assert (cuts.gradients == gradient).all(axis=1).any()


def test_a_smaller_store_keeps_the_cuts_in_use():
    cuts = filled(12)
    before = cuts.minimize(L2(), 1.0).lower_bound
    n_used = int((cuts.multipliers > 0.0).sum())
    cuts.resize(n_used)
    assert len(cuts) == n_used
    assert cuts.minimize(L2(), 1.0).lower_bound == pytest.approx(before, rel=1e-12)


def test_flat_and_equal_cuts_have_a_minimum():
    cuts = Cuts(2)
    for offset in (0.3, 0.7, 0.7, 0.1):
        cuts.add(np.zeros(2), offset)
        bound = cuts.minimize(L2(), 2.0).lower_bound
        assert bound == pytest.approx(2.0 * cuts.offsets.max())


def test_a_regularizer_without_a_model_minimum_is_refused():
    class Bare:
        def value(self, parameters):
            return 0.0

        def gradient(self, parameters):
            return parameters

    cuts = filled(1)
    with pytest.raises(IncompatibleError, match="Bare has no minimize_model"):
        cuts.minimize(Bare(), 1.0)
