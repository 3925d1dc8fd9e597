"""Penalised problems for solvers: literal definitions, for CVXPY."""

import cvxpy as cp
import numpy as np

GROUPS = [0, 0, 1, 1, 1, 2]
L1_RATIO = 0.7
RADII = {
    "l2 ball": 0.8,
    "l1 ball": 1.2,
    "elastic net ball": 0.9,
    "group lasso ball": 1.5,
}
PENALTIES = ["l2", "l1", "elastic net", "group lasso"]


def price(name, w):
    """Return the quantity that a penalty charges and a ball limits."""
    kind = name.removesuffix(" ball")
    if kind == "l2":
        return cp.norm2(w) if name == "l2 ball" else 0.5 * cp.sum_squares(w)
    if kind == "l1":
        return cp.norm1(w)
    if kind == "elastic net":
        square = (1.0 - L1_RATIO) / 2.0 * cp.sum_squares(w)
        return L1_RATIO * cp.norm1(w) + square
    columns = [np.flatnonzero(np.array(GROUPS) == g) for g in range(3)]
    return sum(np.sqrt(group.size) * cp.norm2(w[group]) for group in columns)


def pair_risk(X, labels, w, share=1.0, weight=None):
    """Return the mean hinge of pairs, of the worst `share` of the negatives.

    Row weights are possible for all of the negatives only.
    """
    weight = np.ones(labels.size) if weight is None else weight
    u, v = weight[labels], weight[~labels]
    positive, negative = X[labels] @ w, X[~labels] @ w
    losses = [u @ cp.pos(1.0 - positive + t) / u.sum() for t in negative]
    if share == 1.0:
        return v @ cp.hstack(losses) / v.sum()
    counted = share * v.size
    assert abs(counted - round(counted)) < 1e-9
    return cp.sum_largest(cp.hstack(losses), round(counted)) / round(counted)


def minimum(name, w, risk, extra=0.0):
    """Minimise a price plus a risk, or the risk inside a ball."""
    if name in PENALTIES:
        problem = cp.Problem(cp.Minimize(price(name, w) + risk + extra))
    else:
        inside = [price(name, w) <= RADII[name]]
        problem = cp.Problem(cp.Minimize(risk + extra), inside)
    return problem.solve(solver=cp.CLARABEL)
