import cvxpy as cp
import numpy as np
import pytest

from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.l2 import L2
from aucmax.risks.contract import Support
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.masters import CutCertificate, NearModel, master_for, step_to_zero
from penalised_problems import REGULARIZERS
from reference_penalised import PENALTIES, minimum

PROXIMAL = [name for name in REGULARIZERS if name != "l2"]
C = 4.0


def random_cuts(seed, n_cuts=9, kind="random"):
    """Cuts below a risk that is nowhere negative, of which 0 is the first."""
    generator = np.random.default_rng(seed)
    cuts = Cuts(6)
    cuts.add(np.zeros(6), Support(0.0, np.zeros(1), 0.0))
    for _ in range(n_cuts - 1):
        slope = generator.normal(size=6) / 2.0
        if kind == "along one weight":
            slope[1:] = 0.0
        offset = generator.uniform(0.3, 1.0)
        cuts.add(slope, Support(0.0, np.zeros(1), offset))
        if kind == "twice":
            cuts.add(slope, Support(0.0, np.zeros(1), offset))
    return cuts


def highest_cut(cuts, w):
    return C * cp.max(cuts.offsets + cuts.gradients @ w)


def model_value(regularizer, cuts, w):
    return regularizer.value(w) + C * cuts.heights(w).max()


def inside(name, w):
    """Return parameters that a ball allows."""
    return w if name in PENALTIES else REGULARIZERS[name].prox(w, 1.0)


def best_mixture(model, n_steps=60):
    mixture = model.at(model.cuts.multipliers)
    for _ in range(n_steps):
        higher = model.higher(mixture)
        if higher is None:
            break
        assert higher.value > mixture.value
        mixture = higher
    return mixture


@pytest.mark.slow
@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("tau", [0.03, 1.0, 100.0])
@pytest.mark.parametrize("kind", ["random", "twice", "along one weight"])
def test_newton_steps_find_the_minimum_near_the_center(name, tau, kind):
    cuts = random_cuts(1, kind=kind)
    center = inside(name, np.random.default_rng(2).normal(size=6))
    model = NearModel(REGULARIZERS[name], cuts, C, center, tau)
    mixture = best_mixture(model)
    w = cp.Variable(6)
    square = cp.sum_squares(w - center) / (2.0 * tau)
    truth = minimum(name, w, highest_cut(cuts, w), square)
    accuracy = 1e-6 * max(abs(truth), 1.0)
    assert mixture.value == pytest.approx(truth, abs=accuracy)
    assert mixture.highest == pytest.approx(truth, abs=accuracy)
    np.testing.assert_allclose(
        mixture.parameters, w.value, atol=2.0 * np.sqrt(tau * accuracy) + 1e-5
    )


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("seed", range(3))
def test_any_shares_bound_the_model_and_value_is_below_highest(name, seed):
    generator = np.random.default_rng(seed)
    cuts = random_cuts(seed)
    w = cp.Variable(6)
    truth = minimum(name, w, highest_cut(cuts, w))
    center = inside(name, generator.normal(size=6))
    for tau in (0.1, 10.0):
        model = NearModel(REGULARIZERS[name], cuts, C, center, tau)
        for shares in generator.dirichlet(np.ones(len(cuts)), 10):
            mixture = model.at(shares)
            assert mixture.value <= mixture.highest + 1e-12
            assert model.bound(mixture) <= truth + 1e-7
            slope = C * (shares @ cuts.gradients)
            np.testing.assert_allclose(mixture.slope, slope, atol=1e-12)
            again = model.at(shares, slope)
            np.testing.assert_array_equal(again.parameters, mixture.parameters)


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("seed", range(3))
def test_proposals_bound_the_model_and_promise_no_more_than_it(name, seed):
    cuts = random_cuts(seed)
    regularizer = REGULARIZERS[name]
    w = cp.Variable(6)
    truth = minimum(name, w, highest_cut(cuts, w))
    master = master_for(regularizer, cuts, C)
    center = np.zeros(6)
    bounds = []
    for _ in range(40):
        value = model_value(regularizer, cuts, center)
        proposal = master.propose(center, value)
        assert proposal.lower_bound <= truth + 1e-7
        assert proposal.lower_bound <= proposal.promise + 1e-6
        assert proposal.promise <= value + 1e-6
        reached = model_value(regularizer, cuts, proposal.parameters)
        # of the exact master they are equal
        assert proposal.promise >= reached - 1e-7 * abs(truth)
        bounds.append(proposal.lower_bound)
        if reached < value:
            center = proposal.parameters
        if value - proposal.lower_bound <= 1e-6 * value:
            break
    assert (np.diff(bounds) >= -1e-9).all()
    # where the model is the risk itself, the method ends at its minimum
    assert bounds[-1] == pytest.approx(truth, rel=1e-5)
    assert model_value(regularizer, cuts, center) == pytest.approx(truth, rel=1e-5)


@pytest.mark.parametrize("name", PROXIMAL)
@pytest.mark.parametrize("seed", range(3))
def test_certificate_rises_to_the_best_bound(name, seed):
    cuts = random_cuts(seed)
    regularizer = REGULARIZERS[name]
    w = cp.Variable(6)
    truth = minimum(name, w, highest_cut(cuts, w))
    center = inside(name, w.value)
    value = model_value(regularizer, cuts, center) + 1e-4
    certificate = CutCertificate(regularizer, cuts, C)
    bounds = [certificate.improve(center, value) for _ in range(30)]
    assert (np.diff(bounds) >= 0.0).all()
    assert truth - 2e-4 <= bounds[-1] <= truth + 1e-7
    # the cuts keep the shares that prove it
    slope, constant = cuts.mixed(cuts.multipliers), cuts.offsets @ cuts.multipliers
    proven = regularizer.lower_bound(C * constant, C * slope)
    assert proven == pytest.approx(bounds[-1], rel=1e-12)


def test_first_tau_removes_the_value_along_the_latest_cut():
    cuts = random_cuts(0)
    slope = C * cuts.gradients[-1]
    assert step_to_zero(cuts, C, 3.0) * (slope @ slope) == pytest.approx(3.0)
    cuts.add(np.zeros(6), Support(0.0, np.zeros(1), 0.0))
    assert step_to_zero(cuts, C, 3.0) == 1.0
    assert step_to_zero(random_cuts(0), C, 0.0) == 1.0


def test_l2_has_its_own_master_whose_promise_is_the_bound():
    cuts = random_cuts(0)
    proposal = master_for(L2(), cuts, C).propose(np.zeros(6), 1.0)
    assert proposal.promise == proposal.lower_bound
    value = model_value(L2(), cuts, proposal.parameters)
    assert value == pytest.approx(proposal.promise)


def test_a_regularizer_without_a_master_is_refused():
    class Bare:
        def value(self, parameters):
            return 0.0

        def gradient(self, parameters):
            return parameters

    with pytest.raises(IncompatibleError, match="Bare has no prox"):
        master_for(Bare(), random_cuts(0), C)
