"""The interior-point method that chooses its stumps, against HiGHS and other ways."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucmax import MarginRanker
from aucmax.hypotheses.stump_matrices import StumpGrid
from aucmax.margin import central_path, stump_problem
from aucmax.margin.central_path import follow_central_path
from aucmax.margin.masses import masses_of
from aucmax.risks.instance_margin import InstanceMargin
from margin.test_central_path import noisy
from margin_programs import solve_instances
from reference_margins import stump_values


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("decimals", [0, 1, 8])  # many ties, some, none
def test_it_reaches_the_optimum_over_all_stumps(epsilon, is_weighted, decimals):
    rng = np.random.default_rng(decimals)
    X, labels = noisy(60, 4, seed=decimals)
    X = (X + rng.normal(size=X.shape)).round(decimals)
    weight = rng.uniform(0.5, 2.0, 60) if is_weighted else None
    total = np.ones(60) if weight is None else weight
    nus = [float(np.sqrt(epsilon) * total[rows].sum()) for rows in (labels, ~labels)]
    risk, grid = InstanceMargin(*nus), StumpGrid(X)
    found = follow_central_path(
        grid,
        masses_of(risk, labels, weight),
        risk.bind(labels, weight),
        lambda found: found.gap < 1e-6,
        few_stumps=True,
    )
    H = stump_values(X, grid.column, grid.threshold, np.ones(grid.n_stumps))
    optimum = solve_instances(
        H, labels, *nus, weights_set="l1", sample_weight=weight
    ).value
    assert found.margin == pytest.approx(optimum, abs=2e-6)
    assert found.margin + found.gap == pytest.approx(optimum, abs=2e-6)
    # without a margin above 0, no weights are as good as any
    total_weight = 1.0 if found.margin > 0.0 else 0.0
    assert np.abs(found.weights).sum() == pytest.approx(total_weight)
    margin = -risk.bind(labels, weight).value(H @ found.weights)
    assert margin == pytest.approx(found.margin, abs=1e-12)
    assert np.abs(H.T @ found.row_weights).max() <= found.margin + found.gap + 1e-12
    for scores in rng.normal(size=(20, 60)):
        bound = found.row_weights @ scores
        assert -risk.bind(labels, weight).value(scores) <= bound + 1e-10


@pytest.fixture
def many_rows(monkeypatch):
    """Treat few rows as many, and start the interior-point method at once."""
    monkeypatch.setattr(stump_problem, "_MAX_INTERIOR_ROWS", 0)
    monkeypatch.setattr(stump_problem, "_FIRST_ITERATIONS", 1)
    monkeypatch.setattr(stump_problem, "_MIN_INTERIOR_GAP", 0.0)


@pytest.mark.slow
@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize("formulation", ["instances", "adaptive"])
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_it_agrees_with_column_generation(formulation, epsilon, monkeypatch):
    X, labels = noisy(100, 5)
    model = MarginRanker("stumps", formulation, epsilon).fit(X, labels)
    margin, gap = model.objective_, model.dual_gap_
    assert model.certificate_.gap <= 1e-3
    assert np.abs(model.weights_).sum() == pytest.approx(1.0)
    monkeypatch.setattr(stump_problem, "_MIN_INTERIOR_TOL", 1.0)
    model.fit(X, labels)
    if formulation == "instances":  # else nu+ may differ
        assert margin <= model.objective_ + model.dual_gap_
        assert model.objective_ <= margin + gap


@pytest.mark.usefixtures("many_rows")
def test_with_too_many_stumps_column_generation_continues(monkeypatch):
    X, labels = noisy(100, 5)
    monkeypatch.setattr(central_path, "_MAX_STUMPS", 50)
    model = MarginRanker("stumps", "instances", 0.3).fit(X, labels)
    assert model.certificate_.gap <= 1e-3


@pytest.mark.slow
@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize("n_iter", [2, 8, 20])
def test_a_callback_sees_it_and_can_stop_it(n_iter):
    X, labels = noisy(200, 8)
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.n_iter >= n_iter

    model = MarginRanker("stumps", "instances", 0.05, callback=stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.warns(ConvergenceWarning):
            model.fit(X, labels)
    assert model.n_iter_ == n_iter
    margins = [progress.value for progress in seen]
    assert margins == sorted(margins)
    # the certificate holds: the optimum is not above margin + gap
    best = MarginRanker("stumps", "instances", 0.05).fit(X, labels).objective_
    assert best <= model.objective_ + model.dual_gap_ + 1e-12
