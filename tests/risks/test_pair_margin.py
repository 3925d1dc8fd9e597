import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_margins as reference
from aucmax.risks._pairs import sorted_pairs
from aucmax.risks.instance_margin import InstanceMargin
from aucmax.risks.pair_margin import PairMargin, pairs_with_margin
from drawing import picked, spread

pytestmark = pytest.mark.kernel

SIZE = 9
LABELS = np.array([True, False, True, True, False, False, False, True, False])
# few distinct values, so that ties are the rule and not the exception
tied_scores = picked(SIZE, np.arange(-6, 7) / 2.0)
any_scores = st.one_of(
    tied_scores,
    spread(SIZE, st.floats(-1e3, 1e3)),
    # tiny, but far above the subnormal numbers, which have fewer digits
    spread(SIZE, st.integers(-(2**20), 2**20).map(lambda n: 1e-296 * n)),
    spread(SIZE, st.floats(-1e300, 1e300)),
)
# sums of these are exact, so the threshold is too
some_weights = picked(SIZE, [0.0, 0.5, 1.0, 2.0, 7.0])
weights = st.one_of(
    st.none(), some_weights.filter(lambda w: w[LABELS].any() and w[~LABELS].any())
)


def weight_of_pairs(labels, weight=None):
    weight = np.ones(labels.size) if weight is None else weight
    return float(weight[labels].sum() * weight[~labels].sum())


def assert_is_the_definition(scores, labels, nu, weight=None):
    expected, slope, last = reference.pair_margin(scores, labels, nu, weight)
    value, subgradient = PairMargin(nu).bind(labels, weight).value_and_gradient(scores)
    scale = scores.max() - scores.min()
    assert PairMargin(nu).bind(labels, weight).threshold(scores) == last
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-13 * scale)
    np.testing.assert_allclose(subgradient, slope, rtol=1e-9, atol=1e-13)


@given(any_scores, weights, st.data())
def test_value_subgradient_and_threshold_are_the_definition(scores, weight, data):
    eighths = int(8 * weight_of_pairs(LABELS, weight))
    nu = data.draw(st.integers(1, eighths)) / 8.0
    assert_is_the_definition(scores, LABELS, nu, weight)


@given(st.one_of(tied_scores, spread(SIZE, st.floats(-1e3, 1e3))), weights, st.data())
def test_a_width_below_the_rounding_of_scores_leaves_the_risk(scores, weight, data):
    eighths = int(8 * weight_of_pairs(LABELS, weight))
    risk = PairMargin(data.draw(st.integers(1, eighths)) / 8.0).bind(LABELS, weight)
    size = float(np.abs(scores).max())
    smoothed = risk.smoothed(scores, 1e-20 * size or 1.0)
    assert smoothed.subgradient[LABELS].sum() == pytest.approx(-0.5, rel=1e-12)
    assert smoothed.subgradient[~LABELS].sum() == pytest.approx(0.5, rel=1e-12)
    value = smoothed.subgradient @ scores
    few_digits = 1e-13 * size + 1e-320  # of denormal scores
    assert value == pytest.approx(risk.value(scores), rel=1e-12, abs=few_digits)


@given(tied_scores, weights)
def test_largest_nu_is_the_mean_over_all_pairs(scores, weight):
    nu = weight_of_pairs(LABELS, weight)
    row = np.ones(SIZE) if weight is None else weight
    means = [np.average(scores[side], weights=row[side]) for side in (LABELS, ~LABELS)]
    value, subgradient = PairMargin(nu).bind(LABELS, weight).value_and_gradient(scores)
    assert value == pytest.approx((means[1] - means[0]) / 2.0, rel=1e-13, abs=1e-14)
    totals = np.where(LABELS, -row[LABELS].sum(), row[~LABELS].sum())
    np.testing.assert_allclose(subgradient, row / totals / 2.0, rtol=1e-13)


@given(tied_scores, weights, st.floats(0.01, 1.0), st.floats(0.01, 1.0))
def test_reduction_to_instances_has_a_larger_margin(scores, weight, share, other):
    row = np.ones(SIZE) if weight is None else weight
    nu_pos, nu_neg = share * row[LABELS].sum(), other * row[~LABELS].sum()
    reduced = InstanceMargin(nu_pos, nu_neg).bind(LABELS, weight).value(scores)
    exact = PairMargin(nu_pos * nu_neg).bind(LABELS, weight).value(scores)
    assert reduced <= exact + 1e-13


