import subprocess
import sys

import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from aucmax.margin.scorecard import Scorecard
from aucmax.plots import ScorecardDisplay

STUMPS = {
    "columns": [0, 0, 1, 2],
    "thresholds": [1.5, 3.0, 2.5, 4.0],
    "weights": [0.12, 0.08, -0.3, 0.5],
}
CARD = Scorecard.from_stumps(["age", "pressure", "sugar"], **STUMPS)


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()


def tick_labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_bars_are_as_long_as_points_with_the_most_on_top(ax):
    display = ScorecardDisplay(CARD).plot(ax)
    assert_allclose([bar.get_width() for bar in display.bars_], [50, 30, 12, 8])
    assert tick_labels(ax) == ["sugar > 4", "pressure <= 2.5", "age > 1.5", "age > 3"]
    bottom, top = ax.get_ylim()
    assert bottom > top
    assert written(ax) == ["50", "30", "12", "8"]
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_colours_tell_the_direction(ax):
    bars = ScorecardDisplay(CARD).plot(ax).bars_
    colours = [bar.get_facecolor() for bar in bars]
    assert colours[0] == colours[2] == colours[3] != colours[1]
    legend = {
        text.get_text(): to_rgba(handle.get_facecolor())
        for text, handle in zip(
            ax.get_legend().get_texts(), ax.get_legend().get_patches(), strict=True
        )
    }
    assert legend == {"for large values": colours[0], "for small values": colours[1]}


def test_the_label_counts_what_is_left_out(ax):
    display = ScorecardDisplay(CARD, max_rows=2).plot(ax)
    assert len(display.bars_) == 2
    assert ax.get_xlabel().endswith("(2 more have 20 points together)")
    assert (
        "more" not in ScorecardDisplay(CARD).plot(Figure().subplots()).ax_.get_xlabel()
    )


def test_hostile_names_are_drawn_unchanged(tmp_path, ax):
    card = Scorecard.from_stumps(["$\\frac{$ & <b>", "b_\n$"], [0, 1], [0, 0], [1, 1])
    display = ScorecardDisplay(card).plot(ax)
    display.figure_.savefig(tmp_path / "card.png")
    assert (tmp_path / "card.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_importing_plots_loads_no_model():
    code = "import sys, aucmax.plots; print('sklearn' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert ran.stdout.strip() == "False"


def test_bad_input_is_refused(ax):
    with pytest.raises(ValueError, match=r"max_rows must be an integer .* got 0"):
        ScorecardDisplay(CARD, max_rows=0).plot(ax)
    with pytest.raises(ValueError, match="nothing to draw"):
        ScorecardDisplay(Scorecard.from_features(["a"], [0.0], [0], [1]))
