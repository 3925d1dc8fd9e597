"""Which solver "auto" takes, and what all of them promise."""

import warnings
from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import aucmax.solvers.choice as solver_choice
from aucmax import AUCSVC
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import roc_auc_score
from aucmax.solvers import Start, SubgradientSolver


def rare_class(n_rows, seed=0):
    """A few negatives stand far ahead of the positives, but a second column tells."""
    generator = np.random.default_rng(seed)
    y = generator.random(n_rows) < 0.1
    ahead = ~y & (generator.random(n_rows) < 0.05)
    X = generator.normal(size=(n_rows, 4))
    X[:, 0] += 3.0 * y + 4.0 * ahead
    X[:, 1] += 3.0 * ahead
    return X, y


def wide(n_rows=150, n_features=400, n_relevant=5):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_features))
    return X, X[:, :n_relevant].sum(axis=1) + generator.normal(size=n_rows) > 0.0


def test_a_solver_runs_under_the_name_that_it_is_given(monkeypatch):
    class Ours:
        def __init__(self, stopping):
            self.stopping = stopping

        def minimize(self, objective, regularizer, start=None):
            starts.append(start)
            return SubgradientSolver(self.stopping).minimize(
                objective, regularizer, start
            )

    starts = []
    monkeypatch.setitem(solver_choice.SOLVERS, "ours", Ours)
    X, y = rare_class(300)
    model = AUCSVC(solver="ours").fit(X, y)
    expected = AUCSVC(solver="subgradient").fit(X, y)
    assert starts == [None]
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    model.set_params(warm_start=True).fit(X, y)
    model.fit_path(X, y, [1.0, 10.0])
    assert [type(start) for start in starts[1:]] == [Start, type(None), Start]
    with pytest.raises(ValueError, match="'descent', 'ours', got 'theirs'"):
        AUCSVC(solver="theirs").fit(X, y)


@pytest.mark.parametrize("solver", ["auto", "bundle", "subgradient"])
def test_weights_of_0_are_not_the_answer_if_others_are_a_little_better(solver):
    X, y = rare_class(4000)
    model = AUCSVC(1.0, fpr_range=(0, 0.033), solver=solver).fit(X, y)
    assert model.coef_.any()
    assert model.objective_ < 1.0
    assert model.objective_ > 1.0 - 1e-3  # so that tol alone would have allowed 0


@pytest.mark.parametrize("solver", ["auto", "bundle", "subgradient"])
def test_weights_of_0_are_the_answer_if_no_others_are_better(solver):
    X, y = rare_class(4000)
    with pytest.warns(ConstantScoresWarning):
        model = AUCSVC(1.0, fpr_range=(0, 0.02), solver=solver).fit(X, y)
    assert not model.coef_.any()
    assert model.dual_gap_ <= 1e-3


@pytest.mark.parametrize(
    ("solver", "penalty"),
    [
        ("newton", "l2"),
        *product(["auto", "bundle", "subgradient"], ["l2", "l1", "elasticnet"]),
    ],
)
def test_an_early_stop_certifies_no_more_than_the_objective_itself(solver, penalty):
    X, y = rare_class(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = AUCSVC(1e4, penalty=penalty, solver=solver, max_iter=1).fit(X, y)
    assert 0.0 < model.dual_gap_ <= model.objective_


@pytest.mark.parametrize("many", [0, 1000])
def test_wide_data_with_l1_go_on_with_what_suits_the_number_of_weights(
    monkeypatch, many
):
    monkeypatch.setattr(solver_choice, "_MOST_TRIAL_ITERATIONS", 3)
    monkeypatch.setattr(solver_choice, "_FEWEST_ROWS_FOR_SUBGRADIENTS", 0)
    monkeypatch.setattr(solver_choice, "_MOST_WEIGHTS_FOR_CUTS", many)
    X, y = wide()
    model = AUCSVC(6.0, penalty="l1").fit(X, y)
    alone = AUCSVC(6.0, penalty="l1", solver="bundle").fit(X, y)
    assert model.n_iter_ > 3
    assert model.dual_gap_ <= 1e-3 * model.objective_
    assert model.objective_ == pytest.approx(alone.objective_, rel=2e-3)
    assert 0 < np.count_nonzero(model.coef_) < 100
    assert roc_auc_score(y, model.decision_function(X)) > 0.9


def test_every_iteration_counts_when_one_solver_hands_over_to_another(monkeypatch):
    monkeypatch.setattr(solver_choice, "_MOST_TRIAL_ITERATIONS", 3)
    monkeypatch.setattr(solver_choice, "_FEWEST_ROWS_FOR_SUBGRADIENTS", 0)
    X, y = wide()
    seen = []
    AUCSVC(6.0, penalty="l1", callback=seen.append).fit(X, y)
    assert [progress.n_iter for progress in seen] == list(range(1, len(seen) + 1))


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_cutting_planes_take_over_from_steps_over_columns(penalty, monkeypatch):
    X, y = wide()
    machine = AUCSVC(30.0, penalty=penalty)
    alone = machine.fit(X, y).objective_
    assert machine.n_passes_ < 60
    monkeypatch.setattr(solver_choice, "_MOST_COLUMN_STEPS", 2)
    machine.fit(X, y)
    assert machine.n_iter_ > 2
    assert machine.dual_gap_ <= 1e-3 * machine.objective_
    assert machine.objective_ == pytest.approx(alone, rel=2e-3)
