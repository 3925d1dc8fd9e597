"""Newton steps over columns: the optimum of cutting planes on wide data."""

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

from aucmax import MarginRanker
from aucmax.exceptions import IncompatibleError
from aucmax.hypotheses.scaled_columns import ScaledColumns
from aucmax.margin.margin_problem import MarginObjective
from aucmax.regularizers.elastic_net import ElasticNet
from aucmax.regularizers.group_lasso import GroupLasso
from aucmax.regularizers.l1 import L1, L1Ball, Simplex
from aucmax.risks import PairHinge, PartialHinge
from aucmax.risks.instance_margin import InstanceMargin, TangentMargin
from aucmax.risks.pair_margin import PairMargin
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.proximal_newton import (
    ProximalNewtonSolver,
    WorkingSet,
    suits_column_steps,
)
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Start, StoppingRule
from reference_penalised import minimum, pair_risk


def bits(n_rows=60, n_columns=250, seed=0, duplicated=False):
    """Return zeros and ones, of which few matter, and labels that follow from them."""
    generator = np.random.default_rng(seed)
    X = (generator.random((n_rows, n_columns)) < 0.1).astype(float)
    labels = X[:, :40].sum(axis=1) + generator.normal(size=n_rows) > 4.5
    if duplicated:
        X = np.hstack([X, X])
    return X, labels


def margin_risk(kind, labels, share=0.3):
    positive, negative = labels.sum(), (~labels).sum()
    if kind == "pairs":
        return PairMargin(share * positive * negative)
    if kind == "tangent":
        return TangentMargin(share * positive * negative, share**0.5 * positive)
    return InstanceMargin(share**0.5 * positive, share**0.5 * negative)


@pytest.mark.parametrize("C", [1.0, 30.0, 1000.0])
@pytest.mark.parametrize("data", ["dense", "sparse", "duplicated", "float32"])
def test_the_gap_holds_the_optimum_of_the_l1_penalty(data, C):
    X, labels = bits(duplicated=data == "duplicated")
    rows = {"sparse": sparse.csr_array(X), "float32": X.astype(np.float32)}.get(data, X)
    w = cp.Variable(X.shape[1])
    optimum = minimum("l1", w, C * pair_risk(X, labels, w))
    objective = LinearObjective(rows, PairHinge().bind(labels), C)
    solution = ProximalNewtonSolver(StoppingRule(tol=1e-4)).minimize(objective, L1())
    assert solution.converged
    assert solution.value - solution.gap <= optimum * (1.0 + 1e-6)
    assert solution.value >= optimum * (1.0 - 1e-6)


@pytest.mark.parametrize("hull", [L1Ball(), Simplex()])
@pytest.mark.parametrize("kind", ["pairs", "instances", "tangent"])
@pytest.mark.parametrize("data", ["dense", "sparse", "duplicated"])
def test_margins_agree_with_the_bundle(kind, data, hull):
    X, labels = bits(40, 60, duplicated=data == "duplicated")
    rows = sparse.csr_array(X) if data == "sparse" else X
    risk = margin_risk(kind, labels)
    rule = StoppingRule(tol=1e-3, floor=1e-3)
    exact = BundleSolver(rule).minimize(
        MarginObjective(ScaledColumns.fit(X), risk.bind(labels)), hull
    )
    objective = MarginObjective(ScaledColumns.fit(rows), risk.bind(labels))
    solution = ProximalNewtonSolver(rule).minimize(objective, hull)
    assert solution.converged
    assert solution.value - solution.gap <= exact.value + 1e-9
    assert exact.value - exact.gap <= solution.value + 1e-9
    assert np.abs(solution.point.parameters).sum() <= 1.0 + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("regularizer", [L1(), ElasticNet(0.4)])
def test_weights_of_rows_and_partial_ranges_are_served(regularizer):
    X, labels = bits()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, labels.size)
    objective = LinearObjective(X, PartialHinge((0, 0.3)).bind(labels, weight), 20.0)
    rule = StoppingRule(tol=1e-3)
    exact = BundleSolver(rule, smoothing=True).minimize(objective, regularizer)
    solution = ProximalNewtonSolver(rule).minimize(objective, regularizer)
    assert solution.converged
    assert solution.value == pytest.approx(exact.value, rel=2e-3)


def test_a_linear_risk_ends_at_a_vertex_after_few_steps():
    X, labels = bits(80, 60)
    risk = InstanceMargin(float(labels.sum()), float((~labels).sum()))
    objective = MarginObjective(ScaledColumns.fit(X), risk.bind(labels))
    rule = StoppingRule(tol=1e-6, max_iter=10)
    solution = ProximalNewtonSolver(rule).minimize(objective, Simplex())
    assert solution.converged


