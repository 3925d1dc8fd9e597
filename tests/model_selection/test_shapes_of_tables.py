"""AutoRanker serves tables of many shapes; a candidate that fails is a fault."""

import warnings

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from aucmax import AutoRanker
from aucmax.exceptions import ColumnsWarning, ConstantScoresWarning
from aucmax.model_selection import MODELS, compare_models

RNG = np.random.default_rng(0)


def labels_of(n_rows, n_positive=None):
    labels = np.zeros(n_rows, dtype=int)
    labels[: n_positive or n_rows // 2] = 1
    return RNG.permutation(labels)


def numbers(n_rows, n_columns=2):
    return {f"x{k}": RNG.normal(size=n_rows) for k in range(n_columns)}


def words(n_rows, n_words, name="word"):
    return {name: [f"w{k}" for k in RNG.integers(0, n_words, n_rows)]}


def many_indicators(n_rows):
    columns = [words(n_rows, 45, f"word{k}") for k in range(8)]
    return {name: values for one in columns for name, values in one.items()}


def with_gaps(values, share=0.5):
    return [None if RNG.random() < share else value for value in values]


N = 120
TABLES = {
    "wide": lambda: (pl.DataFrame(numbers(30, 40)), labels_of(30)),
    "sparse": lambda: (
        sparse.random_array((N, 400), density=0.05, rng=0),
        labels_of(N),
    ),
    "one-hot": lambda: (
        pl.DataFrame(many_indicators(300) | numbers(300)),
        labels_of(300),
    ),
    "many categories": lambda: (pl.DataFrame(words(400, 150)), labels_of(400)),
    "a constant column": lambda: (
        pl.DataFrame(numbers(N) | {"same": [1.0] * N}),
        labels_of(N),
    ),
    "few positives": lambda: (pl.DataFrame(numbers(N)), labels_of(N, 4)),
    "two positives": lambda: (pl.DataFrame(numbers(N)), labels_of(N, 2)),
    "one column": lambda: (pl.DataFrame(numbers(N, 1)), labels_of(N)),
    "one binary column": lambda: (
        pl.DataFrame({"x": RNG.integers(0, 2, N)}),
        labels_of(N),
    ),
    "12 rows": lambda: (pl.DataFrame(numbers(12)), labels_of(12)),
    "dates": lambda: (
        pl.DataFrame({"day": [f"2024-03-{1 + k % 28:02}" for k in range(N)]}),
        labels_of(N),
    ),
    "missing everywhere": lambda: (
        pl.DataFrame({name: with_gaps(x) for name, x in numbers(N, 4).items()}),
        labels_of(N),
    ),
    "huge numbers": lambda: (
        pl.DataFrame({"x": RNG.normal(size=N) * 1e300}),
        labels_of(N),
    ),
}
STRUCTURES = {
    "sample_weight": RNG.exponential(size=N),
    "groups": RNG.integers(0, 12, N),
    "qid": RNG.integers(0, 12, N),
    "times": RNG.permutation(N),
}


def check(model, X, y, **known):
    with warnings.catch_warnings():
        for kind in (ConstantScoresWarning, ColumnsWarning):
            warnings.simplefilter("ignore", kind)
        model.fit(X, y, **known)
    assert np.isfinite(model.decision_function(X)).all()
    if "qid" not in known:  # scores of different queries are not on one scale
        assert np.isfinite(model.predict_proba(X)).all()
    left_out = [notice for notice in model.notices_ if "is left out: " in notice]
    few = "linear is left out: NotEnoughClassesError: one class has"
    constant = "column 'same' is left out: it is 1 in every row"
    assert all(n == constant or (n.startswith(few) and len(y) <= 120) for n in left_out)


def model_for(monkeypatch, **options):
    # a few trees of each kind are enough to fail
    for choice in MODELS.values():
        if "n_estimators" in choice.settings:
            monkeypatch.setitem(choice.settings, "n_estimators", 5)
    return AutoRanker(time_limit=None, cv=2, calibrate="auto", **options)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_all_candidates_serve_tables_of_many_shapes(name, monkeypatch):
    X, y = TABLES[name]()
    check(model_for(monkeypatch), X, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", STRUCTURES)
def test_all_candidates_serve_rows_with_structure(name, monkeypatch):
    X, y = pl.DataFrame(numbers(N) | words(N, 30)), labels_of(N)
    model = model_for(monkeypatch, metric="partial_auc")
    check(model, X, y, **{name: STRUCTURES[name]})


def test_a_fit_that_ranks_nothing_warns():
    # no two leaves of five rows each
    X, y = RNG.normal(size=(9, 2)), np.arange(9) % 2
    model = AutoRanker(models=["lightgbm-small"], time_limit=None)
    with pytest.warns(
        ConstantScoresWarning, match="lightgbm-small gives all rows the same"
    ):
        model.fit(X, y)
    assert np.ptp(model.decision_function(X)) == 0.0


WEIGHTS = {
    "all tiny": np.full(N, 1e-40),
    "many zeros": np.repeat([0.0, 1.0], [80, N - 80]),
    "one large": np.where(np.arange(N) == 3, 1e14, 1.0),
    "one class large": 1e12,
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights_count_by_their_proportions(name):
    X, y = np.column_stack([*numbers(N).values()]), labels_of(N)
    weight = WEIGHTS[name]
    if isinstance(weight, float):
        weight = np.where(y == 1, weight, 1.0)
    models = ["logistic", "additive"]
    model = AutoRanker(models=models, time_limit=None, cv=2, calibrate="auto")
    check(model, X, y, sample_weight=weight)


def test_weights_that_float64_cannot_add_are_rejected():
    X, y = np.column_stack([*numbers(N).values()]), labels_of(N)
    weight = np.where(np.arange(N) == 3, 1e20, 1.0)
    for fit in (AutoRanker().fit, compare_models):
        with pytest.raises(ValueError, match="119 rows with less than 1e-15 of the"):
            fit(X, y, sample_weight=weight)
