import numpy as np
import pytest
from scipy import sparse

from aucmax.risks import PairHinge, PartialHinge
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import StoppingRule
from penalised_problems import REGULARIZERS, RISKS, data, optimum, problem


def solved(objective, name, smoothing=False, start=None, **rule):
    solver = BundleSolver(StoppingRule(**rule), smoothing)
    return solver.minimize(objective, REGULARIZERS[name], start)


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize("risk", RISKS)
def test_certified_interval_holds_the_optimum(name, risk, smoothing):
    truth = optimum(problem(risk), name, risk)
    for tol in (0.1, 1e-3, 1e-6):
        solution = solved(problem(risk), name, smoothing, tol=tol)
        assert solution.converged
        assert solution.gap <= tol * solution.value
        assert solution.value - solution.gap <= truth * (1.0 + 1e-7)
        assert solution.value >= truth * (1.0 - 1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("name", REGULARIZERS)
def test_best_value_falls_and_bound_rises(name, smoothing):
    history = solved(problem("partial"), name, smoothing, tol=1e-5).history
    values = np.array([progress.value for progress in history])
    bounds = values - [progress.gap for progress in history]
    assert (np.diff(values) <= 0.0).all()
    assert (np.diff(bounds) >= -1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", [False, True])
@pytest.mark.parametrize("name", REGULARIZERS)
def test_cuts_of_smoothed_slopes_stay_below_the_risk(name, smoothing):
    objective = problem("partial")
    solution = solved(objective, name, smoothing)
    generator = np.random.default_rng(1)
    for w in [*generator.normal(size=(20, 6)), solution.point.parameters]:
        heights = solution.cuts.values_at(w)
        assert heights.max() <= objective.risk.value(objective.at(w).scores) + 1e-12


@pytest.mark.parametrize("name", REGULARIZERS)
def test_smoothing_is_left_out_where_the_risk_does_not_allow_it(name):
    def at():
        X, labels = data()
        return LinearObjective(X, PartialHinge((0.1, 0.5)).bind(labels), 10.0)

    assert not at().risk.can_be_smoothed
    one, other = (solved(at(), name, smoothing) for smoothing in (False, True))
    assert one.converged
    assert one.history[-1].value == other.history[-1].value


@pytest.mark.parametrize("name", ["l1", "group lasso"])
def test_no_weight_is_certified_where_none_is_worth_its_price(name):
    solution = solved(problem(C=1e-3), name)
    assert solution.converged
    assert not solution.point.parameters.any()
    assert solution.value == pytest.approx(1e-3)


@pytest.mark.parametrize("name", ["elastic net", "group lasso ball"])
def test_dense_and_sparse_data_agree(name):
    X, labels = data(3)
    values = [
        solved(
            LinearObjective(matrix, PairHinge().bind(labels), 10.0), name, tol=1e-6
        ).value
        for matrix in (X, sparse.csr_array(X))
    ]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
