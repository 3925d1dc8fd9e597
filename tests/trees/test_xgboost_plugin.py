import pickle

import numpy as np
import pytest
from sklearn.base import clone

from aucmax import objectives
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import roc_auc_score
from reference_pair_logistic import tree_derivatives
from trees.plugin_samples import METRICS, make_sample

xgb = pytest.importorskip("xgboost")

SAMPLE = make_sample()
PARAMETERS = {"max_depth": 4, "nthread": 1, "disable_default_eval_metric": True}


def matrix(sample=SAMPLE, objective="auc", qid=None, weight=None):
    return xgb.DMatrix(
        sample.X, sample.labels_for(objective), qid=qid, weight=weight, nthread=1
    )


def train(plugin, data, rounds=10, **options):
    return xgb.train(PARAMETERS, data, rounds, obj=plugin.objective, **options)


@pytest.mark.parametrize("objective", ["auc", "logistic"])
@pytest.mark.parametrize("queried", [False, True])
def test_derivatives_are_those_of_all_pairs(objective, queried):
    sample = make_sample(n_queries=5)
    scores = np.round(np.random.default_rng(1).normal(size=sample.qid.size), 1)
    qid = sample.qid if queried else np.zeros_like(sample.qid)
    weights = np.ones(qid.size) if queried else sample.weights
    data = matrix(
        sample,
        qid=sample.qid if queried else None,
        weight=None if queried else sample.weights,
    )
    results = objectives.xgboost(objective).objective(scores.astype(np.float32), data)
    expected = tree_derivatives(scores, sample.labels, qid, weights, objective == "auc")
    np.testing.assert_allclose(results, expected, rtol=5e-5, atol=1e-7)


def test_the_weight_of_a_query_multiplies_its_derivatives():
    sample = make_sample(n_queries=5)
    plugin = objectives.xgboost("logistic")
    scores = np.zeros(sample.qid.size, dtype=np.float32)
    weight = np.array([1.0, 2.0, 0.0, 0.5, 3.0])
    plain = plugin.objective(scores, matrix(sample, qid=sample.qid))
    results = plugin.objective(scores, matrix(sample, qid=sample.qid, weight=weight))
    np.testing.assert_allclose(results, plain * weight[sample.qid], rtol=1e-6)


@pytest.mark.parametrize("objective", METRICS)
@pytest.mark.parametrize("queried", [False, True])
def test_metric_rises_and_is_the_public_one(objective, queried):
    plugin = objectives.xgboost(objective, fpr_range=(0, 0.3))
    other = make_sample(seed=1, n_queries=10)
    rows = {}
    data = [
        matrix(
            sample,
            objective,
            qid=sample.qid if queried else None,
            weight=None if queried else sample.weights,
        )
        for sample in (SAMPLE, other)
    ]
    booster = train(
        plugin,
        data[0],
        custom_metric=plugin.metric,
        evals=[(data[0], "train"), (data[1], "test")],
        evals_result=rows,
        verbose_eval=False,
    )
    for name, sample, matrix_ in zip(
        ("train", "test"), (SAMPLE, other), data, strict=True
    ):
        values = rows[name][plugin.name]
        assert name == "test" or values[-1] > values[0]
        expected = METRICS[objective](
            sample.labels_for(objective),
            booster.predict(matrix_, output_margin=True),
            sample_weight=None if queried else sample.weights.astype(np.float32),
            qid=sample.qid if queried else None,
        )
        assert values[-1] == pytest.approx(expected, abs=1e-6)  # XGBoost rounds it


def test_early_stopping_maximises_the_metric():
    plugin = objectives.xgboost("auc")
    other = make_sample(seed=1, n_queries=10)
    booster = train(
        plugin,
        matrix(qid=SAMPLE.qid),
        rounds=200,
        custom_metric=plugin.metric,
        evals=[(matrix(other, qid=other.qid), "test")],
        evals_result=(history := {}),
        early_stopping_rounds=5,
        verbose_eval=False,
    )
    values = history["test"][plugin.name]
    assert 6 < len(values) < 200
    assert booster.best_iteration == int(np.argmax(values))


def test_scikit_learn_estimators_grow_the_same_trees():
    plugin = objectives.xgboost("auc")
    model = xgb.XGBClassifier(
        objective=plugin.sklearn_objective,
        eval_metric=plugin.sklearn_metric,
        n_estimators=10,
        max_depth=4,
        n_jobs=1,
    )
    model = pickle.loads(pickle.dumps(clone(model)))  # as a search does
    rows = {"sample_weight": SAMPLE.weights, "sample_weight_eval_set": [SAMPLE.weights]}
    model.fit(
        SAMPLE.X,
        SAMPLE.labels.astype(int),
        eval_set=[(SAMPLE.X, SAMPLE.labels.astype(int))],
        verbose=False,
        **rows,
    )
    booster = train(plugin, matrix(weight=SAMPLE.weights))
    scores = model.predict(SAMPLE.X, output_margin=True)
    theirs = booster.predict(matrix(), output_margin=True)
    np.testing.assert_allclose(scores - scores[0], theirs - theirs[0], atol=1e-5)
    auc = roc_auc_score(SAMPLE.labels, scores, sample_weight=SAMPLE.weights)
    history = model.evals_result()["validation_0"][plugin.name]
    assert history[-1] == pytest.approx(auc, abs=2e-6)


def test_bad_rows_are_rejected():
    plugin = objectives.xgboost()
    with pytest.raises(NotEnoughClassesError, match="one class only"):
        train(plugin, xgb.DMatrix(SAMPLE.X, np.ones(SAMPLE.qid.size)))
    with pytest.raises(NotEnoughClassesError, match="None of the 1200 queries"):
        train(plugin, matrix(qid=np.arange(SAMPLE.qid.size)))
    data = matrix()
    margin = np.zeros(SAMPLE.qid.size)
    margin[7] = np.nan
    data.set_base_margin(margin)
    with pytest.raises(ValueError, match=r"1 of 1200 scores .* row 7: nan.*diverged"):
        train(plugin, data)
