"""Contributions of the columns to the scores of single rows."""

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import aucmax
from aucmax.exceptions import IncompatibleError
from aucmax.inspection import contributions
from aucmax.model_selection import LambdaRankBaseline, LightGBMBaseline
from aucmax.tables import TableEncoder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 4)).round(2)
Y = 2 * X[:, 2] + X[:, 0] * X[:, 1] + RNG.normal(size=400) > 1
TABLE = pl.DataFrame(
    {
        "amount": X[:, 2],
        "kind": RNG.choice(["a", "b", "c"], 400),
        "gaps": [None if k % 4 == 0 else float(k % 9) for k in range(400)],
        "day": [f"2024-0{1 + k % 9}-11" for k in range(400)],
    }
)


class Product:
    """A score with an interaction, known in closed form."""

    def decision_function(self, rows):
        return rows[:, 0] * rows[:, 1] + 2 * rows[:, 2]


def test_sampling_estimates_shapley_values():
    background, row = X[:5], np.array([1.0, 2.0, -1.0, 7.0])
    model = Product()
    truth = np.zeros(4)
    orders = list(permutations(range(4)))
    for other in background:
        for order in orders:
            cells = other.copy()
            for place in order:
                before = model.decision_function(cells[None])[0]
                cells[place] = row[place]
                truth[place] += model.decision_function(cells[None])[0] - before
    truth /= len(orders) * len(background)
    parts = contributions(model, row[None], background, n_orders=4000)
    np.testing.assert_allclose(parts.values[0], truth, atol=0.1)
    assert parts.method == "sampled"
    assert parts.values[0, 3] == 0.0


def sums_to_the_scores(found, scores):
    np.testing.assert_allclose(found.scores, scores)
    np.testing.assert_allclose(
        found.values.sum(axis=1) + found.expected, scores, atol=1e-8
    )


@pytest.mark.parametrize("background", [None, TABLE])
def test_linear_terms_are_added_up_by_column_of_the_table(background):
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(TABLE, Y)
    parts = contributions(model, TABLE[:20], background)
    assert parts.method == "linear"
    assert parts.column == TABLE.columns
    sums_to_the_scores(parts, model.decision_function(TABLE[:20]))
    names = model[0].get_feature_names_out()
    matrix = model[0].transform(TABLE[:20])
    by_kind = [k for k, name in enumerate(names) if name.startswith("kind=")]
    terms = matrix[:, by_kind] @ model[1].coef_[0, by_kind]
    if background is None:
        np.testing.assert_allclose(parts.values[:, 1], terms)
    else:
        mean = model.decision_function(TABLE).mean()
        assert parts.expected == pytest.approx(mean)


@pytest.mark.parametrize(
    "estimator",
    [
        aucmax.LambdaMART(n_estimators=9),
        LightGBMBaseline(n_estimators=9),
        LambdaRankBaseline(n_estimators=9),
    ],
)
def test_trees_have_their_own(estimator):
    model = make_pipeline(TableEncoder(view="trees"), estimator).fit(TABLE, Y)
    parts = contributions(model, TABLE[:20])
    assert parts.method == "trees"
    assert parts.column == TABLE.columns
    sums_to_the_scores(parts, model.decision_function(TABLE[:20]))


def test_combinations_are_sampled():
    model = aucmax.AutoRanker(models=["logistic", "kernel"], cv=2).fit(TABLE, Y)
    parts = contributions(model, TABLE[:2], TABLE, n_orders=10)
    assert parts.method == "sampled"
    (best, value), *_ = parts.top(0)
    assert abs(value) == np.abs(parts.values[0]).max()
    assert best in TABLE.columns
    assert parts.to_frame().columns == [*TABLE.columns, "expected", "score"]
    sums_to_the_scores(parts, model.decision_function(TABLE[:2]))
    title, first, second = repr(parts).splitlines()
    assert title.startswith("contributions of 4 columns to 2 scores (sampled)")
    assert first.startswith(f"row 0, score {parts.scores[0]:.4g}: {best} {value:+.4g}")
    assert second.startswith("row 1, score")


def as_pandas(rows):
    return pytest.importorskip("pandas").DataFrame(rows, columns=list("abcd"))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, as_pandas])
def test_every_kind_of_rows_can_be_mixed(kind):
    model = aucmax.RankBoost(n_estimators=20).fit(X, Y)
    expected = contributions(model, X[:3], X, n_orders=6)
    model = aucmax.RankBoost(n_estimators=20).fit(kind(X), Y)
    parts = contributions(model, kind(X[:3]), kind(X), n_orders=6)
    np.testing.assert_allclose(parts.values, expected.values, atol=1e-12)
    sums_to_the_scores(parts, model.decision_function(kind(X[:3])))


def test_bad_input_is_said():
    with pytest.raises(ValueError, match="pass some as background"):
        contributions(Product(), X)
    with pytest.raises(ValueError, match="must have the same columns"):
        contributions(Product(), X, X[:, :3])

    class Wide:
        def decision_function(self, rows):
            return np.zeros(rows.shape[0])

    wide = sparse.csr_array((3, 6000))
    with pytest.raises(IncompatibleError, match="limited to 5000"):
        contributions(Wide(), wide, wide)

    class Several:
        def decision_function(self, rows):
            return np.zeros((rows.shape[0], 3))

    with pytest.raises(IncompatibleError, match="gives 3 scores per row"):
        contributions(Several(), X)
