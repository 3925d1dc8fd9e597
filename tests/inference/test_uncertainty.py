import numpy as np
import pytest
from hypothesis import assume, given
from scipy import stats

import reference
from aucmax.inference import auc_interval, compare_auc, metric_interval
from aucmax.metrics import roc_auc_score
from drawing import fewer_examples
from metrics.samples import samples

some = samples(max_rows=20, of_each=2)


@pytest.mark.kernel
@given(some)
def test_standard_error_is_delongs(sample):
    y, scores, _, _ = sample
    interval = auc_interval(y, scores)
    variance = reference.delong_covariance(y, scores, scores)
    assert interval.standard_error == pytest.approx(np.sqrt(variance), abs=1e-12)
    assert interval.value == pytest.approx(roc_auc_score(y, scores), abs=1e-12)
    assert 0 <= interval.low <= interval.value <= interval.high <= 1


@pytest.mark.kernel
@given(some)
def test_the_interval_is_found_by_bisection_of_the_definition(sample):
    y, scores, _, _ = sample
    for confidence_level in (0.95, 0.7):
        interval = auc_interval(y, scores, confidence_level=confidence_level)
        expected = reference.interval(y, scores, confidence_level)
        assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-6)


@pytest.mark.kernel
@given(some, some)
def test_comparison_is_students_with_delongs_variance(sample, other):
    y, scores, _, _ = sample
    others = np.resize(other[1], y.size)
    result = compare_auc(y, scores, others)
    variance = (
        reference.delong_covariance(y, scores, scores)
        + reference.delong_covariance(y, others, others)
        - 2 * reference.delong_covariance(y, scores, others)
    )
    assume(variance > 1e-9)
    difference = roc_auc_score(y, scores) - roc_auc_score(y, others)
    few = min(np.bincount(y))
    student = stats.t(few - 1)
    error = np.sqrt(variance)
    areas = roc_auc_score(y, scores), roc_auc_score(y, others)
    if few * min(min(area, 1 - area) for area in areas) < 5 - 1e-9:
        error = np.hypot(error, 0.6 / few)
    assert result.difference == pytest.approx(difference, abs=1e-12)
    assert result.standard_error == pytest.approx(np.sqrt(variance))
    assert result.z == pytest.approx(difference / error, abs=1e-6)
    assert result.p_value == pytest.approx(2 * student.sf(abs(result.z)), abs=1e-6)
    margin = student.ppf(0.975) * error
    assert result.low == pytest.approx(max(difference - margin, -1), abs=1e-9)
    assert result.high == pytest.approx(min(difference + margin, 1), abs=1e-9)
    assert (result.p_value < 0.05) == (not result.low <= 0 <= result.high)


@pytest.mark.kernel
@fewer_examples
@given(samples(max_rows=20, weights=True, of_each=2))
def test_equal_weights_change_nothing_and_zero_weights_drop_rows(sample):
    y, scores, weights, _ = sample
    kept = weights > 0.2
    kept[:4] = True  # two of each class
    plain = auc_interval(y[kept], scores[kept])
    weighted = auc_interval(y, scores, sample_weight=np.where(kept, 7.0, 0.0))
    for name in ("value", "low", "high", "standard_error"):
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), abs=1e-12)


@fewer_examples
@given(some)
def test_scores_that_rank_alike_have_p_value_one_and_an_interval_around_zero(sample):
    y, scores, _, _ = sample
    ranks = np.unique(scores, return_inverse=True)[1]
    result = compare_auc(y, scores, ranks)
    assert (result.difference, result.z, result.p_value) == (0, 0, 1)
    few = min(np.bincount(y))
    margin = min(0.6 / few * stats.t(few - 1).ppf(0.975), 1)
    assert result.high == -result.low == pytest.approx(margin)


@pytest.mark.parametrize("weights", [None, np.full(10, 7.0)])
def test_a_perfect_ranking_keeps_an_honest_interval(weights):
    y = np.array([0] * 6 + [1] * 4)
    scores = np.arange(10)
    interval = auc_interval(y, scores, sample_weight=weights)
    assert (interval.value, interval.high) == (1, 1)
    # four disjoint pairs, all in order: P(4 of 4) = low ** 4 = 0.025
    assert interval.low == pytest.approx(0.025**0.25)
    mirrored = auc_interval(y, -scores, sample_weight=weights)
    assert (mirrored.value, mirrored.low) == (0, 0)
    assert mirrored.high == pytest.approx(1 - 0.025**0.25)


