"""Functions, matrices and stumps as hypotheses."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from aucmax.exceptions import MarginWarning
from aucmax.hypotheses.stumps import Stumps
from aucmax.margin import MarginRanker
from aucmax.margin.margin_problem import MarginProblem
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin
from aucmax.solvers.solver import StoppingRule
from margin import samples


def first_is_large(X):
    return np.where(X[:, 0] > 0.0, 1.0, -1.0)


def second(X):
    return np.tanh(X[:, 1])


FUNCTIONS = [first_is_large, second, lambda X: np.tanh(X[:, 2])]


def data(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    return X, X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=60) > 0.0


def test_functions_are_the_matrix_of_their_values():
    X, labels = data()
    H = np.column_stack([function(X) for function in FUNCTIONS])
    model = MarginRanker(FUNCTIONS, "pairs", 0.3).fit(X, labels)
    matrix = MarginRanker("precomputed", "pairs", 0.3).fit(np.asfortranarray(H), labels)
    assert model.objective_ == matrix.objective_
    np.testing.assert_allclose(
        model.decision_function(X), matrix.decision_function(H), atol=1e-12
    )
    new, _ = data(1)
    values = np.column_stack([function(new) for function in FUNCTIONS])
    np.testing.assert_allclose(
        model.decision_function(new), matrix.decision_function(values), atol=1e-12
    )
    linear = H @ matrix.coef_[0] + matrix.intercept_[0]
    np.testing.assert_allclose(matrix.decision_function(H), linear, atol=1e-12)
    assert clone(model).hypotheses == FUNCTIONS


def test_functions_may_take_any_table():
    X, labels = data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = np.where(labels, "x", "y")
    functions = [
        lambda table: np.where(table["kind"] == "x", 1.0, -1.0),
        lambda table: np.tanh(table["b"].to_numpy()),
    ]
    model = MarginRanker(tuple(functions), "hard").fit(frame, labels)
    np.testing.assert_array_equal(model.predict(frame), labels)
    assert model.objective_ == pytest.approx(1.0, rel=1e-2)


@pytest.mark.parametrize("constant", [0.0, -1.0, 1.0])
def test_a_constant_hypothesis_of_ones_own_allows_a_margin_of_zero(constant):
    X, labels = data()
    wrong = np.tanh(-X[:, [0, 1]])  # larger for negatives
    bare = MarginRanker("precomputed", "pairs", 0.1)
    with pytest.warns(MarginWarning):
        bare.fit(wrong, labels)
    assert bare.objective_ < -0.1
    H = np.column_stack([wrong, np.full(60, constant)])
    model = clone(bare)
    with pytest.warns(MarginWarning, match="is .*, not above 0"):
        model.fit(H, labels)
    assert model.objective_ == pytest.approx(0.0, abs=1e-3)
    assert model.weights_[model.columns_ == 2].sum() > 0.9
    function = MarginRanker(
        [lambda X: np.tanh(-X[:, 0]), lambda X: np.full(len(X), constant)], "pairs", 0.1
    )
    with pytest.warns(MarginWarning):
        function.fit(X, labels)
    assert function.objective_ == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("kind", ["features", "signed"])
def test_constant_features_have_no_weight(kind):
    X, labels = data()
    padded = np.column_stack([np.zeros(60), X, np.full(60, 7.0)])
    model = MarginRanker(kind, "pairs", 0.3).fit(padded, labels)
    assert set(model.columns_) <= {1, 2, 3}
    expected = MarginRanker(kind, "pairs", 0.3).fit(X, labels)
    np.testing.assert_allclose(
        model.decision_function(padded), expected.decision_function(X), atol=1e-12
    )
    assert (model.coef_[0][[0, 4]] == 0.0).all()
    assert model.low_.size == model.high_.size == 5


@pytest.mark.parametrize("kind", ["features", "signed", "stumps", "precomputed"])
def test_nothing_but_constant_columns_is_an_error(kind):
    _, labels = data()
    X = np.tile([0.0, 1.0, -0.5], (60, 1))
    for constant in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match="every column of X is constant"):
            MarginRanker(kind).fit(constant, labels)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("make", [samples.binary, samples.continuous])
def test_no_stump_has_an_edge_above_the_certified_margin(make, weighted):
    X, labels = make(3)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, labels.size)
    weight = weight if weighted else None
    totals = np.ones(labels.size) if weight is None else weight
    totals = totals[labels].sum(), totals[~labels].sum()
    _, _, H = samples.all_stumps(X)
    for risk in (
        PairMargin(0.2 * totals[0] * totals[1]),
        InstanceMargin(0.4 * totals[0], 0.4 * totals[1]),
    ):
        stopping = StoppingRule(tol=1e-5)
        problem = MarginProblem(Stumps.fit(X), labels, weight, stopping, signed=True)
        result = problem.solve(risk, keep_dual_weights=True)
        assert result.converged
        d = problem.dual_weights(result)
        assert d[labels].sum() == pytest.approx(0.5)
        assert d[~labels].sum() == pytest.approx(-0.5)
        assert np.abs(H.T @ d).max() <= result.margin + result.gap + 1e-12
        # and the weights of the rows are allowed, so that this bounds any margin
        if isinstance(risk, InstanceMargin):
            most = np.where(labels, 1.0 / risk.nu_pos, 1.0 / risk.nu_neg) / 2.0
            most = most if weight is None else most * weight
            assert (np.abs(d) <= most * (1.0 + 1e-9)).all()
