"""The optimum of AUCSVC is that of an explicit convex program, for all its forms."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

from aucmax import AUCSVC

N_FEATURES = 4
GROUPS = [[0, 2], [1, 3]]
TOL = 1e-6
PENALTIES = ("l2", "l1", "elasticnet", "group")


def make_data(n_positives, n_negatives, shift=1.0):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_positives + n_negatives, N_FEATURES))
    y = np.arange(len(X)) < n_positives
    # with less between the classes, weights of 0 are best
    X[y] += shift * np.array([1.9, 1.2, 0.8, 0.0])
    return X, y


def price(w, penalty, l1_ratio=0.3):
    if penalty == "l2":
        return cp.sum_squares(w) / 2.0
    if penalty == "l1":
        return cp.norm1(w)
    if penalty == "elasticnet":
        return l1_ratio * cp.norm1(w) + (1.0 - l1_ratio) / 2.0 * cp.sum_squares(w)
    return sum(np.sqrt(len(group)) * cp.norm2(w[group]) for group in GROUPS)


def optimum(w, risk, constraints, penalty, C=None, radius=None):
    if radius is None:
        cost = price(w, penalty) + C * risk
    else:
        cost = risk
        size = cp.norm2(w) if penalty == "l2" else price(w, penalty)
        constraints = [*constraints, size <= radius]
    problem = cp.Problem(cp.Minimize(cost), constraints)
    exact = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    return problem.solve(solver=cp.CLARABEL, **exact)


def sum_of_first(values, amount, weights=None):
    """Add up the largest values by weight, up to an amount, a part of the last one."""
    weights = np.ones(values.shape[0]) if weights is None else weights
    threshold = cp.Variable()
    return amount * threshold + weights @ cp.pos(values - threshold)


def risk_of_top_negatives(X, y, w, b, weights=None):
    """The mean hinge over all positives and the first part b of the negatives."""
    weights = np.ones(len(y)) if weights is None else weights
    positives, negatives = X[y] @ w, X[~y] @ w
    losses = sum(
        weight * cp.pos(1.0 - positives[i] + negatives)
        for i, weight in enumerate(weights[y])
    )
    total = sum_of_first(losses, b * weights[~y].sum(), weights[~y])
    return total / (b * weights[~y].sum() * weights[y].sum()), []


def risk_of_two_choices(X, y, w, n_positives, n_negatives):
    """The largest mean hinge over some number of positives and of negatives."""
    p, n = np.count_nonzero(y), np.count_nonzero(~y)
    hinges = cp.Variable((p, n), nonneg=True)
    largest = cp.Variable()
    choices = [
        np.outer(np.isin(range(p), rows), np.isin(range(n), columns)).ravel()
        for rows in combinations(range(p), n_positives)
        for columns in combinations(range(n), n_negatives)
    ]
    margins = (X[y] @ w)[:, None] - (X[~y] @ w)[None, :]
    return largest / (n_positives * n_negatives), [
        hinges >= 1.0 - margins,
        np.array(choices, dtype=float) @ cp.vec(hinges, order="C") <= largest,
    ]


def risk_of_orderings(X, y, w, a, b, bound):
    """The structural risk: each positive stands behind as many negatives as is worst.

    Behind the first r of them it costs their scores, minus r times its own, plus the
    length of the overlap of [0, r] and the range. The sum of the first r scores is the
    largest sum of r of them, so it bounds all orderings at once.
    """
    positives, negatives = X[y] @ w, X[~y] @ w
    n = np.count_nonzero(~y)
    low, high = a * n, b * n
    end = high if bound == "tight" else n
    amounts = np.unique([*np.arange(np.ceil(end)), low, high, end])
    costs = cp.Variable(np.count_nonzero(y))
    constraints = [
        costs
        >= sum_of_first(negatives, amount)
        - amount * positives
        + (np.clip(amount, low, high) - low)
        for amount in amounts
        if amount <= end
    ]
    return cp.sum(costs) / (np.count_nonzero(y) * (high - low)), constraints


def fitted(X, y, penalty, C=None, radius=None, weights=None, **options):
    limits = {"radius": radius} if C is None else {"C": C}
    model = AUCSVC(
        **limits,
        penalty=penalty,
        l1_ratio=0.3,
        groups=GROUPS,
        tol=TOL,
        max_iter=5000,
        solver="bundle",
        **options,
    ).fit(X, y, sample_weight=weights)
    assert model.dual_gap_ <= TOL * max(model.objective_, 0.01)
    assert model.coef_.any()
    return model


FORMS = [{"C": 3.0}, {"C": 100.0}, {"radius": 0.7}]


@pytest.mark.slow
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("b", [0.2, 0.33])
def test_optimum_for_the_top_negatives(penalty, form, b):
    X, y = make_data(12, 20)
    w = cp.Variable(N_FEATURES)
    expected = optimum(w, *risk_of_top_negatives(X, y, w, b), penalty, **form)
    model = fitted(X, y, penalty, **form, fpr_range=(0.0, b))
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_optimum_for_weighted_rows(penalty):
    X, y = make_data(12, 20)
    weights = np.random.default_rng(1).uniform(0.2, 3.0, len(y))
    w = cp.Variable(N_FEATURES)
    risk = risk_of_top_negatives(X, y, w, 0.3, weights)
    expected = optimum(w, *risk, penalty, C=5.0)
    model = fitted(X, y, penalty, C=5.0, weights=weights, fpr_range=(0.0, 0.3))
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_optimum_for_the_top_negatives_and_the_bottom_positives(penalty, form):
    X, y = make_data(6, 7, shift=1.5)
    w = cp.Variable(N_FEATURES)
    expected = optimum(w, *risk_of_two_choices(X, y, w, 3, 2), penalty, **form)
    ranges = {"fpr_range": (0.0, 2 / 7), "tpr_range": (0.5, 1.0)}
    model = fitted(X, y, penalty, **form, **ranges)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize(
    ("a", "b", "bound"),
    [
        (0.1, 0.4, "tight"),
        (0.12, 0.37, "tight"),
        (0.12, 0.37, "loose"),
    ],
)
def test_optimum_for_any_range_of_negatives(penalty, form, a, b, bound):
    X, y = make_data(12, 20)
    w = cp.Variable(N_FEATURES)
    expected = optimum(w, *risk_of_orderings(X, y, w, a, b, bound), penalty, **form)
    model = fitted(X, y, penalty, **form, fpr_range=(a, b), bound=bound)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_range_of_positives_is_the_mirror_image_of_one_of_negatives(penalty):
    X, y = make_data(15, 11)
    current = fitted(X, y, penalty, C=5.0, tpr_range=(0.3, 0.8))
    mirror = fitted(-X, ~y, penalty, C=5.0, fpr_range=(0.2, 0.7))
    assert current.objective_ == pytest.approx(mirror.objective_, rel=2.0 * TOL)
    np.testing.assert_allclose(current.coef_, mirror.coef_, atol=5e-3)
