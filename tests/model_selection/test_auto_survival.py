"""AutoRanker and comparisons of models by censored times."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import aucmax
from aucmax import AutoRanker
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import concordance_interval
from aucmax.metrics import concordance_index, survival_target
from aucmax.model_selection import compare_models
from aucmax.model_selection.goals import Goal
from aucmax.model_selection.held_out import HeldOutRows
from aucmax.model_selection.models import MODELS, SURVIVAL_CANDIDATES
from aucmax.model_selection.stacking import by_likelihood
from aucmax.report import report_comparison, report_model
from aucmax.tables import encode_target
from aucmax.tables.folds import plan_folds, split_rows
from survival_samples import censored_rows, literal_concordance

FAST = ["cox", "additive-cox"]


class Column(BaseEstimator):
    """A survival model of another package: a risk by ``predict``."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        assert y.dtype.names == ("event", "time")
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return X[:, self.number]


@pytest.fixture(scope="module")
def fitted():
    X, y = censored_rows(0, 400)
    return AutoRanker(models=FAST, time_limit=None).fit(X, y)


def test_the_estimate_is_that_of_new_rows(fitted):
    new, truth = censored_rows(1, 3000)
    value = fitted.score(new, truth)
    scores = fitted.decision_function(new)
    assert value == concordance_index(truth["event"], truth["time"], scores)
    assert value > 0.7
    estimate = fitted.estimate_
    assert estimate.keys() == {"concordance", "concordance_low", "concordance_high"}
    assert estimate["concordance_low"] < value < estimate["concordance_high"]
    assert fitted.metric_ == "concordance"
    assert fitted.leaderboard()["model"].to_list()[0] == "combination"
    assert "with an event" in fitted.summary()
    assert "C index on new rows" in fitted.summary()


def test_it_predicts_no_classes_but_events_by_a_time(fitted):
    new, truth = censored_rows(1, 3000, censored=0.0)
    assert not hasattr(fitted, "classes_")
    for name in ("predict", "predict_proba"):
        assert not hasattr(fitted, name)
    with pytest.raises(AttributeError, match="predict_event_probability"):
        fitted.predict_proba  # noqa: B018
    times = np.quantile(truth["time"], [0.1, 0.3])
    chances = fitted.predict_event_probability(new, times)
    shares = [(truth["time"] <= time).mean() for time in times]
    np.testing.assert_allclose(chances.mean(axis=0), shares, atol=0.05)
    assert (np.diff(chances) >= 0.0).all()
    first = fitted.predict_event_probability(new, times[0])
    np.testing.assert_array_equal(first, chances[:, 0])


def test_a_file_holds_all_of_it(fitted, tmp_path):
    new, _ = censored_rows(2, 20)
    aucmax.save(fitted, tmp_path / "model.aucmax")
    loaded = aucmax.load(tmp_path / "model.aucmax")
    assert loaded.is_survival_ is True
    for method, *more in (("decision_function",), ("predict_event_probability", 0.2)):
        expected = getattr(fitted, method)(new, *more)
        np.testing.assert_array_equal(getattr(loaded, method)(new, *more), expected)


def test_all_candidates_run_by_default():
    X, y = censored_rows(3, 150)
    model = AutoRanker(cv=2, time_limit=None).fit(X, y)
    assert {*model.board_["model"]} == {"combination", *SURVIVAL_CANDIDATES}
    assert all(MODELS[name].learns_survival for name in SURVIVAL_CANDIDATES)


@pytest.mark.parametrize("how", ["strata", "groups", "times", "weights", "uncensored"])
def test_rows_may_be_divided_and_weighted(how):
    X, y = censored_rows(4, 160, censored=0.0 if how == "uncensored" else 0.4)
    groups = np.arange(160) % 20
    row_values = {
        "strata": {"qid": groups % 3},
        "groups": {"groups": groups},
        "times": {"times": np.arange(160)},
        "weights": {"sample_weight": np.where(groups > 5, 1.0, 2.0)},
        "uncensored": {},
    }[how]
    model = AutoRanker(models=FAST, cv=3, time_limit=None).fit(X, y, **row_values)
    assert model.score(X, y) > 0.7
    assert hasattr(model, "predict_event_probability") == (how != "strata")
    if how == "strata":
        scores = model.decision_function(X)
        expected = literal_concordance(y, scores, groups % 3)
        assert model.score(X, y, qid=groups % 3) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (
            {"metric": "auc"},
            "does not apply to censored times: choose from concordance",
        ),
        ({"fpr_range": (0.0, 0.1)}, "censored times"),
        ({"calibrate": "sigmoid"}, "censored times"),
        ({"models": ["logistic"]}, "cannot learn from censored times"),
    ],
)
def test_parameters_of_two_classes_are_rejected(parameters, said):
    X, y = censored_rows(0, 40)
    with pytest.raises(ValueError, match=said):
        AutoRanker(time_limit=None, **parameters).fit(X, y)
    with pytest.raises(ValueError, match="does not apply to two classes"):
        AutoRanker(metric="concordance").fit(X, y["event"])


