"""Dates as parts that repeat and ages, ordered categories, columns left out."""

import datetime as dt
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucmax import AutoRanker
from aucmax.exceptions import ColumnsWarning
from aucmax.metrics import metric_scorer
from aucmax.tables import TableEncoder
from aucmax.trees import LambdaMART

START = dt.date(2024, 1, 1)


def days(values):
    return [START + dt.timedelta(int(value)) for value in values]


def test_rows_with_times_use_the_date_itself():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"day": days(rng.integers(0, 60, 200)), "x": rng.random(200)})
    y = rng.integers(0, 2, 200)
    options = {"models": ["logistic"], "cv": 2, "time_limit": None}
    for times, is_absolute in ((None, False), (np.arange(200), True)):
        model = AutoRanker(**options).fit(table, y, times=times)
        names = model.encoders_[0].get_feature_names_out()
        assert ("day:days" in names) == is_absolute
        assert any("dates are" in notice for notice in model.notices_)


@pytest.mark.parametrize("view", ["linear", "trees"])
def test_random_days_do_not_move_the_alerts_when_the_month_changes(view):
    rng = np.random.default_rng(0)
    estimators = {"linear": LogisticRegression(), "trees": LambdaMART(n_estimators=30)}

    def sample(n_rows, first_day):
        x = rng.normal(size=n_rows)
        y = x + rng.normal(size=n_rows) > 1.5
        return pl.DataFrame(
            {"x": x, "day": days(first_day + rng.integers(0, 30, n_rows))}
        ), y

    table, y = sample(2000, 0)
    model = make_pipeline(TableEncoder(view=view), estimators[view]).fit(table, y)
    shares = []
    for first_day in (0, 30, 400):
        new, _ = sample(5000, first_day)
        scores = model.decision_function(new)
        limit = np.quantile(model.decision_function(table), 0.95)
        shares.append((scores > limit).mean())
    assert max(shares) - min(shares) < 0.015


@pytest.mark.parametrize("is_text", [False, True])
def test_the_age_between_two_dates_is_a_feature_that_later_rows_keep(is_text):
    rng = np.random.default_rng(1)

    def sample(first_day):
        start = first_day + rng.integers(0, 90, 1500)
        age = rng.integers(1, 400, 1500)
        table = pl.DataFrame({"start": days(start), "end": days(start + age)})
        y = age + rng.normal(scale=40, size=1500) > 250
        return table.cast(pl.String) if is_text else table, y

    table, y = sample(0)
    for model in (LogisticRegression(), LambdaMART(n_estimators=20)):
        view = "trees" if isinstance(model, LambdaMART) else "linear"
        fitted = make_pipeline(TableEncoder(view=view), model).fit(table, y)
        assert "end:days since start" in fitted[0].get_feature_names_out()
        assert metric_scorer("auc")(fitted, *sample(3000)) > 0.95
    assert {"start", "end"} == {c["name"] for c in fitted[0].columns_}


def test_ages_count_from_a_date_that_is_the_same_in_all_rows():
    born = days(np.arange(0, 40_000, 400))
    table = pl.DataFrame({"born": born, "at": [dt.date(2060, 1, 1)] * len(born)})
    encoder = TableEncoder().fit(table)
    assert "at:days since born" in encoder.get_feature_names_out()
    moved = table.with_columns(pl.all().dt.offset_by("1000d"))
    column = [*encoder.get_feature_names_out()].index("at:days since born")
    np.testing.assert_allclose(
        encoder.transform(moved)[:, column], encoder.transform(table)[:, column]
    )
    with pytest.warns(ColumnsWarning, match="'at' is left out: its month, weekday and"):
        encoder = TableEncoder().fit(table.select("at", "born"))
    assert set(encoder.dropped_) == {"at"}


def test_missing_dates_have_one_indicator_and_no_age():
    start = [None, *days(range(0, 900, 30))]
    end = [*days(k + k % 4 for k in range(10, 910, 30)), None]
    table = pl.DataFrame({"start": start, "end": end})
    encoder = TableEncoder().fit(table)
    names = [*encoder.get_feature_names_out()]
    assert [n for n in names if "missing" in n] == [
        "start:month=(missing)", "end:month=(missing)",
    ]  # fmt: skip
    assert np.isfinite(encoder.transform(table)).all()
    parts = [part.name for part in encoder._parts()]
    ages = encoder.matrix(table, "trees")[:, parts.index("end:days since start")]
    assert np.isnan(ages[[0, -1]]).all()
    assert np.isfinite(ages[1:-1]).all()


@pytest.mark.parametrize("kind", ["cut", "ordered"])
def test_categories_with_an_order_keep_it(kind):
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    table = pd.DataFrame({"x": pd.cut(x, [-9, -1, -0.2, 0.1, 0.4, 1, 2, 9])})
    if kind == "ordered":
        order = [*"gfabdec"]
        words = dict(zip(table["x"].cat.categories, order, strict=True))
        table["x"] = pd.Categorical(table["x"].map(words), order, ordered=True)
    codes = table["x"].cat.codes.to_numpy()
    encoder = TableEncoder().fit(table)
    assert encoder.dropped_ == {}
    assert encoder.categorical_features_ == []
    np.testing.assert_array_equal(encoder.matrix(table, "trees")[:, 0], codes)
    assert encoder.transform(table).shape[1] == 7
    # new rows may be strings
    new = table.iloc[:50].astype(str)
    np.testing.assert_array_equal(encoder.matrix(new, "trees")[:, 0], codes[:50])
    unordered = table.assign(x=table["x"].cat.as_unordered())
    assert TableEncoder().fit(unordered).categorical_features_ == [0]


def test_every_column_that_is_left_out_is_in_the_notices_and_warned_of():
    n = 40
    frame = pd.DataFrame(
        {
            "x": np.arange(n) % 7,
            "period": pd.period_range("2020-01", periods=n, freq="M"),
            "interval": pd.arrays.IntervalArray.from_breaks(range(n + 1)),
            "list": [[1, 2]] * n,
            "bytes": [b"a", b"b"] * (n // 2),
            "name": [f"number {k}" for k in range(n)],
            "constant": [1] * n,
            "empty": [None] * n,
            "id": range(n),
            "large": np.arange(n, dtype=np.uint64) + np.uint64(2**63),
            "same day": [START] * n,
        }
    )
    with pytest.warns(ColumnsWarning) as caught:
        encoder = TableEncoder().fit(frame)
    assert [column["name"] for column in encoder.columns_] == ["x"]
    for name in frame.columns.drop("x"):
        assert name in encoder.dropped_
        for lines in (
            encoder.notices_,
            [str(caught[0].message)],
        ):
            assert any(repr(name) in line for line in lines)
    assert "Period" in encoder.dropped_["period"]
    assert "write them as strings" in encoder.dropped_["large"]
    y = np.arange(n) % 2
    model = AutoRanker(models=["logistic"], cv=2, time_limit=None)
    with pytest.warns(ColumnsWarning, match="'period'.* left out"):
        model.fit(frame, y)
    assert any("'period' is left out" in notice for notice in model.notices_)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TableEncoder().fit(frame[["x"]])
