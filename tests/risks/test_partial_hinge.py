import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import reference_partial
from aucmax.exceptions import IncompatibleError
from aucmax.metrics import partial_auc_score
from aucmax.risks import PairHinge, PartialHinge
from aucmax.risks.bound_hinge import _CHOICE_WIDTH as CHOICE_WIDTH
from drawing import picked, spread

pytestmark = pytest.mark.kernel

# 3 positives and 4 negatives: all 5040 orders can be tried
FEW = np.array([True, False, True, False, False, True, False])
LABELS = np.array([True, False, True, True, False, False, False, True, False, False])
SIZE = LABELS.size

# ends that fall on rows of FEW: a is cut, or d is, or neither
ON_ROWS = [
    ((0, 1), (0, 1)),
    ((0, 0.25), (0, 1)),
    ((0, 0.5), (1 / 3, 1)),
    ((0.25, 0.75), (0, 1)),
    ((0.5, 1), (1 / 3, 1)),
    ((0.25, 0.5), (2 / 3, 1)),
    ((0, 1), (0, 1 / 3)),
    ((0, 0.75), (1 / 3, 2 / 3)),
]
# ends within rows of LABELS, too; on rows once each row is taken ten times
RANGES = [
    ((0, 1), (0, 1)),
    ((0, 0.25), (0, 1)),
    ((0, 1), (0.4, 1)),
    ((0, 0.45), (0.35, 1)),
    ((0.1, 0.45), (0, 1)),
    ((0.55, 1), (0.3, 1)),
    ((0.25, 0.3), (0, 1)),
    ((0, 1), (0, 0.7)),
    ((0, 0.6), (0.2, 0.9)),
]
BOUNDS = ["tight", "loose"]


def tied(size):
    """Few distinct values, so that ties are the rule and not the exception."""
    return picked(size, np.arange(-5, 6) / 2.0)


def any_scores(size):
    return st.one_of(
        tied(size),
        spread(size, st.floats(-3.0, 3.0)),
        spread(size, st.floats(-1e3, 1e3)),
        spread(size, st.floats(-1e-12, 1e-12)),
    )


ranges = st.sampled_from(RANGES)
bounds = st.sampled_from(BOUNDS)
weights = st.one_of(st.none(), picked(SIZE, [0.5, 1.0, 2.0, 7.0]))
smoothable_ranges = st.sampled_from([(1.0, 0.0), (0.25, 0.0), (0.45, 0.35), (1.0, 0.5)])
widths = st.sampled_from([0.05, 0.25, 1.0, 4.0])


def partial_hinge(fpr_and_tpr, bound="tight"):
    return PartialHinge(fpr_and_tpr[0], tpr_range=fpr_and_tpr[1], bound=bound)


def close(expected):
    return pytest.approx(expected, rel=1e-10, abs=1e-10)


# ---- values -----------------------------------------------------------------------


@given(any_scores(FEW.size), st.sampled_from(ON_ROWS), bounds)
def test_value_is_that_of_the_worst_order_of_all_rows(scores, ends, bound):
    value = partial_hinge(ends, bound).bind(FEW).value(scores)
    assert value == close(
        reference_partial.structural_by_orders(scores, FEW, *ends, bound)
    )


@given(any_scores(SIZE), ranges, bounds)
def test_ends_within_a_row_split_it(scores, ends, bound):
    value = partial_hinge(ends, bound).bind(LABELS).value(scores)
    expected = reference_partial.structural_by_counts(
        scores, LABELS, *ends, bound, copies=20
    )
    assert value == close(expected)