def test_too_few_events_are_an_error():
    y = survival_target([1, 0, 0, 0], [1, 2, 3, 4])
    with pytest.raises(NotEnoughClassesError):
        AutoRanker(models=FAST).fit(np.eye(4), y)


def test_folds_have_equal_shares_of_early_and_late_events():
    _, y = censored_rows(5, 200)
    target = encode_target(y)
    for folds in (plan_folds(target, 5, 0).folds, split_rows(target, 5, 0)):
        for stratum in (-1, 0, 1):
            counts = [np.sum(target.strata[test] == stratum) for _, test in folds]
            assert max(counts) - min(counts) <= 1
    early = y["time"][target.strata == 1]
    assert early.max() <= y["time"][target.strata == 0].min()
    assert (y["event"] == (target.strata >= 0)).all()


def test_estimates_of_folds_count_pairs_within_folds_and_strata():
    rng = np.random.default_rng(0)
    _, y = censored_rows(6, 120)
    scores, strata = rng.normal(size=120).round(1), rng.integers(3, size=120)
    folds = rng.integers(4, size=120)
    for qid, codes in ((None, folds), (strata, 3 * folds + strata)):
        target = encode_target(y, qid=qid)
        expected = literal_concordance(y, scores, codes)
        rows = HeldOutRows(target, folds, Goal("concordance"))
        assert rows.measure(scores) == pytest.approx(expected)
        estimate = rows.estimate(scores)
        assert estimate.value == pytest.approx(expected)
        assert estimate.low < estimate.value < estimate.high
    one = np.zeros(120, dtype=int)
    target = encode_target(y)
    interval = concordance_interval(y["event"], y["time"], scores)
    ends = interval.value, interval.low, interval.high
    estimate = HeldOutRows(target, one, Goal("concordance")).estimate(scores)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(ends)
    better = -y["time"] + scores / 10.0
    rows = HeldOutRows(target, folds, Goal("concordance"))
    test = rows.compare(better, scores)
    difference = rows.measure(better) - rows.measure(scores)
    assert test.difference == pytest.approx(difference)
    assert test.p_value < 0.001


def test_weights_minimise_the_shrunken_likelihood():
    rng = np.random.default_rng(1)
    _, y = censored_rows(8, 200)
    signal = -np.log(y["time"])
    logits = signal[:, None] * [1.0, 0.5, 0.0] + rng.normal(size=(200, 3))
    folds, target = rng.integers(3, size=200), encode_target(y)
    rows = HeldOutRows(target, folds, Goal("concordance"))
    weights = by_likelihood(rows, logits)
    assert weights.sum() == pytest.approx(1.0)
    assert weights[0] > weights[1] > weights[2] >= 0.0


@pytest.mark.parametrize("strength", [3.0, 5.0, 9.0, 20.0])
def test_a_combination_is_not_below_a_model_that_is_clearly_better(strength):
    rng = np.random.default_rng(2)
    _, y = censored_rows(8, 600)
    signal = -np.log(y["time"]) / np.log(y["time"]).std()
    logits = signal[:, None] * [strength, 0.3, 0.3, 0.3] + rng.normal(size=(600, 4))
    rows = HeldOutRows(encode_target(y), np.arange(600) % 5, Goal("concordance"))
    weights = by_likelihood(rows, logits)
    assert rows.measure(logits @ weights) > rows.measure(logits[:, 0]) - 0.001


def test_models_are_compared_by_concordance():
    X, y = censored_rows(9, 200)
    models = ["cox", ("first column", Column(0)), ("constant", Column(99))]
    comparison = compare_models(X, y, models[:2], cv=3)
    assert comparison.metric == "concordance"
    (test,) = comparison.tests
    assert test.names == ("first column", "cox")
    cox = comparison.results[0]
    expected = literal_concordance(y, comparison.scores["cox"], comparison.fold_numbers)
    assert cox.main == pytest.approx(expected)
    assert cox.low < cox.main < cox.high
    assert "Harrell's C over 3 folds" in str(comparison)
    page = report_comparison(comparison)
    assert "Survival by risk" in page.html()
    assert "without an event at" in page.markdown()
    with pytest.raises(ValueError, match="lightgbm cannot learn from censored times"):
        compare_models(X, y, ["cox", "lightgbm"])


def test_a_comparison_may_test_other_rows():
    X, y = censored_rows(9, 150)
    new, truth = censored_rows(10, 90)
    comparison = compare_models(X, y, ["cox"], test=(new, truth))
    model = AutoRanker(models=["cox"]).fit(X, y)
    assert comparison.results[0].main == pytest.approx(model.score(new, truth))
    assert model.decision_threshold_ is None


def test_a_report_of_one_model_shows_its_calibration(fitted):
    new, truth = censored_rows(11, 240)
    page = report_model(fitted, new, truth, name="mine", time_unit="days")
    survival = page.contents["survival"]
    assert len(survival["shares"]) == 8
    for text in (page.html(), page.markdown()):
        assert "time (days)" in text
        assert f"Calibration at {survival['at']}" in text


def test_it_can_be_exported_to_onnx(fitted):
    pytest.importorskip("onnxruntime")
    from aucmax.onnx import to_onnx

    assert [one.name for one in to_onnx(fitted).graph.output] == ["score"]
