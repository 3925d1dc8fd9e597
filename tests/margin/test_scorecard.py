import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from aucmax.margin.scorecard import Band, Scorecard

RNG = np.random.default_rng(0)
NAMES = ["age", "pressure", "sugar"]
X = RNG.integers(0, 8, size=(60, 3)).astype(float)


def random_stumps(n=30):
    return {
        "columns": RNG.integers(0, 3, size=n),
        "thresholds": RNG.integers(0, 7, size=n) + 0.5,
        "weights": RNG.dirichlet(np.ones(n)) * RNG.choice([-1, 1], size=n),
    }


def stump_scores(X, columns, thresholds, weights):
    return np.where(X[:, columns] > thresholds, 1.0, -1.0) @ weights


def small_card(**options):
    return Scorecard.from_stumps(
        NAMES,
        columns=[0, 0, 1, 2],
        thresholds=[1.5, 3.0, 2.5, 4.0],
        weights=[0.12, 0.08, -0.3, 0.5],
        **options,
    )


@pytest.mark.parametrize("total", [100.0, 7.0])
def test_exact_points_are_the_decision_function_of_stumps(total):
    stumps = random_stumps()
    card = Scorecard.from_stumps(NAMES, **stumps, total=total)
    points = card.points_for(X, exact=True)
    assert points.min() >= 0.0
    assert points.max() <= total + 1e-9
    assert_allclose(card.score(points), stump_scores(X, **stumps), atol=1e-12)


def test_the_relation_of_a_convex_combination_is_the_one_stated():
    card = small_card(decimals=None)
    assert card.scale == pytest.approx(1.0)
    scores = stump_scores(
        X, [0, 0, 1, 2], [1.5, 3.0, 2.5, 4.0], [0.12, 0.08, -0.3, 0.5]
    )
    assert_allclose(2 * card.points_for(X) / 100 - 1, scores, atol=1e-12)


def test_in_other_units_the_same_cases_have_the_same_points():
    card = Scorecard.from_stumps(NAMES, **random_stumps())
    factors = np.array([10.0, 0.5, 3.0])
    other = card.in_units(lambda column, value: value * factors[column] + 7.0)
    assert_allclose(other.points_for(X * factors + 7.0), card.points_for(X))
    even = Scorecard.from_features(NAMES, [0.5, -0.2, 0.1], [0, 1, 2], [4, 5, 6])
    other = even.in_units(lambda column, value: value * factors[column] + 7.0)
    assert_allclose(other.points_for(X * factors + 7.0), even.points_for(X))


def test_exact_points_are_the_decision_function_of_features():
    weights = np.array([0.5, -0.2, 0.1])
    low, high = np.array([0.0, 1.0, -2.0]), np.array([6.0, 5.0, 10.0])
    card = Scorecard.from_features(NAMES, weights, low, high)
    scores = (2 * (X - low) / (high - low) - 1) @ weights
    assert_allclose(card.score(card.points_for(X, exact=True)), scores, atol=1e-12)
    assert card.scale == pytest.approx(0.8)


def test_an_even_feature_has_no_points_at_one_end_and_all_at_the_other():
    card = Scorecard.from_features(["up", "down"], [0.6, -0.4], [10, 0], [20, 5])
    assert_allclose(card.points_for([[10, 5], [20, 5], [10, 0]]), [0, 60, 40])
    assert_allclose(card.points_for([[15, 5]]), [30])


def test_constant_and_unweighted_features_are_left_out():
    card = Scorecard.from_features(NAMES, [0.5, 0.3, 0.0], [0, 2, 0], [1, 2, 1])
    assert [row.feature for row in card.rows] == ["age"]
    assert card.rows[0].points == 100.0
    # the constant one has the value 0, whatever its weight
    assert_allclose(card.score(card.points_for([[1, 2, 0]])), 0.5)


def test_rows_are_sorted_by_points_and_sum_to_the_total():
    card = Scorecard.from_stumps(NAMES, **random_stumps())
    points = [row.points for row in card.rows]
    assert points == sorted(points, reverse=True)
    assert sum(points) == pytest.approx(100.0, abs=1e-9)


@pytest.mark.parametrize("decimals", [0, 1, 3])
def test_rounded_points_sum_to_the_total_and_are_off_by_less_than_one_unit(decimals):
    card = Scorecard.from_stumps(NAMES, **random_stumps(), decimals=decimals)
    points = np.array([row.points for row in card.rows])
    exact = np.array([row.weight for row in card.rows]) * 100 / card.scale
    assert_allclose(points.sum(), 100.0)
    assert np.abs(points - exact).max() < 10.0**-decimals
    assert_array_equal(points, np.round(points, decimals))
    moved = np.abs(card.points_for(X) - card.points_for(X, exact=True))
    assert moved.max() < len(card.rows) * 10.0**-decimals


def test_equal_stumps_become_one_row_and_opposite_ones_cancel():
    card = Scorecard.from_stumps(
        NAMES,
        columns=[0, 0, 1, 1, 2, 2],
        thresholds=[1.5, 1.5, 2.5, 2.5, 3.5, 3.5],
        weights=[0.2, 0.3, 0.1, -0.4, 0.25, -0.25],
    )
    assert [(row.feature, row.direction) for row in card.rows] == [
        ("age", 1),
        ("pressure", -1),
    ]
    assert_allclose([row.weight for row in card.rows], [0.5, 0.3])


