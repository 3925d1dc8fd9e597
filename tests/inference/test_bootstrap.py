import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.inference import auc_interval, bootstrap_interval, roc_band
from aucmax.metrics import (
    partial_auc_score,
    roc_auc_score,
    roc_curve,
)

RNG = np.random.default_rng(5)
Y = RNG.random(400) < 0.3
SCORES = RNG.normal(size=400) + Y
QID = RNG.integers(0, 25, 400)


def test_bootstrap_agrees_with_delong_for_the_auc():
    expected = auc_interval(Y, SCORES)
    interval = bootstrap_interval(
        roc_auc_score, Y, SCORES, n_resamples=600, random_state=0
    )
    assert interval.value == pytest.approx(expected.value)
    assert interval.standard_error == pytest.approx(expected.standard_error, rel=0.15)
    assert interval.low == pytest.approx(expected.low, abs=0.01)
    assert interval.high == pytest.approx(expected.high, abs=0.01)


def test_the_same_seed_gives_the_same_interval():
    first, second, other = (
        bootstrap_interval(
            partial_auc_score,
            Y,
            SCORES,
            fpr_range=(0, 0.2),
            n_resamples=20,
            random_state=seed,
        )
        for seed in (1, 1, 2)
    )
    assert first == second
    assert first.low != other.low
    assert str(first).startswith(f"partial AUC {first.value:.4f} (95% interval ")


@pytest.mark.parametrize("stratified", [True, False])
def test_stratified_draws_keep_the_number_of_rows_of_each_label(stratified):
    counts = []

    def count_positives(y_true, y_score):
        counts.append(int(y_true.sum()))
        return 0.0

    bootstrap_interval(
        count_positives,
        Y,
        SCORES,
        n_resamples=30,
        stratified=stratified,
        random_state=0,
    )
    assert (len(set(counts)) == 1) is stratified
    assert np.mean(counts) == pytest.approx(Y.sum(), rel=0.1)


def test_whole_queries_are_drawn_and_kept_apart():
    sizes = dict(zip(*np.unique(QID, return_counts=True), strict=True))
    query_of_score = {
        float(score): query for score, query in zip(SCORES, QID, strict=True)
    }
    repeated = []

    def check(y_true, y_score, qid):
        drawn = []
        for number in np.unique(qid):
            rows = y_score[qid == number]
            queries = {query_of_score[float(score)] for score in rows}
            assert len(queries) == 1
            assert len(set(rows)) == rows.size == sizes[queries.copy().pop()]
            drawn.append(queries.pop())
        assert len(drawn) == len(sizes)
        repeated.append(len(set(drawn)) < len(drawn))
        return 0.0

    bootstrap_interval(check, Y, SCORES, qid=QID, n_resamples=10, random_state=0)
    assert len(repeated) == 11
    assert not repeated[0]
    assert all(repeated[1:])


def test_weights_are_drawn_along_with_the_rows():
    def check(y_true, y_score, sample_weight):
        assert (sample_weight == np.exp(y_score)).all()
        return 0.0

    bootstrap_interval(
        check, Y, SCORES, sample_weight=np.exp(SCORES), n_resamples=3, random_state=0
    )


def test_draws_without_a_class_are_drawn_again():
    # of two rows, half of the draws miss a class
    interval = bootstrap_interval(
        roc_auc_score, [0, 1], [1, 2], n_resamples=20, stratified=False, random_state=0
    )
    assert (interval.low, interval.high) == (1, 1)


def test_a_metric_that_is_hardly_ever_defined_is_an_error():
    def undefined(y_true, y_score):
        if len(set(y_score)) < len(y_score):
            raise NotEnoughClassesError("no.")
        return 1.0

    with pytest.raises(NotEnoughClassesError, match="nearly all resamples: no"):
        bootstrap_interval(undefined, Y, SCORES, n_resamples=5, random_state=0)


def test_bad_options_are_rejected():
    with pytest.raises(ValueError, match="integer of at least 2, got 1"):
        bootstrap_interval(roc_auc_score, Y, SCORES, n_resamples=1)
    with pytest.raises(ValueError, match="integer of at least 2, got 0"):
        roc_band(Y, SCORES, n_resamples=0)
    with pytest.raises(ValueError, match="fpr must ascend"):
        roc_band(Y, SCORES, fpr=[0.5, 0.2])


def test_the_band_holds_the_curve_and_its_width_is_binomial_at_fpr_one_half():
    band = roc_band(Y, SCORES, n_resamples=300)
    fprs, tprs, _ = roc_curve(Y, SCORES)
    upper = [tprs[fprs <= fpr + 1e-12].max() for fpr in band.fpr]
    np.testing.assert_allclose(band.tpr, upper, atol=1 / Y.sum())
    assert (band.low <= band.tpr).all()
    assert (band.tpr <= band.high).all()
    # where the curve is flat, only the positives vary
    tpr = band.tpr[80]
    binomial = 2 * 1.96 * np.sqrt(tpr * (1 - tpr) / Y.sum())
    assert band.high[80] - band.low[80] == pytest.approx(binomial, rel=0.5)


def test_equal_weights_leave_a_band_and_zero_weights_drop_rows():
    kept = np.arange(400) % 5 > 0
    for weights, rows in ((np.full(400, 0.3), slice(None)), (kept, kept)):
        plain = roc_band(Y[rows], SCORES[rows], n_resamples=200)
        result = roc_band(Y, SCORES, n_resamples=200, sample_weight=weights)
        np.testing.assert_allclose(result.tpr, plain.tpr)
        for name in ("low", "high"):
            gaps = np.abs(getattr(result, name) - getattr(plain, name))
            assert gaps.mean() < 0.1 * (plain.high - plain.low).mean()


@pytest.mark.parametrize("n_rows", [150, 4000])
def test_a_weighted_band_is_that_of_resampled_rows(n_rows):
    # 4000 rows have more steps than chords
    rng = np.random.default_rng(6)
    y = np.arange(n_rows) < n_rows // 3
    scores = rng.normal(size=n_rows) + 1.5 * y
    weights = rng.choice([0.1, 1.0, 7.0], n_rows) * rng.uniform(0.9, 1.1, n_rows)
    grid = np.array([0.05, 0.2, 0.6])

    def tpr_at(fpr):
        def metric(y_true, y_score, sample_weight):
            corners = roc_curve(y_true, y_score, sample_weight=sample_weight)
            return float(np.interp(fpr, *corners[:2]))

        return metric

    band = roc_band(y, scores, fpr=grid, sample_weight=weights, n_resamples=400)
    for place, fpr in enumerate(grid):
        expected = bootstrap_interval(
            tpr_at(fpr),
            y,
            scores,
            sample_weight=weights,
            n_resamples=200,
            random_state=1,
        )
        width = expected.high - expected.low
        assert band.tpr[place] == pytest.approx(expected.value, abs=0.002)
        assert band.low[place] == pytest.approx(expected.low, abs=0.2 * width)
        assert band.high[place] == pytest.approx(expected.high, abs=0.2 * width)
