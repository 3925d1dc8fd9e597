"""Scikit-learn's feature maps make AUCSVC a nonlinear machine."""

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler

from aucmax import AUCSVC
from aucmax.metrics import metric_scorer, partial_auc_score

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


def test_a_search_tunes_map_and_machine_together(circles):
    X, y, X_test, y_test = circles
    search = GridSearchCV(
        machine(MAPS["Nystroem"]),
        {"nystroem__gamma": [0.01, 1.0], "aucsvc__C": [100.0]},
        scoring=metric_scorer("partial_auc", fpr_range=EARLY),
        cv=2,
    ).fit(X, y)
    assert early_area(search, X_test, y_test) > 0.85
