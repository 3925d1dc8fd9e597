"""scikit-learn's own checks of estimators, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax.margin import MarginRanker

# scikit-learn also fits labels drawn at random, where no margin is above 0
pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.MarginWarning")


@parametrize_with_checks([MarginRanker()])
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        MarginRanker("features", epsilon=0.5),
        MarginRanker("stumps", epsilon=0.5),
        MarginRanker(formulation="hard", tol=1e-7),
        MarginRanker(formulation="instances", epsilon=0.5),
        MarginRanker("features", "adaptive", 0.5, tol=1e-5),
        MarginRanker(formulation="global", epsilon=0.5, tol=1e-3),
    ]
)
def test_other_programs_pass_every_check(estimator, check):
    check(estimator)
