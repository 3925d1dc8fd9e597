import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import (
    auc_interval,
    compare_auc,
    compare_metric,
    metric_interval,
)
from inference.comparisons import difference


def scores_of_folds(n_folds, seed=0):
    """Labels, scores of two models and folds of different sizes."""
    rng = np.random.default_rng(seed)
    sizes = 30 + 10 * np.arange(n_folds)
    labels = np.concatenate([np.arange(size) % 3 == 0 for size in sizes])
    folds = np.repeat(np.arange(n_folds), sizes)
    a, b = labels + [[1], [2]] * rng.normal(size=(2, labels.size))
    return labels, a, b, folds


def by_fold(labels, a, b, folds):
    """Intervals and tests of each fold, and its share of the pairs."""
    rows = [folds == fold for fold in np.unique(folds)]
    areas = [auc_interval(labels[members], a[members]) for members in rows]
    tests = [compare_auc(labels[members], a[members], b[members]) for members in rows]
    pairs = np.array(
        [labels[members].sum() * (~labels[members]).sum() for members in rows]
    )
    return areas, tests, pairs / pairs.sum()


def test_one_fold_has_delongs_interval_and_test():
    labels, a, b, folds = scores_of_folds(1)
    for estimand in ("models", "procedure"):
        interval = auc_interval(labels, a, folds=folds, estimand=estimand)
        plain = auc_interval(labels, a)
        assert (interval.low, interval.high) == pytest.approx((plain.low, plain.high))
        test = difference(labels, a, b, folds=folds, estimand=estimand)
        result = compare_auc(labels, a, b)
        for name in ("difference", "low", "high", "z", "p_value"):
            assert getattr(test, name) == pytest.approx(getattr(result, name))


def test_folds_are_pooled_by_their_pairs_and_widened_for_the_procedure():
    rows = scores_of_folds(5)
    labels, a, b, folds = rows
    areas, tests, shares = by_fold(*rows)
    for result, parts in (
        (
            [
                auc_interval(labels, a, folds=folds, estimand=t)
                for t in ("models", "procedure")
            ],
            areas,
        ),
        (
            [
                difference(labels, a, b, folds=folds, estimand=t)
                for t in ("models", "procedure")
            ],
            tests,
        ),
    ):
        variance = sum((shares * [one.standard_error for one in parts]) ** 2)
        assert result[0].standard_error == pytest.approx(variance**0.5)
        # five folds with the correlation 1/5 of Nadeau and Bengio
        assert result[1].standard_error == pytest.approx((1.8 * variance) ** 0.5)
        assert result[1].low < result[0].low < result[0].high < result[1].high
    moved = auc_interval(labels, a + 9.0 * folds, folds=folds)
    assert moved.low == pytest.approx(auc_interval(labels, a, folds=folds).low)


def test_repetitions_share_their_rows():
    labels, a, b, folds = scores_of_folds(4)
    one = auc_interval(labels, a, folds=folds)
    same = auc_interval(labels, a, folds=np.c_[folds, folds])
    assert same.standard_error == pytest.approx(one.standard_error)
    other = np.random.default_rng(0).permutation(folds)
    both = auc_interval(labels, np.c_[a, b], folds=np.c_[folds, other])
    parts = [auc_interval(labels, s, folds=f) for s, f in ((a, folds), (b, other))]
    weights = [
        sum(labels[f == k].sum() * (~labels[f == k]).sum() for k in range(4))
        for f in (folds, other)
    ]
    mean = np.average([part.value for part in parts], weights=weights)
    assert both.value == pytest.approx(mean)
    assert both.standard_error < max(part.standard_error for part in parts)
    assert both.estimand == "models"
    assert str(both).endswith("for the fitted models")


def test_several_models_are_compared_within_folds():
    labels, a, b, folds = scores_of_folds(3)
    comparison = compare_metric(labels, {"a": a, "b": b, "c": a * 2}, folds=folds)
    assert comparison.rank == 1
    assert comparison.differences[1].p_value == 1.0
    assert comparison.p_value == pytest.approx(
        difference(labels, a, b, folds=folds).p_value, rel=0.1
    )
    equal = difference(labels, a, a, folds=folds, estimand="procedure")
    assert (equal.difference, equal.z, equal.p_value) == (0.0, 0.0, 1.0)
    assert equal.high == -equal.low < 0.1


