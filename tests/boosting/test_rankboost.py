"""RankBoost is the algorithm over explicit pairs, at the price of the rows."""

import numpy as np
import pytest

import reference_boosting
from aucmax.boosting import RankBoost
from aucmax.metrics import roc_auc_score
from boosting.samples import chosen_values, sample

pytestmark = pytest.mark.kernel
KINDS = ("stumps", "features", "signed")


@pytest.mark.parametrize("kind", [*KINDS, "precomputed"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
def test_steps_and_losses_are_those_of_the_literal_algorithm(kind, seed, learning_rate):
    X, labels = sample(seed)
    if kind == "precomputed":
        X = X / 4.0 - 0.75  # some columns are constant, all are within [-1, 1]
    weight = np.random.default_rng(seed).integers(1, 4, labels.size).astype(float)
    weight = weight if seed % 2 else np.ones(labels.size)
    model = RankBoost(20, hypotheses=kind, learning_rate=learning_rate)
    model.fit(X, labels, sample_weight=weight)
    H = reference_boosting.hypothesis_matrix(X, kind)
    chosen, steps, losses = reference_boosting.rank_boost(
        H, labels, weight, model.n_iter_, learning_rate
    )
    assert model.n_iter_ == 20
    np.testing.assert_array_equal(chosen_values(model, X), H[:, chosen])
    np.testing.assert_allclose(model.weights_, steps, rtol=1e-10)
    np.testing.assert_allclose(model.history_["loss"], losses, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_pair_loss_falls_every_round_as_far_as_the_edge_promises(kind):
    X, labels = sample(5)
    model = RankBoost(60, hypotheses=kind, learning_rate=1.0).fit(X, labels)
    loss, edge = model.history_["loss"], model.history_["edge"]
    before = np.concatenate(([1.0], loss[:-1]))
    assert (loss <= before * np.sqrt(1 - edge**2) * (1 + 1e-12)).all()
    scores = model.decision_function(X)
    assert 1 - roc_auc_score(labels, scores) <= loss[-1]


def test_a_perfect_hypothesis_ends_the_rounds_with_a_finite_step():
    X = np.array([[0.0, 3.0], [0.0, 1.0], [5.0, 2.0], [5.0, 3.0]])
    labels = np.array([False, False, True, True])
    for kind in KINDS:
        model = RankBoost(hypotheses=kind, learning_rate=1.0).fit(X, labels)
        assert model.stop_reason_ == "perfect hypothesis"
        assert model.n_iter_ == 1
        assert model.columns_[0] == 0
        assert 14.0 < model.weights_[0] < 14.5
        assert roc_auc_score(labels, model.decision_function(X)) == 1.0
        np.testing.assert_array_equal(model.predict(X), labels)


def test_weights_do_not_overflow_however_far_apart_the_classes_grow():
    # positives have two of three, negatives one of three
    X = np.vstack([1 - np.eye(3), np.eye(3)])
    labels = np.repeat([True, False], 3)
    model = RankBoost(8000, hypotheses="features", learning_rate=1.0).fit(X, labels)
    assert model.stop_reason_ == "max rounds"
    scores = model.decision_function(X)
    assert scores[labels].min() - scores[~labels].max() > 1500  # exp of it is infinite
    # three hypotheses take turns for ever, each with the same edge
    np.testing.assert_allclose(model.history_["edge"][99:], model.history_["edge"][-1])
    assert (np.diff(model.history_["loss"]) <= 0).all()


@pytest.mark.parametrize("rate", [0.0, -0.5, 1.5, np.nan, "fast", True])
def test_a_learning_rate_outside_its_interval_is_refused(rate):
    X, labels = sample(0)
    with pytest.raises(ValueError, match=r"learning_rate must be in \(0, 1\], got"):
        RankBoost(learning_rate=rate).fit(X, labels)
