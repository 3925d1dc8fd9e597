import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.metrics.top_sets import TopSets, membership_counts

numbers = st.integers(1, 30)
whole = st.lists(st.integers(1, 40), min_size=1, unique=True).map(sorted)
shares = st.lists(
    st.floats(0.001, 0.999) | st.sampled_from([0.1, 0.25, 0.5]),
    min_size=1,
    unique=True,
).map(sorted)
any_bins = st.one_of(st.integers(2, 40), whole, shares)


@st.composite
def any_sets(draw):
    n = draw(numbers)
    kind = draw(st.sampled_from(["every", "top", "binned", "own"]))
    if kind == "every":
        return TopSets.every(n)
    if kind == "top":
        return TopSets.up_to(n, draw(st.integers(1, 40)))
    if kind == "binned":
        return TopSets.binned(n, draw(any_bins))
    sizes = sorted(draw(st.sets(st.integers(1, n))))
    weight = st.sampled_from([0.25, 1.0, 3.5, 1e-3])
    weights = draw(st.lists(weight, min_size=len(sizes), max_size=len(sizes)))
    return TopSets(sizes, weights, n)


@st.composite
def blocks(draw, n):
    cuts = sorted(draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    edges = np.array([0, *cuts, n])
    return edges[:-1], np.diff(edges)


@given(any_sets(), st.data())
def test_counts_are_the_sums_of_memberships(sets, data):
    starts, sizes = data.draw(blocks(sets.n))
    expected = [
        sum(
            v * min(max((size - s) / b, 0.0), 1.0)
            for size, v in zip(sets.sizes, sets.weights, strict=True)
        )
        for s, b in zip(starts, sizes, strict=True)
    ]
    result = membership_counts(sets, starts, sizes)
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12 * sets.n**2)


@given(any_sets(), st.data())
def test_counts_of_all_rows_add_up_to_the_sizes_of_the_sets(sets, data):
    starts, sizes = data.draw(blocks(sets.n))
    total = membership_counts(sets, starts, sizes) @ sizes
    assert total == pytest.approx(sets.weights @ sets.sizes, abs=1e-9)


@given(any_sets(), st.data())
def test_best_and_spread_are_their_definitions(sets, data):
    p = data.draw(st.integers(0, sets.n))
    pairs = list(zip(sets.sizes.tolist(), sets.weights.tolist(), strict=True))
    best = sum(v * min(size, p) for size, v in pairs)
    worst = sum(v * max(0, size - (sets.n - p)) for size, v in pairs)
    assert sets.best(p) == pytest.approx(best, abs=1e-10)
    assert sets.spread(p) == pytest.approx(best - worst, abs=1e-10)


@given(numbers, st.data())
def test_the_spread_of_every_size_counts_the_pairs(n, data):
    p = data.draw(st.integers(0, n))
    assert TopSets.every(n).spread(p) == p * (n - p)
    assert TopSets.up_to(n, n + 5).spread(p) == p * (n - p)


@given(st.integers(1, 60), st.integers(2, 80))
def test_a_number_of_bins_makes_them_as_equal_as_can_be(n, bins):
    result = TopSets.binned(n, bins).sizes.tolist()
    rounded = {round(n * b / bins) for b in range(1, bins)}
    assert result == sorted(rounded - {0, n})
    sizes = np.diff([0, *result, n])
    assert len(sizes) == min(n, bins)
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("bins", [2, 10, [1], [5, 9], [0.5], range(20, 100, 20)])
def test_one_row_has_no_boundary(bins):
    sets = TopSets.binned(1, bins)
    assert sets.sizes.size == sets.weights.size == 0
    assert sets.best(1) == sets.spread(1) == 0.0
    assert [part.tolist() for part in sets.prefix_sums()] == [[0.0, 0.0]] * 2


@pytest.mark.parametrize(
    "bins",
    [
        [2, 4, 8],
        np.array([2, 4, 8, 255], dtype=np.uint8),
        pd.Series([2, 4, 8], index=[7, 7, 7]),
        [0.01, 0.2, 0.22, 0.4, 0.8, 0.99],
        np.array([0.2, 0.4, 0.8], dtype=np.float32),
    ],
)
def test_boundaries_come_in_many_kinds(bins):
    sets = TopSets.binned(10, bins)
    assert sets.sizes.tolist() == [2, 4, 8]
    assert sets.weights.tolist() == [2.0, 3.0, 3.0]


@pytest.mark.parametrize(
    "bins",
    [
        *(1, True, 10.0, "ten", None, [], [[1, 2], [3]], ["2", "4"], [0, 3]),
        *([3, 7, 5], [0.5, 0.5], [0.0, 0.5], [0.5, 1.0], [0.5, np.nan], [20.0, 40.0]),
    ],
)
def test_bad_bins_are_rejected(bins):
    with pytest.raises(ValueError, match="bins must be an integer of at least 2, or"):
        TopSets.binned(10, bins)


@pytest.mark.parametrize(
    ("sizes", "weights", "message"),
    [
        ([1, 2], [1.0], r"equally long, got shapes \(2,\) and \(1,\)"),
        ([0, 2], [1, 1], "sizes must increase from 1 to 5"),
        ([2, 6], [1, 1], "sizes must increase from 1 to 5"),
        ([2, 2], [1, 1], "sizes must increase from 1 to 5"),
        ([2, 3], [1, np.inf], "weights must be finite and above 0"),
    ],
)
def test_bad_sets_are_rejected(sizes, weights, message):
    with pytest.raises(ValueError, match=message):
        TopSets(sizes, weights, 5)
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        TopSets.every(0)
