import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score as sklearn_roc_auc_score

import reference
from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import (
    auc_interval,
    bootstrap_interval,
    nominal_auc_interval,
    nominal_auc_score,
    roc_auc_score,
)

KINDS = [
    {"multi_class": multi_class, "average": average}
    for multi_class in ("ovr", "ovo")
    for average in ("macro", "weighted")
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda k: "-".join(k.values()))


def draw_rows(rng, n_rows, n_classes, decimals=1):
    """Labels with two rows of every class at least, tied scores, and weights."""
    y = np.r_[np.arange(2 * n_classes), rng.integers(0, n_classes, n_rows)] % n_classes
    scores = rng.normal(size=(y.size, n_classes)) + np.eye(n_classes)[y]
    return y, np.round(scores, decimals), rng.choice([0.25, 1.0, 3.0], y.size)


@pytest.mark.kernel
@every_kind
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_score_and_interval_are_the_definition(kind, n_classes):
    rng = np.random.default_rng(n_classes)
    for decimals in (0, 1):
        y, scores, weights = draw_rows(rng, 8, n_classes, decimals)
        for weight in (None, weights):
            expected = reference.nominal_auc(y, scores, **kind, weights=weight)
            found = nominal_auc_score(y, scores, **kind, sample_weight=weight)
            assert found == pytest.approx(expected, abs=1e-12)
            interval = nominal_auc_interval(y, scores, **kind, sample_weight=weight)
            variance = reference.nominal_variance(y, scores, **kind, weights=weight)
            assert interval.auc == found
            assert interval.standard_error == pytest.approx(np.sqrt(variance), rel=1e-6)
            assert 0 <= interval.low <= interval.auc <= interval.high <= 1


@every_kind
def test_score_is_equal_to_scikit_learn(kind):
    rng = np.random.default_rng(0)
    y, scores, weights = draw_rows(rng, 400, 4)
    scores = np.exp(scores)
    scores /= scores.sum(axis=1, keepdims=True)
    expected = sklearn_roc_auc_score(y, scores, **kind)
    assert nominal_auc_score(y, scores, **kind) == pytest.approx(expected, abs=1e-12)
    if kind["multi_class"] == "ovr":
        expected = sklearn_roc_auc_score(y, scores, **kind, sample_weight=weights)
        found = nominal_auc_score(y, scores, **kind, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-12)


@every_kind
def test_whole_weights_are_repetitions_and_zero_weights_drop_rows(kind):
    rng = np.random.default_rng(1)
    y, scores, _ = draw_rows(rng, 30, 3)
    times = np.r_[np.ones(6, int), rng.integers(0, 4, 30)]
    found = nominal_auc_score(y, scores, **kind, sample_weight=times)
    repeated = np.repeat(y, times), scores.repeat(times, axis=0)
    expected = nominal_auc_score(*repeated, **kind)
    assert found == pytest.approx(expected, abs=1e-12)
    kept = times > 0
    found = nominal_auc_interval(y, scores, **kind, sample_weight=7.0 * kept)
    expected = nominal_auc_interval(y[kept], scores[kept], **kind)
    assert found.standard_error == pytest.approx(expected.standard_error, abs=1e-13)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))


@every_kind
@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_two_classes_with_opposite_scores_have_delongs_interval(kind, seed):
    y, scores, weights = draw_rows(np.random.default_rng(seed), 12, 2, 0)
    one = scores[:, 1]
    for weight in (None, weights):
        found = nominal_auc_interval(y, np.c_[-one, one], **kind, sample_weight=weight)
        expected = auc_interval(y, one, sample_weight=weight)
        assert found.auc == pytest.approx(expected.auc, abs=1e-14)
        assert found.standard_error == pytest.approx(expected.standard_error, abs=1e-14)


MEANS = np.array([[1.2, 0.0, 0.3], [0.0, 0.8, 0.0], [0.5, 0.4, 1.5]])
PREVALENCE = np.array([0.5, 0.3, 0.2])


def areas_of_normal_scores():
    """The areas of each column against each class, for scores of unit variance."""
    lead = np.diag(MEANS)[:, None] - MEANS.T  # [a, b]: of class a in column a over b
    return ndtr(lead / np.sqrt(2.0))


def true_area(multi_class, average):
    areas, p = areas_of_normal_scores(), PREVALENCE
    off = ~np.eye(3, dtype=bool)
    if multi_class == "ovo":
        weights = np.add.outer(p, p) if average == "weighted" else np.ones((3, 3))
        return np.average(areas[off], weights=weights[off])
    against_rest = [np.average(areas[a][off[a]], weights=p[off[a]]) for a in range(3)]
    return np.average(against_rest, weights=p if average == "weighted" else None)


