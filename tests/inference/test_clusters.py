import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from aucmax.inference import auc_interval, bootstrap_interval, compare_auc, roc_band
from aucmax.metrics import roc_auc_score
from drawing import fewer_examples, places
from metrics.samples import samples


def clustered(rng, n_groups, size, icc, auc_shift=1.0, models=1):
    """Rows of groups that share a random effect; both classes in most groups."""
    groups = np.repeat(np.arange(n_groups), size)
    y = rng.random(groups.size) < 0.4
    shared = rng.normal(size=(models, n_groups))[:, groups] * np.sqrt(icc)
    members = rng.normal(size=(models, groups.size)) * np.sqrt(1 - icc)
    return y, shared + members + auc_shift * y, groups


def reference_units(y, groups, weights):
    """Return groups of each class, as equally large ones, with weights and without."""
    for weight in (np.ones(y.size), weights):
        for label in (0, 1):
            share = np.bincount(groups, weight * (y == label))
            yield share.sum() ** 2 / (share @ share)


@pytest.mark.kernel
@fewer_examples
@given(samples(max_rows=20, weights=True, of_each=3), st.data())
def test_the_variance_is_that_of_the_definition(sample, data):
    y, scores, weights, _ = sample
    groups = data.draw(places(y.size, 6))
    groups[:4] = [0, 0, 1, 1]  # both classes in two groups
    assume(min(reference_units(y, groups, weights)) >= 2.0)
    for weight in (None, weights):
        effects = reference.area_effects(y, scores, weight, groups)
        interval = auc_interval(y, scores, groups=groups, sample_weight=weight)
        expected = np.sqrt(effects @ effects)
        assert interval.standard_error == pytest.approx(expected, abs=1e-12)
        alone = auc_interval(
            y, scores, groups=np.arange(y.size)[::-1], sample_weight=weight
        )
        plain = auc_interval(y, scores, sample_weight=weight)
        for name in ("value", "low", "high", "standard_error", "rows"):
            expected = getattr(plain, name)
            assert getattr(alone, name) == pytest.approx(expected, abs=1e-9)


def test_groups_of_equal_classes_have_obuchowskis_variance():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(15), 4)
    y = np.tile([0, 1, 1, 0], 15)
    scores = rng.normal(size=60) + rng.normal(size=15)[groups] + y
    interval = auc_interval(y, scores, groups=groups)
    expected = reference.obuchowski_variance(y, scores, groups)
    assert interval.standard_error**2 == pytest.approx(expected)


def test_groups_of_one_class_are_allowed_and_names_may_be_anything():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 40)
    groups = np.array([f"patient {k // 4}" for k in range(80)])
    scores = rng.normal(size=80) + y + rng.normal(size=20)[np.arange(80) // 4]
    interval = auc_interval(y, scores, groups=groups)
    plain = auc_interval(y, scores)
    assert interval.value == plain.value
    assert interval.standard_error > 1.2 * plain.standard_error
    assert 10 <= interval.rows[0] < 40


def test_perfect_separation_rests_on_the_groups():
    y, groups = np.tile([0, 1], 50), np.arange(100) // 10
    interval = auc_interval(y, y, groups=groups)
    assert (interval.value, interval.high) == (1.0, 1.0)
    assert interval.rows == pytest.approx((10.0, 10.0))
    assert interval.low == pytest.approx(0.025**0.1)


def test_comparisons_use_groups():
    y, (a, b), groups = clustered(np.random.default_rng(3), 40, 5, 0.7, models=2)
    effects = [reference.area_effects(y, one, None, groups) for one in (a, b)]
    difference = compare_auc(y, a, b, groups=groups)
    assert difference.standard_error == pytest.approx(
        np.linalg.norm(effects[0] - effects[1])
    )


def test_the_bootstrap_and_the_band_draw_whole_groups():
    y, (scores,), groups = clustered(np.random.default_rng(4), 30, 10, 0.8)
    exact = auc_interval(y, scores, groups=groups)
    interval = bootstrap_interval(
        roc_auc_score, y, scores, groups=groups, n_resamples=300, random_state=0
    )
    alone = bootstrap_interval(
        roc_auc_score, y, scores, n_resamples=300, random_state=0
    )
    assert interval.standard_error == pytest.approx(exact.standard_error, rel=0.2)
    band = roc_band(y, scores, groups=groups, n_resamples=200, fpr=[0.1, 0.3])
    plain = roc_band(y, scores, n_resamples=200, fpr=[0.1, 0.3])
    assert (band.tpr == plain.tpr).all()
    single = roc_band(
        y, scores, groups=np.arange(y.size), n_resamples=200, fpr=[0.1, 0.3]
    )
    assert (single.high - single.low) == pytest.approx(plain.high - plain.low, rel=0.25)
    # positives and negatives of one group move together, which helps the area
    assert alone.standard_error != pytest.approx(exact.standard_error, rel=0.1)
    with pytest.raises(ValueError, match="groups cannot be given with qid"):
        bootstrap_interval(roc_auc_score, y, scores, groups=groups, qid=groups)
