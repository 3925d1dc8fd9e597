"""Behaviour that all rankers by hypotheses share."""

import numpy as np
import pytest

from aucmax import MarginRanker, RankBoost, SoftRankBoost
from aucmax.hypotheses.hypothesis_ranker import check_hypotheses

MODELS = [
    MarginRanker("stumps", "pairs", 0.4),
    RankBoost(10),
    SoftRankBoost(0.5, n_estimators=1000),
]
for_every_model = pytest.mark.parametrize("model", MODELS)
X = np.random.default_rng(0).normal(size=(60, 3))
LABELS = X[:, 0] + 0.5 * np.random.default_rng(1).normal(size=60) > 0.0


@for_every_model
@pytest.mark.parametrize("kind", ["features", "signed", "stumps"])
def test_a_row_without_weight_makes_no_range_and_no_threshold(model, kind):
    model.set_params(hypotheses=kind)
    weight = np.where(np.arange(60) % 7 == 3, 0.0, 1.0)
    far = np.where(weight[:, None] > 0, X, 1e3)
    with_it = model.fit(far, LABELS, weight).decision_function(X)
    kept = weight > 0
    np.testing.assert_array_equal(
        model.fit(X[kept], LABELS[kept]).decision_function(X), with_it
    )
    with pytest.raises(ValueError, match="NaN in row 3, column 0"):
        model.fit(np.where(weight[:, None] > 0, X, np.nan), LABELS, weight)


@for_every_model
def test_functions_are_evaluated_on_any_table(model):
    model.set_params(hypotheses=[lambda rows: np.array([row["x"] for row in rows])])
    rows = [{"x": value} for value in np.tanh(X[:, 0])]
    model.fit(rows, LABELS)
    scores = model.decision_function(rows)
    assert np.corrcoef(scores, np.tanh(X[:, 0]))[0, 1] == pytest.approx(1.0)
    assert model.coef_.shape == (1, 1)


@pytest.mark.parametrize(
    ("hypotheses", "fault"),
    [
        ("trees", r"must be one of 'a', 'b' or a list of functions, got 'trees'"),
        (np.sin, "or a list of functions, got <ufunc"),
        ([np.sin, "a"], "or a list of functions, got"),
        (None, "or a list of functions, got None"),
        ([], "is an empty list; give at least one function"),
    ],
)
def test_what_is_no_set_of_hypotheses_is_refused(hypotheses, fault):
    with pytest.raises(ValueError, match=f"hypotheses .*{fault}"):
        check_hypotheses(hypotheses, ("a", "b"))
