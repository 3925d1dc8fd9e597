from copy import deepcopy
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

import aucmax
from aucmax import AutoRanker
from aucmax.exceptions import ModelFileError, NotEnoughClassesError
from aucmax.metrics import roc_auc_score
from aucmax.model_selection import LightGBMBaseline
from aucmax.tables import encode_target

FEW = ["logistic", "kernel"]
WITH_TREES = ["logistic", ("trees", LightGBMBaseline(20))]


def rows(n_rows=300, n_columns=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, n_columns))
    y = X[:, 0] + X[:, 1] ** 2 + generator.normal(size=n_rows) > 1.0
    return X, y.astype(int)


def auto(**options):
    return AutoRanker(**{"models": FEW, "cv": 3, **options})


def raw_table(n_rows=300, seed=0):
    """Numbers with gaps, words, dates; the target depends on all of them."""
    generator = np.random.default_rng(seed)
    size = generator.normal(size=n_rows)
    kind = generator.choice(["a", "b", "c"], size=n_rows)
    day = generator.integers(0, 700, size=n_rows)
    y = size + 2.0 * (kind == "a") + day / 300 + generator.normal(size=n_rows) > 2.0
    gaps = generator.random(n_rows) < 0.2
    frame = pl.DataFrame(
        {
            "size": [
                None if gap else value for value, gap in zip(size, gaps, strict=True)
            ],
            "kind": kind,
            "day": [date(2023, 1, 1) + timedelta(days=int(k)) for k in day],
        }
    )
    return frame, np.where(y, "yes", "no")


@pytest.fixture(scope="module")
def model():
    return auto().fit(*rows())


def test_a_combination_ranks_new_rows(model):
    X, y = rows(2000, seed=1)
    scores = model.decision_function(X)
    assert roc_auc_score(y, scores) == model.score(X, y) > 0.8
    np.testing.assert_array_equal(model.predict(X), scores > 0.0)
    assert sum(model.weights_.values()) == pytest.approx(1.0)
    assert list(model.weights_) == [member["name"] for member in model.members_]
    assert model.n_rows_ == 300
    assert model.n_folds_ == 3


def test_raw_tables_are_accepted(tmp_path):
    frame, y = raw_table()
    model = auto(models=WITH_TREES).fit(frame, y)
    new, truth = raw_table(seed=1)
    assert model.score(new, truth) > 0.83
    assert set(model.predict(new)) == {"yes", "no"}
    aucmax.save(model, tmp_path / "model.aucmax")
    again = aucmax.load(tmp_path / "model.aucmax")
    scores = model.decision_function(new)
    np.testing.assert_array_equal(again.decision_function(new), scores)
    assert again.summary() == model.summary()
    assert again.leaderboard().equals(model.leaderboard())
    pandas = pytest.importorskip("pandas")
    framed = pandas.DataFrame({name: new[name].to_list() for name in new.columns})
    np.testing.assert_array_equal(model.decision_function(framed), scores)


def test_sparse_rows():
    X, y = rows()
    X = sparse.csr_array(X * (np.abs(X) > 0.5))
    model = auto(models=WITH_TREES).fit(X, y)
    assert model.score(X, y) > 0.8


def test_a_fit_can_be_repeated(model):
    X, y = rows()
    scores = model.decision_function(X)
    np.testing.assert_array_equal(clone(model).fit(X, y).decision_function(X), scores)
    other = auto(random_state=1).fit(X, y)
    assert not np.array_equal(other.decision_function(X), scores)


def test_weights_queries_groups_and_times_are_taken():
    X, y = rows()
    unit = np.arange(300) // 15
    weight = np.random.default_rng(0).random(300)
    for extra in ({"qid": unit}, {"groups": unit}, {"times": np.arange(300)}):
        model = auto().fit(X, y, weight, **extra)
        assert model.score(X, y) > 0.8
        low, high = model.estimate_["auc_low"], model.estimate_["auc_high"]
        assert low < model.estimate_["auc"] < high
    assert model.n_folds_ == 3


def test_a_leak_is_noticed():
    frame, y = raw_table()
    leak = (y == "yes") + 0.1 * np.random.default_rng(0).random(300)
    model = auto(models=["logistic"])
    model.fit(frame.with_columns(bill=leak, key=pl.Series(range(300))), y)
    notices = " ".join(model.notices_)
    assert "'bill' alone ranks the target almost perfectly" in notices
    assert "'key' is different in every row" in notices
    assert "'bill' alone" in model.summary()


def test_few_rows_and_few_positives():
    X, y = rows(100)
    few = np.flatnonzero(y)[5:]
    y[few] = 0
    model = auto(cv=5).fit(X, y)
    assert model.n_folds_ == 2
    assert any("only 5 rows are positive" in notice for notice in model.notices_)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_range_contradicts_the_whole_area():
    with pytest.raises(ValueError, match="contradicts fpr_range="):
        auto(metric="auc", fpr_range=(0, 0.1)).fit(*rows())


@pytest.mark.slow
def test_a_number_of_fits_replaces_the_clock():
    models = ["logistic", "extra-trees", "lightgbm-small"]
    hurried = auto(models=models, max_fits=8, time_limit=0.0).fit(*rows())
    assert list(hurried.board_["model"][1:]) == ["extra-trees", "logistic"]
    assert any("max_fits=8 left out lightgbm-small" in one for one in hurried.notices_)
    whole = auto(models=models[:2], time_limit=None).fit(*rows())
    X, _ = rows(50, seed=1)
    np.testing.assert_array_equal(
        hurried.decision_function(X), whole.decision_function(X)
    )


def test_data_that_cannot_be_ranked():
    X, y = rows(60)
    with pytest.raises(NotEnoughClassesError, match="one class"):
        auto().fit(X, np.ones(60))
    with pytest.raises(ValueError, match="no column can be used: 'x0': it is"):
        auto().fit(np.ones((60, 2)), y)
    with pytest.raises(NotEnoughClassesError, match="1 row is positive"):
        auto().fit(X, np.arange(60) == 7)
    with pytest.raises(ValueError, match="groups has a single group"):
        auto().fit(X, y, groups=np.zeros(60))
    with pytest.raises(ValueError, match="times must be a number or a date"):
        auto().fit(X, y, times=["tomorrow"] * 60)


def test_a_file_with_a_model_missing_is_rejected(model, tmp_path):
    model = deepcopy(model)
    model.members_[0]["models"].pop()
    with pytest.raises((ModelFileError, ValueError), match="lacks a fold"):
        aucmax.save(model, tmp_path / "model.aucmax")


def test_a_target_that_is_encoded_already_gives_the_same_model():
    frame, y = raw_table()
    weight = 1.0 + np.arange(y.size) % 2
    names = np.where(y == "yes", "a", "b")
    target = encode_target(names, "a", sample_weight=weight)
    model = auto().fit(frame, target)
    expected = auto(pos_label="a").fit(frame, names, weight)
    scores = model.decision_function(frame)
    np.testing.assert_array_equal(scores, expected.decision_function(frame))
    assert model.classes_.tolist() == expected.classes_.tolist() == ["b", "a"]
    with pytest.raises(ValueError, match="the table has 10 rows"):
        auto().fit(frame[:10], target)


def test_one_of_several_values_is_positive():
    frame, y = raw_table()
    values = np.where(
        y == "yes", "died", np.where(np.arange(y.size) % 2, "left", "stayed")
    )
    model = auto().fit(frame, encode_target(values, "died"))
    assert model.classes_.tolist() == ["not died", "died"]
    assert model.grading_.negatives == ["left", "stayed"]
    assert model.share_of_known_rows(frame, values) == 1.0