@given(any_scores(SIZE), ranges, bounds)
def test_a_weight_of_three_is_a_row_taken_three_times(scores, ends, bound):
    weight = np.array([1, 3, 1, 2, 1, 1, 2, 1, 3, 1])
    risk = partial_hinge(ends, bound)
    value, slope = risk.bind(LABELS, weight.astype(float)).value_and_gradient(scores)
    repeated, slopes = risk.bind(np.repeat(LABELS, weight)).value_and_gradient(
        np.repeat(scores, weight)
    )
    assert value == close(repeated)
    rows = np.repeat(np.arange(SIZE), weight)
    np.testing.assert_allclose(slope, np.bincount(rows, slopes), atol=1e-9)
    expected = reference_partial.structural_by_counts(
        scores, LABELS, *ends, bound, weight, copies=20
    )
    assert value == close(expected)


@given(any_scores(SIZE), smoothable_ranges, weights)
def test_a_choice_of_rows_is_the_definition(scores, ends, weight):
    b, c = ends
    risk = PartialHinge((0, b), tpr_range=(c, 1))
    value, subgradient = risk.bind(LABELS, weight).value_and_gradient(scores)
    expected, slope = reference_partial.choice_hinge(scores, LABELS, b, c, weight)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert risk.bind(LABELS, weight).value(scores) == value
    np.testing.assert_allclose(subgradient, slope, rtol=1e-12, atol=1e-14)


@given(any_scores(SIZE), weights, bounds)
def test_whole_ranges_are_the_hinge_over_all_pairs(scores, weight, bound):
    value, slope = (
        PartialHinge(bound=bound).bind(LABELS, weight).value_and_gradient(scores)
    )
    expected, expected_slope = (
        PairHinge().bind(LABELS, weight).value_and_gradient(scores)
    )
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(slope, expected_slope, rtol=1e-12, atol=1e-14)


@given(any_scores(SIZE), ranges, weights)
def test_bounds_are_in_their_order(scores, ends, weight):
    fpr_range, tpr_range = ends
    area = partial_auc_score(
        LABELS, scores, fpr_range=fpr_range, tpr_range=tpr_range, sample_weight=weight
    )
    tight, loose = (
        partial_hinge(ends, bound).bind(LABELS, weight).value(scores)
        for bound in BOUNDS
    )
    assert 1.0 - area <= tight + 1e-10
    assert tight <= loose + 1e-10 * (1.0 + loose)


@given(ranges, bounds, weights, st.sampled_from([0.0, 3.7, -1e9]))
def test_constant_scores_have_risk_one(ends, bound, weight, level):
    value, _ = (
        partial_hinge(ends, bound)
        .bind(LABELS, weight)
        .value_and_gradient(np.full(SIZE, level))
    )
    assert value == pytest.approx(1.0, rel=1e-12)


# ---- subgradients -----------------------------------------------------------------


@given(any_scores(SIZE), any_scores(SIZE), ranges, bounds, weights)
def test_subgradient_supports_the_risk_from_below(here, there, ends, bound, weight):
    risk = partial_hinge(ends, bound)
    value, subgradient = risk.bind(LABELS, weight).value_and_gradient(here)
    line = value + subgradient @ (there - here)
    size = 1.0 + np.abs(here).max() + np.abs(there).max()
    assert risk.bind(LABELS, weight).value(there) >= line - 1e-11 * size


@given(tied(SIZE), ranges, bounds, st.integers(-1000, 1000))
def test_a_constant_added_to_every_score_changes_nothing(scores, ends, bound, constant):
    risk = partial_hinge(ends, bound)
    value, subgradient = risk.bind(LABELS).value_and_gradient(scores)
    moved, moved_slope = risk.bind(LABELS).value_and_gradient(scores + constant)
    assert moved == close(value)
    np.testing.assert_allclose(moved_slope, subgradient, atol=1e-12)
    assert subgradient.sum() == pytest.approx(0.0, abs=1e-12)


