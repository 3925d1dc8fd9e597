import re

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from aucmax.exceptions import IncompatibleError
from aucmax.inference import metric_interval
from aucmax.metrics import (
    concordance_index,
    metric_scorer,
    partial_auc_score,
    roc_auc_score,
    survival_target,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
Y = (X[:, 0] + RNG.normal(size=240) > 0).astype(int)
QID = np.repeat(np.arange(24), 10)
GRID = {"C": [0.01, 1.0]}
# cross-validation in scikit-learn 1.6.0 fails if routing is on and params is None
NO_PARAMS: dict[str, object] = {}


class Early(LinearRegression):
    """Predicts a high risk of an early event."""

    def fit(self, X, y):
        return super().fit(X, -y["time"])


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.fixture
def routing_on():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def fold_scores(metric, model):
    """Score each fold by hand, with the queries of its rows."""
    for train, test in KFold(4).split(X):
        scores = model.fit(X[train], Y[train]).predict_proba(X[test])[:, 1]
        yield metric(Y[test], scores, test)


def test_plain_scorers_work_in_a_search(routing):
    scorers = {
        "auc": metric_scorer("auc"),
        "pauc": metric_scorer("partial_auc", fpr_range=(0, 0.2)),
    }
    search = GridSearchCV(
        LogisticRegression(), GRID, scoring=scorers, refit="pauc", cv=KFold(4)
    ).fit(X, Y)
    for name, metric in (
        ("auc", lambda y, s, _: roc_auc_score(y, s)),
        ("pauc", lambda y, s, _: partial_auc_score(y, s, fpr_range=(0, 0.2))),
    ):
        expected = np.mean(list(fold_scores(metric, LogisticRegression(C=0.01))))
        assert search.cv_results_[f"mean_test_{name}"][0] == pytest.approx(expected)


@pytest.mark.usefixtures("routing_on")
def test_queries_are_routed_to_the_scorer_through_a_pipeline():
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(
        model,
        {"logisticregression__C": [0.01]},
        scoring=metric_scorer("auc", per_query=True),
        cv=KFold(4),
    ).fit(X, Y, qid=QID)
    model.set_params(logisticregression__C=0.01)
    expected = list(fold_scores(lambda y, s, t: roc_auc_score(y, s, qid=QID[t]), model))
    assert search.best_score_ == pytest.approx(np.mean(expected))


@pytest.mark.usefixtures("routing_on")
def test_scorers_with_and_without_queries_work_side_by_side():
    scorers = {
        "plain": metric_scorer("auc"),
        "pauc": metric_scorer("partial_auc", fpr_range=(0, 0.5), per_query=True),
        "ndcg": metric_scorer("ndcg@5"),
        "precision": metric_scorer("precision@3", per_query=True, average="micro"),
    }
    scores_by_metric = cross_validate(
        LogisticRegression(),
        X,
        Y,
        scoring=scorers,
        cv=GroupKFold(4),
        params={"qid": QID, "groups": QID},
    )
    for name in scorers:
        assert np.isfinite(scores_by_metric[f"test_{name}"]).all()
        assert (scores_by_metric[f"test_{name}"] > 0.3).all()


def test_missing_queries_stop_a_search(routing):
    per_query = metric_scorer("auc", per_query=True)
    for scoring in (per_query, {"plain": metric_scorer("auc"), "query": per_query}):
        options = {"scoring": scoring, "refit": False, "error_score": "raise"}
        search = GridSearchCV(LogisticRegression(), GRID, **options)
        with pytest.raises(IncompatibleError, match="got no query ids"):
            search.fit(X, Y)


def test_missing_queries_stop_cross_validation_and_a_direct_call(routing):
    scorer = metric_scorer("ndcg")
    model = LogisticRegression().fit(X, Y)
    options = {"scoring": scorer, "params": NO_PARAMS}
    with pytest.raises(IncompatibleError, match="ndcg_score per query"):
        cross_val_score(model, X, Y, error_score="raise", **options)
    with pytest.warns(UserWarning, match="ndcg_score per query got no query ids"):
        assert np.isnan(cross_val_score(model, X, Y, **options)).all()
    with pytest.raises(IncompatibleError, match="enable_metadata_routing=True"):
        scorer(model, X, Y)


@pytest.mark.usefixtures("routing_on")
def test_weights_are_routed_only_on_request():
    weights = RNG.random(240)
    scorer = metric_scorer("auc", per_query=True)
    model = LogisticRegression().fit(X, Y)
    scores = model.decision_function(X)
    scorer.set_score_request(qid=True, sample_weight=True)
    result = scorer(model, X, Y, qid=QID, sample_weight=weights)
    assert result == roc_auc_score(Y, scores, qid=QID, sample_weight=weights)
    undecided = metric_scorer("auc")
    with pytest.raises(ValueError, match=r"sample_weight'?\] are passed .*are not"):
        cross_validate(
            model,
            X,
            Y,
            scoring={"auc": undecided},
            params={"sample_weight": weights},
            error_score="raise",
        )


NAMES = ["average_precision", "recall@fpr=0.1", "precision@20", "recall@20", "lift@20"]
NAMES += ["recall@precision=0.7", "precision@recall=0.5", "ks", "gini", "auc"]


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_a_scorer(routing, name):
    scorer, model = metric_scorer(name), LogisticRegression()
    fold_values = cross_val_score(
        model, X, Y, scoring=scorer, cv=KFold(4), params=NO_PARAMS
    )
    options = {} if name in ("auc", "average_precision", "gini") else {"n_resamples": 2}

    def measure(y, scores, _):
        return metric_interval(y, scores, name, **options).value

    expected = list(fold_scores(measure, LogisticRegression()))
    np.testing.assert_allclose(fold_values, expected)
    words = np.where(Y == 1, "good", "bad")  # "good" comes last
    for label in ("good", "bad"):
        scorer = metric_scorer(name, pos_label=label)
        model = LogisticRegression().fit(X, words)
        chances = model.predict_proba(X)[:, int(label == "good")]
        value = metric_interval(words == label, chances, name, **options).value
        assert scorer(model, X, words) == pytest.approx(value)


def test_concordance_is_a_scorer_by_name():
    rng = np.random.default_rng(0)
    times = survival_target(rng.random(40) < 0.7, np.ceil(9 * rng.random(40)))
    model, weights = Early().fit(X[:40], times), rng.uniform(0.5, 2.0, 40)
    for options in ({}, {"method": "uno"}):
        scorer = metric_scorer("concordance", **options)
        risks = model.predict(X[:40])
        rows = times["event"], times["time"], risks
        expected = concordance_index(*rows, sample_weight=weights, **options)
        assert scorer(model, X[:40], times, weights) == expected
    assert not np.isnan(cross_val_score(Early(), X[:40], times, scoring=scorer)).any()
    for options in ({"pos_label": 1}, {"per_query": True}):
        with pytest.raises(IncompatibleError, match="nor queries"):
            metric_scorer("concordance", **options)


def test_every_name_that_the_error_offers_is_a_scorer():
    with pytest.raises(ValueError, match="metric must be one of") as raised:
        metric_scorer("none")
    for name in re.findall(r"'([^']+)'", str(raised.value))[:-1]:
        assert callable(metric_scorer(name))


def test_a_scorer_by_name_rejects_bad_names_at_once():
    with pytest.raises(ValueError, match="metric must be one of"):
        metric_scorer("recall@fpr")
    with pytest.raises(ValueError, match="rate, 0 to 1"):
        metric_scorer("recall@fpr=1.5")
    with pytest.raises(IncompatibleError):
        metric_scorer("ndcg@3")(LogisticRegression().fit(X, Y), X, Y)
