"""Decision curves against counts of rows, and their intervals."""

import json

import numpy as np
import pytest
from scipy.special import expit

from aucmax.decisions import net_benefit

RNG = np.random.default_rng(0)
X = RNG.normal(size=400)
CHANCES = expit(1.5 * X - 1.5).round(2)
HAPPENED = RNG.random(400) < CHANCES
WEIGHTS = RNG.choice([0.0, 1.0, 3.0], 400)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
def test_it_is_true_positives_less_weighted_false_positives_per_row(weight):
    cuts = np.array([0.0, 0.05, 0.1, 0.33, 0.5, 0.9, 0.99])
    benefit = net_benefit(HAPPENED, CHANCES, thresholds=cuts, sample_weight=weight)
    w = np.ones(400) if weight is None else weight
    for k, t in enumerate(cuts):
        above = t < CHANCES
        tp, fp = w @ (above & HAPPENED), w @ (above & ~HAPPENED)
        value = (tp - fp * t / (1 - t)) / w.sum()
        assert benefit.net_benefit[k] == pytest.approx(value)
        assert benefit.alerts[k] == pytest.approx((tp + fp) / w.sum())
        assert benefit.standardised[k] == pytest.approx(
            value * w.sum() / (w @ HAPPENED)
        )
        treat_all = (w @ HAPPENED - t / (1 - t) * (w @ ~HAPPENED)) / w.sum()
        assert benefit.treat_all[k] == pytest.approx(treat_all)
        assert benefit.low[k] <= value <= benefit.high[k]
        assert benefit.standardised_low[k] <= value / benefit.base_rate
        assert benefit.standardised_high[k] >= value / benefit.base_rate


def test_without_alerts_the_benefit_is_0_and_the_interval_is_not_empty():
    benefit = net_benefit([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], thresholds=[0.8])
    assert benefit.net_benefit[0] == 0
    assert benefit.low[0] < 0 < benefit.high[0]


def test_intervals_cover_with_30_positives():
    # in full: make coverage-intervals
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 100))
    chances = expit(1.5 * x - 1.1)
    happened = rng.random(chances.shape) < chances
    many = expit(1.5 * rng.normal(size=400_000) - 1.1)
    cuts = np.array([0.1, 0.3, 0.6])
    above = many[:, None] > cuts
    truth = (many @ above - cuts / (1 - cuts) * ((1 - many) @ above)) / many.size
    values = [
        net_benefit(y, p, thresholds=cuts)
        for y, p in zip(happened, chances, strict=True)
    ]
    held = np.mean([(one.low <= truth) & (truth <= one.high) for one in values], axis=0)
    assert (held > 0.92).all()
    share = truth / many.mean()
    ends = [(one.standardised_low, one.standardised_high) for one in values]
    held = np.mean([(low <= share) & (share <= high) for low, high in ends], axis=0)
    assert (held > 0.92).all()


def test_it_prints_a_sentence_and_is_a_table():
    benefit = net_benefit(HAPPENED, CHANCES)
    assert "at" in repr(benefit)
    assert "of 99 thresholds, most at" in repr(benefit)
    useless = net_benefit(HAPPENED, np.full(400, 0.9), thresholds=[0.95])
    assert repr(useless).endswith("at none of 1 thresholds.")
    table = benefit.to_frame()
    assert table.height == 99
    assert table["net_benefit"].to_list() == benefit.net_benefit.tolist()
    assert json.loads(json.dumps(benefit.to_dict()))["threshold"][0] == 0.01


@pytest.mark.parametrize("cuts", [[0.5, 1.0], [-0.1], [], [[0.5]], ["a"], [np.nan]])
def test_thresholds_that_are_no_probabilities_are_rejected(cuts):
    with pytest.raises(ValueError, match="thresholds must be numbers from 0"):
        net_benefit(HAPPENED, CHANCES, thresholds=cuts)
