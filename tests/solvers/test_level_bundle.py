import numpy as np
import pytest

from aucmax.exceptions import IncompatibleError
from aucmax.hypotheses.scaled_columns import PrecomputedColumns
from aucmax.margin.margin_problem import MarginObjective
from aucmax.regularizers.l1 import L1Ball, Simplex
from aucmax.regularizers.l2 import L2
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin
from aucmax.solvers.bundle import LevelBundleSolver
from aucmax.solvers.solver import Start, StoppingRule
from margin_programs import solve_instances, solve_pairs

HULLS = {"simplex": Simplex, "l1": L1Ball}
KINDS = [
    "noisy",
    "separable",
    "binary",
    "duplicates",
    "weighted",
    "one hypothesis",
    "more hypotheses than rows",
    "equal hypotheses",
    "without signal",
]


def problem(kind, seed=0, n_rows=40):
    """Return hypotheses in [-1, 1], labels and row weights."""
    generator = np.random.default_rng(seed)
    n_hypotheses = {"one hypothesis": 1, "more hypotheses than rows": 90}.get(kind, 6)
    H = generator.uniform(-1.0, 1.0, (n_rows, n_hypotheses))
    if kind == "binary":
        H = np.sign(H)
    noise = {"separable": 0.0, "without signal": 50.0}.get(kind, 0.6)
    labels = H[:, 0] + noise * generator.normal(size=n_rows) > 0.2
    if kind == "duplicates":
        H, labels = np.repeat(H, 2, axis=0), np.repeat(labels, 2)
    if kind == "equal hypotheses":
        H = np.hstack([H, H, H[:, :2]])
    weight = generator.uniform(0.2, 3.0, labels.size) if kind == "weighted" else None
    return H, labels, weight


def pairs_share(labels, weight, share):
    weight = np.ones(labels.size) if weight is None else weight
    return share * weight[labels].sum() * weight[~labels].sum()


def pair_objective(kind, share, seed=0):
    H, labels, weight = problem(kind, seed)
    risk = PairMargin(pairs_share(labels, weight, share))
    return MarginObjective(PrecomputedColumns.fit(H), risk.bind(labels, weight))


def solved(objective, hull, tol=1e-8, start=None, floor=1e-3, **options):
    rule = StoppingRule(tol, options.pop("max_iter", 300), floor=floor)
    solver = LevelBundleSolver(rule, **options)
    return solver.minimize(objective, HULLS[hull](), start)


@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_pair_margins_reach_the_optimum_of_the_linear_program(kind, share, hull):
    H, labels, weight = problem(kind)
    objective = pair_objective(kind, share)
    solution = solved(objective, hull)
    truth = solve_pairs(
        H, labels, objective.risk.risk.nu, weights_set=hull, sample_weight=weight
    )
    assert solution.converged
    assert -solution.value == pytest.approx(truth.value, abs=1e-7)
    assert solution.value - solution.gap <= -truth.value + 1e-7
    weights = solution.point.parameters
    assert np.abs(weights).sum() <= 1.0 + 1e-12
    np.testing.assert_allclose(solution.point.scores, H @ weights, atol=1e-12)
    assert solution.value == pytest.approx(objective.risk_value(solution.point))


