"""Wilson's interval of a share."""

import pytest
from scipy.stats import binomtest

from aucmax.decisions import wilson_interval


@pytest.mark.parametrize(("seen", "n"), [(0, 1), (0, 9), (3, 7), (50, 100), (12, 12)])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_it_is_that_of_scipy(seen, n, confidence):
    truth = binomtest(seen, n).proportion_ci(confidence, method="wilson")
    found = wilson_interval(seen / n, n, confidence=confidence)
    assert found == pytest.approx((truth.low, truth.high), abs=1e-12)


def test_no_rows_tell_nothing():
    assert wilson_interval(float("nan"), 0) == (0.0, 1.0)


def test_the_lower_end_may_reach_further():
    low, high = wilson_interval(0.5, 40)
    assert wilson_interval(0.5, 40, extra_below=0.5) == (
        pytest.approx(0.3182, abs=1e-3),
        high,
    )
    assert wilson_interval(0.5, 40, extra_below=0.5)[0] < low


def test_a_confidence_is_below_one():
    with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
        wilson_interval(0.5, 10, confidence=1.0)
