"""Thresholds by rules, counted literally, and whether the intervals hold."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr

from aucmax.decisions import operating_point
from aucmax.inference import metric_interval
from aucmax.inference.intervals import wilson_ends

LABELS = np.array([0, 1] * 3 + [0] * 6)
# few distinct values, so that ties are the rule
tied_scores = arrays(float, LABELS.size, elements=st.integers(-2, 2).map(float))
weights = arrays(float, LABELS.size, elements=st.sampled_from([0.5, 1.0, 3.0]))


def every_cut(scores, weight):
    """Count above each threshold: (alerts, found, false alarms), most alerts last."""
    cuts = [np.inf, *sorted(set(scores.tolist()), reverse=True)]
    for cut in cuts:
        above = scores >= cut
        tp = weight[above & (LABELS == 1)].sum()
        alarms = weight[above & (LABELS == 0)].sum()
        yield tp + alarms, tp, alarms


def best(scores, weight, allowed, price):
    """Return the counts of the allowed cut of the least price, of the fewest alerts."""
    cuts = [cut for cut in every_cut(scores, weight) if allowed(*cut)]
    return min(cuts, key=lambda cut: (round(price(*cut), 9), cut[0]), default=None)


RULES = {
    "recall": (
        {"recall": 0.6},
        lambda p, n: lambda a, f, r: f >= 0.6 * p - 1e-9,
        lambda p, n: lambda a, f, r: a,
    ),
    "fpr": (
        {"fpr": 0.25},
        lambda p, n: lambda a, f, r: r <= 0.25 * n + 1e-9,
        lambda p, n: lambda a, f, r: -a,
    ),
    "precision": (
        {"precision": 0.3},
        lambda p, n: lambda a, f, r: a > 0 and f >= 0.3 * a - 1e-9,
        lambda p, n: lambda a, f, r: -a,
    ),
    "alerts": (
        {"alerts": 5},
        lambda p, n: lambda a, f, r: 0 < a <= 5 + 1e-9,
        lambda p, n: lambda a, f, r: -a,
    ),
    "costs": (
        {"costs": (3.0, 1.0)},
        lambda p, n: lambda a, f, r: True,
        lambda p, n: lambda a, f, r: -3.0 * f + r,
    ),
    "balanced": (
        {},
        lambda p, n: lambda a, f, r: True,
        lambda p, n: lambda a, f, r: r / n - f / p,
    ),
}


@pytest.mark.parametrize("name", RULES)
@given(tied_scores, weights, st.booleans())
def test_each_rule_takes_what_counting_all_cuts_finds(
    name, scores, weight, is_weighted
):
    options, allowed, price = RULES[name]
    weight = weight if is_weighted else np.ones(LABELS.size)
    totals = weight[LABELS == 1].sum(), weight[LABELS == 0].sum()
    expected = best(scores, weight, allowed(*totals), price(*totals))
    given_weight = {"sample_weight": weight} if is_weighted else {}
    if expected is None:
        with pytest.raises(ValueError, match="no threshold"):
            operating_point(LABELS, scores, **options, **given_weight)
        return
    point = operating_point(LABELS, scores, **options, **given_weight)
    counts = point.alerts, point.tp, point.fp
    assert counts == pytest.approx(expected)
    assert point.fn + point.tp == pytest.approx(totals[0])
    assert point.tn + point.fp == pytest.approx(totals[1])
    above = scores > point.threshold
    assert weight[above].sum() == pytest.approx(point.alerts)
    assert point.recall == pytest.approx(expected[1] / totals[0])
    assert point.fpr == pytest.approx(expected[2] / totals[1])
    for name, (low, high) in point.intervals.items():
        value = getattr(point, name)
        assert math.isnan(value) or low - 1e-9 <= value <= high + 1e-9, name


def test_scores_worse_than_chance_raise_no_alert_by_default():
    point = operating_point(LABELS, -LABELS.astype(float))
    assert (point.alerts, point.recall - point.fpr) == (0, 0.0)
    assert point.rule == "best balanced accuracy"


def test_a_given_threshold_is_used_as_it_is_even_if_no_row_reaches_it():
    point = operating_point(LABELS, np.arange(12.0), threshold=99.0)
    assert (point.alerts, point.tp, point.fn) == (0, 0, 3)
    assert math.isnan(point.precision)
    assert point.to_dict()["precision"] is None
    assert point.intervals["precision"] == (0.0, 1.0)
    assert "None of 12 rows scores above" in str(point)
    assert operating_point(LABELS, np.arange(12.0), threshold=-1.0).alerts == 12


def test_scores_at_the_threshold_are_not_above_it():
    assert operating_point(LABELS, np.arange(12.0), threshold=9.0).alerts == 2


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"recall": 0.5, "fpr": 0.5}, "got recall and fpr; leave out"),
        ({"recall": 90}, r"recall must be in \[0, 1\], got 90"),
        ({"alerts": 0}, r"alerts must be in \(0, inf\]"),
        ({"alerts": 13}, "there are only 12 rows"),
        ({"threshold": math.nan}, "threshold must be a finite number"),
        ({"costs": 1}, "costs must be a pair"),
        ({"costs": (0, 0)}, "both 0"),
        ({"costs": (-1, 1)}, "costs must be a finite number from 0"),
        ({"precision": 0.9}, "the highest is 0.25, with 12 alerts"),
        ({"alerts": 5}, "12 rows share the highest score"),
    ],
)
def test_what_cannot_be_is_said(rule, words):
    scores = np.zeros(12)
    with pytest.raises(ValueError, match=words):
        operating_point(LABELS, scores, **rule)


def test_equal_scores_cannot_be_cut_and_give_no_alerts_by_default():
    point = operating_point(LABELS, np.zeros(12))
    assert (point.alerts, point.threshold) == (0, 0.0)
    assert operating_point(LABELS, np.zeros(12), recall=0.1).alerts == 12


def test_equal_weights_change_no_rate_and_no_interval():
    rng = np.random.default_rng(1)
    y, scores = rng.random(50) < 0.4, rng.normal(size=50)
    plain = operating_point(y, scores, alerts=10)
    heavy = operating_point(y, scores, alerts=40, sample_weight=np.full(50, 4.0))
    assert heavy.threshold == plain.threshold
    assert heavy.intervals["recall"] == pytest.approx(plain.intervals["recall"])
    assert heavy.intervals["tp"] == pytest.approx(
        [4 * end for end in plain.intervals["tp"]]
    )


def test_it_says_what_happens_and_can_be_written_as_json():
    y = np.array([0] * 900 + [1] * 100)
    scores = np.concatenate((np.linspace(0, 1, 900), np.linspace(0.5, 1.5, 100)))
    point = operating_point(y, scores, alerts=60)
    assert str(point) == (
        "Reviewing 60 of 1,000 rows finds 51 of 100 positives (41 to 61) and misses "
        "49, with 9 false alarms (5 to 17): sensitivity 51.0%, specificity 99.0%, "
        "precision 85.0%; intervals for this fixed threshold."
    )
    plain = json.loads(json.dumps(point.to_dict(), allow_nan=False))
    assert plain["rule"] == "at most 60 alerts"
    assert plain["intervals"]["recall"] == list(wilson_ends(0.51, 100, 0.95))


def test_groups_widen_the_intervals_of_a_threshold():
    groups = np.arange(240) // 12
    y = np.arange(240) % 2 == 0
    shift = np.random.default_rng(2).normal(size=20)[groups]
    scores = y + 3 * shift + np.random.default_rng(3).normal(size=240)
    plain = operating_point(y, scores, threshold=0.5)
    result = operating_point(y, scores, threshold=0.5, groups=groups)
    assert result.recall == plain.recall
    assert np.ptp(result.intervals["recall"]) > 1.5 * np.ptp(plain.intervals["recall"])
    alone = operating_point(y, scores, threshold=0.5, groups=np.arange(240))
    for name, ends in plain.intervals.items():
        assert alone.intervals[name] == pytest.approx(ends, abs=0.02 * max(ends[1], 1))
    with pytest.raises(ValueError, match="one group only"):
        operating_point(y, scores, threshold=0.5, groups=np.zeros(240))


def test_clinicians_may_ask_for_sensitivity_and_specificity():
    scores = np.arange(12.0)
    for clinical, rule in (
        ({"specificity": 0.9}, {"fpr": 1.0 - 0.9}),
        ({"sensitivity": 0.7}, {"recall": 0.7}),
    ):
        point = operating_point(LABELS, scores, **clinical)
        assert point == operating_point(LABELS, scores, **rule)
    with pytest.raises(ValueError, match="specificity must"):
        operating_point(LABELS, scores, specificity=95)
    with pytest.raises(ValueError, match="got recall and specificity"):
        operating_point(LABELS, scores, recall=0.7, specificity=0.9)
    clinical = metric_interval(LABELS, scores, "sensitivity@specificity=0.9")
    expected = metric_interval(LABELS, scores, "recall@fpr=0.1")
    assert (clinical.low, clinical.high) == (expected.low, expected.high)
    assert str(clinical).startswith("sensitivity@fpr=0.1 ")
    with pytest.raises(ValueError, match="metric must be one of"):
        metric_interval(LABELS, scores, "sensitivity@specificity=90")


# rules that look best on the rows that chose the threshold, and one that does not
@pytest.mark.parametrize("rule", [{}, {"costs": (20, 1)}, {"recall": 0.8}], ids=str)
def test_intervals_hold_what_the_threshold_shows_on_other_rows(rule):
    rng, n_positive, n_negative, shift = np.random.default_rng(0), 60, 740, 1.5
    y, held = np.arange(n_positive + n_negative) < n_positive, []
    for _ in range(400):
        point = operating_point(y, rng.normal(size=y.size) + shift * y, **rule)
        expected = {
            "tp": n_positive * ndtr(shift - point.threshold),
            "fp": n_negative * ndtr(-point.threshold),
        }
        ends = [point.intervals[name] for name in expected]
        both = zip(expected.values(), ends, strict=True)
        held.append([low <= value <= high for value, (low, high) in both])
    assert np.all(np.abs(np.mean(held, axis=0) - 0.95) <= 0.03)
