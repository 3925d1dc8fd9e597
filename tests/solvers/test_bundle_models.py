"""The models of a bundle bound the objective, and their minimisers lead to its own."""

import cvxpy as cp
import numpy as np
import pytest

from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairHinge
from aucmax.risks.contract import Support
from aucmax.solvers.bundle_models import bundle_model
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.risk_objective import LinearObjective
from penalised_problems import REGULARIZERS
from reference_penalised import minimum

C = 4.0
#: whose constants alone count
OBJECTIVE = LinearObjective(np.ones((2, 6)), PairHinge().bind([0, 1]), C)


def random_cuts(seed, kind="random"):
    """Cuts below a risk that is nowhere negative, of which 0 is the first."""
    generator = np.random.default_rng(seed)
    cuts = Cuts(6)
    cuts.add(np.zeros(6), Support(0.0, np.zeros(1), 0.0))
    for _ in range(8):
        gradient = generator.normal(size=6) / 2.0
        if kind == "along one weight":
            gradient[1:] = 0.0
        line = Support(0.0, np.zeros(1), generator.uniform(0.3, 1.0))
        for _ in range(2 if kind == "twice" else 1):
            cuts.add(gradient, line)
    return cuts


def model_value(regularizer, cuts, w):
    return regularizer.value(w) + C * cuts.values_at(w).max()


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("kind", ["random", "twice", "along one weight"])
def test_proposals_bound_the_model_and_end_at_its_minimum(name, kind):
    cuts, regularizer = random_cuts(1, kind), REGULARIZERS[name]
    w = cp.Variable(6)
    highest = cp.max(cuts.offsets + cuts.gradients @ w)
    truth = minimum(name, w, C * highest)
    model, center, bounds = bundle_model(OBJECTIVE, regularizer, cuts), np.zeros(6), []
    for _ in range(60):
        value = model_value(regularizer, cuts, center)
        candidate = model.minimize(center, value)
        assert candidate.lower_bound <= truth + 1e-7
        reached = model_value(regularizer, cuts, candidate.parameters)
        assert candidate.predicted >= reached - 1e-7 * abs(truth)
        bounds.append(candidate.lower_bound)
        if reached < value:
            center = candidate.parameters
        if value - candidate.lower_bound <= 1e-6 * value:
            break
    assert (np.diff(bounds) >= 0.0).all()
    assert bounds[-1] == pytest.approx(truth, rel=1e-5)
    assert model_value(regularizer, cuts, center) == pytest.approx(truth, rel=1e-5)


def test_l2_needs_no_center():
    cuts = random_cuts(0)
    candidate = bundle_model(OBJECTIVE, L2(), cuts).minimize(np.zeros(6), 1.0)
    assert candidate.predicted == candidate.lower_bound
    value = model_value(L2(), cuts, candidate.parameters)
    assert value == pytest.approx(candidate.predicted)


def test_a_regularizer_without_a_proximal_operator_is_rejected():
    with pytest.raises(IncompatibleError, match="object has no prox"):
        bundle_model(OBJECTIVE, object(), random_cuts(0))