def test_bands_merge_the_stumps_of_a_feature():
    (_, sugar), (_, pressure), (name, age) = small_card().bands()
    assert name == "age"
    assert age == [
        Band(-np.inf, 1.5, 0.0),
        Band(1.5, 3.0, 12.0),
        Band(3.0, np.inf, 20.0),
    ]
    assert pressure == [Band(-np.inf, 2.5, 30.0), Band(2.5, np.inf, 0.0)]
    assert sugar == [Band(-np.inf, 4.0, 0.0), Band(4.0, np.inf, 50.0)]


@pytest.mark.parametrize("decimals", [0, 1, None])
def test_a_case_has_the_points_of_its_bands(decimals):
    card = Scorecard.from_stumps(NAMES, **random_stumps(), decimals=decimals)
    points = np.zeros(len(X))
    for name, bands in card.bands():
        assert bands[0].low == -np.inf
        assert bands[-1].high == np.inf
        for band in bands:
            values = X[:, NAMES.index(name)]
            points += band.points * ((band.low < values) & (values <= band.high))
    assert_allclose(points, card.points_for(X), atol=1e-9)


def test_points_for_takes_sparse_frames_and_float32():
    pandas = pytest.importorskip("pandas")
    card = Scorecard.from_stumps(NAMES, **random_stumps())
    expected = card.points_for(X)
    for same in (
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        X.astype(np.float32),
        pandas.DataFrame(X, columns=NAMES),
        X.tolist(),
    ):
        assert_array_equal(card.points_for(same), expected)


def test_the_text_lines_up_and_tells_the_relation():
    assert str(small_card()).splitlines() == [
        "Scorecard: 4 rules on 3 features, 100 points in all",
        "",
        " points  rule",
        "   50.0  sugar > 4",
        "   30.0  pressure <= 2.5",
        "   12.0  age > 1.5",
        "    8.0  age > 3",
        "",
        "score = 2 * points / 100 - 1",
    ]


def test_the_text_of_bands_has_a_line_for_each_step():
    assert small_card().to_text("bands").splitlines()[3:10] == [
        "    0.0  sugar <= 4",
        "   50.0  sugar > 4",
        "   30.0  pressure <= 2.5",
        "    0.0  pressure > 2.5",
        "    0.0  age <= 1.5",
        "   12.0  age > 1.5 and <= 3",
        "   20.0  age > 3",
    ]


def test_the_number_of_lines_left_out_is_stated():
    text = small_card().to_text(max_rows=2)
    assert "         ... 2 more" in text.splitlines()
    assert "age" not in text
    assert "more" not in small_card().to_text(max_rows=4)
    assert "more" not in small_card().to_text(max_rows=None)


def test_the_text_of_even_features_tells_slope_and_ends():
    card = Scorecard.from_features(["age", "bmi"], [0.6, -0.2], [20, 15], [80, 45])
    assert "   75.0  age: +1.25 per unit, 0 at 20, all at 80" in str(card)
    assert "   25.0  bmi: -0.833 per unit, 0 at 45, all at 15" in str(card)
    assert "score = 0.8 * (2 * points / 100 - 1)" in str(card)


def test_rounding_is_admitted_where_it_happened():
    thirds = Scorecard.from_features(NAMES, [1 / 3] * 3, [0] * 3, [1] * 3)
    assert str(thirds).endswith("- 1, up to rounding")
    assert "rounding" not in str(small_card())


def test_near_thresholds_do_not_read_the_same():
    near = [100000.25, 100000.5]
    card = Scorecard.from_stumps(["x"], [0, 0], near, [0.6, 0.4])
    assert "x > 100000.2\n" in str(card)
    assert "x > 100000.5\n" in str(card)


def test_names_cannot_break_a_line():
    card = Scorecard.from_stumps(["a\nb\x1b[31m" + "c" * 90], [0], [0.5], [1.0])
    assert "   100.0" not in str(card)  # one name more would widen the column
    assert len(str(card).splitlines()) == 6
    assert "a?b?[31mccc" in str(card)
    assert max(len(line) for line in str(card).splitlines()) < 90


def test_a_card_without_weights_says_so():
    card = Scorecard.from_features(NAMES, [0.0] * 3, [0] * 3, [1] * 3)
    assert card.rows == []
    assert "every score is 0" in str(card)
    assert "every score is 0" in card.to_text("bands")
    assert_array_equal(card.score(card.points_for(X)), np.zeros(60))


def test_bad_input_is_rejected():
    with pytest.raises(ValueError, match="total must be a positive number, got 0"):
        small_card(total=0)
    with pytest.raises(ValueError, match="max_rows must be at least 1"):
        small_card().to_text(max_rows=0)
    with pytest.raises(ValueError, match="view must be 'rows' or 'bands', got 'list'"):
        small_card().to_text("list")
    with pytest.raises(ValueError, match=r"grow evenly .* no bands"):
        Scorecard.from_features(["age"], [1.0], [0], [1]).bands()
    with pytest.raises(ValueError, match="X has 2 columns, but 'sugar' is column 2"):
        small_card().points_for(X[:, :2])
    with pytest.raises(ValueError, match="'sugar' is nan in row 1: a card has no"):
        small_card().points_for([[1, 2, 3], [1, 2, np.nan]])
    with pytest.raises(ValueError, match=r"two dimensions, got shape \(3,\)"):
        small_card().points_for([1, 2, 3])
