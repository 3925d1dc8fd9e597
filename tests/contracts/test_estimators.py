"""What every estimator owes: scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from aucmax import AUCSVC, LambdaMART, LevelSumRanker
from aucmax.linear.penalties import Penalty
from aucmax.trees.pair_objectives import OBJECTIVES

WEIGHTS_AS_REPEATED_ROWS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)


class GroupedAUCSVC(AUCSVC):
    """Groups of two columns, however many there are: the checks vary their number."""

    @property
    def _penalty(self):
        n_features = getattr(self, "n_features_in_", 0)
        groups = [range(k, min(k + 2, n_features)) for k in range(0, n_features, 2)]
        return Penalty("group", self.radius, self.l1_ratio, groups)


def expected_failures(estimator):
    # Two checks ask a fit with weights and a fit with repeated rows to agree in seven
    # digits, on 15 rows of 10 columns. On so few rows rounding decides where within the
    # certified gap a fit ends, unless the solver is exact there: cutting planes with
    # the L2 penalty are. (That the objectives agree is tested with each estimator.)
    if isinstance(estimator, LevelSumRanker):
        return {}
    if isinstance(estimator, LambdaMART):
        reason = "leaves and penalties count rows, whatever they weigh"
        return dict.fromkeys(WEIGHTS_AS_REPEATED_ROWS, reason)
    whole = estimator.fpr_range == (0.0, 1.0)
    exact = estimator.solver in ("auto", "bundle") and estimator._penalty.is_quadratic
    if whole and exact:
        return {}
    reason = "agrees within tol, not in seven digits"
    if not whole:
        reason = "the one negative that has weight is less than a row of the range"
    return dict.fromkeys(WEIGHTS_AS_REPEATED_ROWS, reason)


# some checks fit labels drawn at random, where this is the right answer
@pytest.mark.filterwarnings("ignore::aucmax.exceptions.ConstantScoresWarning")
@parametrize_with_checks(
    [
        AUCSVC(),
        AUCSVC(C=1.0),
        AUCSVC(C=1000.0),
        AUCSVC(tol=1e-12),
        AUCSVC(solver="newton"),
        AUCSVC(solver="bundle"),
        AUCSVC(solver="subgradient"),
        AUCSVC(penalty="l1"),
        AUCSVC(penalty="elasticnet"),
        GroupedAUCSVC(),
        AUCSVC(radius=10.0),
        AUCSVC(radius=10.0, penalty="l1"),
        AUCSVC(radius=10.0, penalty="elasticnet"),
        GroupedAUCSVC(radius=10.0),
        AUCSVC(fpr_range=(0.0, 0.5)),
        AUCSVC(fpr_range=(0.2, 0.9), refine=True),
        LevelSumRanker(),
        *(LambdaMART(name, n_estimators=20) for name in OBJECTIVES),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)
