import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import reference
from aucmax.risks import PairHinge
from aucmax.risks._pairs.hinge_grid import HingeGrid
from drawing import picked, spread

pytestmark = pytest.mark.kernel

SIZE = 9
LABELS = np.array([True, False, True, True, False, False, False, True, False])
# few distinct values, so that ties are the rule and not the exception
tied_scores = picked(SIZE, np.arange(-6, 7) / 2.0)
any_scores = st.one_of(
    tied_scores,
    spread(SIZE, st.floats(-1e3, 1e3)),
    spread(SIZE, st.floats(-1e-12, 1e-12)),
)
weights = st.one_of(st.none(), picked(SIZE, [0.5, 1.0, 2.0, 7.0]))
margins = st.sampled_from([0.5, 1.0, 3.0])
widths = st.sampled_from([0.25, 1.0, 4.0])


def smoothed_by_sorting(bound, scores, width):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HingeGrid, "cover", lambda *_: None)
        return bound.smoothed(scores, width)


@given(any_scores, weights, margins)
def test_value_and_subgradient_are_the_definition(scores, weight, margin):
    value, subgradient = (
        PairHinge(margin).bind(LABELS, weight).value_and_gradient(scores)
    )
    expected, slope = reference.pair_hinge(scores, LABELS, weight, margin)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert PairHinge(margin).bind(LABELS, weight).value(scores) == value
    np.testing.assert_allclose(subgradient, slope, rtol=1e-12, atol=1e-14)


@given(tied_scores, tied_scores, weights)
def test_subgradient_supports_the_risk_from_below(here, there, weight):
    value, subgradient = PairHinge().bind(LABELS, weight).value_and_gradient(here)
    bound = value + subgradient @ (there - here)
    assert reference.pair_hinge(there, LABELS, weight)[0] >= bound - 1e-12


@given(any_scores, any_scores, weights, widths)
def test_smoothed_line_is_the_definition_and_below_the_risk(here, there, weight, width):
    support = smoothed_by_sorting(PairHinge().bind(LABELS, weight), here, width)
    slope, offset = reference.pair_ramp(here, LABELS, weight, 1.0, width)
    np.testing.assert_allclose(support.subgradient, slope, rtol=1e-9, atol=1e-12)
    assert support.offset == pytest.approx(offset, rel=1e-9, abs=1e-12)
    assert support.value == pytest.approx(
        reference.pair_hinge(here, LABELS, weight)[0], rel=1e-12, abs=1e-12
    )
    risk = reference.pair_hinge(there, LABELS, weight)[0]
    counted = PairHinge().bind(LABELS, weight).smoothed(here, width=width)
    for below in (support, counted):
        line = below.offset + below.subgradient @ there
        assert line <= risk + 1e-9 * (1.0 + np.abs(there).max())


@given(tied_scores, widths)
def test_smoothing_loses_at_most_a_sixteenth_of_the_width(scores, width):
    support = smoothed_by_sorting(PairHinge().bind(LABELS), scores, width)
    line = support.offset + support.subgradient @ scores
    assert -1e-12 <= support.value - line <= width / 16.0 + 1e-12


@given(any_scores, weights)
def test_risk_is_at_least_one_minus_auc(scores, weight):
    value, _ = PairHinge().bind(LABELS, weight).value_and_gradient(scores)
    positive, negative = scores[LABELS], scores[~LABELS]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    if weight is None:
        weight = np.ones(SIZE)
    pair = np.outer(weight[LABELS], weight[~LABELS])
    assert value >= 1.0 - (wins * pair).sum() / pair.sum() - 1e-12


def test_large_equal_scores_keep_their_digits():
    scores = 1e8 + np.array([0.25, 0.5, 0.0, 2.0])
    labels = np.array([True, False, False, True])
    value, _ = PairHinge().bind(labels).value_and_gradient(scores)
    assert value == pytest.approx((1.25 + 0.75) / 4.0, rel=1e-7)


@given(st.one_of(tied_scores, spread(SIZE, st.floats(-3.0, 3.0))), widths)
def test_curvature_is_the_laplacian_of_the_pairs_in_the_window(scores, width):
    form = PairHinge().bind(LABELS).curvature(scores, width=width)
    positive, negative = np.flatnonzero(LABELS), np.flatnonzero(~LABELS)
    laplacian = np.zeros((SIZE, SIZE))
    for i in positive:
        for j in negative:
            # the window's ends may be counted or not: skip examples that touch them
            distance = abs(1.0 - scores[i] + scores[j]) - width / 2.0
            if abs(distance) < 1e-9:
                return
            if distance < 0.0:
                difference = np.zeros(SIZE)
                difference[[i, j]] = 1.0, -1.0
                laplacian += np.outer(difference, difference)
    laplacian /= positive.size * negative.size * width
    np.testing.assert_allclose(form(np.eye(SIZE)), laplacian, atol=1e-12)


def test_curvature_is_the_derivative_of_the_smoothed_gradient():
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=60), generator.random(60) < 0.3
    step = 1e-6 * generator.normal(size=60)
    risk = PairHinge()
    after = risk.bind(labels).smoothed(scores + step, width=2.0).subgradient
    before = risk.bind(labels).smoothed(scores - step, width=2.0).subgradient
    expected = risk.bind(labels).curvature(scores, width=2.0)(np.eye(60)) @ (2.0 * step)
    np.testing.assert_allclose(after - before, expected, atol=1e-5 * np.abs(step).max())


@pytest.mark.parametrize("margin", [0.0, -1.0, np.inf, np.nan, "1"])
def test_a_margin_that_is_none_is_rejected_where_it_is_used(margin):
    risk = clone(PairHinge(margin))
    for queries in (None, [1, 1]):
        with pytest.raises(ValueError, match="margin must be positive and finite, got"):
            risk.bind([True, False], queries=queries)


def test_scores_too_far_spread_for_cells_are_sorted():
    scores = np.r_[np.zeros(50), 1e9]
    assert HingeGrid.cover(scores, 1.0, 1.0) is None
    labels = np.arange(51) % 2 == 0
    support = PairHinge().bind(labels).smoothed(scores, width=1.0)
    assert support.value == pytest.approx(reference.pair_hinge(scores, labels)[0])