@pytest.mark.slow
@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("share", [0.1, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_instance_margins_reach_the_optimum_of_the_linear_program(kind, share, hull):
    H, labels, weight = problem(kind, seed=1)
    row_weight = np.ones(labels.size) if weight is None else weight
    nus = share * row_weight[labels].sum(), share * row_weight[~labels].sum()
    objective = MarginObjective(
        PrecomputedColumns.fit(H), InstanceMargin(*nus).bind(labels, weight)
    )
    solution = solved(objective, hull)
    truth = solve_instances(H, labels, *nus, weights_set=hull, sample_weight=weight)
    assert solution.converged
    assert -solution.value == pytest.approx(truth.value, abs=1e-7)
    assert solution.value - solution.gap <= -truth.value + 1e-7


@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("share", [0.9, 1.0])
def test_identical_classes_have_no_positive_margin(share, hull):
    H = np.repeat(np.random.default_rng(0).uniform(-1.0, 1.0, (15, 4)), 2, axis=0)
    labels = np.arange(30) % 2 == 0
    risk = PairMargin(share * 15 * 15)
    objective = MarginObjective(PrecomputedColumns.fit(H), risk.bind(labels))
    solution = solved(objective, hull, tol=1e-4)
    truth = solve_pairs(H, labels, risk.nu, weights_set=hull).value
    assert solution.converged  # with a floor: next to 0, no gap is relatively small
    assert -solution.value == pytest.approx(truth, abs=1e-5)
    if hull == "l1" or share == 1.0:
        assert solution.value == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("seed", range(3))
def test_a_gap_of_one_millionth_of_a_millionth_is_within_reach(hull, seed):
    solution = solved(pair_objective("noisy", 0.2, seed), hull, tol=1e-11)
    assert solution.converged
    assert solution.n_iter <= 60


@pytest.mark.slow
@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("kind", ["noisy", "weighted", "more hypotheses than rows"])
def test_cuts_of_a_larger_nu_serve_a_smaller_one(kind, hull):
    # the row weights that a smaller nu allows include those of a larger one
    before = solved(pair_objective(kind, 0.3), hull, tol=1e-4)
    objective = pair_objective(kind, 0.25)
    warm = solved(objective, hull, tol=1e-6, start=Start(before.point, before.cuts))
    cold = solved(pair_objective(kind, 0.25), hull, tol=1e-6)
    assert warm.converged
    assert warm.value == pytest.approx(cold.value, abs=1e-6)
    assert warm.n_iter <= cold.n_iter + 3  # on 30 rows luck decides the rest


@pytest.mark.parametrize("hull", HULLS)
def test_a_start_at_the_solution_ends_at_once(hull):
    first = solved(pair_objective("noisy", 0.2), hull, tol=1e-4)
    again = solved(
        pair_objective("noisy", 0.2),
        hull,
        tol=1e-4,
        start=Start(first.point, first.cuts),
    )
    assert again.n_iter <= 2
    assert again.value <= first.value


@pytest.mark.slow
@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("max_cuts", [2, 5, 12])
def test_few_cuts_still_certify_what_they_find(hull, max_cuts):
    H, labels, _ = problem("noisy")
    objective = pair_objective("noisy", 0.2)
    solution = solved(objective, hull, tol=1e-3, max_cuts=max_cuts)
    truth = -solve_pairs(H, labels, objective.risk.risk.nu, weights_set=hull).value
    assert len(solution.cuts) <= max_cuts
    assert solution.value - solution.gap <= truth + 1e-9 <= solution.value + 2e-9
    gaps = [progress.gap for progress in solution.history]
    assert np.diff(gaps).max() <= 1e-12
    assert solution.converged == (max_cuts > 2)


@pytest.mark.slow
@pytest.mark.parametrize("hull", HULLS)
@pytest.mark.parametrize("max_cuts", [6, 200])
@pytest.mark.parametrize("kind", ["noisy", "weighted", "binary"])
def test_mixed_sources_are_row_weights_that_prove_the_bound(kind, max_cuts, hull):
    H, labels, weight = problem(kind)
    objective = pair_objective(kind, 0.2)
    solution = solved(objective, hull, 1e-3, keep_sources=True, max_cuts=max_cuts)
    slope = solution.cuts.mixed_source()
    # weights of the pairs whose marginals are these exist by construction of the cuts
    assert slope[labels].max() <= 0.0 <= slope[~labels].min()
    assert slope[labels].sum() == pytest.approx(-0.5)
    assert slope[~labels].sum() == pytest.approx(0.5)
    weight = np.ones(labels.size) if weight is None else weight
    cap = weight * np.where(labels, weight[~labels].sum(), weight[labels].sum())
    assert (np.abs(slope) <= 0.5 * cap / objective.risk.risk.nu + 1e-12).all()
    edges = -slope @ H
    largest = edges.max() if hull == "simplex" else np.abs(edges).max()
    assert largest == pytest.approx(solution.gap - solution.value, abs=1e-9)


def test_sources_are_kept_on_request_only():
    solution = solved(pair_objective("noisy", 0.2), "simplex", 1e-2)
    with pytest.raises(IncompatibleError, match="keep_sources=True"):
        solution.cuts.mixed_source()


def test_iterations_and_passes_are_counted_and_limited():
    objective = pair_objective("noisy", 0.2)
    solution = solved(objective, "simplex", tol=1e-12, max_iter=4)
    assert solution.n_iter == 4
    assert not solution.converged
    assert objective.n_passes == 4.0


def test_callback_stops():
    rule = StoppingRule(1e-12, callback=lambda progress: progress.n_iter == 3)
    objective = pair_objective("noisy", 0.2)
    solution = LevelBundleSolver(rule).minimize(objective, L1Ball())
    assert solution.n_iter == 3
    assert not solution.converged


@pytest.mark.parametrize("fraction", [0.05, 0.5, 0.95])
def test_any_first_fraction_leads_to_the_optimum(fraction):
    truth = solved(pair_objective("noisy", 0.2), "simplex").value
    other = solved(pair_objective("noisy", 0.2), "simplex", fraction=fraction)
    assert other.converged
    assert other.value == pytest.approx(truth, abs=1e-7)


def test_a_regularizer_without_levels_is_refused():
    with pytest.raises(IncompatibleError, match=r"L2 has no hull.*Simplex"):
        LevelBundleSolver(StoppingRule()).minimize(pair_objective("noisy", 0.2), L2())


def test_solutions_are_sparse():
    # ten hypotheses of a hundred matter
    generator = np.random.default_rng(0)
    H = generator.choice([-1.0, 1.0], (2000, 100))
    labels = H[:, :10].sum(axis=1) + generator.normal(size=2000) > 0.0
    risk = PairMargin(pairs_share(labels, None, 0.5))
    objective = MarginObjective(PrecomputedColumns.fit(H), risk.bind(labels))
    solution = solved(objective, "simplex", tol=1e-4)
    assert solution.converged
    assert (solution.point.parameters > 1e-6).sum() <= 20
    assert objective.n_passes <= 40
