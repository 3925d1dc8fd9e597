"""Probabilities of an event by a time, and Kaplan-Meier curves."""

import numpy as np
import pytest
from scipy.special import ndtri

from aucmax.decisions.event_probability import (
    event_probability,
    kaplan_meier,
    learn_baseline,
)


def rows(seed, n_rows, slope=1.0):
    """Exponential times with a log hazard of slope times the score, some censored."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n_rows)
    times = rng.exponential(1.0 / np.exp(slope * scores))
    ends = rng.exponential(2.0, n_rows)
    return times <= ends, np.minimum(times, ends), scores


def literal_hazard(event, time, scores, slope, weight, at):
    hazard = 0.0
    for t, e, w in zip(time, event, weight, strict=True):
        if e and t <= at:
            hazard += w / (weight * np.exp(slope * scores))[time >= t].sum()
    return hazard


@pytest.mark.parametrize("seed", range(3))
def test_the_baseline_is_that_of_breslow_with_ties_and_weights(seed):
    rng = np.random.default_rng(seed)
    event, time, scores = rows(seed, 60)
    time, weight = np.ceil(4 * time), rng.integers(1, 4, 60).astype(float)
    learned = learn_baseline(event, time, scores, weight)
    slope = learned["hazard_slope_"]
    for at in (0.0, 1.0, 2.5, float(time.max())):
        hazard = literal_hazard(event, time, scores, slope, weight, at)
        probabilities = event_probability(learned["baseline_"], slope, scores, at)
        expected = 1.0 - np.exp(-hazard * np.exp(slope * scores))
        np.testing.assert_allclose(probabilities, expected, rtol=1e-10)


def test_the_slope_maximises_the_partial_likelihood():
    event, time, scores = rows(0, 80)

    def likelihood(slope):
        risk = slope * scores
        return sum(
            risk[i] - np.log(np.exp(risk[time >= time[i]]).sum())
            for i in np.flatnonzero(event)
        )

    slope = learn_baseline(event, time, scores)["hazard_slope_"]
    assert likelihood(slope) > max(likelihood(slope - 0.01), likelihood(slope + 0.01))


def test_probabilities_are_those_of_the_model_that_made_the_rows():
    learned = learn_baseline(*rows(1, 20_000, slope=0.8))
    scores = np.linspace(-2, 2, 9)
    probabilities = event_probability(*learned.values(), scores, [0.5, 1.0])
    for column, time in enumerate([0.5, 1.0]):
        truth = 1.0 - np.exp(-time * np.exp(0.8 * scores))
        assert np.abs(probabilities[:, column] - truth).max() < 0.02


def test_times_beyond_the_training_rows_are_rejected():
    event, time, scores = rows(3, 50)
    learned = learn_baseline(event, time, scores)
    for wrong in (-1.0, time.max() + 1.0):
        with pytest.raises(ValueError, match="longest time of the training rows"):
            event_probability(*learned.values(), scores, wrong)


def test_kaplan_meier_is_the_product_over_times_with_greenwood_intervals():
    event = np.array([1, 1, 0, 1, 0, 1, 0], dtype=bool)
    time = np.array([1.0, 2.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    curve = kaplan_meier(event, time)
    share, terms = 1.0, 0.0
    for at, n_risk in ((1.0, 7), (2.0, 6), (3.0, 4), (5.0, 2)):
        share *= 1.0 - 1.0 / n_risk
        terms += 1.0 / (n_risk * (n_risk - 1.0))
        width = ndtri(0.975) * np.sqrt(terms) / abs(np.log(share))
        expected = (share, share ** np.exp(width), share ** np.exp(-width))
        np.testing.assert_allclose(curve.at(at + 0.5), expected)
    assert curve.at(0.5) == (1.0, 1.0, 1.0)
    assert kaplan_meier(event, time, np.full(7, 3.0)).at(5.5) == pytest.approx(
        curve.at(5.5)
    )
