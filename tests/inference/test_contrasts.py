import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from scipy import stats

import reference
from aucmax.inference import auc_interval, compare_auc, compare_metric
from aucmax.inference.differences import Estimates, holm, simultaneous_quantile
from aucmax.inference.influence import area_influence, ordinal_influence
from aucmax.metrics import (
    mean_average_precision,
    ndcg_score,
    ordinal_auc_score,
    partial_auc_score,
    roc_auc_score,
)
from aucmax.metrics._steps import check_task
from drawing import fewer_examples
from inference.comparisons import difference
from metrics.samples import samples

RNG = np.random.default_rng(5)
Y = np.arange(240) % 3 == 0
MODELS = {
    name: RNG.normal(size=240) + shift * Y
    for name, shift in {"a": 0.4, "b": 1.0, "c": 1.2, "d": 0.8}.items()
}
GROUPS = np.arange(240) // 5


@pytest.mark.kernel
@fewer_examples
@given(samples(max_rows=20, weights=True, of_each=2), samples(max_rows=20))
def test_the_covariance_is_that_of_the_definition(sample, other):
    y, first, weights, _ = sample
    scores = [first + 0.0, np.resize(other[1], y.size) + 0.0, y * 1.0]
    for weight in (None, weights):
        tasks = [check_task(y, s, weight) for s in scores]
        models = [area_influence(task) for task in tasks]
        effects = [reference.area_effects(y, s, weight) for s in scores]
        for one, s in zip(models, scores, strict=True):
            auc = roc_auc_score(y, s, sample_weight=weight)
            assert one.value == pytest.approx(auc, abs=1e-12)
        result = Estimates.from_models(("a", "b", "c"), models)
        expected = np.array([[a @ b for b in effects] for a in effects])
        assert result.covariance(np.eye(3)) == pytest.approx(expected, abs=1e-12)


def test_pairs_of_many_models_have_the_covariance_of_two():
    scores = np.random.default_rng(0).normal(size=(240, 13)) + Y[:, None]
    comparison = compare_metric(Y, scores)
    pairs = {one.names: one for one in comparison.differences}
    assert len(pairs) == 78
    assert comparison.covariance[[0, 3], [12, 4]] == pytest.approx(
        [
            reference.delong_covariance(Y, *scores.T[[a, b]])
            for a, b in ((0, 12), (3, 4))
        ]
    )
    for a, b in ((0, 12), (3, 4), (6, 11), (12, 5)):
        expected = compare_auc(Y, scores[:, a], scores[:, b])
        names = f"model {min(a, b)}", f"model {max(a, b)}"
        one = pairs[names]
        assert one.standard_error == pytest.approx(expected.standard_error)
        assert one.unadjusted_p_value == pytest.approx(expected.p_value)
        assert one.high - one.low > expected.high - expected.low


def test_frames_mappings_and_matrices_give_the_same_numbers():
    expected = compare_metric(Y, MODELS)
    matrix = np.column_stack(list(MODELS.values()))
    for given_ in (pl.DataFrame(MODELS), pd.DataFrame(MODELS), matrix):
        comparison = compare_metric(Y, given_)
        assert comparison.p_value == expected.p_value
        assert [one.low for one in comparison.differences] == [
            one.low for one in expected.differences
        ]
    assert compare_metric(Y, pd.DataFrame(matrix)).names == ("0", "1", "2", "3")


def test_the_global_test_is_hotellings_and_ignores_copies():
    comparison = compare_metric(Y, MODELS)
    contrasts = np.eye(4)[1:] - np.eye(4)[0]
    gaps = contrasts @ comparison.values
    covariance = contrasts @ comparison.covariance @ contrasts.T
    statistic = gaps @ np.linalg.solve(covariance, gaps)
    assert comparison.statistic == pytest.approx(statistic)
    assert comparison.rank == 3
    assert comparison.p_value > stats.chi2(3).sf(statistic)
    normal = compare_metric(Y, MODELS, method="delong")
    assert normal.p_value == pytest.approx(stats.chi2(3).sf(statistic))
    # whichever model is first, and however many are copies
    shuffled = compare_metric(Y, {name: MODELS[name] for name in "cadb"})
    assert shuffled.p_value == pytest.approx(comparison.p_value)
    copies = compare_metric(Y, MODELS | {"e": MODELS["b"] * 3, "f": MODELS["a"] + 1})
    assert copies.rank == 3
    assert copies.p_value == pytest.approx(comparison.p_value)
    alike = compare_metric(
        Y, {name: MODELS["a"] * k for k, name in enumerate("abc", 1)}
    )
    assert (alike.rank, alike.p_value) == (0, 1.0)
    assert {one.p_value for one in alike.differences} == {1.0}


