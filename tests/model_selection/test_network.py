import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm, rankdata
from sklearn.linear_model import LogisticRegression

import aucmax
from aucmax.exceptions import IncompatibleError
from aucmax.metrics import roc_auc_score
from aucmax.model_selection import network
from aucmax.model_selection.network import Network, cross_entropy

RNG = np.random.default_rng(0)


def product_of_columns(n_rows, seed=0):
    """Rows whose label depends on the product of two columns, on an odd scale."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0.0
    return np.sinh(3.0 * X) * [1e6, 1e-6, 1.0, 1.0], y


X, Y = product_of_columns(300)
SMALL = {"n_networks": 2, "n_units": 8, "n_epochs": 4}


@pytest.fixture(scope="module")
def small():
    return Network(**SMALL).fit(X, Y)


def test_it_learns_what_a_line_cannot_and_scores_are_log_odds():
    new, truth = product_of_columns(2000, seed=1)
    scores = Network().fit(*product_of_columns(1000, seed=2)).decision_function(new)
    line = LogisticRegression().fit(X, Y).decision_function(new)
    assert roc_auc_score(truth, scores) > 0.9 > 0.6 > roc_auc_score(truth, line)
    for low, high in ((-9.0, -1.0), (1.0, 9.0)):
        some = (low < scores) & (scores < high)
        expected = (1.0 / (1.0 + np.exp(-scores[some]))).mean()
        assert truth[some].mean() == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize("dropout", [False, True])
def test_the_gradient_is_that_of_finite_differences(dropout):
    shapes = [(1, 3), (3, 5), (1, 5), (5, 5), (1, 5), (5, 1), (1, 1)]
    layers = [RNG.normal(size=(2, *shape)) for shape in shapes]
    rows = RNG.normal(size=(2, 7, 3)), RNG.random((2, 7)) < 0.5, RNG.random((2, 7))
    factors = 1.25 * (RNG.random((2, 2, 7, 5)) < 0.8) if dropout else None
    gradients = [np.empty_like(layer) for layer in layers]
    cross_entropy(layers, *rows, factors, gradients)
    step = 1e-6
    for layer, gradient in zip(layers, gradients, strict=True):
        for place in np.ndindex(layer.shape):
            losses = []
            for change in (step, -2.0 * step):
                layer[place] += change
                losses.append(cross_entropy(layers, *rows, factors)[place[0]])
            layer[place] += step
            slope = (losses[0] - losses[1]) / (2.0 * step)
            assert gradient[place] == pytest.approx(slope, rel=1e-5, abs=1e-8)


def test_columns_become_normal_scores_of_midranks():
    column = RNG.integers(0, 9, 200).astype(float)
    knots, heights = network._learn_normal_scores(column[:, None])
    scores = network._to_normal_scores(column[:, None], knots, heights)[:, 0]
    expected = norm.ppf((rankdata(column) - 0.5) / 200)
    np.testing.assert_allclose(scores, expected.clip(-3.0, 3.0))
    many = RNG.normal(size=(5000, 1)) ** 3
    scores = network._to_normal_scores(many, *network._learn_normal_scores(many))
    expected = norm.ppf((rankdata(many) - 0.5) / 5000).clip(-3.0, 3.0)
    assert np.abs(scores[:, 0] - expected).max() < 0.5
    assert np.abs(scores[:, 0] - expected).mean() < 0.02


def test_equal_seeds_give_equal_networks_with_any_number_of_threads(small):
    scores = small.decision_function(X)
    again = Network(**SMALL, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(scores, again.decision_function(X))
    other = Network(**SMALL, random_state=1).fit(X, Y)
    assert (scores != other.decision_function(X)).any()


def test_sparse_rows_and_weights_mean_the_same_as_dense_rows_and_copies():
    thin = sparse.random(200, 30, 0.1, format="csr", random_state=0)
    y = np.asarray(thin[:, 0].toarray()).ravel() + RNG.random(200) > 0.5
    dense = Network(**SMALL).fit(thin.toarray(), y).decision_function(thin.toarray())
    model = Network(**SMALL).fit(thin, y)
    np.testing.assert_array_equal(model.decision_function(thin), dense)
    weighted = Network(**SMALL).fit(X, Y, np.full(300, 7.0))
    plain = Network(**SMALL).fit(X, Y).decision_function(X)
    np.testing.assert_allclose(weighted.decision_function(X), plain, rtol=1e-5)
    favoured = Network(**SMALL).fit(X, Y, np.where(Y, 50.0, 1.0))
    assert favoured.decision_function(X).mean() > plain.mean() + 1.0


def test_rows_of_weight_zero_are_left_out_and_tiny_weights_have_a_mean():
    is_first = np.arange(300) < 40
    weighted = Network(**SMALL).fit(X, Y, np.where(is_first, 2.0, 0.0))
    alone = Network(**SMALL).fit(X[:40], Y[:40]).decision_function(X)
    np.testing.assert_array_equal(weighted.decision_function(X), alone)
    tiny = Network(**SMALL).fit(X, Y, np.where(is_first, 1.0, 1e-48))
    assert np.isfinite(tiny.decision_function(X)).all()


def test_a_damaged_network_is_not_saved(tmp_path):
    damaged = Network(**SMALL).fit(X, Y)
    damaged.second_ = damaged.second_[:1]
    with pytest.raises(ValueError, match="second_ is not of shape"):
        aucmax.save(damaged, tmp_path / "b")


def test_a_callback_can_end_a_fit_which_leaves_the_model_as_it_was():
    epochs = []

    def end(epoch):
        epochs.append(epoch)
        if epoch == 2:
            raise KeyboardInterrupt

    model = Network(**SMALL, callback=end)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert epochs == [1, 2]
    assert not hasattr(model, "first_")


def test_a_class_of_one_row_is_learned_from():
    y = np.arange(20) == 3
    scores = Network(**SMALL).fit(X[:20], y).decision_function(X[:20])
    assert np.isfinite(scores).all()


def test_rows_of_another_width_wrong_parameters_and_wide_matrices_are_rejected(small):
    with pytest.raises(ValueError, match="X has 2 columns"):
        small.decision_function(X[:, :2])
    with pytest.raises(ValueError, match="n_epochs"):
        Network(n_epochs=0).fit(X, Y)
    with pytest.raises(ValueError, match="class"):
        Network(**SMALL).fit(X, np.zeros(300))
    wide = sparse.csr_array((300, 10**6))
    with pytest.raises(IncompatibleError, match="at most 50,000,000 cells"):
        Network(**SMALL).fit(wide, Y)
