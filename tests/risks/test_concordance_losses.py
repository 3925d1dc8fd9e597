import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import concordance_index, survival_target
from aucmax.risks import Concordance
from aucmax.risks.concordance_losses import LOSSES
from reference_concordance import pair_losses

pytestmark = pytest.mark.kernel


def draw(seed, size):
    rng = np.random.default_rng(seed)
    event = rng.random(size) < rng.choice([0.05, 0.6, 1.0])
    event[0] = True
    time = rng.integers(1, rng.choice([4, 30]), size).astype(float)
    time[:2], strata = (1.0, 30.0), rng.integers(0, 1 + seed % 3, size)
    strata[:2] = 0
    scores = rng.normal(size=size).round(rng.integers(0, 3)) * rng.choice([1.0, 1e3])
    weight = rng.choice([0.0, 0.5, 1.0, 1e6], size)
    weight[:2] = 1.0
    return event, time, scores, weight, strata


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(20))
def test_value_gradient_and_curvature_are_the_definition(loss, seed):
    event, time, scores, weight, strata = draw(seed, 10 + 5 * seed)
    width = (0.25, 1.0, 4.0)[seed % 3]
    risk = Concordance(loss, width=width, accuracy=1e-9)
    bound = risk.bind(survival_target(event, time), weight, strata)
    results = bound.value_gradient_hessian(scores)
    expected = pair_losses(event, time, scores, weight, strata, loss, width)
    assert results[0] == pytest.approx(expected[0], rel=1e-8, abs=1e-300)
    if loss != "hinge":
        np.testing.assert_allclose(results[2], expected[2], rtol=1e-8, atol=1e-200)
    # slopes of both signs add up
    floor = 1e-8 * np.abs(expected[1]).max()
    np.testing.assert_allclose(results[1], expected[1], rtol=1e-8, atol=floor)


@pytest.mark.parametrize("loss", LOSSES)
def test_many_rows_are_the_definition(loss):
    rng = np.random.default_rng(0)
    time, event = rng.exponential(size=400).round(2), rng.random(400) < 0.5
    scores = rng.normal(size=400) - time
    bound = Concordance(loss).bind(survival_target(event, time))
    value, gradient, _ = bound.value_gradient_hessian(scores)
    ones, one = np.ones(400), np.zeros(400)
    expected = pair_losses(event, time, scores, ones, one, loss, 1.0)
    assert value == pytest.approx(expected[0], rel=1e-6)
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-5, atol=1e-9)


def test_the_sigmoid_tends_to_one_less_the_concordance():
    rng = np.random.default_rng(1)
    time, event = rng.exponential(size=300), rng.random(300) < 0.5
    scores = rng.normal(size=300) - time
    risk = Concordance("sigmoid", width=1e-9).bind(survival_target(event, time))
    limit = 1.0 - concordance_index(event, time, scores)
    assert risk.value(scores) == pytest.approx(limit, rel=1e-6)


def test_bad_input_is_explained():
    y = survival_target([1, 0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="loss must be"):
        Concordance("exponential").bind(y)
    with pytest.raises(ValueError, match="width must be positive"):
        Concordance(width=0.0).bind(y)
    with pytest.raises(NotEnoughClassesError, match="No two rows are comparable"):
        Concordance().bind(survival_target([0, 0, 1], [1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="columns 'event' and 'time'"):
        Concordance().bind([0, 1, 1])


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["logistic", "sigmoid"])
@pytest.mark.parametrize("accuracy", [2e-5, 1e-10])
def test_nodes_of_scores_are_as_precise_as_asked(loss, accuracy):
    rng = np.random.default_rng(2)
    size = 300
    time, event = rng.exponential(size=size).round(1), rng.random(size) < 0.5
    weight, strata = rng.choice([0.0, 0.5, 3.0], size), rng.integers(0, 2, size)
    for scale in (1e-6, 0.3, 2.0, 8.0):
        scores = (scale * rng.normal(size=size)).round(3)
        rows = survival_target(event, time), weight, strata
        bound = Concordance(loss, accuracy=accuracy).bind(*rows)
        value, gradient, curvature = bound.value_gradient_hessian(scores)
        expected = pair_losses(event, time, scores, weight, strata, loss, 1.0)
        assert value == pytest.approx(expected[0], rel=accuracy)
        for results, literal in zip((gradient, curvature), expected[1:], strict=True):
            error = np.abs(results - literal).max()
            assert error <= accuracy * np.abs(literal).max()
        pair = bound.gradient_hessian(scores, scaled=True)
        np.testing.assert_allclose(pair[0], gradient * size / 2.0, atol=1e-3 * accuracy)
