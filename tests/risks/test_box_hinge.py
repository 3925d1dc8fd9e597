import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import reference_partial
from aucmax.metrics import partial_auc_score
from aucmax.risks import BoxHinge, PartialHinge, SmoothableRisk
from drawing import picked, spread

pytestmark = pytest.mark.kernel

LABELS = np.array([True, False, True, True, False, False, False, True, False, False])
SIZE = LABELS.size
RANGES = [
    ((0, 1), (0, 1)),
    ((0, 0.45), (0.35, 1)),
    ((0.1, 0.45), (0, 1)),
    ((0.5, 1), (0.3, 1)),
    ((0, 0.6), (0.2, 0.9)),
    ((0.2, 0.6), (0.2, 0.9)),
]
ranges = st.sampled_from(RANGES)
tied_scores = picked(SIZE, np.arange(-5, 6) / 2.0)
any_scores = st.one_of(tied_scores, spread(SIZE, st.floats(-1e2, 1e2)))
weights = st.one_of(st.none(), picked(SIZE, [0.5, 1.0, 2.0, 7.0]))


def box_hinge(ends):
    return BoxHinge(ends[0], tpr_range=ends[1])


@given(any_scores, ranges, weights)
def test_value_is_the_mean_over_the_pairs_in_the_box(scores, ends, weight):
    value = box_hinge(ends).value(scores, LABELS, weight)
    expected = reference_partial.box_hinge(scores, LABELS, *ends, weight)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(any_scores, ranges, weights)
def test_value_is_at_least_one_minus_the_partial_area(scores, ends, weight):
    area = partial_auc_score(
        LABELS, scores, fpr_range=ends[0], tpr_range=ends[1], sample_weight=weight
    )
    assert box_hinge(ends).value(scores, LABELS, weight) >= 1.0 - area - 1e-10


@given(any_scores, weights)
def test_a_box_of_first_ranks_is_the_convex_risk(scores, weight):
    value = BoxHinge((0, 0.3), tpr_range=(0.4, 1)).value(scores, LABELS, weight)
    convex = PartialHinge((0, 0.3), tpr_range=(0.4, 1)).value(scores, LABELS, weight)
    assert value == pytest.approx(convex, rel=1e-12, abs=1e-12)


@given(any_scores, any_scores, ranges, weights)
def test_linearized_risk_touches_here_and_is_above_elsewhere(here, there, ends, weight):
    risk = box_hinge(ends)
    convex = risk.linearized_at(here, LABELS, weight)
    size = 1.0 + np.abs(here).max() + np.abs(there).max()
    assert convex.value(here, LABELS, weight) == pytest.approx(
        risk.value(here, LABELS, weight), abs=1e-11 * size
    )
    above = convex.value(there, LABELS, weight) - risk.value(there, LABELS, weight)
    assert above >= -1e-11 * size


@given(any_scores, any_scores, any_scores, ranges, weights)
def test_linearized_risk_is_supported_by_its_lines(at, here, there, ends, weight):
    convex = box_hinge(ends).linearized_at(at, LABELS, weight)
    value, slope = convex.value_and_subgradient(here, LABELS, weight)
    assert convex.value(here, LABELS, weight) == pytest.approx(value, abs=1e-9)
    supports = [(value - slope @ here, slope)]
    assert isinstance(convex, SmoothableRisk)
    smooth = convex.smoothed(here, LABELS, weight, width=0.5)
    assert smooth.value >= value - 1e-9
    supports.append((smooth.offset, smooth.subgradient))
    risk_there = convex.value(there, LABELS, weight)
    size = 1.0 + sum(np.abs(scores).max() for scores in (at, here, there))
    for offset, line in supports:
        assert risk_there >= offset + line @ there - 1e-11 * size
        assert line.sum() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("ends", RANGES)
def test_curvature_is_the_derivative_of_the_smoothed_gradient(ends):
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=40), np.arange(40) % 3 == 0
    convex = box_hinge(ends).linearized_at(generator.normal(size=40), labels)
    hessian = convex.curvature(scores, labels, width=0.02)(np.eye(40))
    columns = []
    for step in 1e-6 * np.eye(40):
        after = convex.smoothed(scores + step, labels, width=0.02).subgradient
        before = convex.smoothed(scores - step, labels, width=0.02).subgradient
        columns.append((after - before) / 2e-6)
    np.testing.assert_allclose(hessian, columns, atol=1e-6 * np.abs(hessian).max())


def test_bad_ranges_are_named_where_they_are_used():
    scores = np.zeros(LABELS.size)
    with pytest.raises(ValueError, match="fpr_range must satisfy 0 <= low < high <= 1"):
        clone(BoxHinge((0.3, 0.2))).value(scores, LABELS)
    with pytest.raises(ValueError, match="tpr_range must satisfy 0 <= low < high <= 1"):
        BoxHinge(tpr_range=(0.3, 1.2)).linearized_at(scores, LABELS)
    with pytest.raises(ValueError, match=r"covers 0\.6 of the 6 negatives"):
        BoxHinge((0.3, 0.4)).check_sizes(LABELS)


def test_parameters_survive_a_clone():
    risk = clone(BoxHinge((0.1, 0.2), tpr_range=(0.5, 1)))
    assert (risk.fpr_range, risk.tpr_range) == ((0.1, 0.2), (0.5, 1))
