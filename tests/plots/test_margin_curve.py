import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from aucmax.margin.margin_certificate import MarginCurve
from aucmax.plots import MarginCurveDisplay


def curve(low=4.0, high=500.0):
    nu_pos = np.geomspace(low, high, 9)
    gamma_hat = 0.1 + 0.02 * np.log(nu_pos / 50.0) ** 2
    grid = np.geomspace(low, high, 100)
    lower = 0.099 + 0.015 * np.log(grid / 50.0) ** 2
    return MarginCurve(nu_pos, gamma_hat, grid, lower, int(gamma_hat.argmin()), 2000.0)


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def test_the_line_joins_the_solved_points(ax):
    display = MarginCurveDisplay(curve()).plot(ax)
    assert_array_equal(display.line_.get_xdata(), curve().nu_pos)
    assert_array_equal(display.line_.get_ydata(), curve().gamma_hat)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_the_lowest_point_is_marked_and_named(ax):
    options = curve()
    display = MarginCurveDisplay(options).plot(ax)
    assert list(display.best_.get_xdata()) == [options.nu_pos[options.best]]
    assert list(display.best_.get_ydata()) == [options.gamma_hat.min()]
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert f"{options.gamma_hat.min():.4g}" in labels[1]
    assert display.best_.get_color() != display.line_.get_color()


def test_the_region_below_the_bound_is_shaded(ax):
    options = curve()
    display = MarginCurveDisplay(options).plot(ax)
    (path,) = display.envelope_.get_paths()
    corners = path.vertices
    for x, y in zip(options.lower_nu_pos, options.lower_bound, strict=True):
        assert np.isclose(corners, [x, y]).all(axis=1).any()
    bottom, top = ax.get_ylim()
    assert corners[:, 1].min() == pytest.approx(bottom)
    assert bottom < options.lower_bound.min()
    assert top > options.gamma_hat.max()


@pytest.mark.parametrize(("high", "scale"), [(500.0, "log"), (40.0, "linear")])
def test_a_wide_range_gets_a_logarithmic_axis(high, scale, ax):
    MarginCurveDisplay(curve(high=high)).plot(ax)
    assert ax.get_xscale() == scale
    assert "2000" in ax.get_xlabel()
