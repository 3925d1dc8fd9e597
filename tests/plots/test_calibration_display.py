import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from aucmax.decisions import reliability
from aucmax.plots import CalibrationDisplay, DecisionCurveDisplay


def test_points_are_the_groups_with_their_intervals(sample, ax):
    labels, good, _ = sample
    chances = expit(2 * good - 3)
    display = CalibrationDisplay.from_predictions(labels, chances, ax=ax)
    expected = reliability(labels, chances)
    line, (_, _, (bars,)) = display.line_[0], display.intervals_[0]
    assert_allclose(line.get_xdata(), expected.probability)
    assert_allclose(line.get_ydata(), expected.share)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    assert_allclose(ends, np.column_stack([expected.low, expected.high]))
    assert "400 rows in 10 groups" in ax.get_title()


def test_several_models_have_their_errors_in_the_legend(sample, ax):
    labels, good, _ = sample
    chances = {"sure": expit(4 * good - 4), "unsure": expit(good - 2)}
    display = CalibrationDisplay.from_predictions(labels, chances, ax=ax)
    for (name, values), line in zip(chances.items(), display.line_, strict=True):
        score = np.mean((values - labels) ** 2)
        assert line.get_label().startswith(f"{name}\nBrier score {score:.4f}")


def test_an_estimator_is_asked_for_probabilities_of_the_positive_class(sample, ax):
    labels, good, _ = sample
    model = LogisticRegression().fit(good[:, None], labels)
    for pos_label, column in ((True, 1), (False, 0)):
        display = CalibrationDisplay.from_estimator(
            model, good[:, None], labels, pos_label=pos_label, ax=ax
        )
        chances = model.predict_proba(good[:, None])[:, column]
        result = display.reliabilities[0][1]
        assert result.mean_probability == pytest.approx(chances.mean())
        assert result.base_rate == pytest.approx((labels == pos_label).mean())


def test_scores_that_are_no_probabilities_are_rejected(sample, scorer, ax):
    labels, good, _ = sample
    for display in (CalibrationDisplay, DecisionCurveDisplay):
        with pytest.raises(ValueError, match="between 0 and 1"):
            display.from_predictions(labels, good, ax=ax)
        with pytest.raises(TypeError, match="Scorer has no predict_proba"):
            display.from_estimator(scorer, good[:, None], labels, ax=ax)
