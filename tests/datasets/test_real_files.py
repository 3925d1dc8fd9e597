"""The readers on real files, where these are at hand."""

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_svmlight_file

from aucmax.datasets import load_svmlight, load_table

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


@pytest.mark.parametrize("name", ["a9a/a9a_test.svm.gz", "bace/bace_morgan2048.svm.gz"])
def test_sparse_files_equal_scikit_learn(real_data, name):
    X, y, _ = load_svmlight(real_data / name)
    their_X, their_y = load_svmlight_file(str(real_data / name))
    np.testing.assert_array_equal(X.data, their_X.data)
    np.testing.assert_array_equal(X.indices, their_X.indices)
    np.testing.assert_array_equal(X.indptr, their_X.indptr)
    np.testing.assert_array_equal(y, their_y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "shape", "n_text"),
    [
        ("hypothyroid", (3163, 26), 18),
        ("sick", (3772, 30), 22),
        ("kr-vs-kp", (3196, 37), 36),
        ("leukemia", (72, 7130), 0),
        ("spambase", (4601, 58), 0),
    ],
)
def test_tables(real_data, name, shape, n_text):
    frame = load_table(real_data / name / f"{name}.csv.gz")
    assert frame.shape == shape
    assert frame["target"].dtype == pl.Int64
    assert sum(dtype == pl.String for dtype in frame.dtypes) == n_text
