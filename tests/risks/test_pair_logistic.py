from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference_pair_logistic as reference
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError
from aucmax.risks import PairLogistic
from aucmax.risks.bound_pair_logistic import BoundPairLogistic
from drawing import distinct, fewer_examples, picked, places, spread

pytestmark = pytest.mark.kernel

LABELS = np.array([1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0])
SIZE = LABELS.size
# scattered; query 3 has negatives alone, query 5 one row, the others both classes
QID = np.array([7, 7, 1, 1, 1, 7, 7, 7, 3, 3, 1, 5, 1, 7, 7, 1])
# ends on rows and within them, from the start and not
RANGES = [(0.0, 1.0), (0.0, 0.25), (0.0, 0.13), (0.07, 0.61), (0.5, 1.0), (0.31, 0.32)]
# the default accuracy, with a margin for the rounding of sums
TOLERANCE = 1.01e-7
TINY = 1e-300

SPECIAL = [1e-300, -1e-300, 1e300, -1e300, 0.0, -0.0, 1.0, -2.5, 5e-324]


def tied(size):
    """Few distinct values, so that ties are the rule and not the exception."""
    return picked(size, np.arange(-4, 5) / 2.0)


def moderate_scores(size):
    return st.one_of(
        tied(size),
        spread(size, st.floats(-3.0, 3.0)),
        spread(size, st.floats(-1e3, 1e3)),
        spread(size, st.floats(-1e-12, 1e-12)),
        spread(size, st.floats(-1e-300, 1e-300)),
        st.sampled_from(SPECIAL).map(lambda score: np.full(size, score)),
    )


def any_scores(size):
    return st.one_of(
        moderate_scores(size),
        spread(size, st.floats(-1e300, 1e300)),
        picked(size, SPECIAL),
    )


def with_weight_in_the_first_two(weight):
    weight[:2] = 1.0
    return weight


def some_weights(size):
    return st.one_of(
        st.none(),
        picked(size, [0.0, 0.5, 1.0, 2.0, 7.0]).map(with_weight_in_the_first_two),
    )


def some_levels(size, n_levels=5):
    def with_two_levels_in_the_first_two(levels):
        levels[:2] = (2, 0)
        return levels

    return places(size, n_levels).map(with_two_levels_in_the_first_two)


