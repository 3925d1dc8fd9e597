"""LambdaMART ranks: every objective, weights, queries, constraints, contributions."""

from functools import partial

import lightgbm
import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, cross_validate

from aucmax import LambdaMART
from aucmax.exceptions import OneClassQueryWarning
from aucmax.metrics import (
    metric_scorer,
    roc_auc_score,
    survival_target,
)
from aucmax.trees.booster import booster_parameters
from aucmax.trees.pair_objectives import OBJECTIVES, find_objective
from reference_pair_logistic import tree_derivatives
from trees.tree_samples import LABEL_OBJECTIVES, LEVELS, TWO, measure, sample

few = partial(LambdaMART, n_estimators=30)
for_every_objective = pytest.mark.parametrize("name", LABEL_OBJECTIVES)


def trees(model):
    """The model but for the parameters that LightGBM writes below the trees."""
    return model.model_text_.partition("end of trees")[0]


@for_every_objective
@pytest.mark.parametrize("with_queries", [False, True])
def test_every_objective_learns_what_it_aims_at(name, with_queries):
    X, y, qid = sample(0, name)
    X_new, y_new, qid_new = sample(1, name)
    if not with_queries:
        qid = qid_new = None
    model = LambdaMART(name, n_estimators=40).fit(X, y, qid=qid)
    stages = [
        measure(name, y_new, scores, qid_new)
        for scores in model.staged_decision_function(X_new)
    ]
    chance = measure(name, y_new, np.zeros(y_new.size), qid_new)
    assert chance + 0.1 < stages[0] < stages[-1]
    assert stages[-1] == measure(name, y_new, model.decision_function(X_new), qid_new)


@pytest.mark.parametrize(("name", "ranked"), [("logistic", False), ("auc", True)])
def test_trees_are_lightgbms_along_the_gradient_of_all_pairs(name, ranked):
    X, y, _ = sample(3, n_rows=80)
    settings = {"min_data_in_leaf": 9, "num_leaves": 4, "verbosity": -1, "seed": 0}
    settings |= {"objective": "none", "deterministic": True, "force_row_wise": True}
    theirs = lightgbm.Booster(settings, lightgbm.Dataset(X, y * 1.0, params=settings))
    for _ in range(4):
        theirs.update(
            fobj=lambda scores, _: tree_derivatives(scores, y, rank_weighted=ranked)
        )
    ours = LambdaMART(
        name,
        n_estimators=4,
        learning_rate=0.1,
        num_leaves=4,
        min_child_samples=9,
        colsample_bytree=1.0,
        reg_lambda=0.0,
    ).fit(X, y)
    np.testing.assert_allclose(
        ours.decision_function(X) + ours.threshold_, theirs.predict(X), atol=1e-4
    )


@for_every_objective
def test_the_last_staged_scores_are_the_scores(name):
    X, y, qid = sample(0, name)
    model = LambdaMART(name, n_estimators=7).fit(X, y, qid=qid)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == model.n_iter_ == 7
    np.testing.assert_array_equal(stages[-1], model.decision_function(X))
    short = LambdaMART(name, n_estimators=3).fit(X, y, qid=qid)
    offset = getattr(short, "threshold_", 0.0) - getattr(model, "threshold_", 0.0)
    np.testing.assert_allclose(
        stages[2], short.decision_function(X) + offset, atol=1e-12
    )


@for_every_objective
def test_queries_may_come_in_any_order_of_rows(name):
    X, y, qid = sample(2, name)
    ids = np.array(["b", "a"])[qid % 2] + qid.astype(str)
    mixed = LambdaMART(name, n_estimators=10).fit(X, y, qid=ids.astype(object))
    order = np.argsort(qid, kind="stable")
    sorted_ = LambdaMART(name, n_estimators=10).fit(X[order], y[order], qid=qid[order])
    np.testing.assert_allclose(
        mixed.decision_function(X), sorted_.decision_function(X), atol=1e-6
    )
    alone = LambdaMART(name, n_estimators=10).fit(X, y)
    assert trees(alone) != trees(mixed)


