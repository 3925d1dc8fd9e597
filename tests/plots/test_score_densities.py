import numpy as np
import pytest

from aucmax.decisions import operating_point
from aucmax.plots import ScoreDensityDisplay


def area(patch):
    """Area of a histogram that is drawn as one polygon."""
    x, y = patch.get_xy().T
    return abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))) / 2


def test_both_densities_have_area_one_and_tell_their_counts(sample, ax):
    labels, good, _ = sample
    display = ScoreDensityDisplay.from_predictions(labels, good, name="good", ax=ax)
    assert [area(patch) for patch in display.areas_] == pytest.approx([1.0, 1.0])
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert entries == [f"{(~labels).sum()} negatives", f"{labels.sum()} positives"]
    assert ax.get_title() == "Scores of good by class"


def test_one_extreme_score_does_not_stretch_the_picture(ax):
    rng = np.random.default_rng(0)
    labels = rng.random(4000) < 0.5
    scores = rng.normal(size=4000)
    scores[0] = 1e9
    ScoreDensityDisplay.from_predictions(labels, scores, ax=ax)
    assert ax.get_xlim()[1] < 10


def test_rows_at_the_threshold_are_not_above_it_as_in_an_operating_point(ax):
    labels, scores = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 2, 3, 3, 3, 5])
    display = ScoreDensityDisplay.from_predictions(labels, scores, threshold=3, ax=ax)
    assert display.threshold_.get_label() == "at 3: 1 found, 0 false alarms"
    point = operating_point(labels, scores, threshold=3)
    assert (point.alerts, point.recall) == (1, 1 / 3)


def test_equal_scores_and_estimators_are_drawn(sample, scorer, ax):
    labels, good, _ = sample
    ScoreDensityDisplay.from_predictions(labels, np.zeros(labels.size), ax=ax)
    display = ScoreDensityDisplay.from_estimator(scorer, good[:, None], labels, ax=ax)
    assert display.name == "Scorer"
    with pytest.raises(ValueError, match="bins"):
        ScoreDensityDisplay.from_predictions(labels, good, n_bins=0, ax=ax)
