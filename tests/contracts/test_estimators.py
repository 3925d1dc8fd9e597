"""What every estimator owes: scikit-learn's own checks, all of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax import AUCSVC


@parametrize_with_checks(
    [AUCSVC(), AUCSVC(solver="newton"), AUCSVC(solver="bundle"), AUCSVC(C=100.0)]
)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