@given(
    tied(SIZE), any_scores(SIZE), ranges, bounds, weights, st.permutations(range(SIZE))
)
def test_the_order_of_the_rows_does_not_matter(
    scores, other_scores, ends, bound, weight, order
):
    risk = partial_hinge(ends, bound).bind(LABELS, weight)
    value, slope = risk.value_and_gradient(scores)
    permuted_weight = None if weight is None else weight[order]
    permuted = partial_hinge(ends, bound).bind(LABELS[order], permuted_weight)
    permuted_value, permuted_slope = permuted.value_and_gradient(scores[order])
    assert permuted_value == close(value)
    if weight is None:
        np.testing.assert_allclose(permuted_slope, slope[order], atol=1e-12)
    # sums of weights round differently in another order, and decide where a positive
    # gains nothing by passing negatives; both choices give a subgradient
    line = value + permuted_slope @ (other_scores - scores)[order]
    size = 1.0 + np.abs(scores).max() + np.abs(other_scores).max()
    assert risk.value(other_scores) >= line - 1e-11 * size


@given(any_scores(SIZE), ranges, bounds)
def test_changing_classes_and_signs_changes_nothing(scores, ends, bound):
    (a, b), (c, d) = ends
    mirrored = PartialHinge((1 - d, 1 - c), tpr_range=(1 - b, 1 - a), bound=bound)
    value, slope = partial_hinge(ends, bound).bind(LABELS).value_and_gradient(scores)
    other, other_slope = mirrored.bind(~LABELS).value_and_gradient(-scores)
    assert other == close(value)
    np.testing.assert_allclose(other_slope, -slope, atol=1e-9)


# ---- extremes ---------------------------------------------------------------------


