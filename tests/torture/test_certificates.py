"""Random small fits against independent solvers: every claimed bound is one.

Ties, duplicates, weights and columns of several scales. What an independent solver
finds is evaluated in long double, so that its own tolerance cannot hide a false bound.
"""

import warnings
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from aucmax import AUCSVC, MarginRanker
from aucmax.exceptions import ConstantScoresWarning, MarginWarning
from margin import samples
from margin_programs import solve_hard_pairs, solve_instances, solve_pairs
from reference_margins import instance_margin, pair_margin
from torture.amount import times

FITS = range(times(8, 500))
PENALTIES = ["l2", "l1", "elasticnet", "group"]
L1_RATIO = 0.3


class Sample(NamedTuple):
    """Rows as a user may have them, and the columns that the certificate is about."""

    X: Any
    labels: Any
    weight: Any
    qid: Any


def draw(rng):
    """Draw up to 40 rows: smooth, rounded or repeated, some without weight."""
    n_rows, n_columns = rng.integers(8, 41), rng.integers(1, 7)
    X = rng.normal(size=(n_rows, n_columns))
    kind = rng.integers(4)
    if kind == 1:
        X = np.round(X)
    if kind == 2:
        X = X[rng.integers(0, n_rows // 3, n_rows)]
    X = X + rng.choice([0.0, 0.0, 100.0])
    levels = np.digitize(X[:, 0] + rng.normal(size=n_rows), [0.0])
    levels[:2] = levels[-2:] = 0, 1
    if rng.random() < 0.4:
        X = X * 10.0 ** rng.integers(-3, 4, n_columns)
    elif rng.random() < 0.3:
        X = X * 10.0 ** rng.choice([-8, -2, 3, 8])
    if rng.random() < 0.2:
        X = X.astype(np.float32)
    weight = None
    if rng.random() < 0.6:
        weight = 10.0 ** rng.choice([0.0, -30.0, 30.0]) * rng.choice(
            [[0.5, 1.0, 2.0], [1e-6, 1.0, 1e6], [0.0, 1.0, 3.0]][rng.integers(3)],
            n_rows,
        )
        weight[:4] = weight[-2:] = weight.max()
    qid = np.arange(n_rows) // (n_rows // 2 + 1) if rng.random() < 0.3 else None
    return Sample(X, levels, weight, qid)


class Problem(NamedTuple):
    """A penalised hinge over pairs by its definition, in CVXPY and in long double."""

    X: Any  # after columns were divided by powers of 2
    positive: Any
    row_weights: Any  # weights, of which the largest is 1
    queries: Any
    C: float
    share: float  # of the negatives, those that cost most
    penalty: str
    groups: Any

    def risk(self, scores, pos, total_above):
        """Mean over queries of the mean cost of the dearest share of the negatives."""
        risks = []
        for query in np.unique(self.queries):
            rows = (self.queries == query) & (self.row_weights > 0.0)
            p, n = rows & self.positive, rows & ~self.positive
            if not (p.any() and n.any()):
                continue
            u = self.row_weights[p] / self.row_weights[p].sum()
            v = self.row_weights[n] / self.row_weights[n].sum()
            costs = [u @ pos(1.0 - scores[p] + scores[j]) for j in np.flatnonzero(n)]
            risks.append(total_above(costs, v))
        return sum(risks) / len(risks)

    def penalty_value(self, w, square, length):
        if self.penalty == "l2":
            return square(w) / 2.0
        if self.penalty == "l1":
            return length(w, 1)
        if self.penalty == "elasticnet":
            return L1_RATIO * length(w, 1) + (1.0 - L1_RATIO) / 2.0 * square(w)
        return sum(np.sqrt(len(own)) * length(w[own], 2) for own in self.groups)

    def value(self, w):
        """Evaluate in long double."""

        def dearest(costs, v):
            order = np.argsort(-np.array(costs), kind="stable")
            before = np.cumsum(v[order]) - v[order]
            counted = np.clip(self.share - before, 0.0, v[order])
            return counted @ np.array(costs)[order] / self.share

        w = w.astype(np.longdouble)
        value = self.penalty_value(
            w, lambda x: x @ x, lambda x, k: np.linalg.norm(x.astype(float), k)
        )
        scores = self.X.astype(np.longdouble) @ w
        return value + self.C * self.risk(
            scores, lambda x: np.maximum(x, np.longdouble(0.0)), dearest
        )

    def solve(self):
        """Return the weights that CVXPY finds, in any case some weights."""
        w = cp.Variable(self.X.shape[1])

        def dearest(costs, v):
            level = cp.Variable()
            return level + v @ cp.pos(cp.hstack(costs) - level) / self.share

        value = self.penalty_value(w, cp.sum_squares, cp.norm)
        scores = self.X.astype(np.float64) @ w
        model = value + self.C * self.risk(
            scores,
            cp.pos,
            dearest if self.share < 1.0 else lambda c, v: v @ cp.hstack(c),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                cp.Problem(cp.Minimize(model)).solve(solver=cp.CLARABEL)
            except cp.SolverError:
                return np.zeros(self.X.shape[1])
        return np.zeros(self.X.shape[1]) if w.value is None else w.value


def fit_quietly(model, *rows, **options):
    with warnings.catch_warnings():
        for kind in (ConvergenceWarning, ConstantScoresWarning, MarginWarning):
            warnings.simplefilter("ignore", kind)
        return model.fit(*rows, **options)


def assert_is_certified(model, rows, positive):
    """No attained value is below the bound, nor far below the model's own."""
    row_weights = np.ones(positive.size) if rows.weight is None else rows.weight
    problem = Problem(
        rows.X,
        positive,
        row_weights / row_weights.max(),
        np.zeros(positive.size) if rows.qid is None else rows.qid,
        model.C,
        model.fpr_range[1],
        model.penalty,
        model.groups,
    )
    value = problem.value(model.coef_[0])
    other = problem.value(problem.solve())
    bound = np.longdouble(model.objective_) - np.longdouble(model.dual_gap_)
    # the evaluation itself rounds, by units of the largest terms
    length = np.abs(problem.X).max(axis=0) @ np.abs(model.coef_[0])
    unit = np.finfo(np.longdouble).eps * (1.0 + length) * 1e3 * model.C
    assert bound <= min(value, other) + unit
    assert float(value) == pytest.approx(
        model.objective_, rel=1e-9, abs=1e-13 * model.C * (1.0 + length)
    )
    assert value <= other + model.dual_gap_ + 1e-13 * model.C * (1.0 + length)


@pytest.mark.parametrize("seed", FITS)
def test_no_bound_of_a_linear_machine_lies_above_an_attained_value(seed):
    rng = np.random.default_rng(seed)
    rows = draw(rng)
    penalty = PENALTIES[seed % 4]
    groups = None
    if penalty == "group":
        columns = rng.permutation(rows.X.shape[1]).tolist()
        groups = [group for group in (columns[::2], columns[1::2]) if group]
    model = AUCSVC(
        float(10.0 ** rng.uniform(-3, 3)),
        fpr_range=(0.0, float(rng.choice([1.0, 1.0, 0.5, 0.2, 0.13]))),
        penalty=penalty,
        l1_ratio=L1_RATIO if penalty == "elasticnet" else 0.5,
        groups=groups,
        tol=float(rng.choice([1e-3, 1e-6, 1e-9])),
        max_iter=300,
    )
    try:
        fit_quietly(model, rows.X, rows.labels, rows.weight, qid=rows.qid)
    except ValueError as error:
        if "it must cover at least one" not in str(error):  # negative
            raise
        model.set_params(fpr_range=(0.0, 1.0))
        fit_quietly(model, rows.X, rows.labels, rows.weight, qid=rows.qid)
    assert_is_certified(model, rows, rows.labels == 1)


@pytest.mark.parametrize("seed", FITS)
def test_no_margin_is_above_its_bound_nor_below_what_a_linear_program_finds(seed):
    rng = np.random.default_rng(seed)
    rows = draw(rng)
    counted = slice(None) if rows.weight is None else rows.weight > 0.0
    positive = (rows.labels == 1)[counted]
    weight = None if rows.weight is None else rows.weight[counted]
    X = rows.X[counted].astype(np.float64)
    sizes = np.maximum(np.abs(X).max(axis=0), 1e-300)
    X = X[:, np.ptp(X / sizes, axis=0) > 1e-6]
    if X.shape[1] == 0:
        X = rng.normal(size=(positive.size, 1))
    row_weights = np.ones(positive.size) if weight is None else weight / weight.max()
    epsilon = float(rng.uniform(0.05, 1.0))
    formulation = ["pairs", "instances", "hard"][seed % 3]
    kind = ["features", "signed", "stumps"][seed // 3 % 3]
    H, weights_set = samples.all_stumps(X)[2], "l1"
    if kind != "stumps":
        H, weights_set = samples.hypotheses_of(kind, X / np.abs(X).max(axis=0))
    model = MarginRanker(kind, formulation, epsilon, tol=1e-6)
    fit_quietly(model, X, positive, sample_weight=weight)
    options = {"weights_set": weights_set, "sample_weight": row_weights}
    totals = row_weights[positive].sum(), row_weights[~positive].sum()
    scores = model.decision_function(X)
    if formulation == "pairs":
        nu = epsilon * totals[0] * totals[1]
        optimum = solve_pairs(H, positive, nu, **options)
        attained = -pair_margin(scores, positive, nu, row_weights)[0]
    elif formulation == "instances":
        nus = np.sqrt(epsilon) * np.array(totals)
        optimum = solve_instances(H, positive, *nus, **options)
        attained = -instance_margin(scores, positive, *nus, row_weights)[0]
    else:
        optimum = solve_hard_pairs(H, positive, **options)
        attained = (scores[positive].min() - scores[~positive].max()) / 2.0
    solver = 1e-7  # HiGHS meets its constraints to that
    assert model.objective_ <= optimum + solver
    assert model.objective_ + model.dual_gap_ >= optimum - solver
    assert attained == pytest.approx(model.objective_, abs=1e-9)
