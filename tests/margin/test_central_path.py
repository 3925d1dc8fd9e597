"""The interior-point method over all stumps, against HiGHS and column generation."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucmax import MarginRanker
from aucmax.hypotheses.stump_matrices import StumpGrid
from aucmax.margin import stump_problem
from aucmax.margin.central_path import follow_central_path
from aucmax.margin.masses import masses_of
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin
from margin_programs import solve_instances, solve_pairs
from reference_margins import stump_values


def noisy(n_rows, n_columns, seed=0):
    """Draw rows of which a quarter has the wrong label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).round(1)
    labels = X.sum(axis=1) + rng.normal(size=n_rows) > 0.3
    return X, labels ^ (rng.random(n_rows) < 0.25)


def solved(X, labels, weight, risk):
    grid = StumpGrid(X)
    masses = masses_of(risk, labels, weight)
    found = follow_central_path(
        grid,
        masses,
        risk.bind(labels, weight),
        lambda found: found.gap < 1e-6,
    )
    return grid, found


@pytest.mark.parametrize("epsilon", [0.02, 0.1, 0.5, 0.95])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_both_programs_reach_the_optimum_of_highs(epsilon, is_weighted):
    X, labels = noisy(40, 3)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 40) if is_weighted else None
    total = np.ones(40) if weight is None else weight
    positive, negative = total[labels].sum(), total[~labels].sum()
    nus = np.sqrt(epsilon) * positive, np.sqrt(epsilon) * negative
    for risk, program, nu in (
        (InstanceMargin(*nus), solve_instances, nus),
        (PairMargin(nus[0] * nus[1]), solve_pairs, (nus[0] * nus[1],)),
    ):
        grid, found = solved(X, labels, weight, risk)
        H = stump_values(X, grid.column, grid.threshold, np.ones(grid.n_stumps))
        optimum = program(H, labels, *nu, weights_set="l1", sample_weight=weight).value
        assert found.margin == pytest.approx(optimum, rel=2e-5)
        assert found.margin + found.gap == pytest.approx(optimum, rel=2e-5)
        margin = -risk.bind(labels, weight).value(H @ found.weights)
        assert margin == pytest.approx(found.margin, abs=1e-12)
        assert margin <= optimum + 1e-7
        # row weights that the risk allows: no scores have a margin above theirs
        sums = [np.abs(found.row_weights[rows]).sum() for rows in (labels, ~labels)]
        assert sums == pytest.approx([0.5, 0.5], abs=1e-12)
        for scores in np.random.default_rng(2).normal(size=(20, 40)):
            bound = found.row_weights @ scores
            assert -risk.bind(labels, weight).value(scores) <= bound + 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("formulation", ["instances", "pairs"])
@pytest.mark.parametrize("epsilon", [0.05, 0.3])
def test_it_agrees_with_column_generation(formulation, epsilon, monkeypatch):
    X, labels = noisy(120, 6)
    model = MarginRanker("stumps", formulation, epsilon)
    monkeypatch.setattr(stump_problem, "_FIRST_ITERATIONS", 1)
    model.fit(X, labels)
    inside, gap = model.objective_, model.dual_gap_
    assert model.certificate_.gap <= 1e-3
    assert np.abs(model.weights_).sum() == pytest.approx(1.0)
    assert model.weights_.size < labels.size + X.shape[1]
    monkeypatch.setattr(stump_problem, "_MIN_INTERIOR_TOL", 1.0)
    model.fit(X, labels)
    assert inside <= model.objective_ + model.dual_gap_
    assert model.objective_ <= inside + gap


def test_a_callback_sees_it_and_can_stop_it():
    X, labels = noisy(150, 8)
    seen = []

    def stop_late(progress):
        seen.append(progress)
        return progress.n_iter >= 45

    model = MarginRanker("stumps", "pairs", 0.05, callback=stop_late)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, labels)
    assert model.n_iter_ == 45
    margins = [progress.value for progress in seen]
    assert np.diff(margins).min() >= -1e-12
    assert model.dual_gap_ > 0.0
