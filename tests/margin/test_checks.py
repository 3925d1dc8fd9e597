"""What every estimator owes: scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax.margin import MarginRanker


# scikit-learn also fits labels drawn at random, where no margin is above 0
@pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")
@parametrize_with_checks(
    [
        MarginRanker(),
        MarginRanker(hypotheses="signed"),
        MarginRanker(hypotheses="stumps"),
        MarginRanker("hard", hypotheses="signed"),
        MarginRanker("instances", hypotheses="signed"),
        MarginRanker("adaptive", hypotheses="features"),
        MarginRanker("global", hypotheses="signed"),
        MarginRanker("instances", hypotheses="signed", solver="lp"),
    ]
)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
