import numpy as np
import pytest

from aucmax.regularizers.elastic_net import ElasticNet
from aucmax.regularizers.group_lasso import GroupLasso
from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.l2 import L2, L2Ball
from aucmax.risks import PairHinge
from aucmax.risks.contract import Support
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Solution, StoppingRule
from aucmax.solvers.sparsity import drop_negligible_weights
from aucmax.solvers.subgradient import SubgradientSolver

GROUPS = np.arange(30) // 3
REGULARIZERS = {
    "l1": L1(),
    "elastic net": ElasticNet(0.9),
    "group lasso": GroupLasso(GROUPS),
    "l1 ball": L1Ball(1.0),
}


def problem():
    """Return data of which the first three columns matter."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(400, 30))
    labels = X[:, :3].sum(axis=1) + generator.normal(size=400) > 0.8
    X[:, :3] *= (1.0, 2.0, 4.0)  # so that their weights differ
    return LinearObjective(X, PairHinge().bind(labels), 5.0)


def value_at(objective, regularizer, point):
    penalty_value = regularizer.value(point.parameters)
    return penalty_value + objective.C * objective.risk.value(point.scores)


def dusty(name, dust):
    """Solve well, then add dust to the weights that are 0."""
    regularizer, objective = REGULARIZERS[name], problem()
    solution = BundleSolver(StoppingRule(1e-6)).minimize(objective, regularizer)
    bound = solution.value - solution.gap
    w = solution.point.parameters
    assert 0 < np.count_nonzero(w) <= 12
    signs = np.random.default_rng(1).choice([-1.0, 1.0], w.size)
    shrunk = 0.999 * w  # inside a ball, dust included
    point = objective.at(np.where(w == 0.0, dust * signs, shrunk))
    value = value_at(objective, regularizer, point)
    return (
        Solution(point, value, value - bound, solution.cuts, 1, True),
        objective,
        regularizer,
        w,
    )


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("dust", [1e-10, 1e-7, 1e-5])
def test_dust_becomes_true_zeros_within_the_tolerance(name, dust):
    solution, objective, regularizer, w = dusty(name, dust)
    bound = solution.value - solution.gap
    rule = StoppingRule(1e-2)
    before = objective.n_passes
    cleaned = drop_negligible_weights(solution, objective, regularizer, rule)
    parameters = cleaned.point.parameters
    assert (parameters[w == 0.0] == 0.0).all()
    assert parameters.any()
    assert cleaned.value == pytest.approx(
        value_at(objective, regularizer, objective.at(parameters)), rel=1e-12
    )
    assert cleaned.gap == pytest.approx(cleaned.value - bound, abs=1e-12)
    assert cleaned.gap <= 1e-2 * cleaned.value
    assert objective.n_passes - before <= 2.5  # one half is that of this test


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("tol", [1e-6, 1e-2])
def test_weights_that_the_tolerance_cannot_spare_stay(name, tol):
    solution, objective, regularizer, w = dusty(name, 1e-5)
    # a slope of 0 says that no weight is needed, which is wrong
    solution.cuts.add(np.zeros(30), Support(0.0, np.zeros(400), 0.0))
    solution.cuts.multipliers = np.eye(len(solution.cuts))[-1]
    gap, bound = solution.gap, solution.value - solution.gap
    cleaned = drop_negligible_weights(
        solution, objective, regularizer, StoppingRule(tol)
    )
    assert cleaned.value - bound <= max(gap, tol * cleaned.value) + 1e-12
    assert cleaned.point.parameters[np.abs(w).argmax()] != 0.0


@pytest.mark.parametrize("name", REGULARIZERS)
def test_a_clean_solution_is_untouched_and_costs_nothing(name):
    objective, regularizer = problem(), REGULARIZERS[name]
    rule = StoppingRule(1e-9)
    solution = BundleSolver(rule).minimize(objective, regularizer)
    point, n_passes = solution.point, objective.n_passes
    again = drop_negligible_weights(solution, objective, regularizer, rule)
    np.testing.assert_array_equal(again.point.parameters, point.parameters)
    assert objective.n_passes <= n_passes + 2.0


@pytest.mark.parametrize("regularizer", [L2(), L2Ball(0.5)])
def test_regularizers_that_make_no_zeros_cost_no_pass(regularizer):
    objective = problem()
    rule = StoppingRule(1e-3)
    solution = BundleSolver(rule).minimize(objective, regularizer)
    n_passes = objective.n_passes
    point = solution.point
    assert (
        drop_negligible_weights(solution, objective, regularizer, rule).point is point
    )
    assert objective.n_passes == n_passes


def test_no_weights_at_all_stay_so():
    objective = problem()
    objective.C = 1e-3
    solution = BundleSolver(StoppingRule()).minimize(objective, L1())
    assert not solution.point.parameters.any()
    n_passes = objective.n_passes
    drop_negligible_weights(solution, objective, L1(), StoppingRule())
    assert objective.n_passes == n_passes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "most"), [(BundleSolver, 80), (SubgradientSolver, 200)]
)
def test_solvers_return_true_zeros_on_wide_data(solver, most):
    # 60 weights are in use at the optimum; without care it would be 240 and more
    generator = np.random.default_rng(5)
    X = generator.normal(size=(60, 300))
    labels = X[:, :5].sum(axis=1) + generator.normal(size=60) > 0.5
    objective = LinearObjective(X, PairHinge().bind(labels), 100.0)
    solution = solver(StoppingRule(1e-3)).minimize(objective, ElasticNet(0.5))
    assert solution.converged
    assert np.count_nonzero(solution.point.parameters) <= most
