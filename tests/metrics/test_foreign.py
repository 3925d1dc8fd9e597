"""Parameters that scikit-learn's functions have: what to use is in the error."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score as sklearn_auc

from aucmax.metrics import ndcg_score, partial_auc_score, roc_auc_score

Y, SCORES = np.array([0, 1, 0, 1, 0, 1]), np.array([0.1, 0.4, 0.5, 0.8, 0.3, 0.2])


@pytest.mark.parametrize(
    ("metric", "name", "value", "advice"),
    [
        (roc_auc_score, "max_fpr", 0.5, r"standardize='mcclish'"),
        (roc_auc_score, "multi_class", "ovr", "one column per class"),
        (roc_auc_score, "labels", [0, 1], "one column per class"),
        (ndcg_score, "ignore_ties", True, "mean over their orders"),
        (ndcg_score, "log_base", 2, "which cancels"),
    ],
)
def test_the_error_says_what_to_use(metric, name, value, advice):
    with pytest.raises(TypeError, match=f"has no parameter '{name}': .*{advice}"):
        metric(Y, SCORES, **{name: value})
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        metric(Y, SCORES, other=1)


def test_the_advice_is_right():
    ours = partial_auc_score(Y, SCORES, fpr_range=(0, 0.5), standardize="mcclish")
    assert ours == pytest.approx(sklearn_auc(Y, SCORES, max_fpr=0.5), abs=1e-12)


def test_columns_are_rejected_with_a_hint():
    with pytest.raises(ValueError, match=r"Use ravel\(\) on a single column"):
        roc_auc_score(Y, SCORES[:, None])
    with pytest.raises(
        ValueError, match=r"Use the second column of predict_proba: \[:, 1\]"
    ):
        roc_auc_score(Y, np.column_stack([1 - SCORES, SCORES]))
