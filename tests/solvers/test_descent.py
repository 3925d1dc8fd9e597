import numpy as np
import pytest
from scipy.optimize import minimize

from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.elastic_net import ElasticNet
from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairHinge, PairLogistic, PairSigmoid
from aucmax.solvers.descent import Descent, DescentSolver, descend, pull_back
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import StoppingRule


def rows(n_rows=200, n_features=6, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_features))
    labels = X[:, 0] - X[:, 1] + generator.normal(size=n_rows) > 0.7
    return X, labels


def objective_of(risk, C=30.0, **options):
    X, labels = rows(**options)
    return LinearObjective(X, risk.bind(labels), C)


def value_and_slope(objective, weights):
    point = objective.at(weights)
    support = objective.support(point)
    value = weights @ weights / 2 + objective.C * support.value
    return value, weights + objective.C * objective.pull_back(support)


@pytest.mark.parametrize("C", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_the_gap_of_the_logistic_loss_bounds_the_distance_to_the_optimum(C, tol):
    objective = objective_of(PairLogistic(accuracy=1e-12), C)
    solution = DescentSolver(StoppingRule(tol)).minimize(objective, L2())
    peer = minimize(
        lambda w: value_and_slope(objective, w),
        np.zeros(objective.n_parameters),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-12},
    )
    assert solution.converged
    assert solution.gap <= tol * solution.value
    rounding = 1e-11 * solution.value
    assert peer.fun - rounding <= solution.value <= peer.fun + solution.gap + rounding


def test_an_unreachable_tolerance_ends_by_itself():
    objective = objective_of(PairLogistic(accuracy=1e-12))
    solution = DescentSolver(StoppingRule(1e-300, 1000)).minimize(objective, L2())
    assert not solution.converged
    assert solution.n_iter < 1000


@pytest.mark.parametrize("regularizer", [L2(), L1(), ElasticNet(0.3), L1Ball(3.0)])
@pytest.mark.parametrize("risk", [PairSigmoid(), PairSigmoid((0.1, 0.6), tau=0.3)])
def test_the_value_never_rises_and_is_that_of_the_point(regularizer, risk):
    objective = objective_of(risk)
    start = regularizer.prox(np.full(objective.n_parameters, 0.5), 0.0)
    descent = Descent(objective, regularizer, objective.at(start))
    values = [descent.value]
    pull_back(objective, [descent])
    for _ in range(30):
        descend(objective, [descent])
        values.append(descent.value)
    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0]
    current = objective.at(descent.point.parameters)
    value = regularizer.value(current.parameters)
    value += objective.C * objective.risk.value(current.scores)
    assert descent.value == pytest.approx(value, rel=1e-9)
    if isinstance(regularizer, L1Ball):
        assert np.abs(descent.point.parameters).sum() <= 3.0 + 1e-9


def test_a_smooth_descent_ends_where_the_gradient_is_small():
    objective = objective_of(PairSigmoid())
    descent = Descent(objective, L2(), objective.at(np.eye(6)[0]))
    pull_back(objective, [descent])
    steepest = np.linalg.norm(descent.gradient)
    for _ in range(100):
        descend(objective, [descent])
    assert np.linalg.norm(descent.gradient) < 1e-5 * steepest


def test_the_scale_is_searched_without_a_pass():
    objective = objective_of(PairSigmoid(), C=1e4)
    tiny = Descent(
        objective, L2(), objective.at(1e-2 * np.array([1.0, -1, 0, 0, 0, 0]))
    )
    passes, before = objective.n_passes, tiny.value
    tiny.scale()
    assert objective.n_passes == passes
    assert tiny.value < 0.5 * before
    huge = Descent(objective, L2(), objective.at(1e4 * np.array([1.0, -1, 0, 0, 0, 0])))
    huge.scale()
    assert huge.value == pytest.approx(tiny.value, rel=0.2)


def test_what_a_descent_cannot_do_is_rejected_with_advice():
    X, labels = rows()
    hinge = LinearObjective(X, PairHinge().bind(labels), 1.0)
    with pytest.raises(IncompatibleError, match="L-BFGS needs a smooth risk"):
        DescentSolver(StoppingRule()).minimize(hinge, L2())
    with pytest.raises(IncompatibleError, match="L1 has no curvature"):
        DescentSolver(StoppingRule()).minimize(objective_of(PairLogistic()), L1())
    with pytest.raises(IncompatibleError, match="object has no prox"):
        Descent(hinge, object(), hinge.at(np.zeros(6)))
