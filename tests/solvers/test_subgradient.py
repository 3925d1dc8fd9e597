import numpy as np
import pytest
from scipy import sparse

from aucmax.exceptions import IncompatibleError
from aucmax.risks import PairHinge, PartialHinge
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Start, StoppingRule
from aucmax.solvers.subgradient import SubgradientSolver
from penalised_problems import REGULARIZERS, RISKS, data, optimum, problem
from reference_penalised import PENALTIES

BALLS = [name for name in REGULARIZERS if name not in PENALTIES]
SPARSE = [name for name in REGULARIZERS if "l2" not in name]


def solved(objective, name, start=None, **rule):
    solver = SubgradientSolver(StoppingRule(**rule))
    return solver.minimize(objective, REGULARIZERS[name], start)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("risk", RISKS)
def test_certified_interval_holds_the_optimum(name, risk):
    truth = optimum(problem(risk), name, risk)
    for tol in (0.1, 1e-3):
        solution = solved(problem(risk), name, tol=tol)
        assert solution.converged
        assert solution.gap <= tol * solution.value
        assert solution.value - solution.gap <= truth * (1.0 + 1e-7)
        assert solution.value >= truth * (1.0 - 1e-7)
        assert solution.n_iter < 500


@pytest.mark.parametrize("name", REGULARIZERS)
def test_returned_cuts_alone_certify_the_gap(name):
    objective = problem("partial")
    solution = solved(objective, name)
    cuts = solution.cuts
    assert cuts.multipliers.sum() == pytest.approx(1.0)
    bound = REGULARIZERS[name].lower_bound(
        10.0 * float(cuts.offsets @ cuts.multipliers),
        10.0 * (cuts.multipliers @ cuts.gradients),
    )
    assert bound == pytest.approx(solution.value - solution.gap)
    generator = np.random.default_rng(1)
    for w in generator.normal(size=(20, 6)):
        heights = cuts.offsets + cuts.gradients @ w
        assert heights.max() <= objective.risk.value(objective.at(w).scores) + 1e-12


@pytest.mark.parametrize("name", SPARSE)
def test_weights_of_useless_columns_are_true_zeros(name):
    X, labels = data(1, n_rows=200)
    X[:, 2:] *= 0.05
    regularizer = REGULARIZERS[name]
    # groups 1 and 2 hold noise only, as do the last four columns
    C = 2.0 if name in PENALTIES else 1.0
    objective = LinearObjective(X, PairHinge().bind(labels), C)
    solution = SubgradientSolver(StoppingRule(tol=1e-4)).minimize(
        objective, regularizer
    )
    assert solution.converged
    w = solution.point.parameters
    assert w[0] != 0.0
    assert (w[2:] == 0.0).all()


@pytest.mark.parametrize("name", BALLS)
def test_a_start_outside_the_ball_is_projected(name):
    objective = problem()
    far = objective.at(np.full(6, 100.0))
    regularizer = REGULARIZERS[name]
    solution = solved(objective, name, Start(far), max_iter=1)
    assert regularizer.norm(solution.point.parameters) <= regularizer.radius + 1e-9
    assert solved(problem(), name, Start(far)).converged


@pytest.mark.parametrize("name", ["l2", "l1", "l2 ball", "l1 ball"])
def test_dense_sparse_and_repeated_rows_agree(name):
    X, labels = data(3)
    values = []
    weight = np.random.default_rng(0).integers(1, 4, labels.size)
    rows = np.repeat(np.arange(labels.size), weight)
    for matrix, signs, weights in (
        (X, labels, weight.astype(float)),
        (sparse.csr_array(X), labels, weight.astype(float)),
        (X[rows], labels[rows], None),
    ):
        objective = LinearObjective(matrix, RISKS["partial"].bind(signs, weights), 10.0)
        values.append(solved(objective, name, tol=1e-4).value)
    np.testing.assert_allclose(values, values[0], rtol=1e-4)


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize(
    "risk", [PartialHinge((0.1, 0.5)), PartialHinge((0.0, 0.5), bound="loose")]
)
def test_risks_that_cannot_be_smoothed_are_served(risk, name):
    X, labels = data()
    objective = LinearObjective(X, risk.bind(labels), 10.0)
    assert not objective.risk.can_be_smoothed
    assert solved(objective, name, tol=1e-2).converged


def test_a_regularizer_without_prox_is_rejected():
    class Nothing:
        def value(self, parameters):
            return 0.0

        def gradient(self, parameters):
            return np.zeros_like(parameters)

    with pytest.raises(IncompatibleError, match="Nothing has no prox"):
        SubgradientSolver(StoppingRule()).minimize(problem(), Nothing())
