"""LambdaMART says what is wrong: parameters, LightGBM's parameters, labels."""

import numpy as np
import pytest

from aucmax import LambdaMART
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.trees.booster import merge_parameters
from trees.tree_samples import LEVELS, TWO, sample


def test_a_bad_range_is_named_where_it_counts():
    (X, y, _), fpr_range = sample(0), (0.5, 0.1)
    with pytest.raises(ValueError, match="fpr_range must"):
        LambdaMART("pauc", fpr_range=fpr_range).fit(X, y)
    LambdaMART("auc", fpr_range=fpr_range, n_estimators=1).fit(X, y)


@pytest.mark.parametrize(("name", "value"), [("num_leaves", 1), ("n_jobs", -2)])
def test_a_number_too_low_is_named(name, value):
    X, y, _ = sample(0)
    with pytest.raises(ValueError, match=f"{name} must be .*, got {value}"):
        LambdaMART().set_params(**{name: value}).fit(X, y)


OURS = {
    "objective": "use the parameter objective",
    "loss": "use the parameter objective",
    "metric": "use eval_metric",
    "num_boost_round": "use n_estimators",
    "nthread": "use n_jobs",
    "early_stopping_rounds": "use n_iter_no_change",
    "cat_feature": "use categorical_features",
    "monotone_constraint": "use the parameter monotone_constraints",
    "verbose": "use verbose",
    "num_class": "there is one score per row",
    "linear_tree": "cannot be saved safely",
}


@pytest.mark.parametrize("name", OURS)
def test_params_cannot_hold_what_the_model_settles(name):
    X, y, _ = sample(0)
    with pytest.raises(
        ValueError, match=f"params cannot hold '{name}': .*{OURS[name]}"
    ):
        LambdaMART(params={name: 1}).fit(X, y)


def test_params_that_lightgbm_does_not_have_are_rejected():
    X, y, _ = sample(0)
    with pytest.raises(ValueError, match=r"has 'max_bins_', which .* mean 'max_bins?'"):
        LambdaMART(params={"max_bins_": 3}).fit(X, y)
    with pytest.raises(ValueError, match=r"'max_bin' and 'max_bins'|'max_bins' and"):
        LambdaMART(params={"max_bin": 3, "max_bins": 4}).fit(X, y)
    with pytest.raises(TypeError, match=r"params must be a dict .* got list"):
        LambdaMART(params=["max_bin"]).fit(X, y)
    for boosting in ("dart", "rf"):
        with pytest.raises(ValueError, match=f"has boosting='{boosting}', which is"):
            LambdaMART(params={"boosting_type": boosting}).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_bin", "63 linear_tree=true"),
        ("max_bin", "63\nboosting=dart"),
        ("max_bin", "boosting=dart"),
        ("max_bin", ["63 linear_tree=true"]),
        ("interaction_constraints", [["0 linear_tree=true"]]),
        ("max_bin", {"a": 1}),
        ("max_bin", None),
        ("max_bin", b"63"),
    ],
)
def test_no_value_of_params_brings_another_parameter_along(name, value):
    X, y, _ = sample(0)
    with pytest.raises(ValueError, match=f"params has {name}=.*a single word"):
        LambdaMART(params={name: value}).fit(X, y)


@pytest.mark.parametrize(
    "name",
    [
        *("machines", "workers", "num_machines", "machine_list_file", "tree_learner"),
        *("forcedbins_filename", "forced_splits", "input_model", "valid", "config"),
    ],
)
def test_params_open_no_file_and_no_connection(name):
    X, y, _ = sample(0)
    with pytest.raises(ValueError, match=f"'{name}': a fit does not use files"):
        LambdaMART(params={name: 2}).fit(X, y)


def test_what_lightgbm_itself_rejects_is_a_value_error():
    X, y, _ = sample(0)
    with pytest.raises(
        ValueError, match=r"LightGBM rejects these parameters: .*max_bin"
    ):
        LambdaMART(params={"max_bin": 1}).fit(X, y)


def test_params_win_whatever_they_are_called():
    X, y, _ = sample(0)
    expected = LambdaMART(n_estimators=3, learning_rate=0.5, num_leaves=4).fit(X, y)
    params = {"eta": 0.5, "max_leaf": 4}
    model = LambdaMART(n_estimators=3, params=params).fit(X, y)
    np.testing.assert_array_equal(
        model.decision_function(X), expected.decision_function(X)
    )
    goss = {"data_sample_strategy": "goss", "top_rate": 0.3}
    sampled = LambdaMART(n_estimators=20, params=goss).fit(X, y)
    assert "data_sample_strategy: goss" in sampled.model_text_
    assert params == {"eta": 0.5, "max_leaf": 4}


@pytest.mark.parametrize("table", [None, {}, [], {"max_bin": ["max_bin"]}])
@pytest.mark.parametrize("name", ["max_bin", "train_data", "model_in", "b"])
def test_no_name_passes_where_lightgbm_does_not_list_all(monkeypatch, name, table):
    if table is None:
        monkeypatch.delattr("lightgbm.basic._ConfigAliases")
    else:
        monkeypatch.setattr(
            "lightgbm.basic._ConfigAliases._get_all_param_aliases", lambda: table
        )
    with pytest.raises(IncompatibleError, match="params cannot be checked: LightGBM"):
        merge_parameters({"a": 1}, {name: 2})
    assert merge_parameters({"a": 1}, None) == {"a": 1}


@pytest.mark.parametrize("name", TWO)
def test_more_than_two_labels_are_sent_to_the_objectives_for_levels(name):
    X, y, _ = sample(0, "mauc")
    with pytest.raises(
        ValueError, match=r"Only binary .* 3 distinct .* objective='mauc' or 'ordinal'"
    ):
        LambdaMART(name).fit(X, y)


@pytest.mark.parametrize("name", LEVELS)
def test_bad_levels_are_named(name):
    X, y, _ = sample(0, name)
    faults = {-1.0: "negative", 1.5: "not a whole number", 2.0**60: "too large"}
    for value, fault in faults.items():
        levels = y.astype(float)
        levels[17] = value
        with pytest.raises(ValueError, match=f"row 17 is .*, which is {fault}"):
            LambdaMART(name).fit(X, levels)
    with pytest.raises(NotEnoughClassesError, match="all rows are of level 2"):
        LambdaMART(name).fit(X, np.full(400, 2))
    with pytest.raises(NotEnoughClassesError, match="all rows with any weight are of"):
        LambdaMART(name).fit(X, y, y == 1)


def test_one_class_is_nothing_to_rank():
    X, y, _ = sample(0)
    with pytest.raises(NotEnoughClassesError, match="zero in every row of class False"):
        LambdaMART().fit(X, y, y * 1.0)
    with pytest.raises(ValueError, match="qid has 399 rows"):
        LambdaMART().fit(X, y, qid=np.zeros(399))
    with pytest.raises(ValueError, match="requires y to be passed"):
        LambdaMART("ordinal").fit(X, None)


def test_the_group_of_lightgbm_is_rejected_in_favour_of_qid():
    X, y, _ = sample(0)
    with pytest.raises(TypeError, match=r"no parameter 'group'.* qid=np\.repeat"):
        LambdaMART().fit(X, y, group=[y.size])
