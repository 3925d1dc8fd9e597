"""Scores become probabilities, and no ranking changes."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from aucmax.decisions import reliability
from aucmax.decisions.calibrated import CalibratedMixin, along_knots
from aucmax.decisions.calibration import check_calibrate, learn_calibration
from aucmax.metrics import partial_auc_score, roc_auc_score


class Scores(CalibratedMixin, BaseEstimator):
    """A model whose rows are its scores."""

    def __init__(self, calibrate=None):
        self.calibrate = calibrate

    def fit(self, scores, labels, weight=None):
        vars(self).update(learn_calibration(self.calibrate, scores, labels, weight))
        return self

    def decision_function(self, X):
        return X


def sample(n_rows, seed=0, slope=2.0, start=-2.0):
    """Draw scores, and labels whose log-odds are linear in them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_rows)
    return scores, rng.random(n_rows) < expit(start + slope * scores)


def test_the_sigmoid_finds_the_log_odds():
    scores, labels = sample(20_000)
    model = Scores("sigmoid").fit(scores, labels)
    result = along_knots(np.array([-1.0, 0.0, 1.0]), model.calibration_)
    np.testing.assert_allclose(result, [-4.0, -2.0, 0.0], atol=0.15)
    assert model.base_rate_ == pytest.approx(labels.mean())


def test_isotonic_regression_finds_a_bend_that_a_sigmoid_cannot():
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    truth = np.where(scores < 0.5, 0.1, 0.1 + 1.6 * (scores - 0.5))
    labels = rng.random(20_000) < truth
    errors = {}
    for kind in ("sigmoid", "isotonic"):
        model = Scores(kind).fit(scores[::2], labels[::2])
        chances = model.predict_proba(scores[1::2])[:, 1]
        errors[kind] = np.abs(chances - truth[1::2]).mean()
    assert errors["isotonic"] < 0.02
    assert errors["isotonic"] < errors["sigmoid"] / 2


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic", "auto"])
@pytest.mark.parametrize("n_rows", [30, 400, 3000])
@pytest.mark.parametrize("is_tied", [False, True])
def test_no_area_changes(kind, n_rows, is_tied):
    seed = n_rows
    scores, labels = sample(n_rows, seed, slope=20.0)
    labels[:2] = [True, False]
    scores = scores.round(1) if is_tied else scores
    model = Scores(kind).fit(scores, labels)
    new = 3.0 * np.random.default_rng(seed + 1).normal(size=n_rows)
    new = new.round(1) if is_tied else new
    for rows in (scores, new):
        chances = model.predict_proba(rows)
        assert (chances[:, 1] > 0.0).all()
        assert (chances[:, 1] < 1.0).all()
        np.testing.assert_allclose(chances.sum(axis=1), 1.0)
        for measure in (roc_auc_score, partial_auc_score):
            options = {"fpr_range": (0, 0.1)} if measure is partial_auc_score else {}
            before = measure(labels, rows, **options)
            after = measure(labels, chances[:, 1], **options)
            assert after == pytest.approx(before, abs=1e-12)
        assert np.unique(chances[:, 1]).size == np.unique(rows).size


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
def test_the_mean_probability_is_the_share_of_positives(kind):
    scores, labels = sample(700)
    weight = np.random.default_rng(0).choice([0.5, 2.0], 700)
    model = Scores(kind).fit(scores, labels, weight)
    calibration = reliability(
        labels, model.predict_proba(scores)[:, 1], sample_weight=weight
    )
    assert calibration.mean_probability == pytest.approx(
        calibration.base_rate, abs=1e-9
    )


def test_isotonic_is_for_many_rows():
    few, many = sample(3000), sample(12_000)
    assert Scores("auto").fit(*few).calibration_.shape == (2, 2)
    assert Scores("auto").fit(*many).calibration_.shape[1] > 2


@pytest.mark.parametrize("kind", ["sigmoid", "isotonic"])
@pytest.mark.parametrize(
    "scores",
    [np.arange(10.0), -np.arange(10.0), np.zeros(10), np.arange(10.0) * 1e-9],
    ids=["perfect", "reversed", "equal", "tiny"],
)
def test_hopeless_and_perfect_scores_give_finite_rising_probabilities(kind, scores):
    labels = np.arange(10) > 6
    model = Scores(kind).fit(scores, labels)
    assert np.isfinite(model.calibration_).all()
    assert (np.diff(model.calibration_) > 0).all()
    result = model.predict_proba(np.sort(scores))[:, 1]
    assert result.mean() == pytest.approx(0.3)
    assert (np.diff(result) >= 0).all()


def test_another_share_of_positives_shifts_the_log_odds():
    scores, labels = sample(40_000)
    model = Scores("sigmoid").fit(scores, labels)
    base = labels.mean()
    # keep all negatives, and one positive in ten
    kept = ~labels | (np.random.default_rng(1).random(labels.size) < 0.1)
    rare = labels[kept].mean()
    chances = model.predict_proba(scores[kept], prevalence=rare)[:, 1]
    assert rare < base / 3
    assert chances.mean() == pytest.approx(rare, rel=0.05)
    plain = model.predict_proba(scores)[:, 1]
    np.testing.assert_allclose(
        model.predict_proba(scores, prevalence=base)[:, 1], plain, atol=1e-12
    )
    shift = logit(model.predict_proba(scores, prevalence=rare)[:, 1]) - logit(plain)
    np.testing.assert_allclose(shift, logit(rare) - logit(base), rtol=1e-6)


@pytest.mark.parametrize("prevalence", [0, 1, -0.1, "often", float("nan")])
def test_a_prevalence_is_between_0_and_1(prevalence):
    model = Scores("sigmoid").fit(*sample(100))
    with pytest.raises(ValueError, match="prevalence must be above 0"):
        model.predict_proba(np.zeros(2), prevalence=prevalence)


def test_probabilities_exist_exactly_with_a_calibration():
    assert hasattr(Scores("auto"), "predict_proba")
    assert not hasattr(Scores(), "predict_proba")
    check_calibrate(None)
    with pytest.raises(ValueError, match="calibrate must be one of 'auto', 'sigmoid'"):
        check_calibrate("platt")
