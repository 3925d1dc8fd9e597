"""The contract of every margin risk."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from aucmax.risks.instance_margin import InstanceMargin, TangentMargin
from aucmax.risks.pair_margin import PairMargin
from drawing import fewer_examples, picked, spread

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
some_weights = picked(SIZE, [0.0, 0.5, 1.0, 2.0, 7.0])
weights = st.one_of(
    st.none(), some_weights.filter(lambda w: w[LABELS].any() and w[~LABELS].any())
)
shares = st.sampled_from([1e-6, 0.05, 0.21, 0.5, 0.77, 1.0])
RISKS = ["pairs", "instances", "tangent"]
SMOOTHABLE = ["pairs", "instances"]
some_widths = st.sampled_from([1e-3, 0.1, 1.0, 5.0])  # in units of the scores' range


def risk_of(kind, share, labels=LABELS, weight=None):
    """A risk over a share of the pairs, or of the rows of each class."""
    weight = np.ones(labels.size) if weight is None else weight
    positive, negative = weight[labels].sum(), weight[~labels].sum()
    if kind == "pairs":
        return PairMargin(share * positive * negative)
    if kind == "instances":
        return InstanceMargin(share * positive, np.sqrt(share) * negative)
    return TangentMargin(share**2 * positive * negative, share * positive)


@pytest.mark.parametrize("kind", RISKS)
@given(scores=any_scores, others=any_scores, weight=weights, share=shares)
def test_subgradient_supports_the_risk_from_below(kind, scores, others, weight, share):
    risk = risk_of(kind, share, weight=weight)
    value, subgradient = risk.bind(LABELS, weight).value_and_gradient(scores)
    bound = value + subgradient @ (others - scores)
    slack = 1e-12 * (1.0 + np.abs(scores).max() + np.abs(others).max())
    assert risk.bind(LABELS, weight).value(others) >= bound - slack
    assert risk.bind(LABELS, weight).value(scores) == value


@pytest.mark.parametrize("kind", RISKS)
@given(scores=any_scores, weight=weights, share=shares)
def test_shares_are_a_distribution_over_each_class(kind, scores, weight, share):
    risk = risk_of(kind, share, weight=weight)
    value, subgradient = risk.bind(LABELS, weight).value_and_gradient(scores)
    assert (subgradient[LABELS] <= 0.0).all()
    assert (subgradient[~LABELS] >= 0.0).all()
    assert subgradient[LABELS].sum() == pytest.approx(-0.5, rel=1e-12)
    assert subgradient[~LABELS].sum() == pytest.approx(0.5, rel=1e-12)
    # homogeneous: the line of the subgradient passes through the origin
    # but for what is lost below the smallest number, once per row
    lost = scores.size * np.finfo(float).smallest_subnormal
    slack = 1e-14 * np.abs(scores).max() + lost
    assert value == pytest.approx(subgradient @ scores, rel=1e-12, abs=slack)
    if weight is not None:
        assert not subgradient[weight == 0.0].any()


@pytest.mark.parametrize("kind", RISKS)
@fewer_examples
@given(
    scores=tied_scores,
    weight=weights,
    share=shares,
    factor=st.sampled_from([1e-300, 1e-150, 0.3, 1e150, 1e300]),
)
def test_risk_grows_with_the_scores(kind, scores, weight, share, factor):
    risk = risk_of(kind, share, weight=weight)
    value, _ = risk.bind(LABELS, weight).value_and_gradient(scores)
    scaled, subgradient = risk.bind(LABELS, weight).value_and_gradient(factor * scores)
    assert scaled / factor == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert np.isfinite(subgradient).all()


@pytest.mark.parametrize("kind", RISKS)
@fewer_examples
@given(scores=tied_scores, weight=weights, share=shares, constant=st.integers(-9, 9))
def test_a_constant_added_to_every_score_changes_nothing(
    kind, scores, weight, share, constant
):
    risk = risk_of(kind, share, weight=weight)
    value, subgradient = risk.bind(LABELS, weight).value_and_gradient(scores)
    moved, slope = risk.bind(LABELS, weight).value_and_gradient(scores + 1e8 * constant)
    assert moved == pytest.approx(value, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(slope, subgradient, atol=1e-14)


@pytest.mark.parametrize("kind", RISKS)
@fewer_examples
@given(scores=tied_scores, share=shares)
def test_a_weight_of_two_is_a_row_repeated(kind, scores, share):
    weight = np.where(np.arange(SIZE) % 3 == 0, 2.0, 1.0)
    repeat = weight.astype(int)
    risk = risk_of(kind, share, weight=weight)
    once, slope = risk.bind(LABELS, weight).value_and_gradient(scores)
    twice, slopes = risk.bind(np.repeat(LABELS, repeat)).value_and_gradient(
        np.repeat(scores, repeat)
    )
    assert once == pytest.approx(twice, rel=1e-13, abs=1e-13)
    np.testing.assert_allclose(np.repeat(slope / repeat, repeat), slopes, atol=1e-13)


@pytest.mark.parametrize("kind", RISKS)
@fewer_examples
@given(scores=tied_scores, weight=weights, share=shares, seed=st.integers(0, 99))
def test_the_order_of_the_rows_does_not_matter(kind, scores, weight, share, seed):
    order = np.random.default_rng(seed).permutation(SIZE)
    risk = risk_of(kind, share, weight=weight)
    _, slope = risk.bind(LABELS, weight).value_and_gradient(scores)
    shuffled = None if weight is None else weight[order]
    _, moved = risk.bind(LABELS[order], shuffled).value_and_gradient(scores[order])
    np.testing.assert_allclose(moved, slope[order], atol=1e-14)


@pytest.mark.parametrize("kind", RISKS)
def test_large_equal_weights_change_nothing(kind):
    # pairs by the weights: 1.6e19, more than int64 holds
    generator = np.random.default_rng(0)
    scores, labels = generator.integers(-4, 4, 80) / 4.0, np.arange(80) % 2 == 0
    value, slope = risk_of(kind, 0.3, labels).bind(labels).value_and_gradient(scores)
    weight = np.full(80, 1e8)
    heavy = risk_of(kind, 0.3, labels, weight)
    same, same_slope = heavy.bind(labels, weight).value_and_gradient(scores)
    assert same == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(same_slope, slope, rtol=1e-12, atol=1e-16)


@pytest.mark.parametrize("kind", SMOOTHABLE)
@given(
    scores=any_scores,
    others=any_scores,
    weight=weights,
    share=shares,
    width=some_widths,
)
def test_a_smoothed_line_stays_below_the_risk(
    kind, scores, others, weight, share, width
):
    risk = risk_of(kind, share, weight=weight)
    width = width * (np.ptp(scores) + 1e-9)
    line = risk.bind(LABELS, weight).smoothed(scores, width=width)
    slack = 1e-9 * (1.0 + np.abs(scores).max() + np.abs(others).max())
    assert line.offset == 0.0
    assert line.value == risk.bind(LABELS, weight).value(scores)
    assert risk.bind(LABELS, weight).value(others) >= line.subgradient @ others - slack
    # a wide ramp loses no more than its width
    assert line.value - line.subgradient @ scores <= width + slack
    assert line.subgradient[LABELS].sum() == pytest.approx(-0.5, rel=1e-9)
    assert line.subgradient[~LABELS].sum() == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("kind", SMOOTHABLE)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_curvature_is_how_the_smoothed_slope_turns(kind, weighted, share):
    generator = np.random.default_rng(0)
    labels = np.arange(40) < 15
    weight = generator.integers(0, 4, 40).astype(float) if weighted else None
    scores, V = generator.normal(size=40), generator.normal(size=(40, 3))
    risk = risk_of(kind, share, labels, weight)

    def slope(scores):
        return risk.bind(labels, weight).smoothed(scores, width=0.7).subgradient

    form = risk.bind(labels, weight).curvature(scores, width=0.7)
    step = 1e-6
    turned = [
        slope(scores + step * column) - slope(scores - step * column) for column in V.T
    ]
    expected = V.T @ np.array(turned).T / (2.0 * step)
    np.testing.assert_allclose(form(V), expected, atol=1e-7)
    np.testing.assert_allclose(form(sparse.csr_array(V)), form(V), atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curvature_of_many_rows_is_that_of_a_sample(weighted):
    generator = np.random.default_rng(0)
    labels = np.arange(20_000) < 8_000
    weight = generator.integers(1, 4, 20_000).astype(float) if weighted else None
    scores, V = (
        labels + generator.normal(size=20_000),
        generator.normal(size=(20_000, 3)),
    )
    risk = risk_of("pairs", 0.2, labels, weight).bind(labels, weight)
    step = 1e-5
    turned = [
        risk.smoothed(scores + step * column, width=0.7).subgradient
        - risk.smoothed(scores - step * column, width=0.7).subgradient
        for column in V.T
    ]
    expected = V.T @ np.array(turned).T / (2.0 * step)
    hessian = risk.curvature(scores, width=0.7)(V)
    np.testing.assert_allclose(hessian, expected, atol=0.1 * np.abs(expected).max())


@pytest.mark.parametrize("risk", [PairMargin(1.0), InstanceMargin(0.7, 0.7)])
@pytest.mark.parametrize("seed", range(5))
def test_one_pair_or_row_on_the_ramp_has_no_curvature(risk, seed):
    # the threshold follows it, and rounding must not pass for curvature
    rng = np.random.default_rng(seed)
    scores, columns = rng.normal(size=LABELS.size), rng.normal(size=(LABELS.size, 4))
    form = risk.bind(LABELS).curvature(scores, 1e-9)
    np.testing.assert_array_equal(form(columns), 0.0)
    np.testing.assert_array_equal(form(sparse.csr_array(columns)), 0.0)
