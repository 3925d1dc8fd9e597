"""Which solver "auto" takes, and what all of them promise."""

import warnings
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucmax import AUCSVC
from aucmax.exceptions import ConstantScoresWarning
from aucmax.regularizers.elastic_net import ElasticNet
from aucmax.regularizers.l1 import L1, L1Ball
from aucmax.regularizers.l2 import L2, L2Ball
from aucmax.solvers import choice
from aucmax.solvers.solver import Start
from aucmax.solvers.subgradient import SubgradientSolver

GUIDE = Path(__file__).parents[2] / "docs" / "user_guide" / "aucsvc.md"


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
    monkeypatch.setitem(choice.SOLVERS, "ours", Ours)
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


def with_stages(name, *max_iter):
    """Return the rules with other numbers of iterations in one of them."""
    return tuple(
        rule._replace(
            stages=tuple(
                stage._replace(max_iter=most)
                for stage, most in zip(rule.stages, max_iter, strict=True)
            )
        )
        if rule.then.startswith(name)
        else rule
        for rule in choice.RULES
    )


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_cutting_planes_take_over_from_steps_over_columns(penalty, monkeypatch):
    X, y = wide()
    machine = AUCSVC(30.0, penalty=penalty)
    alone = machine.fit(X, y).objective_
    rules = with_stages("Newton steps over", 2, None)
    monkeypatch.setitem(
        choice.SOLVERS, "auto", partial(choice.ChosenSolver, rules=rules)
    )
    machine.fit(X, y)
    assert machine.n_iter_ > 2
    assert machine.dual_gap_ <= 1e-3 * machine.objective_
    assert machine.objective_ == pytest.approx(alone, rel=2e-3)


def test_cutting_planes_take_over_from_newton_steps_and_keep_counting(monkeypatch):
    X, y = rare_class(300)
    rules = with_stages("Newton steps;", 3, None)
    monkeypatch.setitem(
        choice.SOLVERS, "auto", partial(choice.ChosenSolver, rules=rules)
    )
    seen = []
    model = AUCSVC(100.0, tol=1e-5, callback=seen.append).fit(X, y)
    assert model.n_iter_ > 3
    assert [progress.n_iter for progress in seen] == list(range(1, model.n_iter_ + 1))
    assert np.diff([progress.seconds for progress in seen]).min() >= 0.0
    assert model.dual_gap_ <= 1e-5 * model.objective_
    bundle = AUCSVC(100.0, tol=1e-5, solver="bundle").fit(X, y)
    assert model.objective_ == pytest.approx(bundle.objective_, rel=1e-5)


def test_no_second_solver_takes_over_where_the_first_was_stopped_on_purpose():
    X, y = rare_class(300)
    with pytest.warns(ConvergenceWarning):
        model = AUCSVC(100.0, tol=1e-6, callback=lambda p: p.n_iter == 2).fit(X, y)
    assert model.n_iter_ == 2


class Shape:
    """The parts of an objective that rules look at."""

    def __init__(
        self, n_rows, n_columns, is_smooth=False, is_smoothable=True, least_value=0.0
    ):
        self.X = np.broadcast_to(0.0, (n_rows, n_columns))
        self.n_rows, self.n_parameters = n_rows, n_columns
        self.forms_columns = False
        self.least_value = least_value
        self.risk = SimpleNamespace(
            is_smooth=is_smooth,
            can_be_smoothed=is_smoothable,
            is_convex=True,
            least_value=least_value,
        )


@pytest.mark.parametrize(
    ("objective", "regularizer", "tol", "then"),
    [
        (Shape(1000, 10, is_smooth=True), L2(), 1e-3, "descent"),
        (Shape(1000, 10), L2(), 1e-3, "Newton steps;"),
        (Shape(1000, 10), L2Ball(), 1e-3, "bundle"),
        (Shape(1000, 10, is_smoothable=False), L2(), 1e-3, "bundle"),
        (Shape(100, 900), L2(), 1e-3, "bundle, smoothed"),
        (Shape(100, 2000), L1(), 1e-3, "Newton steps over"),
        (Shape(100, 20), ElasticNet(), 1e-3, "Newton steps over"),
        (Shape(100, 2000), L1Ball(), 1e-3, "bundle, smoothed"),
        (Shape(6000, 2000), L1(), 1e-3, "bundle, smoothed"),
        (Shape(20_000, 2000), L1(), 1e-3, "bundle"),
        (Shape(100, 50, least_value=-np.inf), L1Ball(), 1e-3, "Newton steps over"),
    ],
)
def test_the_first_rule_that_holds_decides(objective, regularizer, tol, then):
    problem = choice.Problem(objective, regularizer, tol)
    chosen = next(rule for rule in choice.RULES if rule.holds(problem))
    assert chosen.then.startswith(then)


def test_the_guide_prints_the_rules():
    lines = GUIDE.read_text().splitlines()
    printed = [f"| {rule.when} | {rule.then} |" for rule in choice.RULES]
    first = lines.index(printed[0])
    assert lines[first : first + len(printed)] == printed
    assert not lines[first + len(printed)]