@pytest.mark.parametrize("ends", RANGES)
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_only_ratios_of_weights_count(scale, ends):
    scores = np.array([0.5, -1.0, 1.5, 0.0, 1.0, 0.5, -2.0, 1.0, 2.0, 0.0])
    weight = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 1.0, 4.0, 1.0, 2.0])
    risk = partial_hinge(ends)
    value, slope = risk.bind(LABELS, weight).value_and_gradient(scores)
    scaled, scaled_slope = risk.bind(LABELS, scale * weight).value_and_gradient(scores)
    assert scaled == close(value)
    np.testing.assert_allclose(scaled_slope, slope, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("ends", RANGES)
def test_rows_without_weight_do_not_count(ends, bound):
    scores = np.array([0.5, -1.0, 1.5, 0.0, 1.0, 0.5, -2.0, 1.0, 2.0, 0.0])
    weight = np.ones(SIZE)
    risk = partial_hinge(ends, bound)
    value, slope = risk.bind(LABELS, weight).value_and_gradient(scores)
    extended, extended_slope = risk.bind(
        np.r_[LABELS, False, True], np.r_[weight, 0.0, 0.0]
    ).value_and_gradient(np.r_[scores, 9.0, -9.0])
    assert extended == close(value)
    np.testing.assert_allclose(extended_slope, np.r_[slope, 0.0, 0.0], atol=1e-12)


@pytest.mark.parametrize("ends", [((0, 0.3), (0, 1)), ((0.2, 0.3), (0, 1))])
def test_large_equal_scores_keep_their_digits(ends):
    units = np.array([0.5, -1.0, 1.5, 0.0, 1.0, 0.5, -2.0, 1.0, 2.0, 0.0])
    # far above the rest of the negatives
    far = np.where(units < 0.0, -1e9, 1e8 + units)
    near = np.where(units < 0.0, -1e9, units)
    value = partial_hinge(ends).bind(LABELS).value(far)
    assert value == pytest.approx(
        partial_hinge(ends).bind(LABELS).value(near), rel=1e-6
    )


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("ends", RANGES)
def test_many_rows_agree_with_the_definition(ends, bound):
    generator = np.random.default_rng(0)
    labels = np.arange(400) < 40
    scores = generator.normal(size=400) + labels
    expected = reference_partial.structural_by_counts(scores, labels, *ends, bound)
    assert partial_hinge(ends, bound).bind(labels).value(scores) == close(expected)


# ---- smoothing --------------------------------------------------------------------


@given(any_scores(SIZE), any_scores(SIZE), smoothable_ranges, weights, widths)
def test_smoothed_line_is_below_the_risk(here, there, ends, weight, width):
    risk = PartialHinge((0, ends[0]), tpr_range=(ends[1], 1))
    support = risk.bind(LABELS, weight).smoothed(here, width=width)
    value = risk.bind(LABELS, weight).value(here)
    size = 1.0 + np.abs(here).max() + np.abs(there).max()
    # sums over a grid may exceed the risk, and say nothing less
    assert -1e-9 - 1e-12 * value <= support.value - value <= 0.05 * width + 1e-9
    for point in (here, there):
        line = support.offset + support.subgradient @ point
        assert line <= risk.bind(LABELS, weight).value(point) + 1e-11 * size


@given(any_scores(SIZE), smoothable_ranges, weights, widths)
def test_smoothing_loses_a_part_of_the_width(scores, ends, weight, width):
    risk = PartialHinge((0, ends[0]), tpr_range=(ends[1], 1))
    support = risk.bind(LABELS, weight).smoothed(scores, width=width)
    line = support.offset + support.subgradient @ scores
    size = 1.0 + np.abs(scores).max()
    # a pair loses a sixteenth of the width at its kink, and a row near the end of a
    # range a sixteenth of the choice's width, by the share of all rows to those chosen;
    # sums over a grid lose a little more
    allowed = 1.0 / 16.0 + 0.01
    for share in (ends[0], 1.0 - ends[1]):
        if share < 1.0:
            allowed += CHOICE_WIDTH / 16.0 / share
    value = risk.bind(LABELS, weight).value(scores)
    assert value - line <= width * allowed + 1e-11 * size


def many_rows(kind, seed, n_rows=800):
    generator = np.random.default_rng(seed)
    scores = generator.normal(size=n_rows)
    if kind == "tied":
        scores = np.round(scores, 1)
    if kind == "constant":
        scores = np.full(n_rows, 3.5)
    if kind == "shifted":
        scores = scores - 1e6
    labels = generator.random(n_rows) < 0.2
    weight = generator.uniform(0.5, 3.0, n_rows) if kind == "weighted" else None
    return scores, labels, weight


@pytest.mark.parametrize("width", [0.7, 2.2])
@pytest.mark.parametrize(
    "ends", [((0, 1), (0, 1)), ((0, 0.1), (0, 1)), ((0, 0.33), (0.6, 1))]
)
@pytest.mark.parametrize("kind", ["spread", "tied", "constant", "shifted", "weighted"])
def test_counting_in_cells_gives_a_valid_line_close_to_the_exact_one(kind, ends, width):
    scores, labels, weight = many_rows(kind, 0)
    risk = partial_hinge(ends)
    support = risk.bind(labels, weight).smoothed(scores, width=width)
    # rows far off that weigh nothing spread the scores too far for cells
    exact = risk.bind(
        np.r_[labels, True, False],
        np.r_[np.ones(800) if weight is None else weight, 0.0, 0.0],
    ).smoothed(np.r_[scores, 1e9, -1e9], width=width)
    assert exact.value == pytest.approx(
        risk.bind(labels, weight).value(scores), rel=1e-8
    )
    assert exact.value - 1e-9 <= support.value <= exact.value + width / 64.0
    assert support.offset == pytest.approx(exact.offset, abs=0.06)
    np.testing.assert_allclose(
        support.subgradient,
        exact.subgradient[:-2],
        atol=0.15 * exact.subgradient.max(),
    )
    assert support.subgradient.sum() == pytest.approx(0.0, abs=1e-12)
    generator = np.random.default_rng(1)
    for there in (np.zeros(800), scores, generator.normal(size=800)):
        line = support.offset + support.subgradient @ there
        assert line <= risk.bind(labels, weight).value(there) + 1e-8


@pytest.mark.parametrize("ends", [((0, 0.3), (0, 1)), ((0, 0.5), (0.4, 1))])
@pytest.mark.parametrize("width", [0.005, 0.02])
def test_curvature_is_the_derivative_of_the_smoothed_gradient(ends, width):
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=60), generator.random(60) < 0.3
    # no row near a threshold has a pair near its kink: widths are narrow enough
    risk = partial_hinge(ends)
    hessian = risk.bind(labels).curvature(scores, width=width)(np.eye(60))
    columns = []
    for step in 1e-6 * np.eye(60):
        after = risk.bind(labels).smoothed(scores + step, width=width).subgradient
        before = risk.bind(labels).smoothed(scores - step, width=width).subgradient
        columns.append((after - before) / 2e-6)
    np.testing.assert_allclose(
        hessian, columns, atol=1e-9 + 1e-6 * np.abs(hessian).max()
    )
    assert np.linalg.eigvalsh(hessian).min() >= -1e-12


