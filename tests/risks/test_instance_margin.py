import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_margins as reference
from aucmax.risks._pairs.margin_rows import Lowest
from aucmax.risks.instance_margin import InstanceMargin
from drawing import picked, spread

pytestmark = pytest.mark.kernel

SIZE = 9
LABELS = np.array([True, False, True, True, False, False, False, True, False])
# few distinct values, so that ties are the rule and not the exception
tied_scores = picked(SIZE, np.arange(-6, 7) / 2.0)
any_scores = st.one_of(
    tied_scores,
    spread(SIZE, st.floats(-1e3, 1e3)),
    spread(SIZE, st.floats(-1e300, 1e300)),
)
some_weights = picked(SIZE, [0.0, 0.5, 1.0, 2.0, 7.0])
weights = st.one_of(
    st.none(), some_weights.filter(lambda w: w[LABELS].any() and w[~LABELS].any())
)


def rounding(scores):
    """Return the rounding error of sums of scores, also below the smallest number."""
    return 1e-14 * np.abs(scores).max() + SIZE * np.finfo(float).smallest_subnormal


def draw_nus(data, weight):
    row = np.ones(SIZE) if weight is None else weight
    return [
        data.draw(st.integers(1, int(8 * row[side].sum()))) / 8.0
        for side in (LABELS, ~LABELS)
    ]


@given(any_scores, weights, st.data())
def test_value_and_subgradient_are_the_definition(scores, weight, data):
    nus = draw_nus(data, weight)
    value, subgradient = (
        InstanceMargin(*nus).bind(LABELS, weight).value_and_gradient(scores)
    )
    expected, slope = reference.instance_margin(scores, LABELS, *nus, weight)
    assert value == pytest.approx(expected, rel=1e-13, abs=rounding(scores))
    np.testing.assert_allclose(subgradient, slope, rtol=1e-12, atol=1e-15)


@given(any_scores, weights, st.data())
def test_sorting_once_answers_for_every_size(scores, weight, data):
    nu_pos, nu_neg = draw_nus(data, weight)
    positives, negatives = Lowest.from_scores(scores, LABELS, weight)
    positive = positives.mean(np.array([nu_pos, nu_pos]))
    negative = -negatives.mean(np.array([[nu_neg]]))
    assert positive.shape == (2,)
    assert negative.shape == (1, 1)
    value = InstanceMargin(nu_pos, nu_neg).bind(LABELS, weight).value(scores)
    margin = positive[1] / 2.0 - negative[0, 0] / 2.0
    assert margin == pytest.approx(-value, rel=1e-13, abs=rounding(scores))

    row = np.ones(SIZE) if weight is None else weight
    _, last = reference.tail_shares(scores[LABELS], row[LABELS], nu_pos)
    assert positives.threshold(nu_pos) == last
    _, last = reference.tail_shares(-scores[~LABELS], row[~LABELS], nu_neg)
    assert negatives.threshold(nu_neg) == last


@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_with_and_without_ties(weighted):
    generator = np.random.default_rng(0)
    labels = generator.random(3000) < 0.3
    weight = generator.uniform(0.0, 2.0, 3000) if weighted else None
    row = np.ones(3000) if weight is None else weight
    totals = row[labels].sum(), row[~labels].sum()
    for decimals in (0, 1, 16):
        scores = 1e6 + np.round(generator.normal(size=3000), decimals)
        for share in (1e-5, 0.1, 0.45, 1.0):
            nus = share * totals[0], share**0.5 * totals[1]
            value, subgradient = (
                InstanceMargin(*nus).bind(labels, weight).value_and_gradient(scores)
            )
            _, slope = reference.instance_margin(scores, labels, *nus, weight)
            np.testing.assert_allclose(subgradient, slope, rtol=1e-9, atol=1e-14)
            assert value == pytest.approx(slope @ (scores - 1e6), abs=1e-12)


def test_margins_of_many_sizes_bound_each_other():
    generator = np.random.default_rng(1)
    scores, labels = generator.normal(size=500), np.arange(500) % 5 == 0
    sizes = np.linspace(0.5, 100.0, 400)
    for own in Lowest.from_scores(scores, labels):
        means = own.mean(sizes)
        assert (np.diff(means) >= -1e-15).all()
        assert (means <= own.threshold(sizes) + 1e-15).all()
        # one size at a time is the same
        assert [own.mean(size) for size in sizes] == list(means)


def test_a_size_beyond_the_class_is_rejected():
    scores = np.zeros(SIZE)
    message = r"nu_pos, the weight of the positives .* all positives, 4, got 4.5"
    with pytest.raises(ValueError, match=message):
        InstanceMargin(4.5, 1.0).bind(LABELS).value(scores)
    for nu in (0.0, -1.0, 5.1, np.nan):
        with pytest.raises(ValueError, match=r"nu_neg, .* all negatives, 5, got"):
            InstanceMargin(1.0, nu).bind(LABELS).value(scores)
