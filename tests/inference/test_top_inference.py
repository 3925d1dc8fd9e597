"""Intervals and tests of metrics of the top of a list, against literal twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.special import ndtr, ndtri

from aucmax import inference, metrics
from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference.influence import precision_derivatives
from aucmax.metrics._steps import RankingTask
from inference.comparisons import difference
from metrics.samples import samples
from reference import precision_effects, tied_average_precision

RATES = ["recall@fpr=0.1", "ks", "precision@90", "recall@90", "lift@90"]
RATES += ["recall@precision=0.6", "precision@recall=0.5"]
FEW = {"n_resamples": 60}


def made(n_rows=400, seed=0, gain=1.5, share=0.2):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < share
    return y, rng.normal(size=n_rows) + gain * y, rng.normal(size=n_rows) + y


@given(samples(weights=True, of_each=2))
@settings(max_examples=60)
def test_influence_is_the_derivative_by_the_weight_of_each_row(sample):
    y, scores, weights, _ = sample
    y = y == 1
    value, influence = precision_derivatives(RankingTask(scores, y, weights))
    assert value == pytest.approx(tied_average_precision(y, scores, weights))
    share, step = weights / weights.sum(), 1e-4
    changes = [
        tied_average_precision(y, scores, share + step * share[row] * unit)
        - tied_average_precision(y, scores, share - step * share[row] * unit)
        for row, unit in enumerate(np.eye(y.size))
    ]
    expected = np.array(changes) / (2.0 * step * share)
    np.testing.assert_allclose(influence, expected, rtol=1e-4, atol=1e-4)
    assert share @ influence == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("is_tied", [False, True])
def test_the_standard_error_is_that_of_brute_force_effects(is_weighted, is_tied):
    y, scores, other = made(60)
    scores = np.round(scores) if is_tied else scores
    weights = np.linspace(0.5, 2.0, y.size) if is_weighted else None
    effects = [precision_effects(y, one, weights) for one in (scores, other)]
    interval = inference.metric_interval(y, scores, sample_weight=weights)
    assert interval.standard_error == pytest.approx(
        np.sqrt(effects[0] @ effects[0]), rel=1e-5
    )
    test = difference(
        y, scores, other, metric="average_precision", sample_weight=weights
    )
    gap = effects[0] - effects[1]
    assert test.standard_error == pytest.approx(np.sqrt(gap @ gap), rel=1e-5)
    value = metrics.average_precision_score(y, scores, sample_weight=weights)
    assert interval.value == test.value_1 == pytest.approx(value)


def test_groups_of_one_row_change_nothing_and_copies_count_once():
    y, scores, other = made(200)
    plain = inference.metric_interval(y, scores)
    alone = inference.metric_interval(y, scores, groups=np.arange(200))
    assert alone.standard_error == pytest.approx(plain.standard_error, rel=0.02)
    twice = [np.repeat(one, 2) for one in (y, scores, np.arange(200), other)]
    copied = inference.metric_interval(*twice[:2], groups=twice[2])
    assert copied.standard_error == pytest.approx(alone.standard_error)
    again = difference(
        twice[0], twice[1], twice[3], groups=twice[2], metric="average_precision"
    )
    once = difference(
        y, scores, other, groups=np.arange(200), metric="average_precision"
    )
    assert again.standard_error == pytest.approx(once.standard_error)


def test_models_that_rank_alike_do_not_differ():
    y, scores, other = made()
    for metric in ("average_precision", "recall@fpr=0.1"):
        contrast = difference(y, scores, np.exp(scores), metric=metric, **(
            {} if metric == "average_precision" else FEW
        ))  # fmt: skip
        assert (contrast.difference, contrast.p_value) == (0.0, 1.0)
    several = inference.compare_metric(
        y, {"a": scores, "b": 2 * scores, "c": other}, metric="average_precision"
    )
    assert several.rank == 1
    swapped = difference(y, other, scores, metric="average_precision")
    straight = difference(y, scores, other, metric="average_precision")
    assert swapped.difference == -straight.difference
    assert swapped.p_value == pytest.approx(straight.p_value)


@pytest.mark.parametrize("metric", [*RATES, "average_precision", "auc", "gini"])
def test_each_name_has_an_interval_and_a_paired_test(metric):
    y, scores, other = made(gain=2.0)
    drawn = FEW if metric in RATES else {}
    interval = inference.metric_interval(y, scores, metric, **FEW)
    named = metrics.metric_names.parse_metric(metric)
    assert interval.value == pytest.approx(named.function(y, scores))
    assert interval.low < interval.value < interval.high
    assert interval.metric == metric
    test = difference(y, scores, other, metric=metric, **drawn)
    assert (test.value_1, test.metric) == (pytest.approx(interval.value), metric)
    assert test.low < test.difference < test.high
    assert 0.0 < test.p_value < 0.5
    again = inference.metric_interval(y, np.exp(scores), metric, **FEW)
    assert (again.low, again.high) == pytest.approx((interval.low, interval.high))
    names = np.where(y, "yes", "no")
    same = inference.metric_interval(names, scores, metric, pos_label="yes", **FEW)
    assert same.high == interval.high


@pytest.mark.parametrize("metric", ["average_precision", "recall@fpr=0.1", "lift@3"])
def test_queries_are_the_units_if_given(metric):
    y, scores, other = made(300)
    qid = np.arange(300) % 20
    named = metrics.metric_names.parse_metric(metric)
    values = named.function(y, scores, qid=qid, average=None)
    values = values[~np.isnan(values)]
    interval = inference.metric_interval(y, scores, metric, qid=qid)
    assert interval.value == pytest.approx(values.mean())
    error = values.std(ddof=1) / np.sqrt(values.size)
    assert interval.standard_error == pytest.approx(error)
    others = named.function(y, other, qid=qid, average=None)
    gap = values - others[~np.isnan(others)]
    test = difference(y, scores, other, metric=metric, qid=qid)
    assert test.difference == pytest.approx(gap.mean())
    error = gap.std(ddof=1) / np.sqrt(gap.size)
    assert test.standard_error == pytest.approx(error)
    with pytest.raises(ValueError, match="groups cannot be given with qid"):
        inference.metric_interval(y, scores, metric, qid=qid, groups=qid)


def test_a_rate_has_the_interval_of_both_of_its_errors():
    y, scores, _ = made(2000)
    interval = inference.metric_interval(y, scores, "recall@fpr=0.1")
    band = inference.bootstrap_interval(
        metrics.recall_at_fpr, y, scores, fpr=0.1, n_resamples=400, random_state=0
    )
    assert interval.standard_error == pytest.approx(band.standard_error, rel=0.15)
    heavier = inference.metric_interval(
        y, scores, "recall@fpr=0.1", sample_weight=np.full(2000, 3.0)
    )
    assert (heavier.low, heavier.high) == pytest.approx((interval.low, interval.high))


@pytest.mark.parametrize("metric", [*RATES, "average_precision"])
def test_extreme_rankings_have_intervals_that_are_not_empty(metric):
    y = np.arange(60) < 20
    perfect = inference.metric_interval(y, -np.arange(60.0), metric, **FEW)
    assert perfect.low < perfect.high
    assert perfect.low <= perfect.value <= perfect.high
    for scores in (np.zeros(60), np.arange(60.0)):  # constant, and the wrong order
        interval = inference.metric_interval(y, scores, metric, **FEW)
        assert 0.0 <= interval.low <= interval.value <= interval.high
        assert interval.low < interval.high
        test = difference(y, scores, -np.arange(60.0), metric=metric, **(
            FEW if metric in RATES else {}
        ))  # fmt: skip
        assert test.difference <= 0.0
        assert np.isfinite(test.p_value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"metric": "recall@fpr=2"}, "rate, 0 to 1"),
        ({"metric": "precision@0"}, "whole number of at least 1"),
        ({"metric": "sharpness"}, "metric must be one of"),
        ({"metric": "ndcg@10"}, "give qid"),
        ({"n_resamples": 1}, "n_resamples must be an integer of at least 2"),
        ({"groups": np.zeros(50)}, "groups holds one group only"),
        ({"qid": np.arange(50)}, "queries with a value"),
        ({"y_true": np.arange(50) == 3}, "at least two rows of each class"),
    ],
)
def test_bad_input_is_named(change, words):
    y, scores, _ = made(50)
    given = {"y_true": y, "y_score": scores, **change}
    if "qid" in change:
        given["y_true"] = np.arange(50) == 3  # one query has a positive row
    with pytest.raises(ValueError, match=words):
        inference.metric_interval(**given)


def test_options_that_a_metric_does_not_take_are_named():
    y, scores, other = made(50)
    with pytest.raises(TypeError, match="has no option 'gains'"):
        inference.metric_interval(y, scores, gains="linear")
    for options, words in (
        ({"metric": "ordinal_auc", "folds": y}, "folds is not supported"),
        ({"metric": "average_precision", "n_resamples": 9}, "n_resamples is not"),
        ({"metric": "recall@fpr=0.1", "fpr_range": (0, 0.1)}, "fpr_range or tpr_range"),
        ({"metric": "mauc"}, "give qid"),
        ({"metric": "recall@fpr"}, "got 'recall@fpr'"),
    ):
        with pytest.raises(ValueError, match=words):
            difference(y, scores, other, **options)
    with pytest.raises(NotEnoughClassesError):
        inference.metric_interval(np.zeros(50), scores)


def test_the_concordance_has_functions_of_its_own():
    y, scores, other = made(60)
    for call in (
        lambda: inference.metric_interval(y, scores, "concordance"),
        lambda: difference(y, scores, other, metric="concordance"),
    ):
        with pytest.raises(ValueError, match="needs events and times; use concordance"):
            call()


@pytest.mark.parametrize("is_mixed", [False, True])
def test_ks_of_groups_of_noise_covers_zero(is_mixed):
    # percentiles of drawn groups cover in 48 and in 6 %
    rng, group = np.random.default_rng(0), np.repeat(np.arange(40), 8)
    lows = []
    for _ in range(60):
        labels = rng.random(group.size) if is_mixed else rng.random(40)[group]
        scores = rng.normal(size=40)[group] + 0.3 * rng.normal(size=group.size)
        interval = inference.metric_interval(labels < 0.4, scores, "ks", groups=group)
        lows.append(interval.low)
    assert np.mean(np.array(lows) < 0.01) >= 0.85


def test_the_sensitivity_at_a_rate_of_one_negative_is_covered():
    rng, covered = np.random.default_rng(0), 0
    y, shift = np.arange(40) < 20, np.sqrt(2.0) * ndtri(0.8)
    truth = ndtr(shift + ndtri(0.05))
    for _ in range(200):
        scores = rng.normal(size=40) + shift * y
        interval = inference.metric_interval(y, scores, "recall@fpr=0.05")
        covered += interval.low <= truth <= interval.high
    assert covered / 200 >= 0.92  # 0.86 with the recall at the highest negative