@given(tied(SIZE), smoothable_ranges, weights, widths)
def test_curvature_is_positive_semidefinite_and_blind_to_levels(
    scores, ends, weight, width
):
    risk = PartialHinge((0, ends[0]), tpr_range=(ends[1], 1))
    form = risk.bind(LABELS, weight).curvature(scores, width=width)
    hessian = form(np.eye(SIZE))
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    np.testing.assert_allclose(hessian @ np.ones(SIZE), 0.0, atol=1e-11)
    assert np.linalg.eigvalsh(hessian).min() >= -1e-11
    columns = np.arange(2.0 * SIZE).reshape(SIZE, 2)
    np.testing.assert_allclose(form(columns), columns.T @ hessian @ columns, atol=1e-8)


# ---- parameters -------------------------------------------------------------------


def test_only_a_choice_of_rows_can_be_smoothed():
    scores = np.linspace(0.0, 1.0, SIZE)
    assert PartialHinge((0, 0.3), tpr_range=(0.5, 1)).bind(LABELS).can_be_smoothed
    for risk in (
        PartialHinge((0.1, 0.3)),
        PartialHinge(tpr_range=(0, 0.5)),
        PartialHinge(bound="loose"),
    ):
        bound = risk.bind(LABELS)
        assert not bound.can_be_smoothed
        for method in (bound.smoothed, bound.curvature):
            with pytest.raises(IncompatibleError, match="cannot be smoothed"):
                method(scores, width=1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"fpr_range": (0.5, 0.1)}, r"fpr_range must satisfy .* got \(0.5, 0.1\)"),
        ({"fpr_range": 0.1}, "fpr_range must be a pair of numbers"),
        ({"tpr_range": (0.5, 1.5)}, "tpr_range must satisfy"),
        ({"fpr_range": (0.1, 1), "tpr_range": (0, 0.9)}, "start fpr_range at 0, or"),
        ({"bound": "snug"}, "bound must be one of 'tight', 'loose', got 'snug'"),
    ],
)
def test_bad_parameters_are_named_where_they_are_used(parameters, message):
    risk = clone(PartialHinge(**parameters))
    with pytest.raises(ValueError, match=message):
        risk.bind(LABELS)


def test_a_range_must_cover_a_row():
    labels = np.arange(400) < 100
    PartialHinge((0, 1 / 300)).check_sizes(labels)
    with pytest.raises(ValueError, match=r"covers 0.3 of the 300 negatives") as caught:
        PartialHinge((0, 0.001)).check_sizes(labels)
    assert str(caught.value).endswith("widen it to a length of at least 0.00334.")
    with pytest.raises(ValueError, match=r"tpr_range=.* covers 0.5 of the 100 pos"):
        PartialHinge(tpr_range=(0.995, 1)).check_sizes(labels)
    # rows without weight are none
    weight = np.where(np.arange(400) < 200, 1.0, 0.0)
    with pytest.raises(ValueError, match=r"covers 0.5 of the 100 negatives"):
        PartialHinge((0, 0.005)).check_sizes(labels, weight)
