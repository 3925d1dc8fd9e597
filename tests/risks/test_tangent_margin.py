import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_margins as reference
from aucmax.risks.instance_margin import InstanceMargin, TangentMargin
from drawing import picked, spread

pytestmark = pytest.mark.kernel

SIZE = 9
LABELS = np.array([True, False, True, True, False, False, False, True, False])
# few distinct values, so that ties are the rule and not the exception
tied_scores = picked(SIZE, np.arange(-6, 7) / 2.0)
any_scores = st.one_of(tied_scores, spread(SIZE, st.floats(-1e3, 1e3, width=32)))
some_weights = picked(SIZE, [0.0, 0.5, 1.0, 2.0, 7.0])
weights = st.one_of(
    st.none(), some_weights.filter(lambda w: w[LABELS].any() and w[~LABELS].any())
)
shares = st.floats(0.02, 1.0)


def totals(weight, labels=LABELS):
    weight = np.ones(labels.size) if weight is None else weight
    return weight[labels].sum(), weight[~labels].sum()


def parameters(weight, share, place, labels=LABELS):
    """nu, and a centre at the given place of its interval."""
    positive, negative = totals(weight, labels)
    nu = share * positive * negative
    first = nu / negative
    return nu, min(first + place * (positive - first), positive)


def inner_nu_pos(risk, scores, weight=None):
    return risk.bind(LABELS, weight)._inner_nu_pos(scores)


@given(any_scores, weights, shares, st.floats(0.0, 1.0))
def test_value_is_the_optimum_of_the_linear_program(scores, weight, share, place):
    nu, center = parameters(weight, share, place)
    value = TangentMargin(nu, center).bind(LABELS, weight).value(scores)
    expected = reference.tangent_margin(scores, LABELS, nu, center, weight)
    assert value == pytest.approx(expected, rel=1e-7, abs=1e-7)


@given(any_scores, weights, shares, st.floats(0.0, 1.0))
def test_inner_nu_pos_is_the_worst_in_its_interval(scores, weight, share, place):
    nu, center = parameters(weight, share, place)
    positive, negative = totals(weight)
    risk = TangentMargin(nu, center)
    first, last = nu / negative, center * (2.0 - center / positive)

    def margin(nu_pos):
        nu_pos = min(max(nu_pos, first), last)
        spread = min(center**2 / (2.0 * center - nu_pos), positive)
        nus = spread, min(nu / nu_pos, negative)
        return -reference.instance_margin(scores, LABELS, *nus, weight)[0]

    inner = inner_nu_pos(risk, scores, weight)
    slack = 1e-12 * (1.0 + np.abs(scores).max())
    assert first * (1.0 - 1e-12) <= inner <= last * (1.0 + 1e-12)
    assert -risk.bind(LABELS, weight).value(scores) == pytest.approx(
        margin(inner), abs=slack
    )
    for nu_pos in np.linspace(first, max(first, last), 50):
        assert margin(nu_pos) >= margin(inner) - slack


@given(any_scores, weights, shares, st.floats(0.0, 1.0))
def test_risk_is_between_the_centre_and_the_worst_of_all(scores, weight, share, place):
    nu, center = parameters(weight, share, place)
    positive, negative = totals(weight)
    value = TangentMargin(nu, center).bind(LABELS, weight).value(scores)
    slack = 1e-12 * (1.0 + np.abs(scores).max())
    at_center = InstanceMargin(center, min(nu / center, negative))
    assert value >= at_center.bind(LABELS, weight).value(scores) - slack
    # where the tangent found its margin, the curve has at least that risk
    nu_pos = inner_nu_pos(TangentMargin(nu, center), scores, weight)
    curve = InstanceMargin(min(nu_pos, positive), min(nu / nu_pos, negative))
    assert value <= curve.bind(LABELS, weight).value(scores) + slack


def test_of_equally_good_nu_pos_the_centre_is_kept():
    assert inner_nu_pos(TangentMargin(3.0, 1.25), np.ones(SIZE)) == 1.25


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decimals", [0, 1, 16])
def test_many_rows(decimals, weighted):
    generator = np.random.default_rng(0)
    labels = generator.random(60) < 0.4
    weight = generator.uniform(0.0, 2.0, 60) if weighted else None
    scores = 1e6 + np.round(generator.normal(size=60), decimals)
    for share in (0.01, 0.3, 0.9):
        for place in (0.0, 0.2, 0.9, 1.0):
            nu, center = parameters(weight, share, place, labels)
            value = TangentMargin(nu, center).bind(labels, weight).value(scores)
            expected = reference.tangent_margin(
                scores - 1e6, labels, nu, center, weight
            )
            assert value == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("nu", [0.0, -1.0, 20.5, np.nan])
def test_nu_beyond_the_pairs_is_rejected(nu):
    with pytest.raises(ValueError, match=r"at most that of all pairs, 20, got"):
        TangentMargin(nu, 2.0).bind(LABELS).value(np.zeros(SIZE))


@pytest.mark.parametrize("nu_center", [1.9, 4.1, np.nan])
def test_a_centre_outside_is_rejected(nu_center):
    with pytest.raises(ValueError, match=r"at least .* 2, and at most .* 4, got"):
        inner_nu_pos(TangentMargin(10.0, nu_center), np.zeros(SIZE))
