"""SoftRankBoost is the algorithm by the book, and keeps what it guarantees."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import reference_boosting
from aucmax.boosting import SoftRankBoost
from boosting.samples import chosen_values, sample

pytestmark = pytest.mark.kernel
KINDS = ("stumps", "features", "signed")


def weights_of(seed, n_rows):
    if seed % 2 == 0:
        return np.ones(n_rows)
    return np.random.default_rng(seed).integers(1, 4, n_rows).astype(float)


@pytest.mark.parametrize("kind", [*KINDS, "precomputed"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("delta", [0.2, 0.7])
def test_every_round_is_that_of_the_literal_algorithm(kind, seed, delta):
    X, labels = sample(seed)
    if kind == "precomputed":
        X = X / 4.0 - 0.75  # some columns are constant, all are within [-1, 1]
    weight = weights_of(seed, labels.size)
    model = SoftRankBoost(0.4, delta=delta, hypotheses=kind)
    model.fit(X, labels, sample_weight=weight)
    H = reference_boosting.hypothesis_matrix(X, kind)
    records = reference_boosting.soft_rank_boost(H, labels, weight, 0.4, delta, 10_000)
    chosen, steps, targets, nu_pos, nu_neg, *potentials = np.array(records).T
    assert model.stop_reason_ == "converged"
    assert model.n_iter_ == len(records)
    np.testing.assert_array_equal(chosen_values(model, X), H[:, chosen.astype(int)])
    np.testing.assert_allclose(model.weights_, steps / steps.sum(), rtol=1e-9)
    np.testing.assert_allclose(model.history_["margin"], targets, rtol=1e-9)
    np.testing.assert_allclose(model.history_["nu_pos"], nu_pos, rtol=1e-9)
    np.testing.assert_allclose(model.history_["nu_neg"], nu_neg, rtol=1e-9)
    # what the algorithm brings down in every round, in each class by itself
    for potential in potentials:
        assert (np.diff(potential) < 0).all()


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0])
def test_it_stops_when_the_weight_of_pairs_has_fallen_to_nu(epsilon):
    X, labels = sample(2, n_rows=60)
    model = SoftRankBoost(epsilon, delta=0.5).fit(X, labels)
    product = model.history_["nu_pos"] * model.history_["nu_neg"]
    nu = epsilon * labels.sum() * (~labels).sum()
    assert model.stop_reason_ == "converged"
    assert product[-1] <= nu
    assert (product[:-1] > nu).all()
    np.testing.assert_allclose(product / (nu / epsilon), model.history_["loss"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_as_many_pairs_as_guaranteed_have_the_margin(kind, seed):
    X, labels = sample(seed, n_rows=50)
    weight = weights_of(seed, labels.size)
    model = SoftRankBoost(0.3, hypotheses=kind)
    model.fit(X, labels, sample_weight=weight)
    scores = model.decision_function(X)
    margins = (scores[labels][:, None] - scores[~labels][None, :]) / 2
    pair_weights = np.outer(weight[labels], weight[~labels])
    achieved = pair_weights[margins >= model.margin_ - 1e-12].sum()
    assert model.margin_ > 0
    assert 0 < model.pairs_guaranteed_ <= achieved
    totals = weight[labels].sum(), weight[~labels].sum()
    assert model.pairs_guaranteed_ == pytest.approx(
        (totals[0] - model.nu_pos_) * (totals[1] - model.nu_neg_)
    )


def best_soft_margin(H, labels, nu):
    """The largest mean of the nu smallest pair margins, by linear programming."""
    margins = (H[labels][:, None, :] - H[~labels][None, :, :]) / 2
    margins = margins.reshape(-1, H.shape[1])
    n_pairs, n_hypotheses = margins.shape
    # variables: weights, the margin, a slack of each pair
    cost = np.concatenate([np.zeros(n_hypotheses), [-1.0], np.full(n_pairs, 1 / nu)])
    rows = np.hstack([-margins, np.ones((n_pairs, 1)), -np.eye(n_pairs)])
    simplex = np.concatenate([np.ones(n_hypotheses), np.zeros(n_pairs + 1)])
    bounds = [(0, None)] * n_hypotheses + [(None, None)] + [(0, None)] * n_pairs
    solved = linprog(
        cost, rows, np.zeros(n_pairs), simplex[None, :], [1.0], bounds=bounds
    )
    assert solved.success
    return -solved.fun


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delta", [0.1, 0.5])
def test_the_margin_is_nearly_the_best_that_any_combination_has(kind, delta):
    X, labels = sample(3, n_rows=24)
    epsilon = 0.25
    model = SoftRankBoost(epsilon, delta=delta, hypotheses=kind).fit(X, labels)
    H = reference_boosting.hypothesis_matrix(X, kind)
    nu = epsilon * labels.sum() * (~labels).sum()
    best = best_soft_margin(H, labels, nu)
    assert best > 0.01
    assert model.history_["edge"].min() >= best - 1e-9
    assert model.margin_ >= (1 - delta) * best - 1e-9


def test_it_warns_when_the_rounds_did_not_suffice():
    X, labels = sample(0)
    with pytest.warns(ConvergenceWarning, match="max rounds after 5 rounds"):
        model = SoftRankBoost(0.1, n_estimators=5).fit(X, labels)
    assert model.stop_reason_ == "max rounds"
    assert model.weights_.size == 5


def test_equal_positives_and_negatives_have_no_margin():
    X, labels = sample(0, n_rows=20)
    X, labels = np.vstack([X, X]), np.concatenate([labels, ~labels])
    with pytest.warns(UserWarning, match="no hypothesis ranks the training rows"):
        model = SoftRankBoost(0.1, hypotheses="signed").fit(X, labels)
    assert model.stop_reason_ == "no edge"
    assert (model.margin_, model.pairs_guaranteed_) == (0.0, 0.0)
    assert np.ptp(model.decision_function(X)) == 0.0
    assert not model.predict(X).any()


def test_a_share_that_no_combination_reaches_is_said_so():
    # 90 % of the pairs would have to be in order, on two columns of noise
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(60, 2)), rng.random(60) < 0.5
    with pytest.warns(ConvergenceWarning, match=r"beats chance by a margin above"):
        model = SoftRankBoost(
            0.1, delta=0.5, hypotheses="features", n_estimators=50_000
        ).fit(X, labels)
    assert model.stop_reason_ == "no edge"


@pytest.mark.parametrize("name", ["epsilon", "delta"])
@pytest.mark.parametrize("value", [0.0, -0.1, 1.01, np.nan, None])
def test_values_outside_their_interval_are_refused(name, value):
    X, labels = sample(0)
    with pytest.raises(ValueError, match=rf"{name} must be in \(0, 1\], got"):
        SoftRankBoost(**{name: value}).fit(X, labels)


def test_less_than_one_pair_gives_up_none():
    X, labels = sample(0)
    X[:, 0] += 10 * labels
    smallest = 1 / (labels.sum() * (~labels).sum())
    model = SoftRankBoost(0.9 * smallest).fit(X, labels)
    assert model.stop_reason_ == "converged"
    scores = model.decision_function(X)
    margins = (scores[labels][:, None] - scores[~labels][None, :]) / 2
    assert margins.min() >= model.margin_ - 1e-12 > 0.0
