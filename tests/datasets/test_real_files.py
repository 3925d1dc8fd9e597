"""The readers on real files, where these are at hand."""

import numpy as np
import polars as pl
import pytest

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
