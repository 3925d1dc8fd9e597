"""Intervals and tests of the partial AUC, against simulation and the bootstrap."""

import numpy as np
import pytest

from aucmax.exceptions import FewRowsWarning
from aucmax.inference import auc_interval, bootstrap_interval, compare_auc
from aucmax.metrics import partial_auc_score

BOXES = [
    {"fpr_range": (0.0, 0.1)},
    {"fpr_range": (0.05, 0.4)},
    {"fpr_range": (0.0, 0.4), "tpr_range": (0.3, 1.0)},
]


def sample(generator, n_positive=120, n_negative=300, shift=1.2):
    labels = np.repeat([True, False], [n_positive, n_negative])
    shared = generator.normal(size=labels.size)
    scores = [
        shift * labels
        + 0.7 * shared
        + np.sqrt(0.51) * generator.normal(size=labels.size)
        for _ in range(2)
    ]
    return labels, *scores


@pytest.mark.parametrize("box", BOXES)
def test_the_standard_error_is_about_that_of_the_bootstrap(box):
    labels, scores, _ = sample(np.random.default_rng(1))
    interval = auc_interval(labels, scores, **box)
    assert interval.value == partial_auc_score(labels, scores, **box)
    peer = bootstrap_interval(partial_auc_score, labels, scores, random_state=0, **box)
    width = interval.high - interval.low
    assert width == pytest.approx(peer.high - peer.low, rel=0.15)


def test_a_perfect_start_of_the_curve_is_not_certain():
    labels = np.repeat([True, False], [20, 100])
    scores = labels + 0.001 * np.arange(120)
    interval = auc_interval(labels, scores, fpr_range=(0, 0.1))
    assert interval.value == 1.0
    assert interval.rows == pytest.approx((20, 10))
    assert interval.low == pytest.approx(0.025 ** (1 / 10))


def test_too_few_rows_within_a_range_are_warned_of():
    labels = np.arange(30) < 20
    scores = np.random.default_rng(0).normal(size=30) + labels
    with pytest.warns(FewRowsWarning, match="rests on 1 negative rows within"):
        interval = auc_interval(labels, scores, fpr_range=(0, 0.1))
    assert interval.high - interval.low > 0.5
    with pytest.warns(FewRowsWarning, match="use more rows"):
        compare_auc(labels, scores, -scores, fpr_range=(0, 0.1))
