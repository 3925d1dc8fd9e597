"""The readers on real files, where these are at hand."""

import numpy as np
import pytest

from aucmax.datasets import load_svmlight

pytestmark = pytest.mark.real_data


@pytest.mark.parametrize(
    ("name", "shape", "n_queries"),
    [
        ("mq2008/S1.svm.gz", (2933, 46), 157),
        ("mslr_sample/fold1_train_5k.svm.xz", (5000, 136), 43),
    ],
)
def test_ranking_files(real_data, name, shape, n_queries):
    X, _, qid = load_svmlight(real_data / name)
    assert X.shape == shape
    assert np.unique(qid).size == n_queries
