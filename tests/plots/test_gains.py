import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from aucmax.metrics import precision_at_k
from aucmax.plots import GainsDisplay


@pytest.mark.parametrize("place", [1, 2])
def test_found_is_the_mean_over_all_orders_of_ties(sample, place, ax):
    labels, scores = sample[0], sample[place]
    display = GainsDisplay.from_predictions(labels, scores, ax=ax)
    for k in (1, 7, 50, 200, 400):
        expected = k * precision_at_k(labels, scores, k=k)
        assert display.curves[0].tp(k) == pytest.approx(expected)


def test_the_line_is_what_is_found_and_ends_with_all(sample, ax):
    labels, good, _ = sample
    (line,) = GainsDisplay.from_predictions(labels, good, ax=ax).line_
    opened, result = line.get_data()
    order = np.argsort(-good)
    exact = np.concatenate([[0], np.cumsum(labels[order])])
    assert_allclose(result, np.interp(opened, np.arange(401), exact))
    assert (opened[-1], result[-1]) == (400, labels.sum())


def test_the_opened_cases_are_marked_and_labelled(sample, ax):
    labels, good, poor = sample
    display = GainsDisplay.from_predictions(
        labels, {"good": good, "poor": poor}, alerts=50, ax=ax
    )
    n_found = int(labels[np.argsort(-good)[:50]].sum())
    assert display.line_[0].get_label() == f"good\nreview 50, find {n_found}"
    assert display.marks_[0].get_xydata().tolist() == [[50.0, n_found]]
    assert f"{labels.sum()} positives among 400 rows" in ax.get_title()


def test_lift_is_relative_to_a_random_order(sample, ax):
    labels, good, _ = sample
    display = GainsDisplay.from_predictions(labels, good, kind="lift", alerts=50, ax=ax)
    expected = labels[np.argsort(-good)[:50]].mean() / labels.mean()
    assert display.marks_[0].get_ydata()[0] == pytest.approx(expected)
    assert set(display.chance_level_.get_ydata().round(12)) == {1.0}


def test_weights_count_as_repetition(sample):
    labels, good, _ = sample
    weights = np.arange(labels.size) % 3 + 1
    weighed, repeated = (
        GainsDisplay.from_predictions(*arguments, ax=Figure().subplots(), **options)
        for arguments, options in (
            ((labels, good), {"sample_weight": weights}),
            ((np.repeat(labels, weights), np.repeat(good, weights)), {}),
        )
    )
    for opened in (10, 100, 500):
        assert weighed.curves[0].tp(opened) == pytest.approx(
            repeated.curves[0].tp(opened)
        )


@pytest.mark.parametrize("opened", [0, 401])
def test_more_than_all_cannot_be_opened(sample, opened, ax):
    with pytest.raises(ValueError, match=r"alerts must be in \(0, 400\]"):
        GainsDisplay.from_predictions(*sample[:2], alerts=opened, ax=ax)
