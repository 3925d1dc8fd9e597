"""Pairs one by one: the same numbers as sweeps give, and only where there are few."""

import numpy as np
import pytest

from aucmax.risks import PairLogistic
from aucmax.risks._pairs import few_pairs
from aucmax.risks._pairs.few_pairs import FewPairs

pytestmark = pytest.mark.kernel

N_ROWS = 600


@pytest.fixture
def sample():
    generator = np.random.default_rng(0)
    qid = generator.integers(0, 40, N_ROWS)
    levels = generator.integers(0, 4, N_ROWS) * (generator.random(N_ROWS) < 0.4)
    scores = np.round(generator.normal(size=(3, N_ROWS)), 1)
    return scores, levels, qid, generator.uniform(0.0, 2.0, N_ROWS)


def derivatives(risk, scores, labels, qid, weight=None):
    pairs = risk.bind(labels, weight, qid)
    return [np.array(pairs.gradient_hessian(one, scaled=True)) for one in scores]


@pytest.mark.parametrize("turned", [1, -1])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"rank_weighted": True},
        {"pair_weights": "mauc"},
        {"pair_weights": "mauc", "classes": "all", "rank_weighted": True},
    ],
)
def test_sweeps_give_the_same(parameters, weighted, turned, sample, monkeypatch):
    scores, levels, qid, weight = sample
    labels = 3 + turned * levels  # with many rows of the lowest level, or the highest
    risk = PairLogistic(**parameters, accuracy=1e-12)
    given = scores, labels, qid, weight if weighted else None
    found = derivatives(risk, *given)
    monkeypatch.setattr(few_pairs, "_MAX_PAIRS", -1)
    for ours, expected in zip(found, derivatives(risk, *given), strict=True):
        floor = 1e-12 * np.abs(expected).max()
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=floor)


def test_the_scores_of_earlier_calls_do_not_matter(sample):
    scores, levels, qid, _ = sample
    risk = PairLogistic(rank_weighted=True)
    found = derivatives(risk, [*scores, -scores[0], scores[0]], levels, qid)
    np.testing.assert_array_equal(found[0], found[-1])


@pytest.mark.parametrize("distance", [500.0, 1e3, 1e300])
def test_scores_far_apart_keep_their_digits(distance, sample):
    scores, levels, qid, _ = sample
    far = scores[0] + distance * (np.arange(N_ROWS) % 7 == 0)
    risk = PairLogistic(accuracy=1e-12)
    (found,) = derivatives(risk, [far], levels, qid)
    assert np.isfinite(found).all()
    for query in range(3):
        own = qid == query
        alone = risk.bind(levels[own]).value_gradient_hessian(far[own])
        share = np.abs(alone[1]).max() / np.abs(found[0][own]).max()
        floor = 1e-12 * np.abs(alone[1]).max()
        np.testing.assert_allclose(share * found[0][own], alone[1], 1e-10, floor)


def of(groups, levels, *, is_ranked=False, weights=None):
    numbers = np.empty((int(groups.max()) + 1, 0))
    return FewPairs.of(groups, levels, weights, numbers, is_ranked=is_ranked)


def test_only_few_pairs_are_taken_one_by_one():
    groups, levels = np.repeat(np.arange(20), 100), np.arange(2000) % 2
    assert of(groups, levels) is not None  # 25 pairs per row
    assert of(groups // 2, levels) is None
    one_of_a_thousand = (np.arange(2000) % 1000 == 0).astype(np.int64)
    assert of(groups // 10, one_of_a_thousand) is not None
    # to rank rows takes a sort, which is by insertion
    assert of(groups // 10, one_of_a_thousand, is_ranked=True) is None
    assert of(groups, levels, is_ranked=True) is not None
    assert of(groups, levels, is_ranked=True, weights=np.ones(2000)) is None
