import numpy as np
import pytest
from scipy.stats import binom, chisquare

from aucmax.datasets import make_r_of_k


def relevant_true(X, k):
    return (X[:, :k] > 0).sum(axis=1)


@pytest.mark.parametrize(("r", "k"), [(1, 30), (8, 30), (15, 30), (30, 30), (1, 1)])
@pytest.mark.parametrize("ratio", [0.5, 0.7, 0.9, 0.013])
def test_class_ratio_is_exact_and_the_rule_holds(r, k, ratio):
    X, y = make_r_of_k(
        1000, 40, r=r, k=k, positive_ratio=ratio, shuffle=False, random_state=3
    )
    assert set(np.unique(X)) == {-1.0, 1.0}
    assert y.sum() == round(1000 * ratio)
    np.testing.assert_array_equal(y, relevant_true(X, k) >= r)
    formula = np.sign(X[:, :k].sum(axis=1) + k - 2 * r + 1)
    np.testing.assert_array_equal(2 * y - 1, formula)


@pytest.mark.parametrize("noise", [0.05, 0.1, 0.15, 0.5])
def test_noise_turns_each_label_with_its_probability_and_nothing_else(noise):
    X, y = make_r_of_k(20_000, 40, label_noise=noise, random_state=1)
    clean_X, clean_y = make_r_of_k(20_000, 40, random_state=1)
    np.testing.assert_array_equal(X, clean_X)
    for label in (0, 1):
        flipped = y[clean_y == label] != label
        spread = np.sqrt(noise * (1 - noise) / flipped.size)
        assert abs(flipped.mean() - noise) < 5 * spread


def test_rows_are_uniform_within_each_class():
    r, k, m = 3, 6, 40_000
    X, y = make_r_of_k(m, 8, r=r, k=k, shuffle=False, random_state=0)
    for label, counts in ((0, np.arange(r)), (1, np.arange(r, k + 1))):
        rows = X[y == label]
        seen = np.bincount(relevant_true(rows, k), minlength=k + 1)[counts]
        share = binom.pmf(counts, k, 0.5)
        assert chisquare(seen, share / share.sum() * len(rows)).pvalue > 1e-4
        # all relevant features are alike, the others fair coins
        spread = 5 * np.sqrt(1 / len(rows))
        assert np.ptp(rows[:, :k].mean(axis=0)) < 2 * spread
        assert np.abs(rows[:, k:].mean(axis=0)).max() < spread


def test_shuffle_moves_the_relevant_features():
    places = set()
    for seed in range(10):
        X, y = make_r_of_k(100, 50, r=1, k=1, random_state=seed)
        (place,) = np.flatnonzero(((2 * y - 1)[:, None] == X).all(axis=0))
        places.add(int(place))
    assert len(places) > 5


def test_many_relevant_features_do_not_underflow():
    X, y = make_r_of_k(50, 5000, r=4900, k=5000, shuffle=False, random_state=0)
    np.testing.assert_array_equal(y, relevant_true(X, 5000) >= 4900)
    assert y.sum() == 25


def test_a_seed_makes_it_reproducible():
    again = [make_r_of_k(100, 40, label_noise=0.2, random_state=7) for _ in range(2)]
    np.testing.assert_array_equal(again[0][0], again[1][0])
    np.testing.assert_array_equal(again[0][1], again[1][1])
    other, _ = make_r_of_k(100, 40, random_state=8)
    assert (other != again[0][0]).any()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"r": 0}, "1 <= r <= k"),
        ({"k": 101}, "k=101"),
        ({"n_samples": 1}, "n_samples"),
        ({"positive_ratio": 0.0}, "above 0 and below 1, got 0.0"),
        ({"positive_ratio": float("nan")}, "nan"),
        ({"positive_ratio": 1e-4}, "leaves a class empty"),
        ({"label_noise": -0.1}, "label_noise"),
    ],
)
def test_bad_parameters_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        make_r_of_k(**settings)
