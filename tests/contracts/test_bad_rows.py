"""Every estimator rejects bad input, and treats equal input alike."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from aucmax import (
    AUCSVC,
    LambdaMART,
    LevelSumRanker,
    LinearRankerCV,
    MarginRanker,
    RankBoost,
    SoftRankBoost,
)
from builders import linear_rows

N = 120
X, Y = linear_rows(N, 3)
Y = Y.astype(int)
ESTIMATORS = [
    AUCSVC(),
    AUCSVC(fpr_range=(0.0, 0.5)),
    LevelSumRanker(),
    LinearRankerCV(C_values=(1.0,), cv=2),
    MarginRanker(),
    MarginRanker("stumps"),
    RankBoost(n_estimators=20),
    RankBoost(n_estimators=20, hypotheses="signed"),
    SoftRankBoost(n_estimators=20),
    LambdaMART(n_estimators=5),
]
every_estimator = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda estimator: repr(estimator)[:40]
)


pytestmark = pytest.mark.filterwarnings("ignore:stopped by max rounds")


@every_estimator
@pytest.mark.parametrize("scale", [2.0**-150, 2.0**150])
def test_weights_of_extreme_scales_count_like_usual_ones(estimator, scale):
    if isinstance(estimator, LinearRankerCV):
        pytest.skip("its C is per unit of weight, as in scikit-learn")
    weights = (1.0 + np.arange(N) % 3) / 4.0
    expected = clone(estimator).fit(X, Y, sample_weight=weights)
    model = clone(estimator).fit(X, Y, sample_weight=weights * scale)
    np.testing.assert_allclose(
        model.decision_function(X), expected.decision_function(X), rtol=1e-6, atol=1e-9
    )


def damaged(kind, change):
    matrix = sparse.random_array((N, 3), density=0.5, rng=1, format=kind)
    change(matrix)
    return matrix


def set_entry(name, place, value):
    def change(matrix):
        getattr(matrix, name)[place] = value

    return change


@every_estimator
@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize(
    "change",
    [
        set_entry("indices", 5, 10**6),
        set_entry("indices", 5, -7),
        set_entry("indptr", -1, 10**6),
        set_entry("indptr", 2, -1),
        set_entry("indptr", 0, 3),
    ],
)
def test_damaged_sparse_matrices_are_rejected(estimator, kind, change):
    with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
        clone(estimator).fit(damaged(kind, change), Y)