@pytest.mark.parametrize("name", ["logistic", "ordinal"])
@pytest.mark.parametrize("with_queries", [False, True])
def test_a_row_of_weight_two_is_two_rows(name, with_queries):
    X, y, _ = sample(4, name)
    # LightGBM estimates the rows of a bin from their hessians, which bins of many rows
    # make exact enough; and it rounds all derivatives to seven digits
    X = np.clip(X.round(), -2, 2)
    weight = np.tile([2, 1, 0, 3], 100)
    qid = np.repeat(np.arange(5), 80) if with_queries else np.zeros(400)
    # penalties go by the number of rows
    model = few(
        objective=name,
        n_estimators=8,
        learning_rate=0.1,
        num_leaves=5,
        min_child_samples=1,
        reg_lambda=0.0,
    )
    repeated = clone(model).fit(
        X.repeat(weight, axis=0), y.repeat(weight), qid=qid.repeat(weight)
    )
    scores = repeated.decision_function(X)
    for scale in (1.0, 1e-3):
        weighted = clone(model).fit(X, y, weight * scale, qid=qid)
        np.testing.assert_allclose(weighted.decision_function(X), scores, atol=1e-6)
    assert np.ptp(clone(model).fit(X, y, qid=qid).decision_function(X) - scores) > 0.1


@pytest.mark.parametrize("name", ["auc", "ordinal"])
def test_the_number_of_threads_changes_nothing(name):
    X, y, qid = sample(5, name, n_rows=200, n_queries=5)
    # few rounds, since threads wait for each other where cores are busy
    options = {"n_estimators": 2, "subsample": 0.7, "num_leaves": 4}
    one, two, another = [
        LambdaMART(name, n_jobs=n_jobs, random_state=seed, **options).fit(X, y, qid=qid)
        for n_jobs, seed in [(1, 0), (2, 0), (1, 1)]
    ]
    assert trees(one) == trees(two) != trees(another)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize(
    ("limit", "n_rows", "expected"),
    [
        (None, 10**6, 8),
        (None, 100, 1),  # threads would only wait for each other
        (None, 7000, 3),
        ("2", 10**6, 2),
        ("3,2", 10**6, 3),  # OpenMP's way to say how many at each depth
        ("many", 10**6, 8),
    ],
)
def test_by_default_all_cores_that_are_allowed(limit, n_rows, expected, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if limit is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", limit)
    assert booster_parameters(LambdaMART(), n_rows)["num_threads"] == expected


@for_every_objective
def test_contributions_add_up_to_the_scores(name):
    X, y, _ = sample(0, name)
    model = LambdaMART(name, n_estimators=10).fit(X, y)
    parts = model.contributions(X)
    assert parts.shape == (400, 6)
    np.testing.assert_allclose(parts.sum(axis=1), model.decision_function(X))
    assert np.ptp(parts[:, 0]) > 0.1
    assert np.ptp(parts[:, -1]) == 0.0


def test_monotone_constraints_hold():
    X, y, _ = sample(0)
    grid = np.zeros((50, 5))
    grid[:, 0] = np.linspace(-3, 3, 50)
    for sign in (1, -1):
        model = few(monotone_constraints=[sign, 0, 0, 0, 0]).fit(X, y)
        assert (sign * np.diff(model.decision_function(grid)) >= 0).all()
    free = few().fit(X, y)
    assert (np.diff(free.decision_function(grid)) < 0).any()
    by_number = few(monotone_constraints={0: -1}).fit(X, y)
    assert trees(by_number) == trees(model)


def test_partial_auc_attends_to_its_range():
    X, y, _ = sample(0)
    models = {
        trees(LambdaMART("pauc", fpr_range=part, n_estimators=5).fit(X, y))
        for part in [(0, 0.1), (0, 0.5), (0.2, 0.5)]
    }
    assert len(models) == 3
    whole = LambdaMART("pauc", fpr_range=(0, 1), n_estimators=5).fit(X, y)
    plain = LambdaMART("logistic", n_estimators=5).fit(X, y)
    np.testing.assert_allclose(
        whole.decision_function(X), plain.decision_function(X), atol=1e-6
    )


@pytest.mark.parametrize("name", TWO)
def test_two_classes_are_predicted_by_the_sign_of_the_score(name):
    X, y, _ = sample(0, name)
    labels = np.where(y, "yes", "no")
    model = LambdaMART(name, n_estimators=10).fit(X, labels)
    assert model.classes_.tolist() == ["no", "yes"]
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted == "yes", model.decision_function(X) > 0)
    assert np.mean(predicted == labels) > 0.75
    assert is_classifier(model)
    assert not hasattr(model, "levels_")


@pytest.mark.parametrize("name", LEVELS)
def test_levels_are_ranked_not_predicted(name):
    X, y, _ = sample(0, name)
    model = LambdaMART(name, n_estimators=10).fit(X, y * 3)
    assert model.levels_.tolist() == [0, 3, 6]
    assert not is_classifier(model)
    assert not hasattr(model, "predict")
    with pytest.raises(AttributeError):
        model.predict(X)
    assert not hasattr(model, "classes_")
    # a change of mind forgets the levels
    model.set_params(objective="auc").fit(X, y > 0)
    assert not hasattr(model, "levels_")
    assert model.predict(X).dtype == bool


