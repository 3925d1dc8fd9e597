from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from sklearn.metrics import ndcg_score as sklearn_ndcg_score

import reference
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import mean_average_precision, ndcg_score, precision_at_k
from metrics.samples import samples

pytestmark = pytest.mark.kernel

few = st.integers(0, 2).map(float)
small = samples(max_rows=6, elements=few)
small_graded = samples(max_rows=6, levels=4, elements=few)
with_queries = samples(max_rows=12, levels=3, elements=st.integers(0, 5).map(float))
depths = st.integers(1, 7)


@settings(max_examples=40)
@given(small, depths)
def test_precision_is_its_mean_over_all_tie_orders(sample, k):
    y, scores, _, _ = sample
    expected = reference.precision_at_k(y > 0, scores, k)
    for average in ("macro", "micro"):
        value = precision_at_k(y, scores, k=k, average=average)
        assert value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(small)
def test_average_precision_is_its_mean_over_all_tie_orders(sample):
    y, scores, _, _ = sample
    expected = reference.average_precision(y == 1, scores)
    assert mean_average_precision(y, scores) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(small_graded, st.none() | depths, st.sampled_from(["exponential", "linear"]))
def test_ndcg_is_its_mean_over_all_tie_orders(sample, k, gains):
    y, scores, _, _ = sample
    gain = 2.0**y - 1 if gains == "exponential" else y
    expected = reference.ndcg(gain, scores, k)
    value = ndcg_score(y, scores, k=k, gains=gains)
    assert value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(samples(max_rows=6, levels=3, elements=few, weights=True), depths)
def test_weighted_measures_are_the_definition(sample, k):
    y, scores, weights, _ = sample
    value = precision_at_k(y, scores, k=k, sample_weight=weights)
    expected = reference.weighted_precision_at_k(y > 0, scores, k, weights)
    assert value == pytest.approx(expected, abs=1e-12)
    value = mean_average_precision(y, scores, sample_weight=weights)
    expected = reference.weighted_average_precision(y > 0, scores, weights)
    assert value == pytest.approx(expected, abs=1e-12)
    value = ndcg_score(y, scores, k=k, sample_weight=weights)
    expected = reference.ndcg(weights * (2.0**y - 1), scores, k)
    assert value == pytest.approx(expected, abs=1e-12)


def test_weighted_average_precision_without_ties_is_equal_to_scikit_learn():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.2
    scores = rng.normal(size=500) + y
    weights = rng.choice([0.0, 1e-6, 1.0, 1e6], 500)
    expected = average_precision_score(y, scores, sample_weight=weights)
    value = mean_average_precision(y, scores, sample_weight=weights)
    assert value == pytest.approx(expected, abs=1e-12)


WITHIN_QUERIES = [
    mean_average_precision,
    partial(precision_at_k, k=3),
    partial(ndcg_score, k=4),
]
OVER_ALL_ROWS = partial(precision_at_k, k=3, average="micro")


def test_weights_act_within_a_query_unless_rows_of_all_are_counted_together():
    rng = np.random.default_rng(3)
    y, qid = rng.integers(0, 3, 90), np.repeat([0, 1, 2], 30)
    scores = rng.integers(0, 9, 90).astype(float)
    weights = rng.random(90) * np.array([1e-9, 1.0, 1e9])[qid]
    order = rng.permutation(90)  # rows of a query need not be neighbours
    y, qid, scores, weights = (one[order] for one in (y, qid, scores, weights))

    def alone_and_together(metric):
        alone = [
            metric(y[qid == q], scores[qid == q], sample_weight=weights[qid == q])
            for q in range(3)
        ]
        return alone, metric(y, scores, qid=qid, sample_weight=weights)

    for metric in WITHIN_QUERIES:
        alone, together = alone_and_together(metric)
        assert together == pytest.approx(np.mean(alone), abs=1e-12)
    # nearly all of the weight is in the last query
    alone, together = alone_and_together(OVER_ALL_ROWS)
    assert together == pytest.approx(alone[2], abs=1e-6)


@pytest.mark.parametrize("k", [1, 3, 50, None])
def test_linear_ndcg_is_equal_to_scikit_learn(k):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, 300)
    scores = np.round(rng.normal(size=300) + y / 3, 1)
    expected = sklearn_ndcg_score([y], [scores], k=k)
    value = ndcg_score(y, scores, k=k, gains="linear")
    assert value == pytest.approx(expected, abs=1e-12)


def test_macro_counts_queries_and_micro_counts_rows():
    y = [1, 0, 0, 0, 1]
    scores = [5, 4, 3, 2, 1]
    qid = ["long", "long", "long", "long", "short"]
    assert precision_at_k(y, scores, k=2, qid=qid) == pytest.approx((1 / 2 + 1 / 1) / 2)
    assert precision_at_k(y, scores, k=2, qid=qid, average="micro") == pytest.approx(
        2 / 3
    )


@given(with_queries)
def test_numbers_above_zero_and_the_larger_string_are_relevant(sample):
    y, scores, _, qid = sample
    relevant = np.where(y > 0, "yes", "no")
    relevant[0], y[0] = "no", 0
    relevant[1], y[1] = "yes", 2
    for metric in (mean_average_precision, partial(precision_at_k, k=2)):
        assert metric(y, scores, qid=qid) == metric(relevant, scores, qid=qid)


def test_precision_is_defined_without_relevant_rows():
    assert precision_at_k([0, 0], [1, 2], k=1) == 0.0
    assert precision_at_k([2, 1], [1, 2], k=1) == 1.0
    with pytest.raises(NotEnoughClassesError, match="None of the 1 queries"):
        mean_average_precision([0, 0], [1, 2])


def test_bad_options_are_rejected():
    with pytest.raises(ValueError, match="'impressions', None, got 'mean'"):
        precision_at_k([0, 1], [1, 2], k=1, average="mean")
    with pytest.raises(ValueError, match="'exponential', 'linear', got 'square'"):
        ndcg_score([0, 1], [1, 2], gains="square")


def test_relevance_that_has_no_gain_is_rejected():
    with pytest.raises(ValueError, match="row 1 is -1"):
        ndcg_score([0, -1], [1, 2])
    with pytest.raises(ValueError, match="reaches 2000"):
        ndcg_score([0, 2000], [1, 2])
    assert ndcg_score([0, 2000], [1, 2], gains="linear") == 1.0
    with pytest.raises(TypeError, match="y_true must hold real numbers"):
        ndcg_score(["a", "b"], [1, 2])


def test_queries_without_a_relevant_row_are_left_out_or_count_as_zero():
    y, scores = [1, 0, 0, 0, 0, 1], [3, 2, 2, 1, 1, 2]
    queries = [0, 0, 1, 1, 2, 2]
    for metric in (mean_average_precision, ndcg_score):
        assert metric(y, scores, qid=queries) == 1.0
        assert metric(y, scores, qid=queries, empty="zero") == pytest.approx(2 / 3)
        assert metric([0, 0], [1, 2], empty="zero") == 0.0
        with pytest.raises(ValueError, match="empty must be one of 'skip', 'zero'"):
            metric(y, scores, empty="error")
