"""Solvers that return a gap reject what they cannot prove; their gaps are true."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize

from aucmax import AUCSVC
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.elastic_net import ElasticNet
from aucmax.regularizers.group_lasso import GroupLasso
from aucmax.regularizers.l1 import L1, L1Ball, Simplex
from aucmax.regularizers.l2 import L2, L2Ball
from aucmax.risks import (
    Concordance,
    CoxLikelihood,
    PairLogistic,
    PairSigmoid,
    PartialHinge,
    SmoothAveragePrecision,
)
from aucmax.risks.contract import BoundRisk
from aucmax.risks.pair_margin import PairMargin
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.proximal_newton import ProximalNewtonSolver
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import StoppingRule
from aucmax.solvers.wide import WideSolver
from builders import censored_rows, linear_rows

CERTIFYING = {
    **SOLVERS,
    "plain bundle": BundleSolver,
    "columns": ProximalNewtonSolver,
    "wide": WideSolver,
}
#: a regularizer that a solver supports
REGULARIZER = {"columns": L1()}


rows = partial(linear_rows, 40, 3, cut=0.5)


class Counting(LinearObjective):
    """Rejects the first product with the data."""

    def at(self, parameters):
        raise AssertionError("the data were used")


def not_convex(labels, times):
    return {
        "PairSigmoid": PairSigmoid().bind(labels),
        "PairLogistic": PairLogistic(rank_weighted=True).bind(labels),
        "SmoothAveragePrecision": SmoothAveragePrecision().bind(labels),
        "Concordance": Concordance("sigmoid").bind(times),
    }


@pytest.mark.parametrize("solver", CERTIFYING)
@pytest.mark.parametrize("risk", not_convex([0, 1], censored_rows()[1]))
def test_a_risk_that_is_not_convex_is_rejected_by_its_name(solver, risk):
    X, labels = linear_rows(60, 3, cut=0.5)
    bound = not_convex(labels, censored_rows()[1])[risk]
    objective = Counting(X, bound, 10.0)
    regularizer = REGULARIZER.get(solver, L2())
    with pytest.raises(IncompatibleError, match=rf"^{risk}.* is not convex"):
        CERTIFYING[solver](StoppingRule()).minimize(objective, regularizer)


@pytest.mark.parametrize(
    ("solver", "regularizer"),
    [
        ("bundle", L1()),
        ("plain bundle", GroupLasso([0, 0, 1])),
        ("subgradient", L2()),
        ("newton", L2()),
        ("columns", ElasticNet(0.5)),
    ],
)
def test_a_bound_of_0_is_not_assumed_of_a_risk_without_one(solver, regularizer):
    X, labels = rows()
    objective = Counting(X, PairMargin(20.0).bind(labels), 1.0)
    with pytest.raises(IncompatibleError, match=r"^PairMargin.* has no lower bound"):
        CERTIFYING[solver](StoppingRule()).minimize(objective, regularizer)


def test_sets_need_no_lower_bound():
    X, labels = rows()
    objective = LinearObjective(X, PairMargin(20.0).bind(labels), 1.0)
    rule = StoppingRule(floor=0.1)
    for solver, regularizer in (
        (BundleSolver(rule), Simplex()),
        (BundleSolver(rule), L1Ball()),
        (BundleSolver(rule), L2Ball(1.0)),
        (ProximalNewtonSolver(rule), L1Ball()),
        (ProximalNewtonSolver(rule), Simplex()),
        (SOLVERS["auto"](rule), L2()),
    ):
        assert solver.minimize(objective, regularizer).converged


def test_declarations_are_required():
    class Undeclared(BoundRisk):
        def _value_and_gradient(self, scores):
            raise AssertionError("nothing is evaluated")

    X, labels = rows()
    objective = Counting(X, Undeclared(None, labels, None), 1.0)
    with pytest.raises(IncompatibleError, match="Undeclared has no is_convex"):
        BundleSolver(StoppingRule()).minimize(objective, L2())


def cox_objective(X, y, weights, C, price):
    """Return the objective by its formula, one event at a time."""

    def value(w):
        scores, total = X @ w, 0.0
        for i in np.flatnonzero(y["event"]):
            at_risk = y["time"] >= y["time"][i]
            inner = np.log((weights[at_risk] * np.exp(scores[at_risk])).sum())
            total += weights[i] * (inner - scores[i])
        return price(w) + C * total / weights[y["event"]].sum()

    return value


@pytest.mark.parametrize("scale", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize(
    ("solver", "regularizer", "price"),
    [
        *(
            (name, L1(), lambda w: np.abs(w).sum())
            for name in ("auto", "bundle", "plain bundle", "subgradient")
        ),
        *(
            (name, L2(), lambda w: w @ w / 2.0)
            for name in ("auto", "bundle", "subgradient", "descent")
        ),
        ("bundle", ElasticNet(0.5), lambda w: np.abs(w).sum() / 2.0 + w @ w / 4.0),
    ],
)
def test_a_risk_below_0_has_a_true_gap(solver, regularizer, price, scale):
    """With weights of 1e-3, w = 0 was returned with a gap of 0."""
    X, y = censored_rows()
    weights = scale * np.random.default_rng(1).uniform(0.5, 2.0, y.size)
    C = 5.0
    formula = cox_objective(X, y, weights, C, price)
    objective = LinearObjective(X, CoxLikelihood().bind(y, weights), C)
    solution = CERTIFYING[solver](StoppingRule(1e-5)).minimize(objective, regularizer)
    assert solution.value == pytest.approx(
        formula(solution.point.parameters), rel=1e-10
    )
    least = min(
        minimize(formula, start, method="Powell", options={"ftol": 1e-13}).fun
        for start in (solution.point.parameters, np.full(4, 0.1))
    )
    assert solution.value - solution.gap <= least + 1e-9 * abs(least)
    assert solution.converged
    assert solution.value <= least + 2e-5 * abs(least)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_weighted_cox_model_reports_the_objective_of_its_formula(scale):
    X, y = censored_rows(seed=3)
    weights = scale * np.random.default_rng(2).uniform(0.2, 3.0, y.size)
    model = AUCSVC(3.0, loss="cox").fit(X, y, weights)
    formula = cox_objective(X, y, weights, 3.0, lambda w: w @ w / 2.0)
    assert model.objective_ == pytest.approx(formula(model.coef_[0]), rel=1e-9)
    least = minimize(formula, model.coef_[0]).fun
    assert model.objective_ - model.dual_gap_ <= least + 1e-9 * abs(least)
    close = AUCSVC(3.0, loss="cox", tol=1e-6).fit(X, y, weights)
    unscaled = AUCSVC(3.0, loss="cox", tol=1e-6).fit(X, y, weights / scale)
    np.testing.assert_allclose(close.coef_, unscaled.coef_, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("bound", ["tight", "loose"])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_a_bound_is_true_to_eight_digits_on_columns_far_from_0(bound, offset, C):
    X, labels = linear_rows(80, 5, cut=0.5)
    y, options = labels, {"fpr_range": (0.9, 1.0), "bound": bound}
    model = AUCSVC(C, tol=1e-8, max_iter=300, **options).fit(X + offset, y)
    risk = PartialHinge((0.9, 1.0), bound=bound).bind(y)
    # centered columns: the same risk, and nothing to round
    centered = AUCSVC(C, tol=1e-8, max_iter=300, **options).fit(X, y)

    def attained(w):
        return w @ w / 2.0 + C * risk.value(X @ w)

    least = min(attained(model.coef_[0]), attained(centered.coef_[0]))
    assert model.objective_ - model.dual_gap_ <= least * (1.0 + 1e-8)
