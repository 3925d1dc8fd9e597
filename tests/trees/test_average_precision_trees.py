import lightgbm as lgb
import numpy as np
import pytest

import aucmax
from aucmax import LambdaMART, objectives
from aucmax.exceptions import OneClassQueryWarning
from aucmax.metrics import average_precision_score, recall_at_k
from aucmax.metrics.metric_names import names, parse_metric
from aucmax.risks import PairLogistic, SmoothAveragePrecision
from risks.test_smooth_average_precision import literal
from trees.plugin_samples import make_sample

SAMPLE = make_sample(n_queries=5)
Y = SAMPLE.labels > 0


def derivatives_by_definition(scores, labels, weights, qid):
    """Return the literal derivatives, where a query counts as much as its rows."""
    _, gradient, hessian = literal(scores, labels, weights, qid, 1.0)
    masses = np.array([weights[qid == query].sum() for query in qid])
    used = [q for q in np.unique(qid) if 0 < labels[qid == q].sum() < (qid == q).sum()]
    scale = len(used) * labels.size / 2.0 * masses / weights.sum()
    return gradient * scale, hessian * scale


@pytest.mark.parametrize("grouped", [False, True])
def test_derivatives_of_plugins_are_the_definition(grouped):
    xgb = pytest.importorskip("xgboost")
    labels = SAMPLE.labels.copy()
    labels[SAMPLE.qid == 3] = 0.0  # a query without positives
    # ties, and constant scores as in the first round
    generator = np.random.default_rng(1)
    for scores in (generator.normal(size=200).round(1), np.zeros(200)):
        sizes = SAMPLE.sizes if grouped else None
        rows = lgb.Dataset(SAMPLE.X, labels, weight=SAMPLE.weights, group=sizes)
        plugin = objectives.lightgbm("average_precision")
        found = plugin.objective(scores, rows.construct())
        qid = SAMPLE.qid if grouped else np.zeros(200)
        # the data set keeps weights in float32
        weights = SAMPLE.weights.astype(np.float32).astype(float)
        expected = derivatives_by_definition(scores, labels, weights, qid)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        data = xgb.DMatrix(SAMPLE.X, labels, weight=None if grouped else weights)
        if grouped:
            data.set_group(SAMPLE.sizes)
        found = objectives.xgboost("average_precision").objective(scores, data)
        weights = np.ones(200) if grouped else weights
        expected = derivatives_by_definition(scores, labels, weights, qid)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_plugins_measure_average_precision_and_continue_a_booster():
    plugin, first = (
        objectives.lightgbm(name) for name in ("average_precision", "logistic")
    )
    assert plugin.name == "aucmax_average_precision"
    options = {"verbose": -1, "num_threads": 1}
    trained = lgb.train(
        {**options, "objective": first.objective}, lgb.Dataset(SAMPLE.X, Y), 10
    )
    history, data = {}, lgb.Dataset(SAMPLE.X, Y, free_raw_data=False)
    booster = lgb.train(
        {**options, "objective": plugin.objective, "metric": "None"},
        data,
        10,
        init_model=trained,
        valid_sets=[data],
        feval=plugin.metric,
        callbacks=[lgb.record_evaluation(history)],
    )
    assert booster.num_trees() == 20
    (values,) = history["training"].values()
    scores = booster.predict(SAMPLE.X, raw_score=True)
    assert values[-1] == pytest.approx(average_precision_score(Y, scores))
    assert values[-1] >= average_precision_score(Y, trained.predict(SAMPLE.X))


def test_the_first_rounds_are_those_of_all_pairs():
    options = {"n_estimators": 20, "colsample_bytree": 1.0}
    model = LambdaMART("average_precision", **options).fit(SAMPLE.X, Y)
    peer = LambdaMART("logistic", **options).fit(SAMPLE.X, Y)
    found, expected = (
        [scores - scores[0] for scores in one.staged_decision_function(SAMPLE.X)]
        for one in (model, peer)
    )
    np.testing.assert_allclose(found[11], expected[11], atol=1e-9)
    assert np.abs(found[12] - expected[12]).max() > 1e-3
    # each later round lowers the smooth risk
    risk = SmoothAveragePrecision(1.0).bind(Y)
    values = [risk.value(scores) for scores in found[11:]]
    assert (np.diff(values) < 0.0).all()


