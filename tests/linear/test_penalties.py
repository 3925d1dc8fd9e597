"""Penalties and balls of AUCSVC: what they hold down, and how exactly."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from aucmax import AUCSVC
from aucmax.exceptions import IncompatibleError
from builders import linear_rows

NAMES = [f"x{k}" for k in range(12)]
GROUPS = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
PENALTIES = {
    "l2": {},
    "l1": {},
    "elasticnet": {"l1_ratio": 0.5},
    "group": {"groups": GROUPS},
}
SPARSE = ("l1", "elasticnet", "group")


@pytest.fixture(scope="module")
def data():
    return linear_rows(400, 12, cut=1.5, slopes=(2.0, 1.0, -1.0))


def machine(penalty, *args, **options):
    return AUCSVC(*args, penalty=penalty, **PENALTIES[penalty], **options)


def size(w, penalty, l1_ratio=0.5):
    """Return the norm that a radius limits."""
    return {
        "l2": np.linalg.norm(w),
        "l1": np.abs(w).sum(),
        "elasticnet": l1_ratio * np.abs(w).sum() + (1 - l1_ratio) / 2 * (w @ w),
        "group": sum(np.sqrt(len(g)) * np.linalg.norm(w[g]) for g in GROUPS),
    }[penalty]


def mean_hinge(X, y, w):
    scores = X @ w
    return np.maximum(0.0, 1.0 - scores[y][:, None] + scores[~y]).mean()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_objective_is_the_price_plus_the_risk(data, penalty):
    X, y = data
    model = machine(penalty, 3.0).fit(X, y)
    w = model.coef_[0]
    penalty_value = w @ w / 2.0 if penalty == "l2" else size(w, penalty)
    assert model.objective_ == pytest.approx(penalty_value + 3.0 * mean_hinge(X, y, w))
    assert 0.0 <= model.dual_gap_ <= 1e-3 * model.objective_


@pytest.mark.parametrize("penalty", PENALTIES)
def test_with_a_radius_the_objective_is_the_risk_alone(data, penalty):
    X, y = data
    model = machine(penalty, radius=0.8).fit(X, y)
    w = model.coef_[0]
    assert size(w, penalty) <= 0.8 * (1.0 + 1e-12)
    assert model.objective_ == pytest.approx(mean_hinge(X, y, w))
    assert 0.0 <= model.dual_gap_ <= 1e-3 * model.objective_


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_ball_of_a_penalised_solution_has_the_same_solution(data, penalty):
    X, y = data
    priced = machine(penalty, 3.0, tol=1e-7, max_iter=5000).fit(X, y)
    radius = size(priced.coef_[0], penalty)
    limited = machine(penalty, radius=radius, tol=1e-6, max_iter=5000).fit(X, y)
    risk = mean_hinge(X, y, priced.coef_[0])
    assert limited.objective_ == pytest.approx(risk, rel=1e-4)


@pytest.mark.parametrize("penalty", SPARSE)
@pytest.mark.parametrize("limit", ["penalty_value", "ball"])
def test_weights_that_are_not_used_are_exactly_zero(data, penalty, limit):
    X, y = data
    limits = {"C": 2.0} if limit == "penalty_value" else {"radius": 1.0}
    model = machine(penalty, **limits, tol=1e-5, max_iter=5000).fit(X, y)
    used = model.coef_[0] != 0.0
    assert used[:3].any()
    assert not used[3:].all()
    if penalty == "group":
        by_group = used.reshape(4, 3)
        assert (by_group.all(axis=1) | ~by_group.any(axis=1)).all()


@pytest.mark.parametrize("ratio", [0.0, 1.0])
def test_the_ends_of_the_elastic_net_are_l2_and_l1(data, ratio):
    X, y = data
    mixed = AUCSVC(3.0, penalty="elasticnet", l1_ratio=ratio, tol=1e-6).fit(X, y)
    pure = AUCSVC(3.0, penalty=("l2", "l1")[int(ratio)], tol=1e-6).fit(X, y)
    assert mixed.objective_ == pytest.approx(pure.objective_, rel=2e-6)


def test_groups_may_be_named_in_a_frame(data):
    X, y = data
    frame = pd.DataFrame(X, columns=NAMES)
    named = AUCSVC(
        penalty="group", groups=[[NAMES[k] for k in group] for group in GROUPS]
    ).fit(frame, y)
    numbered = AUCSVC(penalty="group", groups=GROUPS).fit(X, y)
    np.testing.assert_allclose(named.coef_, numbered.coef_, rtol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("solver", ["bundle", "subgradient"])
def test_a_path_over_radii_equals_single_fits(data, penalty, solver):
    X, y = data
    radii = [1.0, 0.2, 3.0]
    path = machine(penalty, tol=2e-3, solver=solver).fit_path(X, y, radii=radii)
    assert [model.radius for model in path] == radii
    for model in path:
        single = clone(model).fit(X, y)
        assert model.objective_ == pytest.approx(single.objective_, rel=3e-3)
        assert size(model.coef_[0], penalty) <= model.radius * (1.0 + 1e-12)
    # larger balls hold smaller ones
    assert path[1].objective_ > path[0].objective_ > path[2].objective_


def test_a_path_over_c_drops_columns_one_by_one(data):
    X, y = data
    path = AUCSVC(penalty="l1").fit_path(X, y, [0.1, 0.8, 3.0, 1000.0])
    counts = [np.count_nonzero(model.coef_) for model in path]
    assert counts[0] == 0
    assert counts == sorted(counts)
    assert counts[-1] > 3


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({}, {}, "needs C_values or radii, got neither"),
        ({}, {"C_values": [1.0], "radii": [1.0]}, "needs C_values or radii, got both"),
        ({"radius": 2.0}, {"C_values": [1.0]}, r"C has no effect with radius=2\.0"),
        ({}, {"radii": [1.0, 0.0]}, "radius must be positive and finite, got 0"),
        ({}, {"C_values": [1.0, -1.0]}, "C must be positive and finite, got -1"),
    ],
)
def test_bad_paths_are_refused(data, options, arguments, message):
    with pytest.raises(ValueError, match=message):
        AUCSVC(**options).fit_path(*data, **arguments)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_warm_start_begins_inside_a_smaller_ball(data, penalty):
    X, y = data
    model = machine(penalty, radius=3.0, warm_start=True).fit(X, y)
    model.set_params(radius=0.5).fit(X, y)
    assert size(model.coef_[0], penalty) <= 0.5 * (1.0 + 1e-12)
    again = model.n_iter_
    assert model.fit(X, y).n_iter_ <= again


@pytest.mark.parametrize("penalty", ["l1", "elasticnet"])
def test_newton_steps_serve_sparse_penalties(data, penalty):
    steps = AUCSVC(30.0, penalty=penalty, solver="newton").fit(*data)
    planes = AUCSVC(30.0, penalty=penalty, solver="bundle").fit(*data)
    assert steps.dual_gap_ <= 1e-3 * steps.objective_
    assert steps.objective_ == pytest.approx(planes.objective_, rel=2e-3)


def test_newton_steps_reject_a_ball():
    message = "L2Ball has no weight_penalty.*; solver='auto', 'bundle' and 'subgra"
    with pytest.raises(IncompatibleError, match=message):
        AUCSVC(radius=2.0, solver="newton").fit(np.eye(4), [0, 1, 0, 1])
