"""Models are chosen, combined and estimated by metrics of the top of the list."""

import numpy as np
import pytest

import aucmax
from aucmax import AutoRanker
from aucmax.decisions import operating_point
from aucmax.metrics import average_precision_score, precision_at_k
from aucmax.metrics.metric_names import names, parse_metric
from aucmax.model_selection import compare_models
from model_selection.ranked_samples import Column

FAST = ["logistic", "lightgbm-small"]
TOP = [name for name in names() if parse_metric(name).kind.is_top]


def rare(seed, n_rows=600):
    """Rows of which a tenth is positive: some far at the top, the others a little."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.1
    X = rng.normal(size=(n_rows, 3))
    X[y, 0] += 1.5
    X[y & (rng.random(n_rows) < 0.5), 1] += 3.5
    return X, y.astype(int)


@pytest.mark.slow
@pytest.mark.parametrize("metric", TOP)
def test_every_metric_of_the_top_can_decide(metric):
    X, y = rare(0)
    columns = [("first", Column(0)), ("second", Column(1))]
    model = AutoRanker(metric=metric, models=columns, cv=3, time_limit=None)
    model.fit(X, y)
    assert model.metric_ == metric
    low, high = model.estimate_[f"{metric}_low"], model.estimate_[f"{metric}_high"]
    assert low <= model.estimate_[metric] <= high
    assert model.estimate_["auc_low"] < model.estimate_["auc"]
    new, truth = rare(1, 2000)
    scores = model.decision_function(new)
    assert model.score(new, truth) == parse_metric(metric).function(truth, scores)
    assert parse_metric(metric).title in model.summary()


@pytest.mark.slow
def test_the_estimate_is_that_of_new_rows_and_survives_a_file(tmp_path):
    X, y = rare(0, 3000)
    model = AutoRanker(metric="average_precision", models=FAST, time_limit=None)
    model.fit(X, y)
    new, truth = rare(1, 20_000)
    value = average_precision_score(truth, model.decision_function(new))
    ends = (model.estimate_[f"average_precision_{end}"] for end in ("low", "high"))
    low, high = ends
    assert low < value < high
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    assert loaded.score(new, truth) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "rule"),
    [
        ("recall@fpr=0.05", {"fpr": 0.05}),
        ("precision@recall=0.6", {"recall": 0.6}),
        ("precision@90", {"alerts": 0.1}),
    ],
)
def test_the_threshold_of_the_goal_is_stored(metric, rule, tmp_path):
    X, y = rare(6, 900)
    model = AutoRanker(metric=metric, models=["logistic"], cv=3).fit(X, y)
    assert model.alert_point_["rule"] == operating_point(y, X[:, 0], **rule).rule
    new, truth = rare(7, 20_000)
    flagged = model.decision_function(new) > model.alert_threshold_
    for name, found in (
        ("recall", flagged[truth == 1].mean()),
        ("fpr", flagged[truth == 0].mean()),
    ):
        low, high = model.alert_point_["intervals"][name]
        assert low - 0.02 < found < high + 0.02
    aucmax.save(model, tmp_path / "m.aucmax")
    loaded = aucmax.load(tmp_path / "m.aucmax")
    assert loaded.alert_point_ == model.alert_point_


def test_a_goal_that_no_threshold_reaches_is_a_notice():
    X, y = rare(8, 300)
    X = np.random.default_rng(0).normal(size=X.shape)
    X[y == 0, 0] += 1.0
    model = AutoRanker(
        metric="recall@precision=0.99", models=[("first", Column(0))], cv=2
    ).fit(X, y)
    assert model.alert_threshold_ is None
    assert any("no threshold for alerts is stored" in one for one in model.notices_)


def test_the_metric_chooses_the_model():
    # the second column has the positives at the top, the first the higher AUC
    X, y = rare(3, 2000)
    columns = [("first", Column(0)), ("second", Column(1))]
    best = {
        metric: compare_models(X, y, columns, cv=3, metric=metric).best
        for metric in ("auc", "average_precision", "recall@fpr=0.01", "precision@100")
    }
    assert best.pop("auc") == "first"
    assert set(best.values()) == {"second"}
    shown = compare_models(X, y, columns, cv=3, metric="precision@100")
    assert shown.unit == "rows"
    assert "precision@100" in str(shown)
    assert "all test rows in one list" in " ".join(str(shown).split())


def test_a_fold_measures_the_same_share_of_top_rows():
    X, y = rare(4, 900)
    columns = [("second", Column(1))]
    comparison = compare_models(X, y, columns, cv=3, metric="precision@90")
    # folds are drawn in another way, so the values agree roughly; unscaled they do not
    expected, unscaled = (precision_at_k(y[:300], X[:300, 1], k=k) for k in (30, 90))
    assert comparison.results[0].main == pytest.approx(expected, abs=0.1)
    assert comparison.results[0].main > unscaled + 0.2


@pytest.mark.slow
def test_the_linear_model_is_trained_for_the_goal():
    X, y = rare(5, 900)
    for metric, expected in (("recall@fpr=0.05", "recall@fpr=0.05"), ("auc", None)):
        comparison = compare_models(X, y, ["linear"], cv=2, metric=metric)
        assert comparison.last_fold.models["linear"][-1].metric == expected
    model = AutoRanker(metric="average_precision", models=["linear"], cv=2)
    model.fit(X, y)
    assert model.members_[0]["models"][0].metric == "average_precision"
    default = AutoRanker(metric="average_precision", max_fits=4, cv=2).fit(X, y)
    assert set(default.board_["model"]) == {"combination", "logistic", "linear"}
