import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC, LinearRankerCV
from aucmax.datasets import make_r_of_k
from aucmax.exceptions import ConstantScoresWarning, IncompatibleError
from aucmax.metrics import partial_auc_score

EARLY = (0.0, 0.1)


def overlapping(n_rows=2000, seed=0):
    """Two kinds of positives: one far ahead, one hidden among the negatives."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n_rows, 5))
    labels = generator.random(n_rows) < 0.2
    X[labels, 0] += 0.8
    is_far = labels & (generator.random(n_rows) < 0.3)
    X[is_far, 1] += 3.0
    X[~labels, 1] += 0.8 * (generator.random(np.count_nonzero(~labels)) < 0.1)
    return X, labels


def measure(model, X, y):
    ranges = {"fpr_range": model.fpr_range, "tpr_range": model.tpr_range}
    return partial_auc_score(y, model.decision_function(X), **ranges)


@pytest.mark.parametrize("ranges", [{}, {"fpr_range": EARLY}, {"tpr_range": (0.5, 1)}])
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_the_ranking_is_never_worse_than_that_of_the_best_start(ranges, penalty):
    X, y = overlapping(400)
    model = AUCSVC(100.0, loss="sigmoid", penalty=penalty, **ranges).fit(X, y)
    starts = [start["start_metric"] for start in model.starts_]
    assert measure(model, X, y) >= max(starts) - 1e-12
    assert model.objective_ <= min(s["start_objective"] for s in model.starts_)


def test_it_ranks_where_the_hinge_of_the_range_is_smallest_at_zero():
    X, y = overlapping()
    with pytest.warns(ConstantScoresWarning):
        hinge = AUCSVC(100.0, fpr_range=EARLY).fit(X, y)
    assert not hinge.coef_.any()
    model = AUCSVC(100.0, loss="sigmoid", fpr_range=EARLY).fit(X, y)
    whole = AUCSVC(100.0).fit(X, y)
    scores = whole.decision_function(X)
    assert measure(model, X, y) > partial_auc_score(y, scores, fpr_range=EARLY) + 0.01


def test_it_says_that_nothing_is_certified_and_what_each_start_gave():
    X, y = overlapping(400)
    model = AUCSVC(100.0, loss="sigmoid", fpr_range=(0, 0.3)).fit(X, y)
    assert model.is_certified_ is False
    assert np.isnan(model.dual_gap_)
    assert 0.0 <= model.gradient_norm_ < np.inf
    names = {start["start"] for start in model.starts_}
    assert names == {"hinge", "logistic", "hinge of the range"}
    assert {len(column) for column in model.history_.values()} == {model.n_iter_}
    assert AUCSVC().fit(X, y).is_certified_ is True


@pytest.mark.parametrize(
    "ranges",
    [
        {"fpr_range": (0.05, 0.4)},
        {"tpr_range": (0.2, 0.9)},
        {"fpr_range": (0.05, 0.4), "tpr_range": (0.2, 0.9)},
    ],
)
def test_any_range_will_do(ranges):
    X, y = overlapping(600)
    model = AUCSVC(100.0, loss="sigmoid", **ranges).fit(X, y)
    assert measure(model, X, y) >= max(s["start_metric"] for s in model.starts_)


def test_dense_sparse_single_precision_and_mapped_data_agree(tmp_path):
    X, y = overlapping(300)
    expected = AUCSVC(30.0, loss="sigmoid").fit(X, y).coef_
    path = tmp_path / "x.npy"
    np.save(path, X)
    for data in (sparse.csr_array(X), np.load(path, "r")):
        solution = AUCSVC(30.0, loss="sigmoid").fit(data, y).coef_
        np.testing.assert_allclose(solution, expected, rtol=1e-2, atol=1e-3)
    single = AUCSVC(30.0, loss="sigmoid").fit(X.astype(np.float32), y).coef_
    np.testing.assert_allclose(single, expected, rtol=5e-2, atol=5e-3)


def test_weights_are_repetitions_and_queries_are_separate():
    X, y = overlapping(100)
    weight = np.random.default_rng(0).integers(1, 4, y.size)
    again = np.repeat(np.arange(y.size), weight)
    one = AUCSVC(30.0, loss="sigmoid", tol=1e-6).fit(X, y, weight)
    two = AUCSVC(30.0, loss="sigmoid", tol=1e-6).fit(X[again], y[again])
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-2, atol=1e-3)
    qid = np.arange(y.size) % 5
    moved = X + 10.0 * qid[:, None]  # queries differ in what does not matter
    within = AUCSVC(30.0, loss="sigmoid").fit(moved, y, qid=qid)
    assert within.score(moved, y, qid=qid) > 0.7


def test_a_path_continues_from_its_neighbour():
    X, y = overlapping(500)
    values = [1.0, 30.0, 1000.0]
    models = AUCSVC(loss="sigmoid", fpr_range=(0, 0.3)).fit_path(X, y, values)
    assert [model.C for model in models] == values
    assert [s["start"] for s in models[2].starts_] == ["given"]
    for model in models:
        alone = clone(model).fit(X, y)
        assert model.objective_ <= 1.05 * alone.objective_


def test_callbacks_stop_a_descent_and_time_is_kept():
    X, y = overlapping(400)
    seen = []
    model = AUCSVC(100.0, loss="sigmoid", callback=lambda p: seen.append(p) or True)
    with pytest.warns(UserWarning, match="stopped"):
        model.fit(X, y)
    assert len(seen) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AUCSVC(100.0, loss="sigmoid", max_time=0.0).fit(X, y)
    assert model.coef_.any()
    assert [start["start"] for start in model.starts_] == ["class means"]


def test_the_logistic_loss_is_certified_and_close_to_the_hinge():
    X, y = make_r_of_k(1000, 20, r=3, k=8, positive_ratio=0.2, random_state=0)
    for penalty in ("l2", "l1", "elasticnet"):
        model = AUCSVC(30.0, loss="logistic", penalty=penalty).fit(X, y)
        assert model.is_certified_
        assert model.dual_gap_ <= 1e-3 * model.objective_
        assert (
            model.score(X, y)
            > AUCSVC(30.0, penalty=penalty).fit(X, y).score(X, y) - 0.01
        )


@pytest.mark.parametrize("solver", ["bundle", "subgradient", "descent"])
def test_solvers_agree_on_the_logistic_loss(solver):
    X, y = overlapping(300)
    auto = AUCSVC(10.0, loss="logistic", tol=1e-5).fit(X, y)
    other = AUCSVC(10.0, loss="logistic", tol=1e-3, solver=solver).fit(X, y)
    assert other.objective_ == pytest.approx(auto.objective_, rel=1.1e-3)
    assert other.objective_ >= auto.objective_ - auto.dual_gap_ - 1e-9


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"loss": "logistic", "fpr_range": (0.1, 0.2)},
            ValueError,
            "loss='logistic' needs an fpr_range from 0",
        ),
        (
            {"loss": "sigmoid", "solver": "bundle"},
            IncompatibleError,
            "has its own solver, got solver='bundle'",
        ),
        (
            {"loss": "logistic", "solver": "newton"},
            IncompatibleError,
            "Newton steps need a risk that can be smoothed",
        ),
    ],
)
def test_incompatible_parameters_are_rejected(options, error, message):
    X, y = overlapping(100)
    with pytest.raises(error, match=message):
        AUCSVC(**options).fit(X, y)


def test_a_real_table_has_no_worse_a_left_end_than_logistic_regression():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    chosen = LinearRankerCV(fpr_range=EARLY).fit(X[::2], y[::2])
    peer = LogisticRegression().fit(X[::2], y[::2]).decision_function(X[1::2])
    plain = partial_auc_score(y[1::2], peer, fpr_range=EARLY)
    assert chosen.score(X[1::2], y[1::2]) > plain - 0.01
