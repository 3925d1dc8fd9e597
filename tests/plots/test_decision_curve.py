import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from aucmax.decisions import net_benefit
from aucmax.plots import DecisionCurveDisplay


def test_lines_are_net_benefits_with_bands_and_the_defaults(sample, ax):
    labels, good, bad = sample
    chances = {"good": expit(2 * good - 3), "$bad$": expit(bad - 2)}
    display = DecisionCurveDisplay.from_predictions(labels, chances, ax=ax)
    for (name, values), line in zip(chances.items(), display.line_, strict=True):
        expected = net_benefit(labels, values)
        assert_allclose(line.get_xdata(), expected.threshold)
        assert_allclose(line.get_ydata(), expected.net_benefit)
        assert line.get_label() == name.replace("$", r"\$")
    vertices = display.bands_[0].get_paths()[0].vertices
    one = net_benefit(labels, chances["good"])
    assert vertices[:, 1].min() == pytest.approx(one.low.min())
    assert_allclose(display.treat_all_.get_ydata(), one.treat_all)
    assert set(display.treat_none_.get_ydata()) == {0.0}
    assert f"{labels.mean():.1%} are positive" in ax.get_title()


def test_thresholds_that_no_row_exceeds_are_not_shown(sample, ax):
    labels, good, _ = sample
    chances = np.minimum(expit(good - 3), 0.425)
    display = DecisionCurveDisplay.from_predictions(labels, chances, ax=ax)
    assert display.ax_.get_xlim() == pytest.approx((0.01, 0.43))


def test_standardised_curves_have_the_height_of_their_share(sample, ax):
    labels, good, _ = sample
    chances = expit(2 * good - 3)
    display = DecisionCurveDisplay.from_predictions(
        labels, chances, standardised=True, thresholds=[0.3, 0.1], ax=ax
    )
    expected = net_benefit(labels, chances, thresholds=[0.1, 0.3])
    assert_allclose(display.line_[0].get_ydata(), expected.standardised)
    assert_allclose(display.treat_all_.get_ydata(), expected.treat_all / labels.mean())
    assert ax.get_ylabel() == "standardised net benefit"
