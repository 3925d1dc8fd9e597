"""Binned AUC, AUC@k and unnested AUC against their definitions, pair by pair."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import reference
from aucmax.metrics import (
    auc_at_k_score,
    binned_auc_score,
    roc_auc_score,
    unnested_auc_score,
)
from drawing import fewer_examples
from metrics.samples import distinct, samples

pytestmark = pytest.mark.kernel

few = st.integers(0, 2).map(float)
small = samples(max_rows=6, elements=few)
whole = st.lists(st.integers(1, 20), min_size=1, max_size=6, unique=True).map(sorted)
shares = st.lists(
    st.floats(0.001, 0.999) | st.sampled_from([0.1, 0.25, 0.5]),
    min_size=1,
    max_size=6,
    unique=True,
).map(sorted)
any_bins = st.one_of(st.integers(2, 30), whole, shares)
withins = st.sampled_from(["half", "correct"])
depths = st.integers(1, 30)
VALUE_IN_A_BIN = {"half": 0.5, "correct": 1.0}


def boundaries(n, bins):
    if isinstance(bins, int):
        ends = [round(n * b / bins) for b in range(1, bins)]
    else:
        ends = [round(n * b) if isinstance(b, float) else b for b in bins]
    return sorted({end for end in ends if 0 < end < n})


def bin_of_place(n, bins):
    """Number of the bin of each place of the ranking, best place first."""
    return [sum(end <= place for end in boundaries(n, bins)) for place in range(n)]


def place_shares(scores):
    """For each row, how likely it takes each place among rows of equal score."""
    first = (scores[:, None] < scores).sum(axis=1)[:, None]
    last = (scores[:, None] <= scores).sum(axis=1)[:, None]
    place = np.arange(scores.size)
    return ((place >= first) & (place < last)) / (last - first)


def binned_auc_of_pairs(y, scores, bins, within):
    """Mean over pairs, and for each over the places of both rows."""
    if len(set(y.tolist())) < 2:
        return None
    bin_at = np.array(bin_of_place(y.size, bins))
    wins = (bin_at[:, None] < bin_at) + VALUE_IN_A_BIN[within] * np.equal.outer(
        bin_at, bin_at
    )
    shares = place_shares(scores)
    values = shares @ wins @ shares.T
    # two rows of one block of ties never take one place, which the product lets them
    sizes = (shares > 0).sum(axis=1)
    tied = (scores[:, None] == scores) & (sizes > 1)
    often = sizes * np.ones((y.size, 1))
    in_one_place = VALUE_IN_A_BIN[within]
    values[tied] = (values * often - in_one_place)[tied] / (often - 1)[tied]
    return float(values[np.ix_(y == 1, y == 0)].mean())


def auc_at_k_of_sets(y, scores, k):
    """By the number of positives in each of the first sets; ties enter by shares."""
    p, n = int(y.sum()), int((1 - y).sum())
    if p == 0 or n == 0:
        return None
    levels = np.arange(1, min(k, y.size) + 1)
    members = np.cumsum(place_shares(scores), axis=1)[:, levels - 1]
    best = np.minimum(levels, p).sum()
    worst = np.maximum(levels - n, 0).sum()
    return ((y @ members).sum() - worst) / (best - worst)


def binned_auc_of_order(ranked, bins, within):
    """For labels in the order of a ranking without ties."""
    return binned_auc_of_pairs(ranked, -np.arange(ranked.size), bins, within)


@settings(max_examples=40)
@given(small, any_bins, withins)
def test_binned_auc_is_its_mean_over_all_tie_orders(sample, bins, within):
    y, scores, _, _ = sample
    expected = np.mean(
        [
            binned_auc_of_order(y[order], bins, within)
            for order in reference.tie_orders(scores)
        ]
    )
    value = binned_auc_score(y, scores, bins=bins, within=within)
    assert value == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(small, st.integers(1, 7))
def test_auc_at_k_is_its_mean_over_all_tie_orders(sample, k):
    y, scores, _, _ = sample
    expected = np.mean(
        [
            auc_at_k_of_sets(y[order], -np.arange(y.size), k)
            for order in reference.tie_orders(scores)
        ]
    )
    assert auc_at_k_score(y, scores, k=k) == pytest.approx(expected, abs=1e-12)


@given(samples(), any_bins, withins)
def test_binned_auc_is_its_mean_over_pairs(sample, bins, within):
    y, scores, _, _ = sample
    expected = binned_auc_of_pairs(y, scores, bins, within)
    value = binned_auc_score(y, scores, bins=bins, within=within)
    assert value == pytest.approx(expected, abs=1e-12)


@given(samples(), depths)
def test_auc_at_k_is_its_sum_over_sets(sample, k):
    y, scores, _, _ = sample
    expected = auc_at_k_of_sets(y, scores, k)
    assert auc_at_k_score(y, scores, k=k) == pytest.approx(expected, abs=1e-12)


@given(samples(queries=4), any_bins, withins, depths)
def test_queries_of_both_classes_are_averaged(sample, bins, within, k):
    y, scores, _, qid = sample
    assume(any(len(set(y[qid == query])) == 2 for query in qid))
    value = binned_auc_score(y, scores, bins=bins, within=within, qid=qid)
    expected = reference.mean_over_queries(
        lambda y, s: binned_auc_of_pairs(y, s, bins, within), qid, y, scores
    )
    assert value == pytest.approx(expected, abs=1e-12)
    value = auc_at_k_score(y, scores, k=k, qid=qid)
    expected = reference.mean_over_queries(
        lambda y, s: auc_at_k_of_sets(y, s, k), qid, y, scores
    )
    assert value == pytest.approx(expected, abs=1e-12)


@fewer_examples
@given(samples())
def test_bins_of_one_row_and_all_rows_give_the_auc(sample):
    y, scores, _, _ = sample
    auc = pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    for bins in (y.size, y.size + 7, range(1, 100), 10**9):
        for within in VALUE_IN_A_BIN:
            assert binned_auc_score(y, scores, bins=bins, within=within) == auc
    for k in (y.size, y.size + 1, 10**12):
        assert auc_at_k_score(y, scores, k=k) == auc


def test_what_follows_the_first_k_rows_does_not_matter():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(50) < 20)
    y[:2] = [True, False]
    shuffled = np.concatenate((y[:10], rng.permutation(y[10:])))
    scores = -np.arange(50)
    first = auc_at_k_score(y, scores, k=10)
    assert auc_at_k_score(shuffled, scores, k=10) == first
    assert roc_auc_score(shuffled, scores) != roc_auc_score(y, scores)


def test_queries_without_a_boundary_are_one_bin():
    y, scores, qid = [1, 0, 0, 1], [2, 1, 4, 3], ["a", "a", "b", "b"]
    assert binned_auc_score(y, scores, bins=[5], qid=qid) == 0.5
    assert binned_auc_score(y, scores, bins=[5], qid=qid, within="correct") == 1.0
    assert binned_auc_score(y, scores, bins=[1], qid=qid) == 0.5


def nested_sets(scores):
    order = np.argsort(-scores, kind="stable")
    members = np.zeros((scores.size, scores.size))
    for place in range(scores.size):
        members[place:, order[place]] = 1.0
    return members


@fewer_examples
@given(samples(elements=distinct))
def test_unnested_auc_of_the_sets_of_a_ranking_is_its_auc(sample):
    y, scores, _, _ = sample
    members = nested_sets(scores)
    expected = pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    named = np.where(y == 1, "b", "a")
    for kind in (
        members,
        members.tolist(),
        members.astype(bool),
        members.astype(np.int8),
        members.astype(np.float32),
        sparse.csr_array(members),
        sparse.csc_matrix(members),
        sparse.lil_array(members),
        pd.DataFrame(members),
    ):
        assert unnested_auc_score(named, kind) == expected


@fewer_examples
@given(samples(max_rows=12), st.integers(0, 2**32 - 1), st.booleans())
def test_unnested_auc_is_its_sum_over_sets(sample, seed, relaxed):
    y = sample[0]
    m, p = y.size, int(y.sum())
    rng = np.random.default_rng(seed)
    members = np.array([rng.permutation(m) <= place for place in range(m)], float)
    if relaxed:  # between these sets and the mean of all
        members = (members + np.arange(1, m + 1)[:, None] / m) / 2
    result = sum(members[place][i] for place in range(m) for i in range(m) if y[i])
    expected = (result - p * (p + 1) / 2) / (p * (m - p))
    assert unnested_auc_score(y, members) == pytest.approx(expected, abs=1e-12)
    assert unnested_auc_score(y, sparse.coo_array(members)) == pytest.approx(
        expected, abs=1e-12
    )


def test_the_best_sets_are_one_and_the_worst_zero():
    y = np.array([0, 1, 0, 1, 1])
    assert unnested_auc_score(y, nested_sets(y - np.arange(5) / 10)) == 1.0
    assert unnested_auc_score(y, nested_sets(-y - np.arange(5) / 10)) == 0.0


@pytest.mark.parametrize(
    ("subsets", "message"),
    [
        (np.ones((2, 3)), r"shape \(3, 3\), got \(2, 3\)"),
        (sparse.eye_array(4), r"shape \(3, 3\), got \(4, 4\)"),
        ([[1, 0], [1]], "subsets is not a square array"),
        ([[1, 0, 0], [2, 0, 0], [1, 1, 1]], "row 1, column 0 is 2"),
        ([[1, 0, 0], [1, 1, 0], [1, 1, np.nan]], "row 2, column 2 is nan"),
        (sparse.csc_array([[1, 0, 0], [1, -1, 2], [1, 1, 1]]), "row 1, column 1 is -1"),
        ([[1, 0, 0], [1, 0, 0], [1, 1, 1]], "Row 1 of subsets must sum to 2.*to 1"),
        (sparse.csr_array((3, 3)), "Row 0 of subsets must sum to 1.*sums to 0"),
    ],
)
def test_bad_subsets_are_rejected(subsets, message):
    with pytest.raises(ValueError, match=message):
        unnested_auc_score([0, 1, 1], subsets)


def test_subsets_of_no_numbers_are_rejected():
    with pytest.raises(TypeError, match="subsets must hold numbers, got dtype <U1"):
        unnested_auc_score([0, 1], [["1", "0"], ["1", "1"]])
    with pytest.raises(TypeError, match="subsets is a LazyFrame"):
        unnested_auc_score([0, 1], pl.LazyFrame({"a": [1, 1], "b": [0, 1]}))