@given(any_scores, weights, st.data())
def test_pairs_with_margin_counts_every_pair(scores, weight, data):
    differences = (scores[LABELS][:, None] - scores[~LABELS]).ravel()
    row = np.ones(SIZE) if weight is None else weight
    pairs = np.outer(row[LABELS], row[~LABELS]).ravel()
    some = data.draw(st.sampled_from([*differences, 0.0, 0.3, -np.inf, np.inf]))
    for twice in (some, np.nextafter(some, np.inf), np.nextafter(some, -np.inf)):
        margin = float(twice) / 2.0
        expected = pairs[differences >= 2.0 * margin].sum()
        counted = pairs_with_margin(scores, LABELS, margin, weight)
        assert counted == expected
        assert isinstance(counted, int if weight is None else float)


def many_scores(kind, generator, size):
    if kind == "continuous":
        return generator.normal(size=size)
    if kind == "few values":
        return generator.integers(0, 5, size) / 4.0
    if kind == "nearly tied":  # a few units in the last place apart
        return generator.integers(0, 5, size) / 4.0 + 2e-16 * generator.integers(
            0, 9, size
        )
    if kind == "constant":
        return np.full(size, -0.7)
    if kind == "heavy tails":
        return generator.standard_cauchy(size) ** 5
    if kind == "atom":
        return np.where(generator.random(size) < 0.6, 0.25, generator.normal(size=size))
    if kind == "shifted":
        return 1e8 + generator.normal(size=size)
    return generator.choice([1e-300, 1e300], size) * generator.normal(size=size)


KINDS = [
    "continuous",
    "few values",
    "nearly tied",
    "constant",
    "heavy tails",
    "atom",
    "shifted",
    "mixed scales",
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("p", "n"), [(90, 110), (3, 2000)])
@pytest.mark.parametrize("at_once", [0, 1 << 15])
def test_search_among_many_pairs_is_exact(monkeypatch, at_once, kind, p, n, weighted):
    monkeypatch.setattr(sorted_pairs, "_MAX_PAIRS_AT_ONCE", at_once)
    generator = np.random.default_rng(0)
    scores = many_scores(kind, generator, p + n)
    labels = generator.permutation(p + n) < p
    weight = generator.integers(0, 4, p + n) / 4.0 if weighted else None
    total = weight_of_pairs(labels, weight)
    for nu in (1.0 / 16.0, 1.0, 0.01 * total, 0.2 * total, 0.77 * total, total):
        assert_is_the_definition(scores, labels, nu, weight)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_search_is_exact_however_few_pairs_it_may_list(monkeypatch, kind, weighted):
    monkeypatch.setattr(sorted_pairs, "_MAX_PAIRS_AT_ONCE", 2)
    monkeypatch.setattr(sorted_pairs, "_MAX_LISTED_PAIRS", 2)
    monkeypatch.setattr(sorted_pairs, "_MIN_GUIDES", 1)
    monkeypatch.setattr(sorted_pairs, "_ROWS_PER_GUIDE", 3)
    for seed in range(6):
        generator = np.random.default_rng(seed)
        scores = many_scores(kind, generator, 40)
        labels = generator.permutation(40) < 8 + seed
        weight = generator.choice([0.5, 1.0, 2.0**20], 40) if weighted else None
        total = weight_of_pairs(labels, weight)
        for nu in total * generator.random(6):
            assert_is_the_definition(scores, labels, nu, weight)


def test_weights_that_round_leave_all_pairs_reachable():
    generator = np.random.default_rng(3)
    scores, labels = generator.normal(size=200), np.arange(200) % 3 == 0
    weight = generator.uniform(0.1, 1.0, 200) / 3.0
    total = weight_of_pairs(labels, weight)
    for nu in (total * (1.0 - 1e-15), total, total * (1.0 + 1e-15)):
        value, subgradient = (
            PairMargin(nu).bind(labels, weight).value_and_gradient(scores)
        )
        expected = reference.pair_margin(scores, labels, total, weight)[0]
        assert value == pytest.approx(expected, rel=1e-12)
        assert subgradient[~labels].sum() == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("nu", [0.0, -1.0, 20.5, np.inf, np.nan])
def test_nu_beyond_the_pairs_is_rejected(nu):
    with pytest.raises(ValueError, match=r"at most that of all pairs, 20, got"):
        PairMargin(nu).bind(LABELS).value(np.zeros(SIZE))


def test_differences_beyond_float64_are_rejected():
    with pytest.raises(ValueError, match=r"from -1e\+308 to 1e\+308"):
        PairMargin(1.0).bind(LABELS).value(np.where(LABELS, 1e308, -1e308))