def test_the_simultaneous_quantile_is_that_of_independent_contrasts():
    # of k independent contrasts the largest is below q with probability Phi^k
    for k in (2, 5):
        share = (1 + 0.95 ** (1 / k)) / 2
        quantile = simultaneous_quantile(np.diag(np.arange(1.0, k + 1)), np.inf, 0.95)
        assert quantile == pytest.approx(stats.norm.ppf(share), abs=0.02)
    equal = np.full((3, 3), 2.0)
    assert simultaneous_quantile(equal, 9.0, 0.95) == pytest.approx(
        stats.t(9).ppf(0.975), abs=0.03
    )
    tukey = np.array([[2.0, 1, -1], [1, 2, 1], [-1, 1, 2]])  # three pairs of three
    expected = stats.studentized_range(3, 20).ppf(0.95) / np.sqrt(2)
    assert simultaneous_quantile(tukey, 20.0, 0.95) == pytest.approx(expected, abs=0.03)
    assert simultaneous_quantile(tukey, 20.0, 0.95) == simultaneous_quantile(
        tukey, 20.0, 0.95
    )


def test_p_values_are_adjusted_by_holms_method():
    assert holm([0.01, 0.04, 0.03, 0.9]) == pytest.approx([0.04, 0.09, 0.09, 0.9])
    assert holm([0.5]) == [0.5]


def test_a_reference_is_subtracted_from_all_others():
    comparison = compare_metric(Y, MODELS, reference="b")
    assert [one.names for one in comparison.differences] == [
        ("a", "b"),
        ("c", "b"),
        ("d", "b"),
    ]
    assert comparison.p_value == pytest.approx(compare_metric(Y, MODELS).p_value)
    widths = [one.high - one.low for one in comparison.differences]
    pairs = {one.names: one for one in compare_metric(Y, MODELS).differences}
    assert widths[0] < pairs["a", "b"].high - pairs["a", "b"].low


def test_null_and_margin_shift_the_difference():
    a, b = MODELS["c"], MODELS["a"]
    plain = compare_auc(Y, a, b)
    at_end = compare_auc(Y, a, b, null=plain.low)
    assert at_end.p_value == pytest.approx(0.05)
    assert (at_end.low, at_end.high) == (plain.low, plain.high)
    other = compare_auc(Y, b, a, margin=-plain.low if plain.low < 0 else 0.02)
    degrees = min(np.bincount(Y)) - 1
    expected = stats.t(degrees).sf(
        (other.difference + other.margin) / other.standard_error
    )
    assert other.p_value == pytest.approx(expected)
    assert "worse by 0.02 or more" in str(compare_auc(Y, a, b, margin=0.02))
    for option in ({"null": 0.1}, {"margin": 0.1}):
        with pytest.raises(ValueError, match="name the reference"):
            compare_metric(Y, MODELS, **option)
        assert len(compare_metric(Y, MODELS, reference="a", **option).differences) == 3


def test_samples_of_different_rows_add_their_variances():
    y, scores = [Y, ~Y[:100]], [MODELS["a"], MODELS["b"][:100]]
    one, other = (auc_interval(*sample) for sample in zip(y, scores, strict=True))
    result = compare_auc(y, *scores)
    assert result.difference == pytest.approx(one.value - other.value)
    assert result.standard_error == pytest.approx(
        np.hypot(one.standard_error, other.standard_error)
    )
    several = compare_metric(
        [*y, Y],
        {"x": scores[0], "y": scores[1], "z": MODELS["c"]},
    )
    assert np.count_nonzero(several.covariance) == 3
    assert several.differences[0].unadjusted_p_value == pytest.approx(result.p_value)
    with pytest.raises(ValueError, match="needs y_true as a list of 3 arrays"):
        compare_metric(y, {"x": scores[0], "y": scores[1], "z": MODELS["c"]})


@pytest.mark.parametrize("box", [{"fpr_range": (0, 0.3)}, {"tpr_range": (0.4, 1)}])
def test_a_standardised_partial_area_has_the_same_test(box):
    a, b = MODELS["a"], MODELS["c"]
    plain = compare_auc(Y, a, b, **box)
    for standardize in ("area", "mcclish"):
        result = compare_auc(Y, a, b, **box, standardize=standardize)
        for scores, value in ((a, result.value_1), (b, result.value_2)):
            expected = partial_auc_score(Y, scores, **box, standardize=standardize)
            interval = auc_interval(Y, scores, **box, standardize=standardize)
            assert value == pytest.approx(expected) == interval.value
            assert interval.low < expected < interval.high
        assert result.difference == pytest.approx(result.value_1 - result.value_2)
        assert result.z == pytest.approx(plain.z)
        assert result.p_value == pytest.approx(plain.p_value)
        ratio = result.difference / plain.difference
        assert result.low == pytest.approx(ratio * plain.low)
        null = compare_auc(Y, a, b, **box, standardize=standardize, null=result.low)
        assert null.p_value == pytest.approx(0.05)


