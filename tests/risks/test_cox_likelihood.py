import numpy as np
import pytest

from aucmax.exceptions import NotEnoughClassesError
from aucmax.metrics import survival_target
from aucmax.risks import CoxLikelihood
from reference_concordance import cox_likelihood
from risks.test_concordance_losses import draw

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("seed", range(20))
def test_value_gradient_and_curvature_are_the_definition(seed):
    event, time, scores, weight, strata = draw(seed, 10 + 5 * seed)
    bound = CoxLikelihood().bind(survival_target(event, time), weight, strata)
    results = bound.value_gradient_hessian(scores)
    expected = cox_likelihood(event, time, scores, weight, strata)
    assert results[0] == pytest.approx(expected[0], rel=1e-10, abs=1e-10)
    assert results[0] >= bound.least_value
    for one, other in zip(results[1:], expected[1:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    shifted = bound.value_gradient_hessian(scores + 1e3)
    np.testing.assert_allclose(shifted[1], results[1], rtol=1e-9, atol=1e-11)


def test_the_gradient_is_the_slope_of_the_value_and_supports_it():
    rng = np.random.default_rng(0)
    y = survival_target(rng.random(50) < 0.6, rng.integers(1, 20, 50).astype(float))
    bound, scores = CoxLikelihood().bind(y), rng.normal(size=50)
    value, gradient, curvature = bound.value_gradient_hessian(scores)
    for row in range(50):
        step = np.zeros(50)
        step[row] = 1e-5
        ahead, back = bound.value(scores + step), bound.value(scores - step)
        assert gradient[row] == pytest.approx((ahead - back) / 2e-5, abs=1e-8)
        bend = (ahead - 2.0 * value + back) / 1e-10
        assert curvature[row] == pytest.approx(bend, abs=1e-4)
    for _ in range(20):
        other = scores + rng.normal(size=50)
        assert bound.value(other) >= value + gradient @ (other - scores) - 1e-12


def test_risk_sets_of_tied_times_are_those_written_out_by_hand():
    # rows of the worked example of tied times in the appendix of T. Therneau, P.
    # Grambsch, Modeling survival data (2000), with risk sets written out
    time = np.array([4.0, 3.0, 1.0, 1.0, 2.0, 2.0, 3.0])
    event = np.array([1, 1, 1, 0, 1, 1, 0])
    x = np.array([0.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0])
    bound = CoxLikelihood().bind(survival_target(event, time))
    at_zero = -(np.log(7.0) + 2.0 * np.log(5.0) + np.log(3.0) + np.log(1.0))
    assert -5.0 * bound.value(np.zeros(7)) == pytest.approx(at_zero)
    by_hand = np.log(3 * np.e + 3 + np.e**2) + 2 * np.log(np.e**2 + np.e + 3)
    by_hand += np.log(np.e**2 + 2) - 2.0 - 1.0 - 1.0
    assert 5.0 * bound.value(x) == pytest.approx(by_hand)


def test_the_likelihood_is_that_of_coxph_in_r():
    # coxph(Surv(time, event) ~ x1 + x2 + strata(s), weights = w, ties = "breslow") of R
    rng = np.random.default_rng(0)
    X, time = rng.normal(size=(200, 2)), rng.integers(1, 30, 200).astype(float)
    event, weight = rng.random(200) < 0.6, rng.choice([0.5, 1.0, 2.0], 200)
    strata = rng.integers(0, 3, 200)
    bound = CoxLikelihood().bind(survival_target(event, time), weight, strata)
    coef, total = np.array([-0.1180060235370, -0.0464196025114]), weight[event].sum()
    assert -total * bound.value(np.zeros(200)) == pytest.approx(-532.250467341555)
    value, gradient = bound.value_and_gradient(X @ coef)
    assert -total * value == pytest.approx(-531.282759105230, rel=1e-12)
    assert np.abs(X.T @ gradient).max() < 1e-8


def test_a_row_of_weight_two_is_that_row_twice():
    event, time, scores, _, strata = draw(3, 30)
    weight = 1.0 + np.arange(30) % 2
    twice = np.repeat(np.arange(30), weight.astype(int))
    target = survival_target(event, time)
    risk = CoxLikelihood()
    weighted = risk.bind(target, weight, strata).value(scores)
    assert weighted == pytest.approx(
        risk.bind(target[twice], None, strata[twice]).value(scores[twice])
    )


def test_scores_far_apart_do_not_overflow():
    y = survival_target([1, 1, 0, 1], [1.0, 2.0, 3.0, 4.0])
    for scores in ([1e3, -1e3, 0.0, 1e3], [-1e308, 1e308, 0.0, 5.0]):
        value, gradient, hessian = (
            CoxLikelihood().bind(y).value_gradient_hessian(scores)
        )
        assert np.isfinite([*gradient, *hessian]).all()
        assert value >= 0.0


def test_rows_without_events_are_rejected():
    with pytest.raises(NotEnoughClassesError, match="no events"):
        CoxLikelihood().bind(survival_target([0, 0], [1.0, 2.0]))
