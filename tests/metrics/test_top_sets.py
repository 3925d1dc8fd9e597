import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aucmax.metrics.top_sets import TopSets, check_bins, membership_counts

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
    found = membership_counts(sets, starts, sizes)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * sets.n**2)


@given(any_sets(), st.data())
def test_counts_of_all_rows_add_up_to_the_sizes_of_the_sets(sets, data):
    starts, sizes = data.draw(blocks(sets.n))
    total = membership_counts(sets, starts, sizes) @ sizes
    assert total == pytest.approx(sets.weights @ sets.sizes, abs=1e-9)


def test_counts_have_the_shape_of_the_blocks():
    sets = TopSets.every(4)
    assert membership_counts(sets, 0, 4) == 2.5
    assert membership_counts(sets, [[0], [1]], [[1], [3]]).tolist() == [[4.0], [2.0]]
    assert membership_counts(sets, 0, [1, 2]).tolist() == [4.0, 3.5]
    assert membership_counts(TopSets.binned(4, [9]), [0, 2], [2, 2]).tolist() == [
        0.0,
        0.0,
    ]


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


@given(any_sets())
def test_prefix_sums_are_sums_over_the_sets_up_to_each_size(sets):
    weights, moments = sets.prefix_sums()
    for size in range(sets.n + 1):
        below = sets.sizes <= size
        assert weights[size] == pytest.approx(sets.weights[below].sum())
        moment = sets.sizes[below] @ sets.weights[below]
        assert moments[size] == pytest.approx(moment)
    assert weights.shape == moments.shape == (sets.n + 1,)


@given(numbers, any_bins)
def test_weights_of_boundaries_are_means_of_the_bins_on_both_sides(n, bins):
    sets = TopSets.binned(n, bins)
    sizes = np.diff([0, *sets.sizes, n])
    assert (sizes > 0).all()
    np.testing.assert_array_equal(sets.weights, (sizes[1:] + sizes[:-1]) / 2)


@given(st.integers(1, 60), st.integers(2, 80))
def test_a_number_of_bins_makes_them_as_equal_as_can_be(n, bins):
    found = TopSets.binned(n, bins).sizes.tolist()
    rounded = {round(n * b / bins) for b in range(1, bins)}
    assert found == sorted(rounded - {0, n})
    sizes = np.diff([0, *found, n])
    assert len(sizes) == min(n, bins)
    assert sizes.max() - sizes.min() <= 1


def test_as_many_bins_as_rows_or_more_are_all_single_rows():
    for bins in (5, 6, 9, 10, 10**12, np.int64(7)):
        sets = TopSets.binned(5, bins)
        assert sets.sizes.tolist() == [1, 2, 3, 4]
        assert sets.weights.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "bins",
    [
        [2, 4, 8],
        (2, 4, 8),
        [2, 4, 8, 10, 11, 10**15],
        np.array([2, 4, 8], dtype=np.int8),
        np.array([2, 4, 8, 255], dtype=np.uint8),
        np.array([2, 4, 8, 2**64 - 1], dtype=np.uint64),
        [np.int32(2), 4, np.uint16(8)],
        pd.Series([2, 4, 8], index=[7, 7, 7]),
        [0.2, 0.4, 0.8],
        [0.01, 0.2, 0.22, 0.4, 0.8, 0.99],
        np.array([0.2, 0.4, 0.8], dtype=np.float32),
        [np.float64(0.2), 0.4, 0.8],
    ],
)
def test_boundaries_come_in_many_kinds(bins):
    sets = TopSets.binned(10, bins)
    assert sets.sizes.tolist() == [2, 4, 8]
    assert sets.weights.tolist() == [2.0, 3.0, 3.0]
    assert sets.sizes.dtype == np.int64
    assert sets.weights.dtype == np.float64


def test_a_range_makes_bins_of_one_size():
    sets = TopSets.binned(90, range(20, 1000, 20))
    assert sets.sizes.tolist() == [20, 40, 60, 80]
    assert sets.weights.tolist() == [20.0, 20.0, 20.0, 15.0]


def test_shares_of_many_rows_do_not_overflow():
    found = TopSets.binned(10**5, np.array([0.5, 0.75], dtype=np.float16))
    assert found.sizes.tolist() == [50_000, 75_000]


@pytest.mark.parametrize("bins", [2, 10, [1], [5, 9], [0.5], range(20, 100, 20)])
def test_one_row_has_no_boundary(bins):
    sets = TopSets.binned(1, bins)
    assert sets.sizes.size == sets.weights.size == 0
    assert sets.best(1) == sets.spread(1) == 0.0
    assert [part.tolist() for part in sets.prefix_sums()] == [[0.0, 0.0]] * 2