@pytest.mark.kernel
@fewer_examples
@given(samples(max_rows=14, levels=4, weights=True))
def test_effects_on_the_ordinal_area_are_derivatives(sample):
    levels, scores, weights, _ = sample
    levels = np.unique(levels, return_inverse=True)[1]
    for weight in (None, weights):
        rows = np.arange(levels.size)
        result, grouped = (
            ordinal_influence(scores + 0.0, levels, weight, groups)
            for groups in (None, rows)
        )
        assert result.value == pytest.approx(
            ordinal_auc_score(levels, scores, sample_weight=weight), abs=1e-12
        )
        expected = reference.ordinal_effects(levels, scores, weight)
        assert result.effects == pytest.approx(expected, abs=1e-6)
        assert grouped.effects == pytest.approx(result.effects)


@pytest.mark.parametrize("metric", ["auc", "ordinal_auc", "ndcg", "map"])
def test_means_over_queries_are_compared_by_students_paired_test(metric):
    qid = np.arange(240) // 12
    score = {"auc": roc_auc_score, "ordinal_auc": ordinal_auc_score}.get(metric)
    score = score or {"ndcg": ndcg_score, "map": mean_average_precision}[metric]
    values = [
        np.array([score(Y[qid == q], MODELS[name][qid == q]) for q in range(20)])
        for name in "ab"
    ]
    contrast = difference(Y, MODELS["a"], MODELS["b"], metric=metric, qid=qid)
    expected = stats.ttest_rel(*values)
    assert contrast.difference == pytest.approx((values[0] - values[1]).mean())
    assert contrast.p_value == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval()
    assert (contrast.low, contrast.high) == pytest.approx((ends.low, ends.high))


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"a": MODELS["a"]}, {}, "two or more models"),
        (MODELS["a"], {}, "use metric_interval or concordance_interval for one"),
        ({1: MODELS["a"], "1": MODELS["b"]}, {}, "different names"),
        (MODELS, {"reference": 3}, "reference must be one of"),
        ({"a": MODELS["a"], "b": MODELS["b"][1:]}, {}, "b has 239 rows"),
        (MODELS, {"metric": "ndcg"}, "give qid"),
        (MODELS, {"metric": "map", "qid": GROUPS, "k": 3}, "k is not supported"),
        (MODELS, {"metric": "mauc", "gains": "linear"}, "gains is not supported"),
        (MODELS, {"metric": "lift"}, "metric must be"),
        (MODELS, {"qid": GROUPS, "groups": GROUPS}, "groups cannot be given with qid"),
        (MODELS, {"qid": np.zeros(240)}, "1 queries with a value"),
        (MODELS, {"margin": -1}, "margin must be"),
        (MODELS, {"estimand": "procedure"}, "needs folds"),
        (MODELS, {"groups": np.zeros(240)}, "one group only"),
        (MODELS, {"groups": np.where(Y, 1, GROUPS)}, "all positive rows in one group"),
        (MODELS, {"groups": [*range(239), None]}, r"None in row 239 \(1 such rows\)"),
    ],
)  # fmt: skip
def test_bad_input_is_named(scores, options, message):
    with pytest.raises(ValueError, match=message):
        compare_metric(Y, scores, **options)


def test_perfect_models_are_equal():
    comparison = compare_metric(Y, {"a": Y * 1.0, "b": Y * 2.0, "c": Y * 3.0})
    assert comparison.values == (1.0, 1.0, 1.0)
    assert comparison.p_value == 1.0
    assert {one.p_value for one in comparison.differences} == {1.0}


def test_samples_of_different_rows_are_matched_by_name():
    rows = {"x": (Y, MODELS["a"]), "z": (~Y, MODELS["c"])}
    y = {name: rows[name][0] for name in ("x", "z")}
    scores = {name: rows[name][1] for name in ("z", "x")}
    comparison = compare_metric(y, scores)
    assert comparison.names == ("z", "x")
    expected = [roc_auc_score(*rows[name]) for name in comparison.names]
    assert comparison.values == pytest.approx(expected)
    with pytest.raises(ValueError, match="must have the models as its keys"):
        compare_metric({"x": Y, "w": Y}, scores)
