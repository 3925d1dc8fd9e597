"""scikit-learn's own checks of estimators, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax.boosting import RankBoost, SoftRankBoost

KINDS = ("stumps", "features", "signed")


# scikit-learn also fits labels drawn at random, which rightly draws these
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:no hypothesis ranks:UserWarning")
@parametrize_with_checks(
    [RankBoost(50, hypotheses=kind) for kind in KINDS]
    + [SoftRankBoost(hypotheses=kind, n_estimators=100) for kind in KINDS]
)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
