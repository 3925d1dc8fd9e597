"""Probabilities compared with what happened."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, logit, stdtrit
from sklearn.metrics import brier_score_loss, log_loss

from aucmax.decisions import reliability
from aucmax.inference.intervals import wilson_ends

RNG = np.random.default_rng(0)
CHANCES = RNG.random(500).round(2)
HAPPENED = RNG.random(500) < CHANCES
WEIGHTS = RNG.choice([0.0, 1.0, 2.0], 500)


@pytest.mark.parametrize("weight", [None, WEIGHTS])
def test_errors_are_those_of_scikit_learn(weight):
    calibration = reliability(HAPPENED, CHANCES, sample_weight=weight)
    options = {"sample_weight": weight}
    assert calibration.brier_score == pytest.approx(
        brier_score_loss(HAPPENED, CHANCES, **options)
    )
    assert calibration.log_loss == pytest.approx(log_loss(HAPPENED, CHANCES, **options))
    assert calibration.mean_probability == pytest.approx(
        np.average(CHANCES, weights=weight)
    )


def test_groups_are_of_about_one_size_and_keep_equal_probabilities_together():
    calibration = reliability(HAPPENED, CHANCES, n_bins=5)
    assert calibration.n_rows.sum() == 500
    assert calibration.n_rows.min() > 80
    assert (np.diff(calibration.probability) > 0).all()
    ends = np.cumsum(calibration.n_rows)[:-1]
    ranked = np.sort(CHANCES)
    assert (ranked[ends] > ranked[ends - 1]).all()
    first = np.argsort(CHANCES, kind="stable")[: calibration.n_rows[0]]
    assert calibration.share[0] == pytest.approx(HAPPENED[first].mean())
    assert (calibration.low[0], calibration.high[0]) == pytest.approx(
        wilson_ends(calibration.share[0], calibration.n_rows[0], 0.95)
    )


def test_scores_are_no_probabilities():
    with pytest.raises(ValueError, match=r"between 0 and 1, but row 1 is 1\.5"):
        reliability([0, 1], [0.5, 1.5])


def by_rms():
    with (Path(__file__).parent / "r" / "calibration.csv").open() as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


@pytest.mark.parametrize("row", by_rms())
def test_slope_and_intercept_are_those_of_rms(row):
    k = np.arange(1, int(row["rows"]) + 1)
    x = 2 * np.sin(12.9898 * k)
    y = (78.233 * k) % 1 < expit(row["shift"] + row["tilt"] * x)
    calibration = reliability(y, expit(x))
    assert calibration.slope == pytest.approx(row["slope"], abs=1e-5)
    assert calibration.intercept == pytest.approx(row["intercept"], abs=1e-5)
    assert calibration.in_the_large == pytest.approx(row["in_the_large"], abs=1e-6)
    assert calibration.brier_score == pytest.approx(row["brier"], abs=1e-9)


def test_calibrated_probabilities_have_slope_1_and_intercept_0_within_intervals():
    calibration = reliability(HAPPENED, CHANCES)
    for name, ideal in (("slope", 1.0), ("intercept", 0.0), ("in_the_large", 0.0)):
        low, high = getattr(calibration, f"{name}_interval")
        assert low < ideal < high
        assert low < getattr(calibration, name) < high
    wider = reliability(HAPPENED, CHANCES, confidence_level=0.99)
    assert wider.slope_interval[0] < calibration.slope_interval[0]


def test_intervals_of_slopes_are_those_of_the_sandwich():
    # the derivatives by the weight of each row, by refits
    rng = np.random.default_rng(2)
    x = rng.normal(size=60)
    y = rng.random(60) < expit(0.5 * x)
    calibration = reliability(y, expit(x))
    step = 1e-4
    moved = [
        reliability(y, expit(x), sample_weight=1 + step * (np.arange(60) == k))
        for k in range(60)
    ]
    for name in ("slope", "intercept", "in_the_large"):
        value = getattr(calibration, name)
        effects = [(getattr(one, name) - value) / step for one in moved]
        margin = float(stdtrit(58, 0.975)) * np.sqrt(np.square(effects).sum())
        ends = getattr(calibration, f"{name}_interval")
        assert ends == pytest.approx((value - margin, value + margin), abs=2e-3)


def test_slopes_without_a_maximum_are_not_numbers():
    apart = reliability([0, 0, 1, 1], [0.1, 0.2, 0.6, 0.7])
    assert np.isnan(apart.slope)
    assert np.isnan(apart.slope_interval).all()
    assert np.isfinite(apart.in_the_large)
    constant = reliability(HAPPENED, np.full(500, 0.9))
    assert np.isnan(constant.slope)
    assert constant.in_the_large == pytest.approx(
        logit(HAPPENED.mean()) - logit(0.9), abs=1e-8
    )


def test_certain_rows_are_counted_and_left_out_of_the_slope():
    sure = np.where(np.arange(500) < 7, 1.0, np.clip(CHANCES, 0.01, 0.99))
    calibration = reliability(HAPPENED, sure)
    others = reliability(HAPPENED[7:], sure[7:])
    assert calibration.n_certain == 7
    assert calibration.slope == pytest.approx(others.slope)
    assert reliability([0, 1, 1], [0.0, 1.0, 0.5]).n_certain == 2


def test_it_prints_each_measure_on_a_line_with_its_ideal():
    rng = np.random.default_rng(0)
    chances = rng.uniform(0.1, 0.9, 200)
    result = reliability(rng.random(200) < chances, chances)
    first, second, *lines = str(result).splitlines()
    assert f"Brier score {result.brier_score:.4f}" in first
    assert f"mean probability {result.mean_probability:.2%}" in second
    names = [line.rsplit(maxsplit=1)[-1] for line in lines]
    assert names == ["1", "0", "0"]
    assert lines[2].startswith(f"calibration in the large {result.in_the_large:.3f} (")
