"""Groups of people: each number by hand, and what is left out."""

import json

import numpy as np
import pytest

from aucmax.decisions import compare_groups, operating_point
from aucmax.inference import auc_interval, compare_metric
from aucmax.inference.intervals import wilson_ends
from aucmax.metrics import roc_auc_score

RNG = np.random.default_rng(0)
Y = RNG.random(600) < 0.4
BY = RNG.choice(["b", "a", "c", None], 600, p=[0.5, 0.3, 0.1, 0.1])
SCORES = (RNG.normal(size=600) + Y * np.where(BY == "a", 0.3, 1.5)).round(1)
WEIGHTS = RNG.choice([1.0, 2.0], 600)


def ends(found):
    return found.value, found.low, found.high


def compare(**options):
    return compare_groups(Y, SCORES, BY, threshold=0.7, **options)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_each_group_has_its_area_and_rates(weights):
    result = compare(sample_weight=weights)
    assert [one.group for one in result.groups] == ["b", "a", "c"]
    for one in result.groups:
        rows = one.group == BY
        row_weights = None if weights is None else weights[rows]
        area = auc_interval(Y[rows], SCORES[rows], sample_weight=row_weights)
        assert one.auc == area
        point = operating_point(
            Y[rows], SCORES[rows], threshold=0.7, sample_weight=row_weights
        )
        assert ends(one.recall) == pytest.approx(
            (point.recall, *point.intervals["recall"])
        )
        assert ends(one.fpr) == pytest.approx((point.fpr, *point.intervals["fpr"]))
        assert (one.n_rows, one.n_positive) == (rows.sum(), (rows & Y).sum())
    assert result.n_missing == sum(value is None for value in BY)


def test_areas_between_groups_pair_positives_of_one_with_negatives_of_another():
    result = compare()
    for g, one in enumerate(result.groups):
        for h, two in enumerate(result.groups):
            rows = (Y & (one.group == BY)) | (~Y & (two.group == BY))
            expected = roc_auc_score(Y[rows], SCORES[rows])
            assert result.between[g, h] == pytest.approx(expected)
            assert result.between_low[g, h] < expected < result.between_high[g, h]


def test_differences_of_areas_are_those_of_unpaired_samples():
    rows = [name == BY for name in ("b", "a", "c")]
    names = dict(zip("bac", (SCORES[one] for one in rows), strict=True))
    labels = [Y[one] for one in rows]
    for options, asked in (({}, {"reference": "b"}), ({"all_pairs": True}, {})):
        expected = compare_metric(labels, names, **asked).differences
        values = [one for one in compare(**options).differences if one.metric == "auc"]
        assert len(values) == len(expected)
        for one, two in zip(values, expected, strict=True):
            assert one.names == two.names
            assert one.difference == pytest.approx(two.difference)
            assert (one.low, one.high) == pytest.approx((two.low, two.high))
            assert one.p_value == pytest.approx(two.p_value)


def test_one_difference_of_rates_has_newcombes_interval():
    kept = BY != "c"
    comparison = compare_groups(Y[kept], SCORES[kept], BY[kept], threshold=0.7)
    one = next(one for one in comparison.differences if one.metric == "recall")
    shares = []
    for name in ("a", "b"):
        rows = Y & (name == BY)
        share = float((SCORES[rows] > 0.7).mean())
        shares.append((share, *wilson_ends(share, rows.sum(), 0.95)))
    (p, l1, u1), (q, l2, u2) = shares
    assert one.names == ("a", "b")
    assert one.difference == pytest.approx(p - q)
    assert one.low == pytest.approx(p - q - np.hypot(p - l1, u2 - q))
    assert one.high == pytest.approx(p - q + np.hypot(u1 - p, q - l2))
    assert one.p_value < 0.01


def test_a_group_of_one_class_has_no_area_and_is_not_compared():
    by = np.where(np.arange(600) < 5, "tiny", "rest")
    y = Y.copy()
    y[:5] = True
    comparison = compare_groups(y, SCORES, by, threshold=0.7)
    tiny = comparison.groups[1]
    assert tiny.auc is tiny.fpr is None
    assert tiny.recall.value == (SCORES[:5] > 0.7).mean()
    assert [one.metric for one in comparison.differences] == ["recall"]
    assert np.isfinite(comparison.between[1, 0])
    assert json.loads(json.dumps(comparison.to_dict()))["groups"][1]["auc"] is None


def test_it_prints_a_table_with_differences_and_missing_groups():
    lines = repr(compare()).splitlines()
    assert lines[0].split()[:3] == ["group", "rows", "positive"]
    assert [line.split()[0] for line in lines[1:4]] == ["b", "a", "c"]
    assert lines[4].startswith("AUC a 0.")
    assert lines[-1] == f"{compare().n_missing} rows without a group are left out."
    assert compare().to_frame()["group"].to_list() == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        (np.arange(600), {}, "by has 600 different values"),
        ([None] * 600, {}, "by has no values"),
        (["a"] * 599, {}, "one group per row, 600 in all"),
        (BY, {"reference": "z"}, "the groups are b, a, c"),
        (BY, {"threshold": "high"}, "threshold must be a finite number"),
    ],
)
def test_bad_input_is_explained(by, options, message):
    with pytest.raises(ValueError, match=message):
        compare_groups(Y, SCORES, by, **options)


def test_a_group_without_weight_is_not_compared():
    weights = np.where((BY == "a") & Y, 0.0, 1.0)
    result = compare(sample_weight=weights)
    group = result.groups[1]
    assert group.group == "a"
    assert group.auc is group.recall is None
    assert group.fpr is not None
    assert {one.names for one in result.differences if one.metric == "auc"} == {
        ("c", "b")
    }
