import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given

import reference
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import (
    multiclass_auc_score,
    multiclass_precision_at_k,
    ordinal_auc_score,
    precision_at_k,
    roc_auc_score,
)
from drawing import fewer_examples
from metrics.samples import samples

pytestmark = pytest.mark.kernel

FIRST_LEVEL = {"positive": 1, "all": 0}


@pytest.mark.parametrize("classes", ["positive", "all"])
@given(sample=samples(levels=4, weights=True))
def test_multiclass_auc_is_the_weighted_mean_over_levels(classes, sample):
    y, scores, weights, _ = sample
    expected = reference.multiclass_auc(y, scores, FIRST_LEVEL[classes], weights)
    value = multiclass_auc_score(y, scores, classes=classes, sample_weight=weights)
    assert value == pytest.approx(expected, abs=1e-12)


@given(samples(levels=5, weights=True))
def test_ordinal_auc_is_the_share_of_ordered_pairs(sample):
    y, scores, weights, _ = sample
    value = ordinal_auc_score(y, scores, sample_weight=weights)
    assert value == pytest.approx(reference.ordinal_auc(y, scores, weights), abs=1e-12)


@fewer_examples
@given(samples(weights=True))
def test_both_are_the_auc_for_two_levels(sample):
    y, scores, weights, _ = sample
    auc = roc_auc_score(y, scores, sample_weight=weights)
    for metric in (multiclass_auc_score, ordinal_auc_score):
        assert metric(y, scores, sample_weight=weights) == pytest.approx(auc, abs=1e-12)


def test_a_level_per_row_is_the_concordance_of_two_orders():
    rng = np.random.default_rng(0)
    y = rng.permutation(300)
    assert ordinal_auc_score(y, y) == 1.0
    assert ordinal_auc_score(y, -y) == 0.0


def test_positive_levels_are_numbers_above_zero_or_strings_above_the_lowest():
    scores = [1, 4, 2, 3]
    assert multiclass_auc_score([1, 1, 2, 2], scores) == multiclass_auc_score(
        [1, 1, 2, 2], scores, classes="all"
    )
    assert multiclass_auc_score([-1, -1, 1, 1], scores) == 0.5
    assert multiclass_auc_score(["a", "a", "b", "b"], scores) == 0.5
    with pytest.raises(NotEnoughClassesError, match="no level above 0"):
        multiclass_auc_score([-1, -1, 0, 0], scores)


@pytest.mark.parametrize("metric", [multiclass_auc_score, ordinal_auc_score])
def test_one_level_is_rejected(metric):
    with pytest.raises(NotEnoughClassesError, match="all 2 labels are 3"):
        metric([3, 3], [1, 2])
    with pytest.raises(NotEnoughClassesError, match="zero outside of level 2"):
        metric([1, 2], [1, 2], sample_weight=[0, 1])


def by_pairs(is_positive, scores, weights):
    """Return the AUC over explicit pairs."""
    s, t = scores[is_positive][:, None], scores[~is_positive]
    pairs = np.outer(weights[is_positive], weights[~is_positive])
    return (pairs * ((s > t) + 0.5 * (s == t))).sum() / pairs.sum()


@pytest.mark.parametrize("classes", ["positive", "all"])
@given(sample=samples(levels=4, weights=True))
def test_the_auc_of_each_level_and_its_weight_give_the_mean(classes, sample):
    y, scores, weights, _ = sample
    options = {"classes": classes, "sample_weight": weights}
    table = multiclass_auc_score(y, scores, average=None, **options)
    first = FIRST_LEVEL[classes]
    assert table["class"].tolist() == [c for c in np.unique(y).tolist() if c >= first]
    for row in table:
        is_level = y == row["class"]
        share = weights[is_level].sum() / weights.sum()
        assert row["weight"] == pytest.approx(share)
        if share == 0.0:
            assert np.isnan(row["auc"])
            continue
        assert row["auc"] == pytest.approx(by_pairs(is_level, scores, weights))
        one = roc_auc_score(y, scores, pos_label=row["class"], sample_weight=weights)
        assert row["auc"] == pytest.approx(one)
    result = table[table["weight"] > 0.0]
    mean = np.average(result["auc"], weights=result["weight"])
    assert multiclass_auc_score(y, scores, **options) == pytest.approx(mean)


def test_levels_may_be_names_and_queries_keep_their_values():
    y = np.array(["good", "fair", "bad", "good", "fair"])
    table = multiclass_auc_score(y, [5, 4, 3, 2, 1], classes="all", average=None)
    assert table["class"].tolist() == ["bad", "fair", "good"]
    qid = [0, 0, 0, 1, 1]
    values = multiclass_auc_score(y, [5, 4, 3, 2, 1], qid=qid, average=None)
    assert values.shape == (2,)


def test_one_level_against_all_others_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 90), rng.normal(size=90).round(1)
    for c in range(4):
        expected = sklearn.metrics.roc_auc_score(y == c, scores)
        assert roc_auc_score(y, scores, pos_label=c) == pytest.approx(expected)
    words = np.array(["a", "b", "c", "d"])[y]
    assert roc_auc_score(words, scores, pos_label="b") == roc_auc_score(
        y, scores, pos_label=1
    )
    with pytest.raises(ValueError, match="No row of y_true has the label pos_label=7"):
        roc_auc_score(y, scores, pos_label=7)
    with pytest.raises(ValueError, match="Only binary classification"):
        roc_auc_score(y, scores)


@pytest.mark.parametrize("seed", range(5))
def test_precision_over_levels_has_the_form_of_equations_2_and_4(seed):
    rng = np.random.default_rng(seed)
    n_queries, k = 6, int(rng.integers(1, 9))
    qid = np.repeat(np.arange(n_queries), 8)
    y, scores = rng.integers(0, 4, qid.size), rng.permutation(qid.size)
    y[:4] = range(4)
    micro = macro = 0.0
    for c in (1, 2, 3):
        for query in range(n_queries):
            rows = np.flatnonzero(qid == query)
            top = rows[np.argsort(-scores[rows])][:k]
            micro += (y[top] == c).sum() / (3 * k) / n_queries
            macro += (y[top] == c).sum() / k / 3
    options = {"k": k, "qid": qid}
    result = multiclass_precision_at_k(y, scores, **options)
    assert result == pytest.approx(micro)
    assert result == pytest.approx(precision_at_k(y, scores, **options) / 3)
    result = multiclass_precision_at_k(y, scores, average="macro", **options)
    assert result == pytest.approx(macro)
    assert result == pytest.approx(n_queries * micro)


def test_a_query_of_fewer_than_k_rows_is_divided_by_k():
    y, scores, qid = [1, 2, 0, 1], [4, 3, 2, 1], [0, 0, 1, 1]
    result = multiclass_precision_at_k(y, scores, k=4, qid=qid)
    assert result == pytest.approx((2 / 4 + 1 / 4) / 2 / 2)
    with pytest.raises(ValueError, match="average must be"):
        multiclass_precision_at_k(y, scores, k=1, average=None)
