"""Columns of very different scales are not lost beside each other."""

import numpy as np
import pytest
from scipy import sparse

from aucmax import AUCSVC, GraphRanker, datasets, graphs
from aucmax.linear.column_scales import column_scales, largest_entries
from aucmax.metrics import roc_auc_score


def rows(n_rows=300):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    return X, X[:, 0] + X[:, 1] + rng.normal(size=n_rows) > 0


@pytest.mark.parametrize(
    "largest",
    [
        [1.0, 1e6],
        [0.0, 3.0],
        [1e99, 1e98],
        [0.0, 0.0],
        [np.nan, 1e9],
        [np.inf, 1.0],
        [],
    ],
)
def test_ordinary_columns_are_left_alone(largest):
    assert column_scales(np.array(largest)) is None


@pytest.mark.parametrize("largest", [[1e-3, 1e4, 0.0], [5e-324, 1e300], [1e150, 2e150]])
def test_scales_are_powers_of_2(largest):
    scales = column_scales(np.array(largest))
    assert (np.frexp(scales)[0] == 0.5).all()
    scaled = np.array(largest) / scales
    assert (scaled[np.array(largest) > 1e-300] >= 2.0).all()
    assert (scaled < 4.0).all()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_the_largest_entry_counts_whatever_its_sign(kind):
    X = np.array([[1.0, -7.0, 0.0], [-3.0, 2.0, 0.0]])
    assert largest_entries(kind(X)).tolist() == [3.0, 7.0, 0.0]


@pytest.mark.parametrize(
    "shape", [(1, 1), (7, 3), (5000, 30), (129, 1024), (65, 1025), (3, 9000), (4096, 1)]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_the_largest_entries_of_any_shape_are_those_of_the_columns(shape, order):
    X = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    np.testing.assert_array_equal(largest_entries(X), np.abs(X).max(axis=0))
    X[-1, -1] = np.nan
    np.testing.assert_array_equal(largest_entries(X), np.abs(X).max(axis=0))


@pytest.mark.parametrize("exponents", [[300] * 6, [-150] * 6, [150, 0, -150, 8, 0, 0]])
@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_scaled_columns_rank_as_at_unit_scale(exponents, penalty, kind):
    X, y = rows()
    expected = AUCSVC(penalty=penalty).fit(X, y).decision_function(X)
    far = kind(X * 10.0 ** np.array(exponents))
    scores = AUCSVC(penalty=penalty).fit(far, y).decision_function(far)
    assert roc_auc_score(y, scores) == pytest.approx(
        roc_auc_score(y, expected), abs=0.005
    )
    assert np.corrcoef(scores, expected)[0, 1] > 0.98


def test_paths_and_warm_starts_know_the_scales():
    X, y = rows()
    far = X * 10.0 ** np.array([9, 0, -3, 0, 0, 0])
    alone = AUCSVC(0.5, tol=1e-6).fit(far, y)
    path = AUCSVC(tol=1e-6).fit_path(far, y, [0.1, 0.5])
    assert path[1].objective_ == pytest.approx(alone.objective_, rel=1e-5)
    again = AUCSVC(0.5, tol=1e-6, warm_start=True).fit(far, y).fit(far, y)
    assert again.n_iter_ < alone.n_iter_
    np.testing.assert_allclose(again.coef_ / alone.coef_, 1.0, atol=0.05)


def test_a_graph_ranker_learns_from_tiny_features():
    def pictures(text, n_images, seed, unit):
        images, masks = datasets.make_letter_images(text, n_images, random_state=seed)
        edges = graphs.grid_edges(*images[0].shape)
        samples = [(unit * image.reshape(-1, 1), edges) for image in images]
        return samples, masks.reshape(n_images, -1)

    ranker = GraphRanker(max_iter=60).fit(*pictures("A", 3, 0, 1e-10))
    assert ranker.score(*pictures("AUC", 2, 1, 1e-10)) > 0.95
