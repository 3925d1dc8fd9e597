import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from aucmax.auto.rank_scale import learn_scale, rank_logits, to_logits
from drawing import picked


def test_the_logit_is_that_of_the_share_of_rows_below():
    shares = expit(rank_logits(np.array([3.0, 1.0, 2.0, 2.0])))
    np.testing.assert_allclose(shares, [0.875, 0.125, 0.5, 0.5])


@given(picked(30, np.arange(8.0)))
def test_known_scores_get_the_logits_of_their_ranks(scores):
    found = to_logits(scores, learn_scale(scores))
    np.testing.assert_allclose(found, rank_logits(scores), atol=1e-12)


@given(st.integers(0, 1000))
def test_the_order_of_new_scores_is_kept_even_beyond_the_known_ones(seed):
    generator = np.random.default_rng(seed)
    scale = learn_scale(generator.normal(size=2000) ** 3)
    new = np.sort(np.concatenate([50 * generator.normal(size=30), [-1e6, 1e6]]))
    assert (np.diff(to_logits(new, scale)) > 0.0).all()
    assert scale.shape[1] <= 400


def test_equal_scores_have_one_logit():
    scale = learn_scale(np.full(5, 3.0))
    np.testing.assert_array_equal(to_logits(np.array([-1.0, 9.0]), scale), [0.0, 0.0])
