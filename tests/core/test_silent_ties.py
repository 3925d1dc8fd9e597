"""Scores that rounding would tie are errors; many rows as one query a warning."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from aucmax import LambdaMART
from aucmax.metrics import ndcg_score, roc_auc_score
from aucmax.model_selection import LambdaRankBaseline

Y = [0, 1, 0, 1]
TINY = np.finfo(np.longdouble).eps


@pytest.mark.parametrize(
    "scores",
    [
        [Decimal("0.1") + Decimal(k).scaleb(-20) for k in range(4)],
        [Fraction(1, 3) + Fraction(k, 10**20) for k in range(4)],
        np.longdouble(1) + TINY * np.arange(4),
        np.array([np.longdouble(1) + TINY * k for k in range(4)], dtype=object),
    ],
    ids=["decimal", "fraction", "longdouble", "object of longdouble"],
)
def test_scores_of_more_digits_than_float64_are_an_error_if_that_ties_them(scores):
    if np.finfo(float).eps == TINY:
        pytest.skip("long double is float64 here")
    with pytest.raises(ValueError, match=r"float64 rounds to one.*rankdata"):
        roc_auc_score(Y, scores)


@pytest.mark.parametrize("kind", [Decimal, Fraction, np.longdouble, np.uint64])
def test_other_types_of_numbers_are_scores(kind):
    scores = [kind(k) / kind(1) for k in (3, 5, 2, 3)]
    expected = roc_auc_score(Y, [3, 5, 2, 3])
    assert roc_auc_score(Y, scores) == expected
    assert roc_auc_score(Y, np.array(scores)) == expected


def test_many_rows_without_qid_are_one_query_with_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), rng.integers(0, 3, 1500)
    qid = np.arange(1500) // 10
    calls = [
        lambda **rows: ndcg_score(y, X[:, 0], **rows),
        lambda **rows: LambdaMART("ndcg", n_estimators=1).fit(X, y, **rows),
        lambda **rows: LambdaRankBaseline(n_estimators=1).fit(X, y, **rows),
    ]
    for call in calls:
        with pytest.warns(UserWarning, match="all 1500 rows for one query; pass qid"):
            call()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call(qid=qid)
            call(qid=np.zeros(1500, dtype=int))
    assert 0 < ndcg_score(y[:900], X[:900, 0]) < 1