@pytest.mark.slow
@every_kind
def test_the_interval_covers_the_truth_at_about_the_stated_rate(kind):
    rng = np.random.default_rng(3)
    truth, covered, n_draws = true_area(**kind), 0, 300
    for _ in range(n_draws):
        y = rng.choice(3, 120, p=PREVALENCE)
        scores = MEANS[y] + rng.normal(size=(120, 3))
        interval = nominal_auc_interval(y, scores, **kind)
        covered += interval.low <= truth <= interval.high
    assert 0.92 <= covered / n_draws <= 0.98


@every_kind
def test_the_bootstrap_agrees(kind):
    rng = np.random.default_rng(4)
    y = rng.choice(3, 300, p=PREVALENCE)
    scores = MEANS[y] + rng.normal(size=(300, 3))
    expected = nominal_auc_interval(y, scores, **kind)
    found = bootstrap_interval(
        nominal_auc_score,
        y,
        scores,
        n_resamples=300,
        stratified=False,
        random_state=0,
        **kind,
    )
    assert found.value == expected.auc
    assert found.standard_error == pytest.approx(expected.standard_error, rel=0.12)


@every_kind
def test_a_perfect_ranking_keeps_an_honest_interval(kind):
    y = np.repeat([0, 1, 2], [3, 4, 5])
    interval = nominal_auc_interval(y, np.eye(3)[y], **kind)
    assert (interval.auc, interval.high) == (1.0, 1.0)
    assert interval.rows == (6, 6)
    assert interval.low == pytest.approx(0.025 ** (1 / 6))


def test_columns_may_come_in_any_order_of_labels():
    rng = np.random.default_rng(5)
    y, scores, _ = draw_rows(rng, 40, 3)
    names = np.array(["cat", "dog", "fox"])
    for labels in (names[y], names[y].tolist(), names[y].astype(object)):
        assert nominal_auc_score(labels, scores) == nominal_auc_score(y, scores)
    order = [2, 0, 1]
    found = nominal_auc_score(names[y], scores[:, order], labels=names[order])
    assert found == pytest.approx(nominal_auc_score(y, scores), abs=1e-15)


def test_each_column_is_compared_within_itself():
    rng = np.random.default_rng(6)
    y, scores, _ = draw_rows(rng, 40, 3)
    moved = np.exp(scores) * [1.0, 1e-8, 1e8] + [0.0, 5.0, -1e6]
    np.testing.assert_allclose(
        nominal_auc_score(y, moved), nominal_auc_score(y, scores), rtol=1e-12
    )
    expected = np.mean([roc_auc_score(y == c, scores[:, c]) for c in range(3)])
    assert nominal_auc_score(y, scores) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("metric", [nominal_auc_score, nominal_auc_interval])
def test_bad_input_is_rejected(metric):
    y, scores = [0, 1, 2, 0, 1, 2], np.eye(3)[[0, 1, 2, 0, 1, 2]]
    with pytest.raises(ValueError, match="2 columns, but there are 3 classes"):
        metric(y, scores[:, :2])
    with pytest.raises(ValueError, match=r"got shape \(6,\)"):
        metric(y, scores[:, 0])
    with pytest.raises(ValueError, match=r"got shape \(5, 3\)"):
        metric(y, scores[:5])
    with pytest.raises(ValueError, match="y_score must be finite, but row 2 is nan"):
        metric(y, np.where(np.arange(6)[:, None] == 2, np.nan, scores))
    with pytest.raises(NotEnoughClassesError, match="one class only: all 2 labels"):
        metric([1, 1], scores[:2])
    with pytest.raises(NotEnoughClassesError, match="is of class 3, so its column"):
        metric(y, np.c_[scores, scores[:, 0]], labels=[0, 1, 2, 3])
    with pytest.raises(NotEnoughClassesError, match="is of class 1, so its column"):
        metric(y, scores, sample_weight=[1, 0, 1, 1, 0, 1])
    with pytest.raises(ValueError, match=r"is 2 in row 2, .* labels, \[0, 1, 7\]"):
        metric(y, scores, labels=[0, 1, 7])
    with pytest.raises(ValueError, match="labels must be distinct"):
        metric(y, scores, labels=[0, 1, 1])
    with pytest.raises(ValueError, match="'ovr', 'ovo', got 'all'"):
        metric(y, scores, multi_class="all")
    with pytest.raises(ValueError, match="'macro', 'weighted', got 'micro'"):
        metric(y, scores, average="micro")


def test_one_row_of_a_class_is_too_few_for_an_interval():
    with pytest.raises(ValueError, match="class of column 2 has one"):
        nominal_auc_interval([0, 1, 2, 0, 1], np.eye(3)[[0, 1, 2, 0, 1]])
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        nominal_auc_interval([0, 1], np.eye(2), confidence=95)
