import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from aucmax.decisions.calibrated import along_knots
from aucmax.model_selection.stacking import Spread, learn_scale, scaled
from drawing import picked

RANK_ALONE = Spread(0.0, 0.0)
SPREADS = st.sampled_from([RANK_ALONE, Spread(3.0, 2.0)])


def test_half_is_the_logit_of_the_share_of_rows_below():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    shares = expit(2.0 * scaled(scores, RANK_ALONE))
    np.testing.assert_allclose(shares, [0.875, 0.125, 0.5, 0.5])


def test_the_other_half_is_the_distance_from_the_mean_in_any_unit():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    found = scaled(scores, Spread.from_scores(scores)) - scaled(scores, RANK_ALONE)
    reach = np.pi / np.sqrt(3.0) / scores.std() / 2.0
    np.testing.assert_allclose(found, [reach, -reach, 0.0, 0.0])
    moved = 1e6 * scores + 7.0
    np.testing.assert_allclose(
        scaled(moved, Spread.from_scores(moved)),
        scaled(scores, Spread.from_scores(scores)),
    )


def test_both_halves_have_the_same_spread():
    scores = np.random.default_rng(0).logistic(3.0, 5.0, size=20_000)
    by_rank = 2.0 * scaled(scores, RANK_ALONE)
    by_distance = 2.0 * scaled(scores, Spread.from_scores(scores)) - by_rank
    np.testing.assert_allclose(by_rank.std(), by_distance.std(), rtol=0.01)


@given(picked(30, np.arange(8.0)), SPREADS)
def test_known_scores_get_their_own_logits(scores, spread):
    found = along_knots(scores, learn_scale(scores, spread))
    np.testing.assert_allclose(found, scaled(scores, spread), atol=1e-12)


@given(st.integers(0, 1000), SPREADS)
def test_the_order_of_new_scores_is_kept_even_beyond_the_known_ones(seed, spread):
    generator = np.random.default_rng(seed)
    scale = learn_scale(generator.normal(size=2000) ** 3, spread)
    new = np.sort(np.concatenate([50 * generator.normal(size=30), [-1e6, 1e6]]))
    assert (np.diff(along_knots(new, scale)) > 0.0).all()
    assert scale.shape[1] <= 400


def test_equal_scores_have_one_logit():
    scale = learn_scale(np.full(5, 3.0), RANK_ALONE)
    np.testing.assert_array_equal(along_knots(np.array([-1.0, 9.0]), scale), [0.0, 0.0])
