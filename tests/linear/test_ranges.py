"""Parts of the ROC curve: ranges and bounds."""

import numpy as np
import pytest

from aucmax import AUCSVC
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import partial_auc_score
from aucmax.risks import PartialHinge


@pytest.fixture(scope="module")
def data():
    """Two classes apart, but for some negatives that lie far beyond the positives."""
    generator = np.random.default_rng(3)
    X = generator.normal(size=(1200, 6))
    y = generator.random(1200) < 0.3
    X[y] += [2.0, 1.0, 0.5, 0.0, 0.0, 0.0]
    X[np.flatnonzero(~y)[:60]] += [5.0, -1.0, 0.0, 1.0, 0.0, 0.0]
    return X, y


@pytest.fixture(scope="module")
def overlapping():
    """Two classes that overlap so much that a narrow range is better not fitted."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(600, 4))
    y = generator.random(600) < 0.3
    X[y, 0] += 1.0
    return X, y


def area(model, X, y, **ranges):
    return partial_auc_score(y, model.decision_function(X), **ranges)


RANGES = [
    {"fpr_range": (0.0, 0.5)},
    {"fpr_range": (0.05, 0.5)},
    {"fpr_range": (0.0, 0.5), "tpr_range": (0.3, 1.0)},
    {"tpr_range": (0.2, 0.8)},
]


@pytest.mark.parametrize("bound", ["tight", "loose"])
@pytest.mark.parametrize("ranges", RANGES, ids=str)
def test_objective_is_that_of_the_partial_hinge(data, ranges, bound):
    X, y = data
    model = AUCSVC(5.0, bound=bound, **ranges).fit(X, y)
    w = model.coef_[0]
    assert w.any()
    risk = PartialHinge(bound=bound, **ranges).bind(y).value(X @ w)
    assert model.objective_ == pytest.approx(w @ w / 2.0 + 5.0 * risk)
    assert 0.0 <= model.dual_gap_ <= 1e-3 * model.objective_
    assert 1.0 - area(model, X, y, **ranges) <= risk


def test_whole_ranges_are_the_whole_curve(data):
    X, y = data
    plain = AUCSVC().fit(X, y)
    for ranges in ({"fpr_range": [0, 1]}, {"bound": "loose"}, {"tpr_range": (0, 1.0)}):
        np.testing.assert_array_equal(AUCSVC(**ranges).fit(X, y).coef_, plain.coef_)


@pytest.mark.parametrize("ranges", RANGES, ids=str)
def test_solvers_agree_within_their_gaps(data, ranges):
    X, y = data
    bundle = AUCSVC(5.0, solver="bundle", tol=1e-5, **ranges).fit(X, y)
    solvers = {"auto": 1e-5, "subgradient": 1e-3}
    if ranges == RANGES[0]:
        solvers["newton"] = 1e-5
    for solver, tol in solvers.items():
        model = AUCSVC(5.0, solver=solver, tol=tol, **ranges).fit(X, y)
        assert model.objective_ == pytest.approx(bundle.objective_, rel=tol)


@pytest.mark.parametrize("seed", range(3))
def test_a_narrow_range_gains_where_it_looks(seed):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(2000, 2))
    y = np.arange(2000) < 400
    X[y] += [3.0, 2.0]
    X[400:500, 0] += 3.0  # a few negatives that only the second column tells
    X[500:, 1] += 2.0  # and many that only the first one does
    early = {"fpr_range": (0.0, 0.1)}
    narrow, whole = AUCSVC(100.0, **early).fit(X, y), AUCSVC(100.0).fit(X, y)
    assert area(narrow, X, y, **early) > area(whole, X, y, **early) + 0.005
    assert area(narrow, X, y) < area(whole, X, y)


def test_a_range_must_cover_a_row(data):
    X, y = data
    n = np.count_nonzero(~y)
    with pytest.raises(ValueError, match=f"of the {n} negatives; .* widen it"):
        AUCSVC(fpr_range=(0.0, 0.5 / n)).fit(X, y)
    with pytest.raises(ValueError, match=f"of the {len(y) - n} positives; .* widen it"):
        AUCSVC(tpr_range=(0.999, 1.0)).fit(X, y)
    AUCSVC(fpr_range=(0.0, 1.0 / n)).fit(X[:, :1] + 10.0 * y[:, None], y)


def test_constant_scores_are_a_warning_that_says_what_to_do(overlapping):
    X, y = overlapping
    with pytest.warns(
        ConstantScoresWarning, match=r"C=10 is too small, or the rows .* 0\.1"
    ):
        model = AUCSVC(fpr_range=(0.0, 0.1)).fit(X, y)
    assert not model.coef_.any()
    assert model.objective_ == pytest.approx(10.0)
    with pytest.warns(
        ConstantScoresWarning,
        match="scores tie: the rows .* penalty. Use loss='sigmoid', raise",
    ):
        AUCSVC(radius=3.0, fpr_range=(0.0, 0.1)).fit(X, y)
    # on a path, 0 is where it begins
    path = AUCSVC(penalty="l1").fit_path(X, y, [0.001, 100.0])
    assert [bool(model.coef_.any()) for model in path] == [False, True]
