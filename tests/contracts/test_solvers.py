"""Every solver certifies its gap and reaches the optimum of an independent solver."""

from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest

from aucmax.regularizers.elastic_net import ElasticNet, ElasticNetBall
from aucmax.regularizers.group_lasso import GroupLasso, GroupLassoBall
from aucmax.regularizers.l1 import L1, L1Ball, Simplex
from aucmax.regularizers.l2 import L2, L2Ball
from aucmax.risks import PairHinge
from aucmax.risks.pair_margin import PairMargin
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.proximal_newton import ProximalNewtonSolver
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Start, StoppingRule
from aucmax.solvers.subgradient import SubgradientSolver

GROUPS = [0, 0, 1, 1]
Newton = ProximalNewtonSolver


def charged(regularizer, w):
    """Return the penalty_value of a penalty, which a ball limits."""
    if isinstance(regularizer, L2):
        return 0.5 * cp.sum_squares(w)
    if isinstance(regularizer, L2Ball):
        return cp.norm2(w)
    if isinstance(regularizer, (L1, L1Ball)):
        return cp.norm1(w)
    if isinstance(regularizer, (ElasticNet, ElasticNetBall)):
        ratio = regularizer.l1_ratio
        return ratio * cp.norm1(w) + (1.0 - ratio) / 2.0 * cp.sum_squares(w)
    return np.sqrt(2.0) * (cp.norm2(w[:2]) + cp.norm2(w[2:]))


class Case(NamedTuple):
    """A solver, a regularizer that it can work with, and a risk."""

    solver: Any
    regularizer: Any
    tight: float  # how closely the solver is meant to solve problems of a few rows
    share: float | None = None  # of the pairs that count, for a margin

    def risk(self, labels, weight=None):
        if self.share is None:
            return PairHinge()
        weight = np.ones(labels.size) if weight is None else weight
        return PairMargin(self.share * weight[labels].sum() * weight[~labels].sum())

    def objective(self, X, labels, C, weight=None):
        return LinearObjective(X, self.risk(labels, weight).bind(labels, weight), C)

    def minimize(self, objective, start=None, **rule):
        # the optimum of a margin may be 0, next to which no gap is small
        solver = self.solver(StoppingRule(floor=1e-3 * objective.C, **rule))
        return solver.minimize(objective, self.regularizer, start)

    def optimum(self, X, labels, weight, C):
        """Solve the same problem with one variable per pair."""
        weight = np.ones(labels.size) if weight is None else weight
        share = np.outer(weight[labels], weight[~labels]).ravel()
        share /= share.sum()
        pairs = (X[labels][:, None] - X[~labels][None]).reshape(share.size, -1)
        w, rho = cp.Variable(X.shape[1]), cp.Variable()
        if self.share is None:
            model = C * (share @ cp.pos(1.0 - pairs @ w))
        else:
            below = share @ cp.pos(rho - pairs @ w / 2.0)
            model = C * (below / self.share - rho)
        inside = []
        if isinstance(self.regularizer, Simplex):
            inside = [w >= 0.0, cp.sum(w) == 1.0]
        elif hasattr(self.regularizer, "radius"):
            inside = [charged(self.regularizer, w) <= self.regularizer.radius]
        else:
            model += charged(self.regularizer, w)
        return cp.Problem(cp.Minimize(model), inside).solve(solver=cp.CLARABEL)


def smooth_bundle(rule):
    return BundleSolver(rule, smoothing=True)


