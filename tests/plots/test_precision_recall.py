import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from aucmax.metrics import mean_average_precision, precision_at_k
from aucmax.plots import PrecisionRecallDisplay


def test_the_line_has_the_precision_of_every_short_list(sample, ax):
    labels, _, poor = sample
    (curve,) = PrecisionRecallDisplay.from_predictions(labels, poor, ax=ax).curves
    expected = [precision_at_k(labels, poor, k=k) for k in range(1, 201)]
    for k, precision in enumerate(expected, 1):
        is_at = np.isclose(curve.recall, k * precision / labels.sum())
        assert np.isclose(curve.precision[is_at], precision).any()
    assert curve.recall[-1] == 1.0
    assert curve.precision[-1] == pytest.approx(labels.mean())


def test_the_legend_tells_the_average_precision_and_the_base_rate(sample, ax):
    labels, good, _ = sample
    display = PrecisionRecallDisplay.from_predictions(labels, {"good": good}, ax=ax)
    expected = average_precision_score(labels, good)
    assert display.line_[0].get_label() == f"good\naverage precision {expected:.3f}"
    assert display.chance_level_.get_ydata()[0] == labels.mean()
    assert "400 rows" in ax.get_title()


def test_the_average_precision_of_ties_is_that_of_scikit_learn(ax):
    """The mean over orders of tied rows is another metric: 0.579 for 0.443."""
    rng = np.random.default_rng(0)
    labels = rng.random(200) < 0.4
    scores = np.round(rng.normal(size=200) / 2.0 + 0.3 * labels)
    weight = rng.uniform(0.5, 2.0, 200)
    for options in ({}, {"sample_weight": weight}):
        display = PrecisionRecallDisplay.from_predictions(
            labels, scores, ax=ax, **options
        )
        expected = average_precision_score(labels, scores, **options)
        assert display.curves[0].average_precision == pytest.approx(expected)
        other = mean_average_precision(labels, scores, **options)
        assert other != pytest.approx(expected, abs=0.01)
