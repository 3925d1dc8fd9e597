import numpy as np
import pytest
from scipy import sparse

from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.l1 import L1
from aucmax.regularizers.l2 import L2, L2Ball
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
@pytest.mark.parametrize("C", [0.01, 1000.0])
def test_extreme_weights_of_the_risk_are_certified(name, C):
    solution = solved(problem(C=C), name, tol=1e-2)
    assert solution.converged


@pytest.mark.parametrize("name", REGULARIZERS)
def test_solution_is_described_by_its_point(name):
    objective = problem("partial")
    solution = solved(objective, name)
    w = solution.point.parameters
    np.testing.assert_allclose(solution.point.scores, objective.X @ w, atol=1e-12)
    risk = objective.risk.value(objective.X @ w)
    regularizer = REGULARIZERS[name]
    assert solution.value == pytest.approx(regularizer.value(w) + 10.0 * risk)
    if name in BALLS:
        assert regularizer.norm(w) <= regularizer.radius * (1.0 + 1e-12)


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


@pytest.mark.parametrize("name", REGULARIZERS)
def test_best_value_falls_and_bound_rises(name):
    rule = {"tol": 1e-4, "max_iter": 200}
    history = solved(problem("partial"), name, **rule).history
    values = np.array([progress.value for progress in history])
    bounds = values - [progress.gap for progress in history]
    assert (np.diff(values) <= 0.0).all()
    assert (np.diff(bounds) >= -1e-9).all()


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


def test_no_weight_is_certified_where_none_is_worth_its_price():
    solution = solved(problem(C=1e-3), "l1")
    assert solution.converged
    assert not solution.point.parameters.any()
    assert solution.value == pytest.approx(1e-3)


@pytest.mark.parametrize("name", REGULARIZERS)
def test_a_start_at_the_solution_ends_at_once(name):
    cold = solved(problem("partial"), name)
    warm = solved(problem("partial"), name, Start(cold.point, cold.cuts))
    assert cold.n_iter > 2
    assert warm.n_iter <= 2
    assert warm.value <= cold.value * (1.0 + 1e-3)


@pytest.mark.parametrize("name", PENALTIES)
def test_a_neighbouring_solution_saves_passes(name):
    X, labels = data(2, n_rows=2000)

    def at(C):
        return LinearObjective(X, PairHinge().bind(labels), C)

    cold_objective, warm_objective = at(300.0), at(300.0)
    neighbour = solved(at(250.0), name)
    cold = solved(cold_objective, name)
    warm = solved(warm_objective, name, Start(neighbour.point, neighbour.cuts))
    assert warm.converged
    assert warm.value == pytest.approx(cold.value, rel=2e-3)
    assert warm_objective.n_passes < cold_objective.n_passes


@pytest.mark.parametrize("name", BALLS)
def test_a_start_outside_the_ball_is_projected(name):
    objective = problem()
    far = objective.at(np.full(6, 100.0))
    regularizer = REGULARIZERS[name]
    solution = solved(objective, name, Start(far), max_iter=1)
    assert regularizer.norm(solution.point.parameters) <= regularizer.radius + 1e-9
    assert solved(problem(), name, Start(far)).converged


def test_history_goes_on_from_another_solver():
    first = solved(problem(C=100.0), "l1", max_iter=3)
    then = solved(problem(C=100.0), "l1", Start(first.point, first.cuts, first.history))
    assert then.history[:3] == first.history
    assert then.n_iter > 3


@pytest.mark.parametrize("name", ["l2", "l1 ball"])
def test_callback_sees_every_iteration_and_can_stop(name):
    seen = []
    solution = solved(problem(C=100.0), name, callback=seen.append, tol=1e-4)
    assert seen == solution.history
    assert [progress.n_iter for progress in seen] == list(range(1, len(seen) + 1))
    stopped = solved(
        problem(C=100.0), name, callback=lambda progress: progress.n_iter == 3, tol=1e-9
    )
    assert stopped.n_iter == 3
    assert not stopped.converged


def test_time_and_iterations_can_run_out():
    late = solved(problem(C=100.0), "l1", max_time=0.0, tol=1e-9)
    assert late.n_iter == 1
    assert not late.converged
    short = solved(problem(C=100.0), "l1", max_iter=5, tol=1e-9)
    assert short.n_iter == 5
    assert not short.converged


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


@pytest.mark.parametrize("name", ["l2 ball", "l1", "elastic net ball"])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_scales_far_from_one_are_certified(name, scale):
    objective = problem(C=10.0 / min(scale, 1.0), scale=scale)
    solution = solved(objective, name, tol=1e-2)
    assert solution.converged


@pytest.mark.parametrize("name", REGULARIZERS)
@pytest.mark.parametrize(
    "risk", [PartialHinge((0.1, 0.5)), PartialHinge((0.0, 0.5), bound="loose")]
)
def test_risks_that_cannot_be_smoothed_are_served(risk, name):
    X, labels = data()
    objective = LinearObjective(X, risk.bind(labels), 10.0)
    assert not objective.risk.can_be_smoothed
    assert solved(objective, name, tol=1e-2).converged


def test_large_problems_need_few_passes():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(5000, 30))
    score = X @ generator.normal(size=30) / 5.0 + generator.normal(size=5000)
    labels = score > np.quantile(score, 0.9)
    for regularizer, most in ((L2(), 30), (L1(), 60), (L2Ball(1.0), 60)):
        objective = LinearObjective(X, PartialHinge((0.0, 0.1)).bind(labels), 100.0)
        SubgradientSolver(StoppingRule(1e-3)).minimize(objective, regularizer)
        assert objective.n_passes <= most


def test_a_regularizer_without_prox_is_rejected():
    class Nothing:
        def value(self, parameters):
            return 0.0

        def gradient(self, parameters):
            return np.zeros_like(parameters)

    with pytest.raises(IncompatibleError, match="Nothing has no prox"):
        SubgradientSolver(StoppingRule()).minimize(problem(), Nothing())
