"""Intervals of scores of few values, and of models that differ in few rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import logit

from aucmax.inference import (
    auc_interval,
    compare_auc,
    compare_metric,
    concordance_interval,
)
from aucmax.metrics import concordance_index

N_DRAWS = 300
LEAST = 0.92 - 2.5 * np.sqrt(0.92 * 0.08 / N_DRAWS)
Y = np.arange(550) < 50
FLAG = np.isin(np.arange(550), np.arange(100, 110))  # of no positive, ten negatives


def rates(draw, seed=0):
    """Return how often intervals cover, and how often tests accept, a true value."""
    rng = np.random.default_rng(seed)
    values = [draw(rng) for _ in range(N_DRAWS)]
    covers = [one.low <= truth <= one.high for one, truth in values]
    return np.mean(covers), np.mean([one.p_value >= 0.05 for one, _ in values])


def test_a_flag_that_no_positive_has_is_not_evidence():
    interval = auc_interval(Y, FLAG, null=0.5)
    table = [[0, 50], [10, 490]]
    assert stats.fisher_exact(table).pvalue > 0.6
    assert interval.p_value > 0.3
    assert interval.low < 0.47 < 0.51 < interval.high
    textbook = auc_interval(Y, FLAG, null=0.5, method="logit")
    assert textbook.high < 0.497
    assert interval.standard_error == textbook.standard_error


def test_the_variance_is_that_of_two_pseudo_rows_per_class():
    # all negatives deviate by 0.01 or -0.49, all positives by 0
    d = np.where(FLAG[50:], -0.49, 0.01) * np.sqrt(500 / 499)
    distance = (d**4).sum() / (d**2).sum()
    moved = (d**2).sum() / distance
    variance = d.var() / 500
    variance += 2 * distance / (50 * 54)
    variance += max(1 - moved / 10, 0) * 2 * distance / (500 * 504)
    margin = stats.t(49).ppf(0.975) * np.sqrt(variance) / (0.49 * 0.51)
    interval = auc_interval(Y, FLAG)
    assert logit([interval.low, interval.high]) == pytest.approx(
        [logit(0.49) - margin, logit(0.49) + margin]
    )


@pytest.mark.parametrize("sizes", [(20, 200), (50, 500), (500, 50), (100, 100)])
@pytest.mark.parametrize(
    "shares", [(0.98, 0.02), (0.95, 0.02, 0.01, 0.01, 0.01), (0.97, 0.0, 0.03)]
)
def test_rare_values_are_covered(sizes, shares):
    y = np.arange(sum(sizes)) < sizes[0]

    def draw(rng):
        scores = rng.choice(len(shares), y.size, p=shares) * 1.0
        if len(shares) == 3:  # zeros, and others without ties
            scores *= rng.random(y.size)
        return auc_interval(y, scores, null=0.5), 0.5

    assert min(rates(draw)) > LEAST


@pytest.mark.parametrize("sizes", [(50, 5000), (50, 500), (250, 250)])
@pytest.mark.parametrize("how", ["redrawn", "lost"])
def test_models_that_differ_in_few_rows_are_compared_honestly(sizes, how):
    y = np.arange(sum(sizes)) < sizes[0]
    area, share = stats.norm.cdf(1 / np.sqrt(2)), 0.02
    truth = 0.0 if how == "redrawn" else share * (area - 0.5)

    def draw(rng):
        a, other = rng.normal(size=(2, y.size))
        other += y * (how == "redrawn")
        b = np.where(rng.random(y.size) < share, other, a + y)
        return compare_auc(y, a + y, b, null=truth), truth

    assert min(rates(draw)) > LEAST


def test_models_that_differ_in_one_row_are_not_more_certain_than_equal_ones():
    rng = np.random.default_rng(0)
    y = np.arange(200) < 100
    a = rng.normal(size=200) + y
    b = np.where(np.arange(200) == 3, a + 0.05, a)
    assert not np.array_equal(np.argsort(a), np.argsort(b))
    equal, near = compare_auc(y, a, a), compare_auc(y, a, b)
    assert near.high - near.low > 0.65 * (equal.high - equal.low)
    # nor in a comparison of several, on the same rows or on others
    several = compare_metric(y, {"a": a, "b": b, "c": rng.normal(size=200) + y})
    assert (
        several.differences[0].high - several.differences[0].low > near.high - near.low
    )
    assert several.differences[0].unadjusted_p_value == pytest.approx(near.p_value)
    apart = compare_metric([Y, Y], [FLAG, FLAG]).differences[0]
    alone = auc_interval(Y, FLAG)
    assert apart.high - apart.low > alone.high - alone.low


def censored(rng, n, marker):
    x = (rng.random(n) < marker) * 1.0
    death, left = rng.exponential(np.exp(-x)), rng.exponential(0.25, n)
    return death <= left, np.minimum(death, left), x


def test_a_marker_in_few_rows_is_covered_by_the_concordance():
    truth = concordance_index(*censored(np.random.default_rng(1), 400_000, 0.03))

    def draw(rng):
        while True:
            rows = censored(rng, 150, 0.03)
            if rows[0].sum() > 2:
                interval = concordance_interval(*rows)
                return replace(interval, p_value=1.0), truth

    assert rates(draw)[0] > LEAST
