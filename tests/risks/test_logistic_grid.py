"""Sums over a grid: the same numbers as all pairs give, and as sorted rows give."""

import numpy as np
import pytest

import reference_pair_logistic
from aucmax.risks import PairLogistic, PairSigmoid, bound_pair_logistic
from aucmax.risks._pairs import logistic_grid
from aucmax.risks._pairs.logistic_grid import LogisticGrid
from reference_pair_sigmoid import pair_sigmoid

pytestmark = pytest.mark.kernel

N_ROWS = 250
RANGES = [(0.0, 1.0), (0.0, 0.1), (0.07, 0.61), (0.5, 1.0)]


def draw(kind, generator):
    """Draw scores: smooth, tied, at the borders of cells, equal, with outliers."""
    normal = generator.normal(size=N_ROWS)
    return {
        "smooth": 2.0 * normal,
        "tied": np.round(normal, 1),
        "borders": 0.5 * np.round(4.0 * normal),
        "equal": np.full(N_ROWS, 0.3),
        "tiny": 1e-9 * normal,
        "outliers": np.r_[-40.0, normal[2:], 35.0],
        "far from 0": 1e6 + normal,
    }[kind]


@pytest.fixture(autouse=True)
def always_a_grid(monkeypatch):
    monkeypatch.setattr(logistic_grid, "_MIN_ROWS", 2)
    monkeypatch.setattr(logistic_grid, "_ROWS_PER_NODE", 1e-6)


@pytest.fixture
def n_grids(monkeypatch):
    """Count the sums that went over a grid."""
    made, grid_sums = [], logistic_grid.GridSums

    def count(*given):
        made.append(1)
        return grid_sums(*given)

    monkeypatch.setattr(bound_pair_logistic, "GridSums", count)
    return lambda: len(made)


def some_weights(kind, generator):
    if kind is None:
        return None
    values = [0.0, 0.5, 1.0, 3.0] if kind == "plain" else [1e-8, 1e-3, 1.0, 1e8]
    return generator.choice(values, N_ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, "plain", "wide"])
@pytest.mark.parametrize(
    "kind", ["smooth", "tied", "borders", "equal", "tiny", "outliers", "far from 0"]
)
def test_the_sigmoid_is_the_definition(kind, weights, n_grids):
    generator = np.random.default_rng(len(kind))
    labels = generator.random(N_ROWS) < 0.2
    weight = some_weights(weights, generator)
    scores = draw(kind, generator)
    cases = 0
    for fpr_range in RANGES:
        for tpr_range in RANGES:
            for tau in (1.0, 0.3):
                ranges = {"fpr_range": fpr_range, "tpr_range": tpr_range, "tau": tau}
                risk = PairSigmoid(**ranges)
                value, gradient = risk.bind(labels, weight).value_and_gradient(scores)
                expected, slopes = pair_sigmoid(scores, labels, None, weight, **ranges)
                floor = 1e-11 * np.abs(slopes).max()
                assert value == pytest.approx(expected, rel=1e-7, abs=1e-12)
                np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=floor)
                cases += 1
    assert n_grids() == cases


@pytest.mark.parametrize("accuracy", [1e-3, 1e-7, 1e-12])
@pytest.mark.parametrize("kind", ["smooth", "tied", "borders", "outliers"])
def test_the_logistic_loss_is_the_definition(kind, accuracy, n_grids):
    generator = np.random.default_rng(len(kind))
    labels = generator.integers(0, 2, N_ROWS)
    scores, weight = draw(kind, generator), some_weights("plain", generator)
    settings = [
        {},
        {"fpr_range": (0.07, 0.61), "outside_weight": 0.1},
        {"fpr_range": (0.0, 0.1)},
        {"pair_weights": "mauc"},
    ]
    for setting in settings:
        risk = PairLogistic(**setting, accuracy=accuracy)
        results = risk.bind(labels, weight).value_gradient_hessian(scores)
        parts = reference_pair_logistic.pair_logistic(
            scores, labels, None, weight, **setting
        )
        assert results[0] == pytest.approx(parts.value, rel=accuracy)
        for ours, literal in zip(
            results[1:], (parts.gradient, parts.hessian), strict=True
        ):
            floor = 1e-12 * np.abs(literal).max()
            np.testing.assert_allclose(ours, literal, rtol=accuracy, atol=floor)
    assert n_grids() == len(settings)


def test_threads_change_no_bit(monkeypatch):
    monkeypatch.setattr(logistic_grid, "_BLOCK", 64)
    monkeypatch.setattr(logistic_grid, "_MANY_ROWS", 0)
    generator = np.random.default_rng(0)
    labels, scores = generator.random(N_ROWS) < 0.3, generator.normal(size=N_ROWS)
    one, three = (
        PairSigmoid((0.0, 0.3), n_jobs=n).bind(labels).value_and_gradient(scores)
        for n in (1, 3)
    )
    assert one[0] == three[0]
    np.testing.assert_array_equal(one[1], three[1])


def test_many_rows_within_few_widths_take_the_grid_and_others_the_sort(monkeypatch):
    monkeypatch.undo()
    generator = np.random.default_rng(1)
    scores = generator.normal(size=20_000)
    assert LogisticGrid.cover(scores, 1.0, 1e-7) is not None
    assert LogisticGrid.cover(scores, 1e-3, 1e-7) is None
    assert LogisticGrid.cover(scores[:200], 1.0, 1e-7) is None
    assert LogisticGrid.cover(np.r_[scores, 1e300, -1e300], 1.0, 1e-7) is None
    labels = generator.random(20_000) < 0.1
    risk = PairSigmoid((0, 0.1))
    value, gradient = risk.bind(labels).value_and_gradient(scores)
    monkeypatch.setattr(logistic_grid, "_MIN_ROWS", 10**9)
    expected, slopes = risk.bind(labels).value_and_gradient(scores)
    assert value == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(gradient, slopes, rtol=2e-7, atol=1e-13)


def test_rows_of_queries_and_levels_are_sorted(n_grids):
    generator = np.random.default_rng(2)
    scores = generator.normal(size=N_ROWS)
    levels, qid = np.arange(N_ROWS) % 3, np.arange(N_ROWS) % 5
    PairLogistic().bind(levels).value(scores)
    PairLogistic(rank_weighted=True).bind(levels > 0).value(scores)
    PairSigmoid().bind(levels > 0, queries=qid).value(scores)
    assert n_grids() == 0