def test_steps_do_not_stay_where_the_surface_of_a_ball_is_higher():
    generator = np.random.default_rng(4)
    X, weights = generator.normal(size=(1000, 30)), np.zeros(30)
    weights[:8] = generator.normal(size=8)
    scores = X @ weights + 2.0 * generator.normal(size=1000)
    y = scores > np.quantile(scores, 0.7)
    # 54 passes; more than 500 where they did
    assert MarginRanker("signed", "pairs").fit(X, y).n_passes_ < 200


def test_the_line_that_certifies_keeps_its_row_weights():
    X, labels = bits()
    objective = MarginObjective(
        ScaledColumns.fit(X), margin_risk("pairs", labels).bind(labels)
    )
    objective.keeps_row_weights = True
    rule = StoppingRule(floor=1e-3)
    solution = ProximalNewtonSolver(rule).minimize(objective, L1Ball())
    row_weights = solution.cuts.mixed_source()
    edges = objective.hypotheses.edges(row_weights)
    assert row_weights[labels].sum() == pytest.approx(-0.5)
    assert -np.abs(edges).max() >= solution.value - solution.gap - 1e-12


def test_no_signal_leaves_no_weights():
    generator = np.random.default_rng(0)
    X, labels = generator.normal(size=(150, 250)), np.arange(150) < 50
    objective = LinearObjective(X, PairHinge().bind(labels), 0.5)
    solution = ProximalNewtonSolver(StoppingRule()).minimize(objective, L1())
    assert solution.converged
    assert not solution.point.parameters.any()


@pytest.mark.parametrize("C", [0.8, 3.0, 1000.0])
def test_no_value_on_the_way_is_below_the_optimum(C):
    X, labels = bits(400, 12)
    objective = LinearObjective(X, PairHinge().bind(labels), C)
    # no pair is near its kink there, so the risk has no curvature
    start = Start(objective.at(np.full(12, 1e-6)))
    solution = ProximalNewtonSolver(StoppingRule()).minimize(objective, L1(), start)
    assert solution.converged
    bound = solution.value - solution.gap
    assert min(progress.value for progress in solution.history) >= bound


def test_too_many_columns_in_use_end_it(monkeypatch):
    monkeypatch.setattr(WorkingSet, "max_columns", 3)
    X, labels = bits()
    objective = LinearObjective(X, PairHinge().bind(labels), 1000.0)
    solver = ProximalNewtonSolver(StoppingRule(tol=1e-6))
    solution = solver.minimize(objective, L1())
    assert not solution.converged
    assert solution.gap >= 0.0


def test_a_start_is_not_left_behind():
    X, labels = bits()
    objective = LinearObjective(X, PairHinge().bind(labels), 30.0)
    rule = StoppingRule(tol=1e-3)
    first = ProximalNewtonSolver(rule).minimize(objective, L1())
    closer = ProximalNewtonSolver(StoppingRule(tol=1e-5)).minimize(
        objective, L1(), Start(first.point, first.cuts, first.history)
    )
    assert closer.value <= first.value
    assert closer.history[: first.n_iter] == first.history


def test_mismatches_are_rejected():
    X, labels = bits()
    solver = ProximalNewtonSolver(StoppingRule())
    hinge = LinearObjective(X, PairHinge().bind(labels), 1.0)
    with pytest.raises(IncompatibleError, match="GroupLasso has no weight_penalty"):
        solver.minimize(hinge, GroupLasso(np.zeros(250, dtype=int)))
    with pytest.raises(IncompatibleError, match="with margin risks only"):
        solver.minimize(hinge, L1Ball())
    loose = LinearObjective(X, PartialHinge((0, 0.3), bound="loose").bind(labels), 1.0)
    with pytest.raises(IncompatibleError, match="methods smoothed and curvature"):
        solver.minimize(loose, L1())


def test_data_of_few_rows_suit_it():
    def suits(X, tol=1e-3):
        risk = PairHinge().bind(np.arange(X.shape[0]) % 2)
        return suits_column_steps(LinearObjective(X, risk, 1.0), tol)

    assert suits(np.zeros((100, 500)))
    assert not suits(np.zeros((100, 500)), 1e-7)
    assert not suits(np.zeros((6000, 10)))
    assert suits(sparse.csr_array((6000, 10)))