def test_folds_with_one_class_are_left_out_and_bad_folds_are_named():
    labels, a, _, folds = scores_of_folds(3)
    more = np.append(folds, [7, 7, 7])
    interval = auc_interval(
        np.append(labels, [True] * 3), np.append(a, [1, 2, 3]), folds=more
    )
    assert interval.value == pytest.approx(auc_interval(labels, a, folds=folds).value)
    with pytest.raises(ValueError, match="folds must have one row per label, 120"):
        auc_interval(labels, a, folds=folds[1:])
    with pytest.raises(ValueError, match=r"folds is nan in row 0 \(1 such rows\)"):
        auc_interval(labels, a, folds=np.where(np.arange(120) == 0, np.nan, folds))
    with pytest.raises(ValueError, match="a test fold has a single row of one class"):
        auc_interval(np.arange(120) < 4, a, folds=np.arange(120) % 4)
    with pytest.raises(NotEnoughClassesError, match="None of the folds"):
        auc_interval(labels, a, folds=np.arange(120))
    with pytest.raises(ValueError, match="2 columns and folds has 1"):
        auc_interval(labels, np.c_[a, a], folds=folds)
    with pytest.raises(ValueError, match="estimand must be"):
        auc_interval(labels, a, folds=folds, estimand="both")


def test_groups_within_folds_are_the_units():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(40), 8)
    folds = group % 5
    labels = rng.random(40)[group] < 0.4
    scores = labels + rng.normal(size=40)[group] + 0.3 * rng.normal(size=320)
    alone = auc_interval(labels, scores, folds=folds)
    interval = auc_interval(labels, scores, folds=folds, groups=group)
    assert interval.value == pytest.approx(alone.value)
    assert interval.standard_error > 1.5 * alone.standard_error
    # rows of their own are groups of one row
    plain = rng.normal(size=320) + labels
    singles = auc_interval(labels, plain, folds=folds, groups=np.arange(320))
    alone = auc_interval(labels, plain, folds=folds)
    assert singles.standard_error == pytest.approx(alone.standard_error, rel=0.1)
    # one fold is plain rows
    one = auc_interval(labels, scores, folds=np.zeros(320), groups=group)
    plain = auc_interval(labels, scores, groups=group)
    assert (one.low, one.high) == pytest.approx((plain.low, plain.high))
    twice = auc_interval(
        labels, scores, folds=np.c_[folds, folds], groups=group, fpr_range=(0, 0.5)
    )
    once = auc_interval(labels, scores, folds=folds, groups=group, fpr_range=(0, 0.5))
    assert twice.standard_error == pytest.approx(once.standard_error)
    other = scores + rng.normal(size=40)[group]
    fixed, clustered = (
        difference(labels, scores, other, folds=folds, **result)
        for result in ({}, {"groups": group})
    )
    assert fixed.difference == pytest.approx(clustered.difference)
    assert clustered.standard_error > 1.5 * fixed.standard_error


def test_a_fold_with_one_group_of_a_class_has_a_variance():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        group = np.repeat(np.arange(30), 6)
        labels = group < 5  # one group of positives in each fold
        scores = rng.normal(size=30)[group] + 0.2 * rng.normal(size=180)
        interval = auc_interval(labels, scores, folds=group % 5, groups=group)
        covered += interval.low <= 0.5 <= interval.high
    assert 0.92 <= covered / 200 <= 1.0


@pytest.mark.parametrize(
    "metric",
    [
        "average_precision",
        "precision@40",
        "recall@fpr=0.1",
        "ks",
        "recall@precision=0.3",
    ],
)
def test_metrics_that_are_not_means_are_measured_over_all_folds(metric):
    rng = np.random.default_rng(2)
    folds, labels = np.arange(300) % 5, rng.random(300) < 0.15
    scores = rng.normal(size=300) + labels
    # ranks within folds decide, so each fold may have a scale of its own
    moved = np.exp(scores * (1.0 + folds)) + 9.0 * folds
    options = {"folds": folds, "n_resamples": 50}
    interval = metric_interval(labels, moved, metric, **options)
    assert interval == metric_interval(labels, scores, metric, **options)
    places = np.empty(300)
    for fold in range(5):
        members = folds == fold
        places[members] = (scores[members, None] > scores[members]).mean(axis=1)
    plain = metric_interval(labels, places, metric, n_resamples=50)
    assert (interval.value, interval.low, interval.high) == pytest.approx(
        (plain.value, plain.low, plain.high)
    )
    wider = metric_interval(labels, scores, metric, estimand="procedure", **options)
    assert wider.value - wider.low == pytest.approx(
        min(1.8**0.5 * (plain.value - plain.low), plain.value)
    )
    test = difference(labels, scores, -scores, metric=metric, folds=folds)
    assert test.value_1 == pytest.approx(interval.value)
    assert test.p_value < 0.001