@given(any_bins)
def test_checked_bins_pass_again(bins):
    once = check_bins(bins)
    np.testing.assert_array_equal(check_bins(once), once)


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        (1, "bins must be at least 2, got 1"),
        (0, "bins must be at least 2, got 0"),
        (-3, "bins must be at least 2, got -3"),
        ([0, 3], r"at least 1, but bins\[0\] is 0"),
        ([3, -1], r"at least 1, but bins\[1\] is -1"),
        ([3, 3], r"must increase, but bins\[1\] is 3 after 3"),
        ([3, 7, 5], r"must increase, but bins\[2\] is 5 after 7"),
        (np.array([3, 2], dtype=np.uint64), r"bins\[1\] is 2 after 3"),
        (range(9, 1, -2), r"bins\[1\] is 7 after 9"),
        ([0.5, 0.5], r"must increase, but bins\[1\] is 0.5 after 0.5"),
        ([0.0, 0.5], r"shares of the rows.*bins\[0\] is 0.0"),
        ([0.5, 1.0], r"shares of the rows.*bins\[1\] is 1.0"),
        ([0.5, np.nan], r"shares of the rows.*bins\[1\] is nan"),
        ([20.0, 40.0], r"bins\[0\] is 20.0; use integers for numbers of rows"),
        ([0.5, 20], r"bins\[1\] is 20.0; use integers for numbers of rows"),
    ],
)
def test_bad_boundaries_are_rejected(bins, message):
    with pytest.raises(ValueError, match=message):
        TopSets.binned(10, bins)


@pytest.mark.parametrize(
    ("bins", "found"),
    [
        (True, "got True"),
        (np.True_, "got np.True_"),
        (10.0, "got 10.0"),
        (np.float64(0.5), r"got np.float64\(0.5\)"),
        ("ten", "got 'ten'"),
        (None, "got None"),
        ({2, 4}, "got {2, 4}"),
        ([True, 4], r"got a boolean in \[True, 4\]"),
        (np.array([True, False]), "got array"),
        ([], "got an empty sequence"),
        ([[1, 2]], r"got an array of shape \(1, 2\)"),
        ([[1, 2], [3]], r"got \[\[1, 2\], \[3\]\]"),
        (["2", "4"], r"got \['2', '4'\]"),
        ([2, 2**70], "got"),
    ],
)
def test_what_is_no_bins_is_rejected(bins, found):
    with pytest.raises(TypeError, match=f"bins must be an integer .*{found}"):
        TopSets.binned(10, bins)


@pytest.mark.parametrize("bad", [0, -1, 2.0, True, "3", None])
def test_bad_numbers_are_rejected(bad):
    for make in (
        TopSets.every,
        lambda n: TopSets.up_to(n, 3),
        lambda n: TopSets([], [], n),
    ):
        with pytest.raises(ValueError, match="n must be an integer of at least 1"):
            make(bad)
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        TopSets.binned(bad, 2)
    with pytest.raises(ValueError, match="k must be an integer of at least 1"):
        TopSets.up_to(3, bad)


@pytest.mark.parametrize("method", ["best", "spread"])
def test_a_bad_number_of_positives_is_rejected(method):
    sets = TopSets.every(3)
    with pytest.raises(ValueError, match="must not exceed the 3 rows, got 4"):
        getattr(sets, method)(4)
    with pytest.raises(ValueError, match="n_positive must be an integer of at least 0"):
        getattr(sets, method)(-1)


@pytest.mark.parametrize(
    ("sizes", "weights", "message"),
    [
        ([1, 2], [1.0], r"equally long, got shapes \(2,\) and \(1,\)"),
        ([[1]], [[1.0]], "one-dimensional"),
        ([0, 2], [1, 1], r"sizes must be at least 1, but sizes\[0\] is 0"),
        ([2, 6], [1, 1], r"must not exceed the 5 rows, but sizes\[1\] is 6"),
        ([2, 2], [1, 1], r"sizes must increase, but sizes\[1\] is 2 after 2"),
        ([2, 3], [1, 0], r"weights must be .* above 0, but weights\[1\] is 0"),
        ([2, 3], [1, np.inf], r"weights must be finite .*, but weights\[1\] is inf"),
    ],
)
def test_bad_sets_are_rejected(sizes, weights, message):
    with pytest.raises(ValueError, match=message):
        TopSets(sizes, weights, 5)


def test_sizes_are_whole_numbers():
    with pytest.raises(TypeError, match="sizes must be integers, got dtype float64"):
        TopSets([1.0, 2.0], [1, 1], 5)
