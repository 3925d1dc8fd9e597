"""Wilson's interval of a share."""

import pytest
from scipy.stats import binomtest

from aucmax.inference.intervals import wilson_ends


@pytest.mark.parametrize(("seen", "n"), [(0, 1), (0, 9), (3, 7), (50, 100), (12, 12)])
@pytest.mark.parametrize("confidence_level", [0.8, 0.95])
def test_it_is_that_of_scipy(seen, n, confidence_level):
    truth = binomtest(seen, n).proportion_ci(confidence_level, method="wilson")
    ends = wilson_ends(seen / n, n, confidence_level)
    assert ends == pytest.approx((truth.low, truth.high), abs=1e-12)
    lower, same = wilson_ends(seen / n, n, confidence_level, extra_below=0.5)
    assert same == ends[1]
    assert lower < ends[0] or ends[0] == 0.0


def test_without_rows_it_is_the_whole_range():
    assert wilson_ends(float("nan"), 0, 0.95) == (0.0, 1.0)