PROXIMAL = {
    "L1": L1(),
    "elastic net": ElasticNet(0.7),
    "group lasso": GroupLasso(GROUPS),
    "L2 ball": L2Ball(0.8),
    "L1 ball": L1Ball(),
    "elastic net ball": ElasticNetBall(0.9, 0.7),
    "group lasso ball": GroupLassoBall(1.5, GROUPS),
}
CASES = [
    pytest.param(Case(BundleSolver, L2(), 1e-7), id="bundle"),
    pytest.param(Case(smooth_bundle, L2(), 1e-7), id="smooth bundle"),
    pytest.param(Case(Newton, L2(), 1e-4), id="newton"),
    pytest.param(Case(SubgradientSolver, L2(), 1e-3), id="subgradient"),
    pytest.param(Case(BundleSolver, Simplex(), 1e-6, 0.2), id="bundle margin, simplex"),
    pytest.param(Case(BundleSolver, L1Ball(), 1e-6, 0.2), id="bundle margin, L1 ball"),
    pytest.param(Case(Newton, L1(), 1e-4), id="columns, L1"),
    pytest.param(Case(Newton, ElasticNet(0.7), 1e-4), id="columns, net"),
    pytest.param(Case(Newton, L1Ball(), 1e-3, 0.6), id="columns, L1 ball"),
    pytest.param(Case(Newton, Simplex(), 1e-3, 0.2), id="columns, simplex"),
    *(
        pytest.param(Case(solver, regularizer, tight), id=f"{kind}, {name}")
        for kind, solver, tight in (
            ("bundle", BundleSolver, 5e-7),  # where scales are mixed
            ("smooth bundle", smooth_bundle, 5e-7),
            ("subgradient", SubgradientSolver, 1e-3),
        )
        for name, regularizer in PROXIMAL.items()
    ),
]


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


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize(
    "kind", ["noisy", "separable", "tied", "duplicates", "weighted", "mixed scales"]
)
def test_solver_reaches_the_optimum_and_certifies_it(case, C, kind):
    X, labels, weight = problem(0, kind=kind)
    optimum = case.optimum(X, labels, weight, C)
    # the independent solver has errors of its own
    errors = 1e-7 * max(abs(optimum), C)
    solution = case.minimize(case.objective(X, labels, C, weight), tol=case.tight)
    assert solution.converged
    assert solution.gap <= case.tight * max(abs(solution.value), 1e-3 * C)
    assert abs(solution.value - optimum) <= case.tight * abs(optimum) + errors
    assert solution.value - solution.gap <= optimum + errors


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", range(5))
def test_gap_bounds_the_distance_to_the_optimum_at_every_tolerance(case, seed):
    X, labels, _ = problem(seed, n_rows=60)
    optimum = case.optimum(X, labels, None, 10.0)
    for tol in (0.3, 1e-2, 1e-4):
        solution = case.minimize(case.objective(X, labels, 10.0), tol=tol)
        excess = solution.value - optimum
        assert -1e-6 <= excess <= solution.gap + 1e-6


@pytest.mark.parametrize("case", CASES)
def test_reported_value_is_the_objective_at_the_reported_point(case):
    X, labels, _ = problem(1)
    solution = case.minimize(case.objective(X, labels, 5.0))
    w = solution.point.parameters
    np.testing.assert_allclose(solution.point.scores, X @ w, atol=1e-10)
    risk, _ = case.risk(labels).bind(labels).value_and_gradient(X @ w)
    penalty_value = case.regularizer.value(w)
    assert solution.value == pytest.approx(penalty_value + 5.0 * risk, rel=1e-10)


@pytest.mark.parametrize("case", CASES)
def test_a_start_at_the_solution_ends_at_once(case):
    X, labels, _ = problem(2, n_rows=300)
    cold = case.minimize(case.objective(X, labels, 10.0))
    warm = case.minimize(case.objective(X, labels, 10.0), Start(cold.point, cold.cuts))
    assert warm.n_iter <= 2 <= cold.n_iter
    assert warm.value <= cold.value + 1e-3 * abs(cold.value)


@pytest.mark.parametrize("case", CASES)
def test_callback_sees_every_iteration_and_can_stop(case):
    X, labels, _ = problem(3)
    seen = []
    objective = case.objective(X, labels, 100.0)
    solution = case.minimize(
        objective, tol=1e-9, callback=lambda progress: seen.append(progress)
    )
    assert [progress.n_iter for progress in seen] == list(range(1, len(seen) + 1))
    assert seen == solution.history

    stopped = case.minimize(
        objective, tol=1e-9, callback=lambda progress: progress.n_iter == 3
    )
    assert stopped.n_iter == 3
    assert not stopped.converged


@pytest.mark.parametrize("case", CASES)
def test_time_runs_out(case):
    X, labels, _ = problem(3)
    objective = case.objective(X, labels, 100.0)
    assert case.minimize(objective, tol=1e-12, max_time=0.0).n_iter == 1


@pytest.mark.parametrize("case", CASES)
def test_an_unreachable_tolerance_ends_by_itself(case):
    X, labels, _ = problem(4)
    objective = case.objective(X, labels, 1.0)
    solution = case.minimize(objective, tol=1e-300, max_iter=10**6)
    assert solution.n_iter < 5000
    assert solution.gap <= case.tight * max(abs(solution.value), 1e-3)


@pytest.mark.parametrize("case", CASES)
def test_features_that_say_nothing_have_the_value_of_no_scores(case):
    labels = np.arange(20) % 3 == 0
    objective = case.objective(np.ones((20, 4)), labels, 1.0)
    solution = case.minimize(objective)
    nothing = case.risk(labels).bind(labels).value(np.zeros(20))
    assert solution.value == pytest.approx(nothing)
    if isinstance(case.regularizer, L2):
        np.testing.assert_allclose(solution.point.parameters, 0.0, atol=1e-12)
