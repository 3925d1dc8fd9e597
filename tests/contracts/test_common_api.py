"""The common estimator API: the table in docs/reference/common_api.md is true."""

import inspect
import warnings
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import aucmax
from aucmax import metrics
from aucmax.graphs import grid_edges
from builders import linear_rows

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "common_api.md"
ORDER = ["X", "y", "sample_weight", "qid", "groups", "times", "eval_set", "checkpoint"]
STOPPING = [
    "tol",
    "max_iter",
    "n_estimators",
    "max_time",
    "time_limit",
    "n_iter_no_change",
    "validation_fraction",
]
SCORES = {
    "AUC": metrics.roc_auc_score,
    "partial AUC": metrics.partial_auc_score,
    "multi-class AUC": metrics.multiclass_auc_score,
}


def rows_of_the_table():
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    for line in lines:
        cells = [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        yield pytest.param(*cells, id=cells[0])


TABLE = list(rows_of_the_table())
NAMES = [row.id for row in TABLE]
QUICK = {
    "AutoRanker": {"models": ["logistic", "kernel"], "cv": 2},
    "LinearRankerCV": {"C_values": (1.0,), "cv": 2},
    "MarginRanker": {"formulation": "adaptive"},  # the one with a history
    "RankBoost": {"n_estimators": 5},
    "SoftRankBoost": {"n_estimators": 5},
    "LambdaMART": {"n_estimators": 5},
}


def listed(cell):
    return [] if cell == "-" else cell.split(", ")


def make(name):
    return getattr(aucmax, name)(**QUICK.get(name, {}))


def data(name, seed=0, width=4):
    """Return what the model learns from: rows, or graphs of pixels."""
    X, y = linear_rows(60, width, seed=seed, noise=0.5, cut=0.3)
    y = y.astype(int)
    if name != "GraphRanker":
        return X, y
    edges = grid_edges(5, 6)
    graphs = [(X[:30], edges), (X[30:], edges)]
    return graphs, [y[:30], y[30:]]


@cache
def fitted_once(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(name).fit(*data(name))


def fitted(name):
    return deepcopy(fitted_once(name))


def test_the_table_lists_every_model():
    models = {n for n in aucmax.__all__ if hasattr(getattr(aucmax, n), "fit")}
    assert models == set(NAMES)


COLUMNS = "name, takes, score, weight, stops, coef, history"


@pytest.mark.parametrize(COLUMNS, TABLE)
def test_fit_takes_what_the_table_says_in_that_order(
    name, takes, score, weight, stops, coef, history
):
    parameters = list(inspect.signature(make(name).fit).parameters.values())
    if parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        parameters.pop()  # names that raise an error
    assert [p.name for p in parameters] == listed(takes)
    assert listed(takes) == [name for name in ORDER if name in listed(takes)]
    for parameter in parameters[3:]:
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    for parameter in parameters[2:]:
        assert parameter.default is None


@pytest.mark.parametrize(COLUMNS, TABLE)
def test_parameters_have_the_names_of_the_table(
    name, takes, score, weight, stops, coef, history
):
    parameters = make(name).get_params(deep=False)
    assert [p for p in STOPPING if p in parameters] == listed(stops)
    assert ("C" in parameters) == (weight == "C")
    if stops != "-":
        assert {"callback", "verbose"} <= set(parameters)


@pytest.mark.parametrize(COLUMNS, TABLE)
def test_score_is_what_the_table_says(name, takes, score, weight, stops, coef, history):
    model = fitted(name)
    X, y = data(name, seed=1)
    measure, scores = SCORES[score], model.decision_function(X)
    if name == "GraphRanker":
        areas = [measure(*one) for one in zip(y, scores, strict=True)]
        assert model.score(X, y) == pytest.approx(np.mean(areas))
        return
    expected = measure(y, scores)
    assert model.score(X, y) == pytest.approx(expected)
    weights, qid = np.arange(1.0, 61.0), np.arange(60) // 20
    parameters = list(inspect.signature(model.score).parameters)
    assert parameters == ["X", "y", "sample_weight", "qid"]
    expected = measure(y, scores, sample_weight=weights, qid=qid)
    assert model.score(X, y, weights, qid=qid) == pytest.approx(expected)


@pytest.mark.parametrize(COLUMNS, TABLE)
def test_fitted_attributes_have_one_shape(
    name, takes, score, weight, stops, coef, history
):
    model = fitted(name)
    assert hasattr(model, "coef_") == (coef == "yes")
    if coef == "yes":
        assert model.coef_.shape == (1, 4)
        assert model.intercept_.shape == (1,)
    assert hasattr(model, "history_") == (history == "yes")
    if history == "yes":
        assert all(column.ndim == 1 for column in model.history_.values())
        assert len({column.size for column in model.history_.values()}) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_that_fails_leaves_the_model_as_it_was(name):
    model = fitted(name)
    before = dict(vars(model))
    X, y = data(name, seed=1, width=3)
    one_class = [np.ones_like(one) for one in y] if name == "GraphRanker" else 0 * y
    with pytest.raises(ValueError, match="class"):
        model.fit(X, one_class)
    assert vars(model) == before


@pytest.mark.parametrize("name", [n for n in NAMES if n != "LevelSumRanker"])
def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was(name):
    model = fitted(name)

    def interrupt(progress):
        raise KeyboardInterrupt

    model.set_params(callback=interrupt)
    before = dict(vars(model))
    warnings.simplefilter("ignore")  # within the filters of this test
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data(name, seed=1, width=3))
    assert vars(model) == before


@pytest.mark.parametrize(COLUMNS, TABLE)
def test_validation_rows_may_be_written_in_any_usual_way(
    name, takes, score, weight, stops, coef, history
):
    if "eval_set" not in listed(takes):
        assert "n_iter_no_change" not in listed(stops)
        return
    warnings.simplefilter("ignore")  # few rounds are enough
    X, y = data(name)
    held = data(name, seed=1)
    histories = [
        make(name).fit(X, y, eval_set=written).history_
        for written in (held, [held], {"X": held[0], "y": held[1]})
    ]
    for other in histories[1:]:
        np.testing.assert_equal(other, histories[0])
    weighted = {"X": held[0], "y": held[1], "sample_weight": np.arange(1, 61)}
    column = next(key for key in histories[0] if "validation" in key)
    other = make(name).fit(X, y, eval_set=weighted).history_[column]
    assert not np.array_equal(other, histories[0][column])