def test_a_zero_variance_on_few_rows_is_not_taken_for_certainty():
    y = np.array([0, 0, 0, 1, 1, 1])
    result = compare_auc(y, np.arange(6), np.zeros(6))
    assert result.difference == 0.5
    assert result.p_value > 0.05
    assert result.low < 0 < result.high
    # two models without an error on the same rows may differ on others
    both = compare_auc(y, np.arange(6), y)
    assert both.difference == 0
    assert both.low < -0.5 < 0.5 < both.high
    many = compare_auc(np.repeat(y, 100), np.repeat(np.arange(6), 100), np.zeros(600))
    assert many.p_value < 1e-12
    assert many.low > 0


@pytest.mark.parametrize("confidence_level", [0, 1, 95, np.nan])
def test_a_bad_confidence_is_rejected(confidence_level):
    for call in (
        lambda: auc_interval([0, 1], [1, 2], confidence_level=confidence_level),
        lambda: compare_auc([0, 1], [1, 2], [1, 2], confidence_level=confidence_level),
    ):
        with pytest.raises(
            ValueError, match="confidence_level must be above 0 and below 1"
        ):
            call()


@pytest.mark.parametrize(
    ("y", "weights", "name"),
    [
        ([0, 0, 1], None, "positive"),
        ([0, 1, 1], None, "negative"),
        ([0, 0, 1, 1], [1, 1, 0, 2], "positive"),
    ],
)
def test_one_row_of_a_class_is_too_few(y, weights, name):
    with pytest.raises(ValueError, match=f"one {name} row"):
        auc_interval(y, np.arange(len(y)), sample_weight=weights)


@pytest.mark.parametrize("weight", [1e17, 1e49])
def test_an_interval_from_one_row_that_has_all_the_weight_is_rejected(weight):
    weights = np.ones(8)
    weights[0] = weight
    with pytest.raises(ValueError, match="one negative row with all the weight"):
        auc_interval(np.arange(8) % 2, np.arange(8.0), sample_weight=weights)


def test_results_print_as_sentences():
    y, a, b = [0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6], [1, 4, 5, 2, 6, 3]
    interval = auc_interval(y, a, confidence_level=0.9)
    assert str(interval) == repr(interval)
    assert str(interval).startswith("AUC 0.8889 (90% interval 0.")
    part = auc_interval(y * 9, a * 9, fpr_range=(0, 0.5))
    assert str(part).startswith("partial AUC 0.")
    test = compare_auc(y, a, b)
    assert str(test).startswith("AUC 0.8889 against 0.5556: difference 0.3333 (95% ")
    assert str(test).endswith(f", p = {test.p_value:.3f}")


def test_rows_with_missing_values_can_be_left_out_and_are_counted():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(60) < 0.4, "sick", "well").astype(object)
    one, two = rng.normal(size=(2, 60))
    weight = rng.uniform(0.5, 1.5, 60)
    broken, y_broken = one.copy(), y.copy()
    broken[[3, 7]], y_broken[[7, 11]] = np.nan, None
    kept = np.delete(np.arange(60), [3, 7, 11])
    options = {"pos_label": "sick", "sample_weight": weight}
    expected = {"pos_label": "sick", "sample_weight": weight[kept]}
    for result, same in (
        (
            auc_interval(y_broken, broken, na="drop", **options),
            auc_interval(y[kept], one[kept], **expected),
        ),
        (
            metric_interval(y_broken, broken, "recall@fpr=0.2", na="drop", **options),
            metric_interval(y[kept], one[kept], "recall@fpr=0.2", **expected),
        ),
        (
            compare_auc(y_broken, broken, two, na="drop", **options),
            compare_auc(y[kept], one[kept], two[kept], **expected),
        ),
    ):
        assert result == same
        assert str(result).endswith("; 3 of 60 rows with missing values are left out")
    with pytest.raises(ValueError, match="y_score"):
        auc_interval(y, broken, pos_label="sick")
    with pytest.raises(ValueError, match="models on different rows"):
        compare_auc([y, y], [one, one], [two, two], na="drop")
    assert auc_interval(y, one, na="drop", pos_label="sick").note is None


def test_the_weighted_standard_error_is_that_of_the_draws():
    rng = np.random.default_rng(1)
    y = np.arange(200) < 80
    weights = rng.choice([1.0, 4.0], 200)
    drawn = (rng.normal(size=200) + y for _ in range(300))
    values = [auc_interval(y, scores, sample_weight=weights) for scores in drawn]
    mean_error = np.mean([interval.standard_error for interval in values])
    assert mean_error == pytest.approx(np.std([i.value for i in values]), rel=0.15)


def test_five_positives_with_an_area_near_one_are_covered():
    # DeLong's interval with the normal quantile covers in 81% of these
    rng, y, held = np.random.default_rng(0), np.arange(205) < 5, []
    for _ in range(300):
        one = auc_interval(
            y, rng.normal(size=205) + np.sqrt(2) * stats.norm.ppf(0.9) * y
        )
        held.append(one.low <= 0.9 <= one.high)
    assert np.mean(held) >= 0.93
