"""Partial dependence of the rank."""

import datetime
import json

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucmax.inspection.dependence import rank_dependence
from aucmax.tables import TableEncoder

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = 2 * X[:, 1] - X[:, 2] + RNG.normal(size=300) > 0.5
MODEL = LogisticRegression().fit(X, Y)


def test_it_is_the_mean_rank_with_the_value_in_every_row():
    dependence = rank_dependence(MODEL, X, "x2", n_values=4)
    options = MODEL.decision_function(X)
    for value, rank, low in zip(
        dependence.values, dependence.rank, dependence.low, strict=True
    ):
        rows = X.copy()
        rows[:, 2] = value
        scores = MODEL.decision_function(rows)
        ranks = [
            (np.sum(options < one) + 0.5 * np.sum(options == one)) / 300
            for one in scores
        ]
        assert rank == pytest.approx(np.mean(ranks))
        assert low == pytest.approx(np.quantile(ranks, 0.25))
    assert dependence.values == sorted(dependence.values)
    assert (np.diff(dependence.rank) < 0).all()


def test_many_rows_are_a_sample_with_the_values_of_all():
    rows = np.tile(X, (20, 1))
    rows[0, 1] = 50.0
    dependence = rank_dependence(MODEL, rows, "x1", n_values=6000, max_rows=200)
    assert max(dependence.values) == 50.0
    assert dependence.rank[-1] == 1.0


def test_texts_come_by_frequency_and_gaps_last():
    kind = np.array(["b"] * 150 + ["a"] * 100 + [None] * 50, dtype=object)
    table = pl.DataFrame({"kind": kind.tolist(), "size": X[:, 0]})
    labels = (kind == "a") ^ (RNG.random(300) < 0.1)
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, labels)
    dependence = rank_dependence(model, table, "kind")
    assert dependence.values == ["b", "a", None]
    assert dependence.rank[1] > 0.6 > dependence.rank[0]
    assert not dependence.is_ordered
    assert dependence.to_frame()["value"].to_list() == ["b", "a", None]


def test_dates_are_ordered_and_can_be_written_as_json():
    start = datetime.date(2024, 1, 1)
    days = [start + datetime.timedelta(days=int(k)) for k in range(300)]
    table = pl.DataFrame({"day": days, "size": X[:, 0]})
    model = make_pipeline(TableEncoder(absolute_dates=True), LogisticRegression())
    model.fit(table, np.arange(300) > 150)
    dependence = rank_dependence(model, table, "day", n_values=5)
    assert dependence.is_ordered
    assert dependence.rank[0] < 0.3 < 0.7 < dependence.rank[-1]
    assert json.loads(json.dumps(dependence.to_dict()))["values"][0].startswith("2024-")


def test_gaps_of_numbers_are_one_value():
    rows = X.copy()
    rows[::3, 0] = np.nan
    table = pl.DataFrame(rows, schema=["a", "b", "c"])
    model = make_pipeline(TableEncoder(), LogisticRegression()).fit(table, Y)
    dependence = rank_dependence(model, table, "a", n_values=3)
    assert dependence.values[-1] is None
    assert len(dependence.values) == 4


def test_bad_input_is_said():
    with pytest.raises(ValueError, match="there is no column 'x7'"):
        rank_dependence(MODEL, X, "x7")
    with pytest.raises(ValueError, match="n_values must be an integer"):
        rank_dependence(MODEL, X, "x0", n_values=0)