@for_every_objective
def test_the_score_is_what_the_objective_aims_at(name):
    X, y, qid = sample(0, name)
    weight = np.arange(400) % 3 + 0.5
    model = LambdaMART(name, n_estimators=5, fpr_range=(0, 0.3)).fit(X, y)
    scores = model.decision_function(X)
    for rows in ({}, {"qid": qid}, {"sample_weight": weight, "qid": qid}):
        expected = measure(name, y, scores, fpr_range=(0, 0.3), **rows)
        assert model.score(X, y, **rows) == expected
    assert model.score(X, y, weight) == model.score(X, y, sample_weight=weight)
    assert model.score(X, y, weight) != model.score(X, y)
    if name in TWO:
        text = LambdaMART(name, n_estimators=5, fpr_range=(0, 0.3))
        text.fit(X, np.where(y, "yes", "no"))
        assert text.score(X, np.where(y, "yes", "no")) == model.score(X, y)
        with pytest.raises(ValueError, match="y is 'maybe' in row 0"):
            text.score(X, np.full(400, "maybe"))
    else:  # levels are ordered, known or not; NDCG also has their gains
        other = model.score(X, np.where(y == 2, 7, y))
        assert (other == pytest.approx(model.score(X, y))) == (name != "ndcg")
        with pytest.raises(ValueError, match="y must hold levels of relevance"):
            model.score(X, y - 1)


def test_a_share_of_columns_without_a_split_does_not_end_the_rounds():
    X, y, _ = sample(0)
    X[:, 1:] = np.arange(400)[:, None] < 3  # too few rows for a leaf
    options = {"n_estimators": 8, "min_child_samples": 10}
    whole = LambdaMART(colsample_bytree=1.0, **options).fit(X, y)
    model = LambdaMART(colsample_bytree=0.3, **options).fit(X, y)
    assert model.n_iter_ == len(list(model.staged_decision_function(X))) == 8
    np.testing.assert_allclose(
        model.decision_function(X), whole.decision_function(X), atol=1e-12
    )


def test_some_queries_of_one_class_are_passed_over_with_a_warning():
    X, y, qid = sample(0)
    y = y & (qid != 3)
    with pytest.warns(
        OneClassQueryWarning, match="1 of the 20 queries have rows of on"
    ):
        model = LambdaMART(n_estimators=5).fit(X, y, qid=qid)
    others = qid != 3
    few = LambdaMART(n_estimators=5).fit(X[others], y[others], qid=qid[others])
    assert roc_auc_score(y, model.decision_function(X)) > 0.8
    assert roc_auc_score(y, few.decision_function(X)) > 0.8


def test_queries_and_weights_are_routed_through_cross_validation():
    X, y, qid = sample(0, "ordinal", n_queries=40)
    with config_context(enable_metadata_routing=True):
        ranker = LambdaMART("ordinal", n_estimators=5)
        ranker.set_fit_request(qid=True, sample_weight=True)
        scores = cross_validate(
            ranker,
            X,
            y,
            cv=GroupKFold(2),
            params={"qid": qid, "sample_weight": np.ones(400), "groups": qid},
            scoring=metric_scorer("ordinal_auc", per_query=True).set_score_request(
                qid=True
            ),
            error_score="raise",
        )
    assert (scores["test_score"] > 0.7).all()


def test_the_tables_of_objectives_and_metrics_fit_together():
    scores, y = np.array([3.0, 1.0, 2.0, 0.0]), np.array([1, 0, 0, 1])
    for name, objective in OBJECTIVES.items():
        assert find_objective(name) is objective is OBJECTIVES[objective.name]
        assert objective.metric_at(None).name == objective.metric
        labels = y
        if objective.labels == "times":
            labels = survival_target(y, [1.0, 2.0, 3.0, 4.0])
        value, gradient, _ = (
            objective.risk((0.0, 0.5)).bind(labels).value_gradient_hessian(scores)
        )
        assert value > 0
        assert gradient[0] < 0 < gradient[2]
    assert measure("auc", y, scores) == 0.5
    assert measure("pauc", y, scores, fpr_range=(0, 0.5)) == 0.5
    assert measure("ordinal", y, scores, [1, 1, 2, 2]) == 0.5
    with pytest.raises(ValueError, match="objective must be one of 'logistic', 'auc'"):
        find_objective("loss")
