"""What every estimator owes: scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax.margin import MarginRanker

pytestmark = pytest.mark.sampled(5)


# scikit-learn also fits labels drawn at random, where no margin is above 0
@pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
@parametrize_with_checks(
    [
        MarginRanker(),
        MarginRanker(epsilon=0.5, hypotheses="features"),
        MarginRanker(epsilon=0.5, hypotheses="stumps", tol=0.1),
        MarginRanker("hard", tol=0.1),
        MarginRanker("instances", 0.5, tol=1e-2),
        MarginRanker("adaptive", 0.5, "features", tol=0.1),
        MarginRanker("global", 0.5, tol=0.1),
    ]
)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
