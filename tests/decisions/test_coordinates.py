import numpy as np
import pytest
from scipy.special import ndtri

from aucmax.decisions import (
    operating_point,
    roc_coordinates,
    sensitivity_at_specificity,
    specificity_at_sensitivity,
)
from aucmax.metrics import (
    binormal_curve,
    metric_interval,
    roc_auc_score,
    roc_points,
)

RNG = np.random.default_rng(0)
Y = np.arange(120) % 2 == 0
SCORES = RNG.normal(size=120) + Y
GROUPS = np.arange(120) // 4


def test_a_rate_at_another_is_read_off_the_curve_from_both_sides():
    curve = roc_points(Y, SCORES)
    for rate in (0.5, 0.8, 0.95):
        found = sensitivity_at_specificity(Y, SCORES, rate, n_resamples=200)
        height = curve.tpr[curve.fpr <= 1 - rate + 1e-12].max()
        assert found.sensitivity == pytest.approx(height)
        assert found.low <= found.sensitivity <= found.high
        other = specificity_at_sensitivity(Y, SCORES, rate, n_resamples=200)
        width = 1 - curve.fpr[curve.tpr >= rate - 1e-12].min()
        assert other.specificity == pytest.approx(width)
        assert str(other).startswith("specificity 0.")
    text = sensitivity_at_specificity(np.where(Y, "a", "b"), SCORES, 0.8, pos_label="a")
    assert text.value == sensitivity_at_specificity(Y, SCORES, 0.8).value


def test_the_interval_does_not_collapse_at_the_corner():
    found = sensitivity_at_specificity(Y, Y * 1.0, 0.9, n_resamples=50)
    assert found.sensitivity == found.high == 1.0
    assert 0.9 < found.low < 0.96
    groups = np.arange(120) // 12
    clustered = sensitivity_at_specificity(
        Y, Y * 1.0, 0.9, n_resamples=50, groups=groups
    )
    assert clustered.low < 0.8


def test_the_sensitivity_at_a_rate_has_one_interval():
    weights = np.random.default_rng(5).random(120) + 0.5
    for options in (
        {},
        {"sample_weight": weights, "confidence": 0.9},
        {"groups": GROUPS},
    ):
        for rate in (0.0, 0.1, 0.2, 1 / 3, 1.0):
            found = sensitivity_at_specificity(Y, SCORES, 1.0 - rate, **options)
            named = metric_interval(Y, SCORES, f"recall@fpr={rate!r}", **options)
            assert (found.value, found.low, found.high) == pytest.approx(
                (named.value, named.low, named.high)
            )
    # a fixed threshold is less uncertain than a rate
    point = operating_point(Y, SCORES, fpr=0.1)
    found = sensitivity_at_specificity(Y, SCORES, 0.9)
    assert found.value == point.recall
    assert found.low < point.intervals["recall"][0]
    assert found.high > point.intervals["recall"][1]


def test_rates_are_covered():
    rng = np.random.default_rng(1)
    truth = 0.5  # scores are shifted by the quantile
    covered = 0
    y = np.arange(80) < 40
    for _ in range(150):
        scores = rng.normal(size=80) + y * ndtri(0.8)
        found = sensitivity_at_specificity(y, scores, 0.8)
        covered += found.low <= truth <= found.high
    assert covered / 150 >= 0.9


def test_the_table_has_the_counts_of_the_definition():
    thresholds = [-0.3, 0.4, 9.0]
    table = roc_coordinates(Y, SCORES, thresholds)
    for row, threshold in zip(table.iter_rows(named=True), thresholds, strict=True):
        above = threshold < SCORES
        counts = [(above & Y).sum(), (above & ~Y).sum(), (~above & ~Y).sum()]
        assert [row["tp"], row["fp"], row["tn"]] == counts
        assert row["sensitivity"] == pytest.approx(above[Y].mean())
        assert row["specificity"] == pytest.approx((~above)[~Y].mean())
        assert row["npv"] == pytest.approx((~Y)[~above].mean())
        assert row["accuracy"] == pytest.approx((above == Y).mean())
        assert row["youden"] == pytest.approx(above[Y].mean() - above[~Y].mean())
        for name in ("sensitivity", "specificity"):
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


