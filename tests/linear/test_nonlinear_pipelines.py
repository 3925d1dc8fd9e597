"""Scikit-learn's feature maps make AUCSVC a nonlinear machine."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from aucmax import AUCSVC
from aucmax.metrics import partial_auc_score, partial_auc_scorer

EARLY = (0.0, 0.1)
MAPS = {
    "Nystroem": Nystroem(gamma=1.0, n_components=60, random_state=0),
    "RBFSampler": RBFSampler(gamma=1.0, n_components=100, random_state=0),
    "SplineTransformer": SplineTransformer(n_knots=8),
}


@pytest.fixture(scope="module")
def circles():
    """An inner and an outer circle, which no line tells apart; half of each to test."""
    X, y = make_circles(1200, noise=0.15, factor=0.5, random_state=0)
    return X[::2], y[::2], X[1::2], y[1::2]


def machine(feature_map, **options):
    return make_pipeline(
        feature_map, StandardScaler(), AUCSVC(100.0, fpr_range=EARLY, **options)
    )


def early_area(model, X, y):
    return partial_auc_score(y, model.decision_function(X), fpr_range=EARLY)


@pytest.mark.parametrize("name", MAPS)
def test_a_feature_map_ranks_what_a_line_cannot(circles, name):
    X, y, X_test, y_test = circles
    linear = AUCSVC(100.0, fpr_range=EARLY)
    with pytest.warns(UserWarning, match="all weights are 0"):
        linear.fit(X, y)
    curved = machine(MAPS[name]).fit(X, y)
    assert early_area(linear, X_test, y_test) < 0.1
    assert early_area(curved, X_test, y_test) > 0.85
    assert curved[-1].dual_gap_ <= 1e-3 * curved[-1].objective_


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_few_of_the_mapped_columns_may_be_enough(circles, penalty):
    X, y, X_test, y_test = circles
    model = machine(MAPS["RBFSampler"], penalty=penalty).fit(X, y)
    used = np.count_nonzero(model[-1].coef_)
    assert used < 0.9 * model[-1].n_features_in_
    assert early_area(model, X_test, y_test) > 0.85


def test_knots_of_one_column_are_a_group(circles):
    X, y, *_ = circles
    noise = np.random.default_rng(0).normal(size=(len(X), 2))
    wide = np.hstack([X, noise])
    splines = SplineTransformer(n_knots=8)
    n_knots = splines.fit(X).n_features_out_ // 2
    groups = [range(k, k + n_knots) for k in range(0, 4 * n_knots, n_knots)]
    model = make_pipeline(
        splines, StandardScaler(), AUCSVC(3.0, penalty="group", groups=groups)
    ).fit(wide, y)
    is_used = model[-1].coef_.reshape(4, n_knots).any(axis=1)
    np.testing.assert_array_equal(is_used, [True, True, False, False])


def test_sparse_data_frames_memory_maps_and_weights_go_through(circles, tmp_path):
    X, y, X_test, _ = circles
    reference = machine(MAPS["Nystroem"]).fit(X, y).decision_function(X_test)
    np.save(tmp_path / "X.npy", X)
    for converted in (
        pd.DataFrame(X, columns=["x", "y"]).to_numpy(),
        np.load(tmp_path / "X.npy", mmap_mode="r"),
    ):
        scores = machine(MAPS["Nystroem"]).fit(converted, y).decision_function(X_test)
        np.testing.assert_allclose(scores, reference, rtol=1e-6, atol=1e-8)
    frame = pd.DataFrame(X, columns=["x", "y"])
    model = machine(MAPS["Nystroem"]).fit(frame, y)
    test_frame = pd.DataFrame(X_test, columns=["x", "y"])
    np.testing.assert_allclose(
        model.decision_function(test_frame), reference, rtol=1e-6, atol=1e-8
    )
    weighted = machine(MAPS["Nystroem"]).fit(X, y, aucsvc__sample_weight=2.0 * y + 1.0)
    assert np.isfinite(weighted.decision_function(X_test)).all()


def test_sparse_splines_give_the_same_model(circles):
    X, y, X_test, y_test = circles
    areas = []
    for sparse_output in (False, True):
        model = make_pipeline(
            SplineTransformer(n_knots=8, sparse_output=sparse_output),
            AUCSVC(100.0, fpr_range=EARLY),
        ).fit(X, y)
        assert sparse.issparse(model[0].transform(X)) is sparse_output
        areas.append(early_area(model, X_test, y_test))
    assert areas[0] == pytest.approx(areas[1], abs=5e-3)
    assert areas[0] > 0.85


def test_a_search_tunes_map_and_machine_together(circles):
    X, y, X_test, y_test = circles
    search = GridSearchCV(
        machine(MAPS["Nystroem"]),
        {"nystroem__gamma": [0.01, 1.0], "aucsvc__C": [100.0]},
        scoring=partial_auc_scorer(fpr_range=EARLY),
        cv=2,
    ).fit(X, y)
    assert early_area(search, X_test, y_test) > 0.85
