"""What every solver owes: a certified gap, and the optimum of an independent solver."""

import cvxpy as cp
import numpy as np
import pytest

from aucmax.linear.objective import LinearObjective
from aucmax.regularizers import L2
from aucmax.risks import PairHinge
from aucmax.solvers import BundleSolver, SmoothedNewtonSolver, Start, StoppingRule

SOLVERS = [BundleSolver, SmoothedNewtonSolver]
# how closely each is meant to solve problems of a few rows
TIGHT = {BundleSolver: 1e-7, SmoothedNewtonSolver: 1e-4}


def problem(seed, n_rows=40, n_features=4, kind="noisy"):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_features))
    if kind == "tied":
        X = np.round(X)
    noise = 0.0 if kind == "separable" else 1.0
    labels = X[:, 0] + noise * generator.normal(size=n_rows) > 0.4
    if kind == "duplicates":
        X, labels = np.repeat(X, 2, axis=0), np.repeat(labels, 2)
    weight = generator.uniform(0.5, 2.0, labels.size) if kind == "weighted" else None
    if kind == "mixed scales":
        X = X * np.array([1e-3, 1.0, 30.0, 1e3])
    return X, labels, weight


def explicit_optimum(X, labels, weight, C):
    """Solve the same problem with one variable a pair."""
    weight = np.ones(labels.size) if weight is None else weight
    share = np.outer(weight[labels], weight[~labels]).ravel()
    pairs = (X[labels][:, None] - X[~labels][None]).reshape(share.size, -1)
    w = cp.Variable(X.shape[1])
    hinge = share / share.sum() @ cp.pos(1.0 - pairs @ w)
    model = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * hinge))
    return model.solve(solver=cp.CLARABEL)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize(
    "kind", ["noisy", "separable", "tied", "duplicates", "weighted", "mixed scales"]
)
def test_solver_reaches_the_optimum_and_certifies_it(solver, C, kind):
    X, labels, weight = problem(0, kind=kind)
    objective = LinearObjective(X, labels, PairHinge(), C, weight)
    tol = TIGHT[solver]
    solution = solver(StoppingRule(tol=tol)).minimize(objective, L2())
    optimum = explicit_optimum(X, labels, weight, C)
    assert solution.converged
    assert solution.gap <= tol * solution.value
    assert solution.value == pytest.approx(optimum, rel=tol + 1e-7)
    # the certified bound is a bound; the independent solver has errors of its own
    assert solution.value - solution.gap <= optimum * (1.0 + 1e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("seed", range(5))
def test_gap_bounds_the_distance_to_the_optimum_at_every_tolerance(solver, seed):
    X, labels, _ = problem(seed, n_rows=60)
    optimum = explicit_optimum(X, labels, None, 10.0)
    for tol in (0.3, 1e-2, 1e-4):
        objective = LinearObjective(X, labels, PairHinge(), 10.0)
        solution = solver(StoppingRule(tol=tol)).minimize(objective, L2())
        excess = solution.value - optimum
        assert -1e-7 * optimum <= excess <= solution.gap + 1e-7 * optimum


@pytest.mark.parametrize("solver", SOLVERS)
def test_reported_value_is_the_objective_at_the_reported_point(solver):
    X, labels, _ = problem(1)
    objective = LinearObjective(X, labels, PairHinge(), 5.0)
    solution = solver(StoppingRule()).minimize(objective, L2())
    w = solution.point.parameters
    np.testing.assert_allclose(solution.point.scores, X @ w, atol=1e-10)
    risk, _ = PairHinge().value_and_subgradient(X @ w, labels)
    assert solution.value == pytest.approx(0.5 * w @ w + 5.0 * risk, rel=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_at_the_solution_ends_at_once(solver):
    X, labels, _ = problem(2, n_rows=300)
    objective = LinearObjective(X, labels, PairHinge(), 10.0)
    cold = solver(StoppingRule()).minimize(objective, L2())
    warm_objective = LinearObjective(X, labels, PairHinge(), 10.0)
    warm = solver(StoppingRule()).minimize(
        warm_objective, L2(), Start(cold.point, cold.cuts)
    )
    assert warm.n_iter <= 2 < cold.n_iter
    assert warm.value <= cold.value * (1.0 + 1e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_callback_sees_every_iteration_and_can_stop(solver):
    X, labels, _ = problem(3)
    seen = []
    objective = LinearObjective(X, labels, PairHinge(), 100.0)
    rule = StoppingRule(tol=1e-9, callback=lambda progress: seen.append(progress))
    solution = solver(rule).minimize(objective, L2())
    assert [progress.n_iter for progress in seen] == list(range(1, len(seen) + 1))
    assert seen == solution.history

    rule = StoppingRule(tol=1e-9, callback=lambda progress: progress.n_iter == 3)
    stopped = solver(rule).minimize(objective, L2())
    assert stopped.n_iter == 3
    assert not stopped.converged


@pytest.mark.parametrize("solver", SOLVERS)
def test_time_runs_out(solver):
    X, labels, _ = problem(3)
    objective = LinearObjective(X, labels, PairHinge(), 100.0)
    rule = StoppingRule(tol=1e-12, max_time=0.0)
    assert solver(rule).minimize(objective, L2()).n_iter == 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_unreachable_tolerance_ends_by_itself(solver):
    X, labels, _ = problem(4)
    objective = LinearObjective(X, labels, PairHinge(), 1.0)
    solution = solver(StoppingRule(tol=1e-300, max_iter=10**6)).minimize(
        objective, L2()
    )
    assert solution.n_iter < 5000
    assert solution.gap <= TIGHT[solver] * solution.value


@pytest.mark.parametrize("solver", SOLVERS)
def test_features_that_say_nothing_give_zero_weights(solver):
    labels = np.arange(20) % 3 == 0
    objective = LinearObjective(np.ones((20, 2)), labels, PairHinge(), 1.0)
    solution = solver(StoppingRule()).minimize(objective, L2())
    assert solution.value == pytest.approx(1.0)
    np.testing.assert_allclose(solution.point.parameters, 0.0, atol=1e-12)
