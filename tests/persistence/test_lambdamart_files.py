"""LambdaMART comes back from a file as it was, or not at all."""

import numpy as np
import pandas as pd
import pytest

from aucmax import LambdaMART
from aucmax.exceptions import ModelFileError
from aucmax.persistence.model_file import _unpack
from persistence.equality import same, through_file
from persistence.forgery import file_of, forge
from trees.tree_samples import LABEL_OBJECTIVES, sample


@pytest.mark.parametrize("name", LABEL_OBJECTIVES)
def test_a_saved_model_scores_alike(name, tmp_path):
    X, y, qid = sample(0, name)
    X[::7, 1] = np.nan
    model = LambdaMART(
        name,
        n_estimators=8,
        callback=print,
        monotone_constraints={0: 1},
        params={"max_bin": 31},
    )
    model.set_params(callback=None).fit(
        X, y, qid=qid, eval_set={"X": X, "y": y, "qid": qid}
    )
    again = through_file(model, tmp_path)
    assert same(vars(again), vars(model))
    np.testing.assert_array_equal(
        again.decision_function(X), model.decision_function(X)
    )
    np.testing.assert_array_equal(again.contributions(X), model.contributions(X))


def test_categories_are_saved_with_the_model(tmp_path):
    X, y, _ = sample(0)
    table = pd.DataFrame(X, columns=["größe", "b", "c", "d", "e"])
    table["e"] = pd.Categorical(np.where(X[:, 4] > 0, "x=y", "[z]"))
    model = LambdaMART(n_estimators=5)
    again = through_file(model.fit(table, y), tmp_path)
    assert again.categories_ == model.categories_
    np.testing.assert_array_equal(
        again.decision_function(table), model.decision_function(table)
    )


@pytest.mark.filterwarnings("ignore::aucmax.exceptions.ConstantScoresWarning")
def test_a_model_without_trees_can_be_saved(tmp_path):
    X, y, _ = sample(0)
    model = LambdaMART(min_child_samples=20)
    for rows in (X[:30], np.ones((30, 5))):
        again = through_file(model.fit(rows, y[:30]), tmp_path)
        assert not again.decision_function(X).any()


@pytest.fixture(scope="module")
def members():
    X, y, _ = sample(0)
    X[:, 3] = np.arange(400) % 5
    model = LambdaMART(n_estimators=3, categorical_features=[3]).fit(X, y)
    return file_of(model)[0]


def unpack(members):
    return _unpack(forge(members, **{"class": "LambdaMART"}))


def text_of(members):
    (name,) = [name for name in members if name.endswith(".txt")]
    return name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"left_child=", b"left_child=9"),
        (b"num_leaves=", b"num_leaves=9"),
        (b"split_feature=", b"split_feature=9"),
        (b"end of trees", b""),
    ],
)
def test_hostile_trees_do_not_reach_lightgbm(old, new, members, monkeypatch):
    name = text_of(members)
    assert old in members[name]
    monkeypatch.setattr("lightgbm.Booster", None)
    unpack(members)
    with pytest.raises(ModelFileError, match="not a valid LightGBM model text"):
        unpack({**members, name: members[name].replace(old, new, 1)})


def test_trees_for_other_columns_are_rejected(members):
    state = members["state.json"].replace(b'"n_features_in_":5', b'"n_features_in_":6')
    with pytest.raises(ModelFileError, match="shape \\(6,\\), but of shape \\(5,\\)"):
        unpack({**members, "state.json": state})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"objective":"logistic"', b'"objective":"mauc"'),
        (b'"objective":"logistic"', b'"objective":"ndcg"'),
        (b'"categorical_features_":[3]', b'"categorical_features_":[5]'),
        (b'"categorical_features_":[3]', b'"categorical_features_":[-1]'),
        (b'"categorical_features_":[3]', b'"categorical_features_":3'),
        (b'"categorical_features_":[3]', b'"categorical_features_":[0]'),
        (b'"categorical_features_":[3],', b""),
    ],
)
def test_a_state_that_no_fit_leaves_is_rejected(old, new, members):
    assert old in members["state.json"]
    state = members["state.json"].replace(old, new, 1)
    with pytest.raises(ModelFileError):
        unpack({**members, "state.json": state})