def test_patience_ends_the_first_rounds():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(300, 3)), generator.random(300) < 0.3
    options = {"n_estimators": 100, "learning_rate": 0.3, "n_iter_no_change": 6}
    model = LambdaMART("average_precision", **options).fit(X, y)
    peer = LambdaMART("logistic", eval_metric="average_precision", **options).fit(X, y)
    found, expected = (one.history_["validation"] for one in (model, peer))
    n_same = int(np.argmax(np.r_[found[: expected.size] != expected[: found.size], 1]))
    assert n_same < 60  # of 60 rounds without early stopping
    best = int(np.argmax(found[:n_same]))
    assert n_same - best >= 3  # rounds without a better one
    assert model.best_score_ == found.max()


def test_rows_without_a_positive_in_their_query_change_nothing_but_the_scale():
    labels = Y.copy()
    labels[SAMPLE.qid == 3] = False
    with pytest.warns(OneClassQueryWarning, match="1 of the 5 queries"):
        model = LambdaMART("average_precision", n_estimators=10).fit(
            SAMPLE.X, labels, SAMPLE.weights, qid=SAMPLE.qid
        )
    kept = SAMPLE.qid != 3
    assert model.score(SAMPLE.X[kept], labels[kept], qid=SAMPLE.qid[kept]) > 0.8


def test_scaled_derivatives_are_of_the_size_of_other_objectives():
    scores = np.random.default_rng(0).normal(size=Y.size)
    for weights in (None, 1e-9 * SAMPLE.weights, 1e9 * SAMPLE.weights):
        sizes = [
            np.abs(risk.bind(Y, weights).gradient_hessian(scores, scaled=True)[0]).sum()
            for risk in (SmoothAveragePrecision(1.0), PairLogistic())
        ]
        assert 0.1 < sizes[0] / sizes[1] < 2.0


@pytest.mark.parametrize("name", [name for name in names() if name != "concordance"])
def test_early_stopping_takes_every_name_of_a_metric(name):
    kind = parse_metric(name).kind
    qid = SAMPLE.qid if kind.needs_queries else None
    rows = {"X": SAMPLE.X, "y": Y.astype(int)}
    rows |= {} if qid is None else {"qid": qid}
    objective = "ordinal" if kind.uses_levels else "average_precision"
    model = LambdaMART(objective, n_estimators=5, eval_metric=name)
    model.fit(**rows, eval_set=rows)
    scores = model.decision_function(SAMPLE.X)
    options = {"fpr_range": (0.0, 0.1)} if kind.takes_range else {}
    options |= {} if qid is None else {"qid": qid}
    expected = parse_metric(name).function(Y.astype(int), scores, **options)
    assert model.best_score_ == pytest.approx(expected, abs=1e-9)


def test_held_out_rows_take_their_share_of_the_top_k():
    model = LambdaMART(
        n_estimators=3,
        n_iter_no_change=3,
        validation_fraction=0.25,
        eval_metric="recall@40",
        random_state=0,
    ).fit(SAMPLE.X, Y)
    seen = []

    def recall(labels, scores):
        seen.append(labels.size)
        return recall_at_k(labels, scores, k=10)

    peer = model.__class__(**{**model.get_params(), "eval_metric": recall})
    peer.fit(SAMPLE.X, Y)
    assert seen[0] == 50
    assert model.best_score_ == peer.best_score_


def test_a_model_for_average_precision_is_saved(tmp_path):
    model = LambdaMART("average_precision", n_estimators=10).fit(SAMPLE.X, Y)
    scores = model.decision_function(SAMPLE.X)
    assert model.score(SAMPLE.X, Y) == average_precision_score(Y, scores)
    aucmax.save(model, tmp_path / "model.aucmax")
    loaded = aucmax.load(tmp_path / "model.aucmax")
    np.testing.assert_array_equal(loaded.decision_function(SAMPLE.X), scores)
    assert loaded.score(SAMPLE.X, Y) == model.score(SAMPLE.X, Y)