def test_groups_widen_the_intervals_of_a_threshold():
    groups = np.arange(240) // 12
    y = np.arange(240) % 2 == 0
    shift = np.random.default_rng(2).normal(size=20)[groups]
    scores = y + 3 * shift + np.random.default_rng(3).normal(size=240)
    plain = operating_point(y, scores, threshold=0.5)
    found = operating_point(y, scores, threshold=0.5, groups=groups)
    assert found.recall == plain.recall
    assert np.ptp(found.intervals["recall"]) > 1.5 * np.ptp(plain.intervals["recall"])
    alone = operating_point(y, scores, threshold=0.5, groups=np.arange(240))
    for name, ends in plain.intervals.items():
        assert alone.intervals[name] == pytest.approx(ends, abs=0.02 * max(ends[1], 1))
    with pytest.raises(ValueError, match="one group only"):
        operating_point(y, scores, threshold=0.5, groups=np.zeros(240))


def test_the_hull_is_concave_and_above_the_curve():
    curve = roc_points(Y, np.round(SCORES, 1))
    hull = curve.hull()
    slopes = np.diff(hull.tpr) / np.maximum(np.diff(hull.fpr), 1e-12)
    assert (np.diff(slopes) < 0).all()
    assert (np.interp(curve.fpr, hull.fpr, hull.tpr) >= curve.tpr - 1e-12).all()
    assert set(zip(hull.fpr, hull.tpr, strict=True)) <= set(
        zip(curve.fpr, curve.tpr, strict=True)
    )
    assert (hull.fpr[0], hull.tpr[0], hull.fpr[-1], hull.tpr[-1]) == (0, 0, 1, 1)


def test_the_binormal_curve_of_normal_scores_is_theirs():
    rng = np.random.default_rng(4)
    y = np.arange(20_000) % 2 == 0
    scores = np.where(y, 1.2 + 0.8 * rng.normal(size=y.size), rng.normal(size=y.size))
    curve = binormal_curve(y, scores)
    assert (curve.a, curve.b) == pytest.approx((1.2 / 0.8, 1 / 0.8), rel=0.05)
    assert curve.auc == pytest.approx(roc_auc_score(y, scores), abs=0.005)
    assert curve.tpr([0.0, 0.5, 1.0]) == pytest.approx([0, float(curve.tpr(0.5)), 1])
    with pytest.raises(ValueError, match="fewer than two points"):
        binormal_curve([0, 0, 1, 1], [1, 2, 3, 4])
    with pytest.raises(ValueError, match="different rates"):
        binormal_curve([0, 1, 1, 1, 0], [1, 2, 3, 4, 5])


def test_a_specificity_that_is_rounded_finds_its_step():
    y = np.repeat([0, 1], 10)
    scores = [*range(1, 11), 9.5, *range(20, 29)]  # 1 - 0.9 is less than 1 / 10
    assert sensitivity_at_specificity(y, scores, 0.9, n_resamples=2).value == 1.0


def test_rows_of_weight_zero_change_nothing():
    weights = np.arange(120) % 3 / 2 > 0
    rows = Y[weights], SCORES[weights]
    curve, same = roc_points(Y, SCORES, sample_weight=weights), roc_points(*rows)
    assert curve.fpr.tolist() == same.fpr.tolist()
    assert curve.tpr.tolist() == same.tpr.tolist()
    smooth = binormal_curve(Y, SCORES, sample_weight=weights)
    assert smooth.a == pytest.approx(binormal_curve(*rows).a)
    found, expected = (
        sensitivity_at_specificity(y, y * 1.0, 0.9, n_resamples=9, sample_weight=w)
        for y, w in ((Y, weights), (rows[0], None))
    )
    assert found.low == pytest.approx(expected.low)
