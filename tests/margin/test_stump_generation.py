"""The interior-point method that chooses its stumps, against HiGHS and other ways."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucmax import MarginRanker
from aucmax.hypotheses import StumpGrid, stump_values
from aucmax.margin import stump_generation, stump_problem
from aucmax.margin.masses import masses_of
from aucmax.margin.stump_generation import generate_on_central_path
from aucmax.risks import InstanceMargin
from margin.test_interior_point import noisy
from margin_programs import solve_instances


@pytest.mark.sampled(4)
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
    found = generate_on_central_path(
        grid,
        masses_of(risk, labels, weight),
        lambda scores: -risk.bind(labels, weight).value(scores),
        lambda found: found.largest_edge - found.value < 1e-6,
    )
    H = stump_values(X, grid.column, grid.threshold, np.ones(grid.n_stumps))
    optimum = solve_instances(
        H, labels, *nus, weights_set="l1", sample_weight=weight
    ).value
    assert found.value == pytest.approx(optimum, abs=2e-6)
    assert found.largest_edge == pytest.approx(optimum, abs=2e-6)
    # without a margin above 0, no weights are as good as any
    total_weight = 1.0 if found.value > 0.0 else 0.0
    assert np.abs(found.weights).sum() == pytest.approx(total_weight)
    margin = -risk.bind(labels, weight).value(H @ found.weights)
    assert margin == pytest.approx(found.value, abs=1e-12)
    assert np.abs(H.T @ found.row_weights).max() <= found.largest_edge + 1e-12
    for scores in rng.normal(size=(20, 60)):
        bound = found.row_weights @ scores
        assert -risk.bind(labels, weight).value(scores) <= bound + 1e-10


@pytest.fixture
def many_rows(monkeypatch):
    """Let few rows count as many, and go inside at once."""
    monkeypatch.setattr(stump_problem, "_MOST_ROWS_INSIDE", 0)
    monkeypatch.setattr(stump_problem, "_MOST_ITERATIONS_AT_FIRST", 1)
    monkeypatch.setattr(stump_problem, "_LEAST_GAP_INSIDE", 0.0)


@pytest.mark.usefixtures("many_rows")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("formulation", ["instances", "adaptive"])
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_it_agrees_with_column_generation(formulation, epsilon, monkeypatch):
    X, labels = noisy(150, 6)
    model = MarginRanker(formulation, epsilon, "stumps").fit(X, labels)
    margin, gap = model.objective_, model.dual_gap_
    assert model.certificate_.gap <= 1e-3
    assert np.abs(model.weights_).sum() == pytest.approx(1.0)
    monkeypatch.setattr(stump_problem, "_SMALLEST_TOL_INSIDE", 1.0)
    model.fit(X, labels)
    if formulation == "instances":  # else nu+ may differ
        assert margin <= model.objective_ + model.dual_gap_
        assert model.objective_ <= margin + gap


@pytest.mark.usefixtures("many_rows")
def test_with_too_many_stumps_column_generation_goes_on(monkeypatch):
    X, labels = noisy(150, 6)
    monkeypatch.setattr(stump_generation, "_MOST_STUMPS", 50)
    model = MarginRanker("instances", 0.3, "stumps").fit(X, labels)
    assert model.certificate_.gap <= 1e-3


@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize("n_iter", [2, 8, 20])
def test_a_callback_sees_it_and_can_stop_it(n_iter):
    X, labels = noisy(200, 8)
    seen = []

    def stop(progress):
        seen.append(progress)
        return progress.n_iter >= n_iter

    model = MarginRanker("instances", 0.05, "stumps", callback=stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.warns(ConvergenceWarning):
            model.fit(X, labels)
    assert model.n_iter_ == n_iter
    margins = [progress.value for progress in seen]
    assert margins == sorted(margins)
    # what is certified holds: the optimum is not above margin + gap
    best = MarginRanker("instances", 0.05, "stumps").fit(X, labels).objective_
    assert best <= model.objective_ + model.dual_gap_ + 1e-12
