import pickle

import lightgbm as lgb
import numpy as np
import pytest
from sklearn.base import clone

from aucmax import LambdaMART, objectives
from aucmax.exceptions import NotEnoughClassesError
from reference_pair_logistic import tree_derivatives
from trees.plugin_samples import METRICS, make_sample

SAMPLE = make_sample()
OBJECTIVES = ["auc", "logistic", "pauc", "mauc", "ordinal"]
PARAMETERS = {
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "min_sum_hessian_in_leaf": 1e-3,
}
LIGHTGBM_DEFAULTS = {
    "learning_rate": 0.1,
    "num_leaves": 31,
    "min_child_samples": 20,
    "colsample_bytree": 1.0,
    "reg_lambda": 0.0,
}
# LightGBM 4.7 has other names for it, which 4.6 does not know
eval_set_allowed = pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
# LightGBM 4.5 uses a name that scikit-learn 1.6 has deprecated
old_name_allowed = pytest.mark.filterwarnings("ignore:'force_all_finite' was renamed")


def dataset(sample=SAMPLE, objective="auc", *, weighted=True, grouped=True, **options):
    return lgb.Dataset(
        sample.X,
        sample.labels_for(objective),
        weight=sample.weights if weighted else None,
        group=sample.sizes if grouped else None,
        **options,
    )


def train(plugin, data, rounds=10, **options):
    parameters = {**PARAMETERS, "objective": plugin.objective, "metric": "None"}
    return lgb.train(parameters, data, rounds, **options)


@pytest.mark.parametrize("objective", ["auc", "logistic"])
def test_derivatives_are_those_of_all_pairs(objective):
    sample = make_sample(n_queries=5)
    sample.levels[sample.qid == 3] = 0  # a query without pairs
    data = dataset(sample).construct()
    scores = np.round(np.random.default_rng(1).normal(size=sample.qid.size), 1)
    results = objectives.lightgbm(objective).objective(scores, data)
    expected = tree_derivatives(
        scores, sample.labels, sample.qid, sample.weights, objective == "auc"
    )
    np.testing.assert_allclose(results, expected, rtol=5e-5, atol=1e-9)
    assert 0.05 < np.abs(results[0][sample.qid != 3]).mean() < 2.0


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("grouped", [False, True])
def test_trees_are_those_of_lambdamart(objective, grouped):
    plugin = objectives.lightgbm(objective, outside_weight=0.4)
    booster = train(plugin, dataset(objective=objective, grouped=grouped), rounds=8)
    # the data set keeps weights in float32
    weights = SAMPLE.weights.astype(np.float32)
    model = LambdaMART(
        objective, outside_weight=0.4, n_estimators=8, **LIGHTGBM_DEFAULTS
    ).fit(
        SAMPLE.X,
        SAMPLE.labels_for(objective),
        weights,
        qid=SAMPLE.qid if grouped else None,
    )
    scores = model.decision_function(SAMPLE.X)
    ours = booster.predict(SAMPLE.X)
    np.testing.assert_allclose(ours - ours[0], scores - scores[0], atol=1e-6)


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("grouped", [False, True])
def test_metric_is_the_public_one_with_weights_and_queries(objective, grouped):
    plugin = objectives.lightgbm(objective, fpr_range=(0, 0.3))
    history = {}
    train_set = dataset(objective=objective, grouped=grouped)
    other = make_sample(seed=1, n_queries=10)
    valid_set = dataset(other, objective, grouped=grouped, reference=train_set)
    booster = train(
        plugin,
        train_set,
        valid_sets=[train_set, valid_set],
        feval=plugin.metric,
        callbacks=[lgb.record_evaluation(history)],
    )
    for name, sample in (("training", SAMPLE), ("valid_1", other)):
        values = history[name][plugin.name]
        assert values[-1] > values[0] or sample is other
        expected = METRICS[objective](
            sample.labels_for(objective),
            booster.predict(sample.X),
            sample_weight=sample.weights.astype(np.float32),
            qid=sample.qid if grouped else None,
        )
        assert values[-1] == pytest.approx(expected, abs=1e-12)


def test_early_stopping_maximises_the_metric():
    plugin = objectives.lightgbm("auc")
    data, other = dataset(), make_sample(seed=1, n_queries=10)
    history = {}
    booster = train(
        plugin,
        data,
        rounds=200,
        valid_sets=[dataset(other, reference=data)],
        feval=plugin.metric,
        callbacks=[
            lgb.early_stopping(5, verbose=False),
            lgb.record_evaluation(history),
        ],
    )
    values = history["valid_0"][plugin.name]
    assert len(values) < 200
    assert booster.best_iteration == int(np.argmax(values)) + 1


