"""Pairs within queries."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.model_selection import GridSearchCV, GroupKFold

from aucmax import AUCSVC
from aucmax.exceptions import (
    IncompatibleError,
    NotEnoughClassesError,
    OneClassQueryWarning,
)
from aucmax.metrics import metric_scorer
from aucmax.risks import PartialHinge


@pytest.fixture(scope="module")
def data():
    """Queries whose own levels drown what tells positives from negatives in each."""
    generator = np.random.default_rng(0)
    qid = np.repeat(np.arange(40), 15)
    level = generator.normal(size=40)
    X = generator.normal(size=(600, 4))
    y = X[:, 0] - 0.5 * X[:, 1] + 0.5 * generator.normal(size=600) > 0.3 + level[qid]
    X[:, 0] += 3.0 * level[qid]
    keep = np.isin(qid, [q for q in range(40) if 0 < y[qid == q].sum() < 15])
    return X[keep], y[keep], qid[keep]


def mean_over_queries(risk, scores, y, qid):
    values = [risk.bind(y[qid == q]).value(scores[qid == q]) for q in np.unique(qid)]
    return np.mean(values)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"fpr_range": (0.0, 0.5)},
        {"fpr_range": (0.0, 0.5), "bound": "loose"},
        {"penalty": "l1", "radius": 2.0},
    ],
    ids=str,
)
def test_the_risk_is_the_mean_over_queries(data, options):
    X, y, qid = data
    model = AUCSVC(20.0, **options).fit(X, y, qid=qid)
    w = model.coef_[0]
    ranges = {k: v for k, v in options.items() if k in ("fpr_range", "bound")}
    risk = mean_over_queries(PartialHinge(**ranges), X @ w, y, qid)
    expected = risk if "radius" in options else w @ w / 2.0 + 20.0 * risk
    assert model.objective_ == pytest.approx(expected)
    assert 0.0 <= model.dual_gap_ <= 1e-3 * model.objective_


def test_ids_of_any_kind_and_any_order_will_do(data):
    X, y, qid = data
    reference = AUCSVC(tol=1e-5).fit(X, y, qid=qid).objective_
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = AUCSVC(tol=1e-5).fit(X[order], y[order], qid=qid[order])
    assert shuffled.objective_ == pytest.approx(reference, rel=3e-5)
    for ids in (
        [f"query {q}" for q in qid],
        [("a", q) for q in qid],
        pd.Series(qid, index=order),
    ):
        model = AUCSVC(tol=1e-5).fit(sparse.csr_array(X), y, qid=ids)
        assert model.objective_ == pytest.approx(reference, rel=3e-5)


def test_weights_act_within_a_query(data):
    X, y, qid = data
    repeats = 1 + np.arange(len(y)) % 3
    weighted = AUCSVC(tol=1e-5).fit(X, y, sample_weight=repeats, qid=qid)
    repeated = AUCSVC(tol=1e-5).fit(
        np.repeat(X, repeats, axis=0),
        np.repeat(y, repeats),
        qid=np.repeat(qid, repeats),
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=3e-5)


def test_queries_of_one_class_are_counted_and_contribute_nothing(data):
    X, y, qid = data
    reference = AUCSVC().fit(X, y, qid=qid)
    more = np.concatenate([X, X[:5]])
    labels = np.concatenate([y, [True, True, False, False, True]])
    ids = np.concatenate([qid, [101, 101, 102, 103, 104]])
    n = len(np.unique(qid))
    message = (
        rf"4 of the {n + 4} queries have rows of one class only "
        r"\(qid 101, 102, 103, \.\.\.\)"
    )
    with pytest.warns(OneClassQueryWarning, match=message) as caught:
        model = AUCSVC().fit(more, labels, qid=ids)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(model.coef_, reference.coef_, rtol=1e-6)
    with pytest.warns(OneClassQueryWarning, match=f"4 of the {n + 4} queries"):
        AUCSVC().fit_path(more, labels, [1.0], qid=ids)


def test_a_class_without_weight_is_absent_from_its_query(data):
    X, y, qid = data
    first = qid == qid[0]
    weight = np.where(first & y, 0.0, 1.0)
    with pytest.warns(OneClassQueryWarning, match=rf"1 of the .* \(qid {qid[0]}\)"):
        present = AUCSVC(tol=1e-5).fit(X, y, sample_weight=weight, qid=qid)
    absent = AUCSVC(tol=1e-5).fit(X[~first], y[~first], qid=qid[~first])
    assert present.objective_ == pytest.approx(absent.objective_, rel=3e-5)


def test_bad_queries_are_refused(data):
    X, y, qid = data
    n = len(y)
    with pytest.raises(
        NotEnoughClassesError, match=f"None of the {n} queries has rows"
    ):
        AUCSVC().fit(X, y, qid=np.arange(n))
    with pytest.raises(ValueError, match=f"qid has {n - 1} rows, but the labels have"):
        AUCSVC().fit(X, y, qid=qid[1:])
    with pytest.raises(IncompatibleError, match="Newton steps need a risk that can"):
        AUCSVC(solver="newton", bound="loose", fpr_range=(0.0, 0.4)).fit(X, y, qid=qid)


@pytest.mark.parametrize("fpr_range", [(0.0, 1.0), (0.0, 0.4)])
def test_newton_steps_and_cutting_planes_certify_the_same_optimum(data, fpr_range):
    X, y, qid = data
    bounds, values = [], []
    for solver in ("newton", "bundle"):
        model = AUCSVC(50.0, fpr_range=fpr_range, solver=solver, tol=1e-4)
        w = model.fit(X, y, qid=qid).coef_[0]
        risk = mean_over_queries(PartialHinge(fpr_range), X @ w, y, qid)
        values.append(w @ w / 2.0 + 50.0 * risk)
        bounds.append(model.objective_ - model.dual_gap_)
    assert max(bounds) <= min(values) <= max(values) <= (1.0 + 1e-4) * max(bounds)


def test_a_grid_search_hands_on_the_queries(data):
    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            AUCSVC().set_fit_request(qid=True),
            {"C": [0.1, 10.0]},
            scoring=metric_scorer("auc", per_query=True),
            cv=GroupKFold(3),
        ).fit(X, y, qid=qid, groups=qid)
    best = search.best_estimator_
    refit = AUCSVC(best.C).fit(X, y, qid=qid)
    np.testing.assert_array_equal(best.coef_, refit.coef_)