ranges = st.sampled_from(RANGES)
two_level_parameters = st.fixed_dictionaries(
    {
        "rank_weighted": st.booleans(),
        "fpr_range": ranges,
        "outside_weight": st.sampled_from([0.0, 0.1, 1.0]),
    }
)
level_parameters = st.one_of(
    st.fixed_dictionaries(
        {
            "rank_weighted": st.booleans(),
            "pair_weights": st.sampled_from(["equal", "mauc"]),
            "classes": st.sampled_from(["positive", "all"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "rank_weighted": st.just(True),
            "pair_weights": st.just("ndcg"),
            "truncation": st.sampled_from([None, 1, 3, 100]),
        }
    ),
)
EVERY_KIND = [
    {},
    {"rank_weighted": True},
    {"fpr_range": (0.0, 0.3)},
    {"fpr_range": (0.2, 0.7), "rank_weighted": True},
    {"pair_weights": "mauc"},
    {"pair_weights": "mauc", "rank_weighted": True},
    {"pair_weights": "mauc", "classes": "all", "rank_weighted": True},
    {"pair_weights": "ndcg", "rank_weighted": True},
]


def assert_close(actual, expected, sizes, tolerance, floor=0.0):
    bound = tolerance * np.abs(sizes) + floor * np.abs(sizes).max() + TINY
    wrong = ~(np.abs(actual - expected) <= bound)
    assert not wrong.any(), (
        f"rows {np.flatnonzero(wrong)}: {actual[wrong]} for {expected[wrong]}"
    )


def assert_is_the_definition(
    parameters, scores, labels, qid=None, weight=None, tolerance=TOLERANCE, floor=0.0
):
    """Compare each number relative to the sum of the absolute values it is made of.

    For two levels that is the number itself. The floor is relative to the largest
    number; it allows the rounding of an end that falls on a row, and of the differences
    by which pairs of levels count for MAUC.
    """
    risk = PairLogistic(**parameters)
    value, gradient, hessian = risk.bind(labels, weight, qid).value_gradient_hessian(
        scores
    )
    options = {key: parameters[key] for key in parameters if key != "accuracy"}
    expected = reference.pair_logistic(scores, labels, qid, weight, **options)
    rounding = TINY + floor * np.ptp(scores)
    assert value == pytest.approx(expected.value, rel=tolerance, abs=rounding)
    assert_close(gradient, expected.gradient, expected.sizes, tolerance, floor)
    assert_close(hessian, expected.hessian, expected.hessian, tolerance, floor)


# ---- the definition itself --------------------------------------------------------


def test_definition_of_a_single_pair():
    parts = reference.pair_logistic([np.log(3.0), 0.0], [1, 0])
    assert parts.value == pytest.approx(np.log(4.0 / 3.0))
    np.testing.assert_allclose(parts.gradient, [-0.25, 0.25])
    np.testing.assert_allclose(parts.hessian, [3 / 16, 3 / 16])
    parts = reference.pair_logistic([5.0, 5.0], [0, 1])
    assert parts.value == pytest.approx(np.log(2.0))
    np.testing.assert_allclose(parts.gradient, [0.5, -0.5])
    np.testing.assert_allclose(parts.hessian, [0.25, 0.25])


def test_definition_of_rank_weights():
    scores, labels = [np.log(3.0), 0.0, 0.0], [0, 1, 0]
    parts = reference.pair_logistic(scores, labels, rank_weighted=True)
    # ranks 1, 2.5, 2.5; the tied pair counts a third of its two rows
    assert parts.value == pytest.approx((1.5 + 1 / 3) * np.log(2.0))
    np.testing.assert_allclose(parts.gradient, [9 / 16, -9 / 16 - 1 / 6, 1 / 6])
    np.testing.assert_allclose(parts.hessian, [9 / 64, 9 / 64 + 1 / 12, 1 / 12])
    # ranks 1, 3, 3, and shares 2/3, 1/3 of the pairs
    weighted = reference.pair_logistic(
        scores, labels, weights=[2, 1, 1], rank_weighted=True
    )
    np.testing.assert_allclose(weighted.gradient, [1, -1 - 1 / 9, 1 / 9])


@pytest.mark.parametrize(("classes", "pairs"), [("positive", 4 / 6), ("all", 4 / 24)])
def test_definition_of_weights_for_levels(classes, pairs):
    parts = reference.pair_logistic(
        np.zeros(4), [0, 0, 1, 2], pair_weights="mauc", classes=classes
    )
    assert parts.value == pytest.approx(pairs * np.log(2.0))
    np.testing.assert_allclose(parts.gradient, pairs / 4 * np.array([1, 1, -1, -1]))


@pytest.mark.parametrize(
    ("fpr_range", "scores", "shares"),
    [
        ((0, 0.375), [9, 4, 3, 2, 1], [1, 0.5, 0, 0]),
        ((0.125, 0.375), [9, 4, 3, 2, 1], [0.5, 0.5, 0, 0]),
        ((0, 0.25), [9, 3, 3, 2, 1], [0.5, 0.5, 0, 0]),
        ((0.625, 1), [9, 3, 3, 2, 2], [0, 0, 0.75, 0.75]),
    ],
)
def test_definition_of_a_range(fpr_range, scores, shares):
    labels = np.array([1, 0, 0, 0, 0])
    parts = reference.pair_logistic(scores, labels, fpr_range=fpr_range)
    slopes = 1.0 / (1.0 + np.exp(9.0 - np.array(scores[1:])))
    expected = shares * slopes / 4.0 / (fpr_range[1] - fpr_range[0])
    np.testing.assert_allclose(parts.gradient[1:], expected)
    assert parts.gradient[0] == pytest.approx(-expected.sum())


# ---- agreement with the definition ------------------------------------------------


@given(any_scores(SIZE), st.booleans(), some_weights(SIZE))
def test_two_levels_are_the_definition(scores, rank_weighted, weight):
    parameters = {"rank_weighted": rank_weighted}
    assert_is_the_definition(parameters, scores, LABELS, weight=weight)


@given(any_scores(SIZE), two_level_parameters, some_weights(SIZE))
def test_ranges_are_the_definition(scores, parameters, weight):
    assert_is_the_definition(parameters, scores, LABELS, weight=weight, floor=1e-13)


@pytest.mark.parametrize("ranked", [False, True])
def test_all_negatives_count_alike_if_those_outside_weigh_as_much(ranked):
    scores = np.random.default_rng(0).normal(size=SIZE)
    exact = {"accuracy": 1e-12}  # a range is swept, whichever way the whole goes
    part = PairLogistic(ranked, fpr_range=(0.1, 0.3), outside_weight=1.0, **exact)
    results = part.bind(LABELS).value_gradient_hessian(scores)
    whole = PairLogistic(ranked, **exact).bind(LABELS).value_gradient_hessian(scores)
    for one, other in zip(results, whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@given(any_scores(SIZE), some_levels(SIZE), level_parameters, some_weights(SIZE))
def test_levels_are_the_definition(scores, levels, parameters, weight):
    assert_is_the_definition(parameters, scores, levels, weight=weight, floor=1e-12)


@given(any_scores(SIZE), two_level_parameters, some_weights(SIZE))
def test_queries_are_the_mean_of_the_definition(scores, parameters, weight):
    assert_is_the_definition(parameters, scores, LABELS, QID, weight, floor=1e-13)


@given(
    any_scores(SIZE),
    some_levels(SIZE),
    places(SIZE, 4),
    level_parameters,
    some_weights(SIZE),
)
def test_queries_of_levels_are_the_mean_of_the_definition(
    scores, levels, qid, parameters, weight
):
    qid[:2] = 2
    assert_is_the_definition(parameters, scores, levels, qid, weight, floor=1e-12)


def rows_with_levels(n_levels, n_rows, kind, seed=0):
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.arange(n_rows) % n_levels)
    scores = {
        "spread": generator.normal(size=n_rows) + labels / n_levels,
        "tied": generator.integers(0, 6, n_rows) / 2.0,
        "constant": np.full(n_rows, -3.5),
        "huge": generator.normal(scale=1e300, size=n_rows),
        "tiny": generator.normal(scale=1e-300, size=n_rows),
        "far": 90.0 * generator.integers(0, 5, n_rows) + generator.normal(size=n_rows),
        "separated": 40.0 * labels + generator.random(n_rows),
    }[kind]
    return scores, labels


@pytest.mark.parametrize("rank_weighted", [False, True])
@pytest.mark.parametrize(
    ("kind", "n_levels"),
    [
        *product(["spread", "tied"], [2, 3, 40]),
        *product(["constant", "huge", "far", "separated"], [2, 3]),
    ],
)
def test_any_number_of_levels_is_the_definition(kind, n_levels, rank_weighted):
    scores, labels = rows_with_levels(n_levels, 60, kind)
    weight = np.random.default_rng(1).uniform(0.5, 3.0, 60)
    for pair_weights in ("equal", "mauc"):
        parameters = {"rank_weighted": rank_weighted, "pair_weights": pair_weights}
        assert_is_the_definition(parameters, scores, labels)
        assert_is_the_definition(parameters, scores, labels, weight=weight)


def test_scores_far_apart_and_near_each_other_in_one_query():
    generator = np.random.default_rng(0)
    labels = generator.random(120) < 0.4
    scores = generator.choice([-2000.0, -745.0, -30.0, 0.0, 30.0, 745.0], 120)
    scores += generator.normal(size=120)
    for rank_weighted in (False, True):
        parameters = {"rank_weighted": rank_weighted}
        assert_is_the_definition(parameters, scores, labels)
        assert_is_the_definition(parameters, scores, labels, np.arange(120) % 3)


@pytest.mark.slow
@pytest.mark.parametrize("parameters", EVERY_KIND)
@pytest.mark.parametrize("accuracy", [1e-1, 1e-3, 1e-6, 1e-8, 1e-11, 1e-12])
def test_errors_are_below_the_requested_accuracy(accuracy, parameters):
    generator = np.random.default_rng(0)
    labels = (generator.random(70) < 0.3).astype(int)
    if "fpr_range" not in parameters:
        labels += generator.random(70) < 0.2
    for scale in (0.1, 1.0, 10.0):
        scores = generator.normal(scale=scale, size=70)
        assert_is_the_definition(
            {**parameters, "accuracy": accuracy},
            scores,
            labels,
            tolerance=accuracy,
            floor=1e-13,
        )


# ---- laws -------------------------------------------------------------------------


@pytest.mark.parametrize("pair_weights", ["equal", "mauc"])
@pytest.mark.parametrize("n_levels", [2, 4, 20])
def test_gradient_and_hessian_are_derivatives_of_the_value(n_levels, pair_weights):
    scores, labels = rows_with_levels(n_levels, 24, "spread")
    qid = np.arange(24) // 22
    weight = np.random.default_rng(2).uniform(0.5, 2.0, 24)
    risk = PairLogistic(pair_weights=pair_weights, accuracy=1e-11)
    pairs = risk.bind(labels, weight, qid)
    _, gradient, hessian = pairs.value_gradient_hessian(scores)
    for row, step in enumerate(1e-4 * np.eye(24)):
        after, slope_after, _ = pairs.value_gradient_hessian(scores + step)
        before, slope_before, _ = pairs.value_gradient_hessian(scores - step)
        slope = (after - before) / 2e-4
        bend = (slope_after[row] - slope_before[row]) / 2e-4
        assert slope == pytest.approx(gradient[row], rel=1e-5, abs=1e-7)
        assert bend == pytest.approx(hessian[row], rel=1e-5, abs=1e-7)


@fewer_examples
@given(
    any_scores(SIZE),
    two_level_parameters,
    picked(SIZE, range(1, 4)),
)
def test_a_weight_is_a_number_of_equal_neighbours(scores, parameters, weight):
    risk = PairLogistic(**parameters)
    value, *slopes = risk.bind(LABELS, weight, QID).value_gradient_hessian(scores)
    repeated, *repeated_slopes = risk.bind(
        np.repeat(LABELS, weight), queries=np.repeat(QID, weight)
    ).value_gradient_hessian(np.repeat(scores, weight))
    assert value == pytest.approx(repeated, rel=1e-7, abs=TINY)
    rows = np.repeat(np.arange(SIZE), weight)
    for slope, repeated_slope in zip(slopes, repeated_slopes, strict=True):
        summed = np.bincount(rows, repeated_slope)
        assert_close(slope, summed, summed, 1e-7, floor=1e-13)


@fewer_examples
@given(any_scores(SIZE), some_levels(SIZE), level_parameters)
def test_rows_without_weight_do_not_count(scores, levels, parameters):
    risk = PairLogistic(**parameters)
    weight = np.ones(SIZE)
    weight[2::3] = 0.0
    kept = weight > 0.0
    value, *slopes = risk.bind(levels, weight, QID).value_gradient_hessian(scores)
    smaller, *smaller_slopes = risk.bind(
        levels[kept], queries=QID[kept]
    ).value_gradient_hessian(scores[kept])
    assert value == pytest.approx(smaller, rel=1e-12)
    for slope, smaller_slope in zip(slopes, smaller_slopes, strict=True):
        assert (slope[~kept] == 0.0).all()
        np.testing.assert_allclose(slope[kept], smaller_slope, rtol=1e-7, atol=1e-12)


@fewer_examples
@given(
    distinct(SIZE, 30.0),
    some_levels(SIZE),
    level_parameters,
    st.permutations(range(SIZE)),
)
def test_the_order_of_rows_does_not_matter_without_ties(
    scores, levels, parameters, order
):
    risk = PairLogistic(**parameters)
    value, *slopes = risk.bind(levels, queries=QID).value_gradient_hessian(scores)
    other, *other_slopes = risk.bind(
        levels[order], queries=QID[order]
    ).value_gradient_hessian(scores[order])
    assert other == pytest.approx(value, rel=1e-12)
    for slope, other_slope in zip(slopes, other_slopes, strict=True):
        np.testing.assert_allclose(other_slope, slope[order], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("n_levels", [2, 4])
@pytest.mark.parametrize("kind", ["smooth", "leaves", "equal"])
def test_bins_of_many_rank_weighted_rows_are_close_to_their_order(kind, n_levels):
    generator = np.random.default_rng(0)
    levels = generator.integers(0, n_levels, 5000)
    scores = {
        "smooth": generator.normal(size=5000) + 0.2 * levels,
        "leaves": generator.normal(size=15)[generator.integers(0, 15, 5000)],
        "equal": np.ones(5000),
    }[kind]
    weight, pair_weights = generator.uniform(0.5, 2.0, 5000), "equal"
    if n_levels > 2:
        pair_weights = "mauc"
    binned, ordered = (
        PairLogistic(True, pair_weights=pair_weights, accuracy=accuracy)
        .bind(levels, weight)
        .value_gradient_hessian(scores)
        for accuracy in (1e-4, 1e-9)
    )
    assert (binned[0] != ordered[0]) == (kind != "equal")
    assert binned[0] == pytest.approx(ordered[0], rel=1e-4)
    for one, other in zip(binned[1:], ordered[1:], strict=True):
        assert np.abs(one - other).max() <= 4e-3 * np.abs(other).max()


@pytest.mark.parametrize("pair_weights", ["equal", "mauc"])
def test_the_order_of_tied_rows_does_not_matter(pair_weights):
    generator = np.random.default_rng(0)
    scores, levels = generator.integers(0, 3, SIZE), np.arange(SIZE) % 3
    order, risk = generator.permutation(SIZE), PairLogistic(True)
    risk = risk.set_params(pair_weights=pair_weights)
    results = risk.bind(levels).value_gradient_hessian(scores)
    other = risk.bind(levels[order]).value_gradient_hessian(scores[order])
    np.testing.assert_allclose(other[1], results[1][order], rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(other[2], results[2][order], rtol=1e-10)


# ---- queries and rows -------------------------------------------------------------


@pytest.mark.parametrize("parameters", EVERY_KIND)
def test_every_number_of_threads_gives_the_same_bits(parameters, monkeypatch):
    # tasks of threads have 32 rows
    monkeypatch.setattr("aucmax.risks._pairs.level_pairs._BLOCK", 32)
    monkeypatch.setattr("aucmax.risks._pairs.pair_sums._MANY_ROWS", 32)
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 2 if "fpr_range" in parameters else 4, 200)
    scores = np.round(generator.normal(size=200), 1)
    weight = generator.uniform(0.0, 2.0, 200)
    for qid in (
        None,
        generator.integers(0, 37, 200),
        np.r_[np.zeros(190), np.arange(10)],
    ):
        one, *others = (
            PairLogistic(**parameters, n_jobs=n_jobs)
            .bind(labels, weight, qid)
            .value_gradient_hessian(scores)
            for n_jobs in (1, 2, 3)
        )
        for other in others:
            assert other[0] == one[0]
            np.testing.assert_array_equal(other[1], one[1])
            np.testing.assert_array_equal(other[2], one[2])


def test_labels_may_be_of_any_ordered_kind():
    scores = np.linspace(-1.0, 2.0, SIZE) ** 2
    levels = np.arange(SIZE) % 3
    kinds = [np.array(["bad", "fair", "good"])[levels], levels / 2.0, list(levels)]
    for pair_weights in ("equal", "mauc"):
        risk = PairLogistic(pair_weights=pair_weights)
        expected = risk.bind(levels).value_gradient_hessian(scores)
        for labels in kinds:
            result = risk.bind(labels).value_gradient_hessian(scores)
            assert result[0] == expected[0]
            np.testing.assert_array_equal(result[1], expected[1])
    two = PairLogistic().bind(LABELS).value_gradient_hessian(scores)
    for labels in (LABELS.astype(bool), np.where(LABELS == 1, "yes", "no"), LABELS - 7):
        assert PairLogistic().bind(labels).value_gradient_hessian(scores)[0] == two[0]


def test_levels_need_not_be_whole_or_above_zero():
    scores, levels = np.linspace(-1.0, 2.0, SIZE) ** 2, np.arange(SIZE) % 4 - 1.5
    for pair_weights in ("equal", "mauc"):
        for classes in ("positive", "all"):
            parameters = {"pair_weights": pair_weights, "classes": classes}
            assert_is_the_definition(parameters, scores, levels)


def test_multiclass_weights_skip_queries_without_a_level_above_zero():
    scores, levels = np.linspace(-1.0, 2.0, SIZE) ** 2, LABELS - (QID == 1)
    for classes, n_skipped in (("positive", 3), ("all", 2)):
        parameters = {"pair_weights": "mauc", "classes": classes}
        assert (
            PairLogistic(**parameters).bind(levels, queries=QID).n_skipped == n_skipped
        )
        assert_is_the_definition(parameters, scores, levels, QID)


def test_queries_without_pairs_are_counted_and_contribute_nothing():
    scores = np.linspace(-1.0, 2.0, SIZE)
    pairs = PairLogistic(True).bind(LABELS, queries=QID)
    assert isinstance(pairs, BoundPairLogistic)
    assert (pairs.n_rows, pairs.n_queries, pairs.n_skipped) == (SIZE, 4, 2)
    _, gradient, hessian = pairs.value_gradient_hessian(scores)
    idle = np.isin(QID, [3, 5])
    assert (gradient[idle] == 0.0).all()
    assert (hessian[idle] == 0.0).all()
    assert (gradient[~idle] != 0.0).all()
    # without weight, query 1 has no positives any more
    weight = np.where((QID == 1) & (LABELS == 1), 0.0, 1.0)
    pairs = PairLogistic(True).bind(LABELS, weight, QID)
    assert pairs.n_skipped == 3
    value, gradient, _ = pairs.value_gradient_hessian(scores)
    assert (gradient[QID != 7] == 0.0).all()
    rows = QID == 7
    alone = PairLogistic(True).bind(LABELS[rows]).value_gradient_hessian(scores[rows])
    assert value == pytest.approx(alone[0], rel=1e-14)


@pytest.mark.parametrize("n_levels", [2, 5, 40])
@pytest.mark.parametrize("n_rows", [60, 900])
@pytest.mark.parametrize("ranked", [False, True])
def test_results_are_written_where_one_asks_for_them(n_levels, n_rows, ranked):
    generator = np.random.default_rng(0)
    labels = generator.integers(0, n_levels, n_rows)
    pairs = PairLogistic(ranked).bind(labels)
    for scores in generator.normal(size=(2, n_rows)):
        expected = pairs.gradient_hessian(scores, scaled=True)
        for dtype in (np.float64, np.float32):
            out = np.full(n_rows, np.nan, dtype), np.full(n_rows, np.nan, dtype)
            results = pairs.gradient_hessian(scores, scaled=True, out=out)
            assert results[0] is out[0]
            assert results[1] is out[1]
            for ours, exact in zip(out, expected, strict=True):
                np.testing.assert_array_equal(ours, exact.astype(dtype))


@pytest.mark.parametrize("rank_weighted", [False, True])
def test_row_scale_brings_gradients_to_about_one_a_row(rank_weighted):
    pairs = PairLogistic(rank_weighted).bind(LABELS, queries=QID)
    rows = np.array([(query == QID).sum() for query in QID])
    expected = 2 * rows / 2.0
    if rank_weighted:
        expected *= 3.0 / rows
    usable = np.isin(QID, [1, 7])
    np.testing.assert_allclose(pairs.row_scale[usable], expected[usable])
    assert np.isfinite(pairs.row_scale).all()
    # a logistic model of the rows themselves has slopes of one half at equal scores
    gradient, _ = pairs.gradient_hessian(np.zeros(SIZE))
    slopes = np.abs(gradient * pairs.row_scale)[usable]
    assert slopes.mean() == pytest.approx(0.5, rel=0.4 if rank_weighted else 1e-7)


@pytest.mark.parametrize("rank_weighted", [False, True])
def test_derivatives_for_trees_keep_their_size_as_the_loss_falls(rank_weighted):
    pairs = PairLogistic(rank_weighted).bind(LABELS, queries=QID)
    for height in (1.0, 10.0, 30.0):
        scores = height * LABELS + np.linspace(-1.0, 1.0, SIZE)
        results = pairs.gradient_hessian(scores, scaled=True)
        expected = reference.tree_derivatives(scores, LABELS, QID, None, rank_weighted)
        np.testing.assert_allclose(results, expected, rtol=1e-6)


@pytest.mark.parametrize("rank_weighted", [False, True])
def test_no_row_has_more_than_five_times_the_gradient_of_a_classifier(rank_weighted):
    scores, labels = np.r_[np.linspace(40.0, 60.0, 99), 0.0], np.arange(100) > 49
    scores[:50] -= 30.0  # all in order except one positive below all negatives
    pairs = PairLogistic(rank_weighted).bind(labels)
    gradient, hessian = pairs.gradient_hessian(scores, scaled=True)
    plain = pairs.gradient_hessian(scores)
    assert np.abs(gradient).max() == pytest.approx(5.0)
    np.testing.assert_allclose(gradient, gradient[-1] / plain[0][-1] * plain[0])
    doubled = PairLogistic(rank_weighted).bind(labels, np.full(100, 2.0))
    for one, other in zip(
        doubled.gradient_hessian(scores, scaled=True), (gradient, hessian), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-300)


def test_derivatives_of_several_levels_fall_with_the_loss():
    levels, scores = np.arange(SIZE) % 3, np.linspace(-1.0, 2.0, SIZE) ** 2
    for pair_weights in ("equal", "mauc"):
        pairs = PairLogistic(pair_weights == "mauc", pair_weights=pair_weights)
        pairs = pairs.bind(levels, queries=QID)
        for plain, scaled in zip(
            pairs.gradient_hessian(scores),
            pairs.gradient_hessian(scores, scaled=True),
            strict=True,
        ):
            np.testing.assert_allclose(scaled, plain * pairs.row_scale, rtol=1e-12)


# ---- parameters and errors --------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"outside_weight": 1.5}, "outside_weight must be .* from 0 to 1, got 1.5"),
        ({"pair_weights": "even"}, "pair_weights must be .* got 'even'"),
        ({"classes": "some"}, "classes must be .* got 'some'"),
        ({"accuracy": 0.0}, "accuracy must .* got 0.0"),
        ({"accuracy": float("nan")}, "accuracy must .* got nan"),
        ({"n_jobs": 0}, "n_jobs must .* got 0"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        PairLogistic().set_params(**parameters).bind(LABELS)


def test_a_range_needs_two_levels():
    with pytest.raises(IncompatibleError, match=r"fpr_range=.* two levels, got 3"):
        PairLogistic(fpr_range=(0.0, 0.5)).bind(np.arange(SIZE) % 3)
    PairLogistic(fpr_range=[0, 1]).bind(np.arange(SIZE) % 3)
    with pytest.raises(IncompatibleError, match="fpr_range"):
        PairLogistic(fpr_range=(0.0, 0.5), pair_weights="mauc").bind(LABELS)


def test_one_level_only_is_rejected():
    with pytest.raises(NotEnoughClassesError, match="one"):
        PairLogistic().bind(np.ones(SIZE))
    with pytest.raises(NotEnoughClassesError):
        PairLogistic().bind(LABELS, LABELS.astype(float))


def test_queries_that_all_have_one_level_are_rejected_with_their_number():
    with pytest.raises(NotEnoughClassesError, match="16 queries"):
        PairLogistic().bind(LABELS, queries=np.arange(SIZE))
    with pytest.raises(NotEnoughClassesError, match="4 queries"):
        PairLogistic().bind(LABELS, LABELS.astype(float), QID)


def test_weights_for_levels_need_a_level_above_zero():
    labels = np.arange(SIZE) % 3 - 2
    with pytest.raises(ValueError, match="above 0"):
        PairLogistic(pair_weights="mauc").bind(labels)
    PairLogistic(pair_weights="mauc", classes="all").bind(labels)
    PairLogistic().bind(labels)


def test_more_than_a_hundred_levels_are_rejected():
    with pytest.raises(ValueError, match="101 levels, but at most 100"):
        PairLogistic().bind(np.arange(101))