@eval_set_allowed
@old_name_allowed
@pytest.mark.parametrize("objective", ["auc", "mauc"])
def test_the_ranker_of_scikit_learn_grows_the_same_trees(objective):
    plugin = objectives.lightgbm(objective)
    ranker = lgb.LGBMRanker(
        objective=plugin.sklearn_objective, n_estimators=10, **PARAMETERS
    )
    ranker = pickle.loads(pickle.dumps(clone(ranker)))  # as a search does
    labels = SAMPLE.labels_for(objective)
    ranker.fit(
        SAMPLE.X,
        labels,
        sample_weight=SAMPLE.weights,
        group=SAMPLE.sizes,
        eval_set=[(SAMPLE.X, labels)],
        eval_sample_weight=[SAMPLE.weights],
        eval_group=[SAMPLE.sizes],
        eval_metric=plugin.sklearn_metric,
    )
    booster = train(plugin, dataset(objective=objective))
    scores = ranker.predict(SAMPLE.X)
    np.testing.assert_allclose(scores, booster.predict(SAMPLE.X), atol=1e-9)
    expected = METRICS[objective](
        labels,
        scores,
        sample_weight=SAMPLE.weights.astype(np.float32),
        qid=SAMPLE.qid,
    )
    measured = ranker.best_score_["training"][plugin.name]
    assert measured == pytest.approx(expected, abs=1e-12)


@old_name_allowed
def test_the_classifier_of_scikit_learn_takes_any_two_labels():
    plugin = objectives.lightgbm()
    names = np.where(SAMPLE.labels == 1, "sick", "healthy")  # healthy < sick
    model = lgb.LGBMClassifier(
        objective=plugin.sklearn_objective, n_estimators=10, **PARAMETERS
    ).fit(SAMPLE.X, names)
    booster = train(plugin, dataset(weighted=False, grouped=False))
    np.testing.assert_allclose(
        model.predict(SAMPLE.X, raw_score=True), booster.predict(SAMPLE.X), atol=1e-9
    )


def test_labels_set_anew_are_noticed_and_others_kept():
    plugin = objectives.lightgbm("logistic")
    data = dataset(weighted=False).construct()
    scores = np.random.default_rng(0).normal(size=SAMPLE.qid.size)
    before = plugin.objective(scores, data)[0]
    assert plugin.metric(scores, data)[1] == plugin.metric(scores, data)[1]
    auc = plugin.metric(scores, data)[1]
    data.set_label(1.0 - SAMPLE.labels)
    np.testing.assert_allclose(
        plugin.objective(-scores, data)[0], -before, rtol=1e-6, atol=1e-12
    )
    assert plugin.metric(scores, data)[1] == pytest.approx(1.0 - auc, abs=1e-12)
    data.set_label(SAMPLE.labels)
    np.testing.assert_array_equal(plugin.objective(scores, data)[0], before)


@pytest.mark.parametrize(
    ("objective", "labels", "error", "message"),
    [
        ("auc", np.ones(80), NotEnoughClassesError, "all 80 labels are 1.0"),
        ("auc", np.arange(80) % 3, ValueError, "label has 3 distinct values"),
        ("mauc", np.zeros(80), NotEnoughClassesError, "one level only"),
        ("mauc", np.arange(80) % 2 - 1.0, ValueError, "row 0 is -1, which is negative"),
        (
            "ordinal",
            np.arange(80) % 3 / 2,
            ValueError,
            "row 1 is 0.5, which is not a whole",
        ),
        ("auc", np.arange(80) // 40, NotEnoughClassesError, "None of the 2 queries"),
    ],
)
def test_labels_without_anything_to_rank_are_rejected(
    objective, labels, error, message
):
    data = lgb.Dataset(np.zeros((80, 1)), labels, group=[40, 40]).construct()
    plugin = objectives.lightgbm(objective)
    for call in (plugin.objective, plugin.metric):
        with pytest.raises(error, match=message):
            call(np.zeros(80), data)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scores_that_have_diverged_are_rejected(value):
    plugin = objectives.lightgbm()
    scores = np.zeros(SAMPLE.qid.size)
    scores[7:9] = value
    data = dataset().construct()
    for call in (plugin.objective, plugin.metric):
        with pytest.raises(ValueError, match=f"2 of 1200 .* row 7: {value}.*diverged"):
            call(scores, data)


@pytest.mark.parametrize("make", [objectives.lightgbm, objectives.xgboost])
def test_bad_arguments_are_rejected_at_once(make):
    with pytest.raises(ValueError, match=r"'logistic', 'auc', .* got 'loss'"):
        make("loss")
    with pytest.raises(ValueError, match="fpr_range must satisfy"):
        make("pauc", fpr_range=(0.2, 0.1))
    with pytest.raises(ValueError, match=r"outside_weight must be in \[0, 1\], got 2"):
        make("pauc", outside_weight=2)


@pytest.mark.parametrize("make", [objectives.lightgbm, objectives.xgboost])
def test_negatives_outside_of_the_range_weigh_what_is_asked(make):
    scores = np.random.default_rng(0).normal(size=SAMPLE.qid.size)
    weights = (0.0, 0.1, 1.0)
    gradients = [
        make("pauc", outside_weight=weight).sklearn_objective(
            SAMPLE.labels, scores, *(() if make is objectives.xgboost else (None, None))
        )[0]
        for weight in weights
    ]
    is_low = (SAMPLE.labels == 0) & (scores < 0)
    sizes = [np.abs(gradient[is_low]).sum() for gradient in gradients]
    assert sizes[0] == 0 < sizes[1] < sizes[2]
