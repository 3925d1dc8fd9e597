"""The contract of every risk: what it declares, and which scores it takes."""

import numpy as np
import pytest

from aucmax import risks
from aucmax.exceptions import IncompatibleError
from aucmax.metrics import survival_target
from aucmax.risks.instance_margin import InstanceMargin, TangentMargin
from aucmax.risks.pair_margin import PairMargin

SIZE = 12
LABELS = np.arange(SIZE) % 3 == 0
LEVELS = np.arange(SIZE) % 3
QUERIES = np.arange(SIZE) // 6
TIMES = survival_target(LABELS, np.arange(SIZE) % 5 + 1.0)
WEIGHTS = np.linspace(0.5, 2.0, SIZE)
# distinct where ranges end: at a tie, any share of the tied rows is a subgradient
INTEGERS = np.array([5, -2, 7, 1, 11, -6, 3, 0, -9, 13, 2, -4])

BOUND = {
    "hinge": risks.PairHinge().bind(LABELS),
    "hinge, margin 2": risks.PairHinge(2.0).bind(LABELS, WEIGHTS),
    "hinge of queries": risks.PairHinge().bind(LABELS, queries=QUERIES),
    "tight": risks.PartialHinge((0, 0.5)).bind(LABELS, WEIGHTS),
    "structural": risks.PartialHinge((0.25, 0.75)).bind(LABELS),
    "mirrored": risks.PartialHinge(tpr_range=(0.25, 0.75)).bind(LABELS),
    "loose": risks.PartialHinge((0.5, 1), bound="loose").bind(LABELS),
    "loose of queries": risks.PartialHinge((0, 0.5), bound="loose").bind(
        LABELS, queries=QUERIES
    ),
    "logistic": risks.PairLogistic().bind(LABELS),
    "logistic of levels": risks.PairLogistic().bind(LEVELS, WEIGHTS, QUERIES),
    "logistic of a range": risks.PairLogistic(fpr_range=(0, 0.5)).bind(LABELS),
    "logistic beyond a range": risks.PairLogistic(fpr_range=(0.2, 1)).bind(LABELS),
    "lambda": risks.PairLogistic(rank_weighted=True).bind(LABELS),
    "ndcg": risks.PairLogistic(rank_weighted=True, pair_weights="ndcg").bind(LEVELS),
    "mauc": risks.PairLogistic(pair_weights="mauc").bind(LEVELS),
    "sigmoid": risks.PairSigmoid().bind(LABELS),
    "smooth precision": risks.SmoothAveragePrecision().bind(LABELS, queries=QUERIES),
    "concordance": risks.Concordance().bind(TIMES, WEIGHTS),
    "concordance hinge": risks.Concordance("hinge").bind(TIMES, queries=QUERIES),
    "concordance sigmoid": risks.Concordance("sigmoid").bind(TIMES),
    "cox": risks.CoxLikelihood().bind(TIMES),
    "cox, light": risks.CoxLikelihood().bind(TIMES, 1e-3 * WEIGHTS),
    "pairs": PairMargin(6.5).bind(LABELS),
    "instances": InstanceMargin(1.5, 2.5).bind(LABELS, WEIGHTS),
    "tangent": TangentMargin(4.0, 2.0).bind(LABELS),
}
#: over pairs whose loss is not convex, or whose weights depend on their ranks
NOT_CONVEX = {
    *("logistic beyond a range", "lambda", "ndcg"),
    *("sigmoid", "smooth precision", "concordance sigmoid"),
}
every_risk = pytest.mark.parametrize("name", BOUND)


def close(a, b):
    return np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


def test_every_public_risk_is_here():
    public = {getattr(risks, name) for name in risks.__all__}
    made = {type(bound.risk) for bound in BOUND.values()}
    absent = {one for one in public if hasattr(one, "bind")} - made - {risks.Risk}
    assert not absent, f"add to BOUND of this file: {absent}"


@every_risk
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(list, id="list"),
        pytest.param(lambda s: s.astype(int), id="int64"),
        pytest.param(lambda s: s.astype(np.int8), id="int8"),
        pytest.param(lambda s: s.astype(np.float32), id="float32"),
        pytest.param(lambda s: np.repeat(s, 2)[::2], id="strided"),
        pytest.param(lambda s: s[::-1].copy()[::-1], id="reversed"),
    ],
)
def test_scores_of_any_type_and_layout_give_the_same_numbers(name, change):
    bound = BOUND[name]
    scores = INTEGERS.astype(float)
    value, gradient = bound.value_and_gradient(scores)
    assert bound.value(scores) == pytest.approx(value, rel=1e-12)
    other = change(scores)
    close(bound.value_and_gradient(other)[0], value)
    close(bound.value_and_gradient(other)[1], gradient)
    close(bound.value(other), value)
    assert bound.value_and_gradient(other)[1].dtype == np.float64
    if bound.can_be_smoothed:
        for one, its in zip(
            bound.smoothed(other, 0.5), bound.smoothed(scores, 0.5), strict=True
        ):
            close(one, its)
        columns = np.stack([LABELS, INTEGERS], axis=1).astype(float)
        close(
            bound.curvature(other, 0.5)(columns), bound.curvature(scores, 0.5)(columns)
        )
    if hasattr(bound, "gradient_hessian"):
        for one, its in zip(
            bound.gradient_hessian(other), bound.gradient_hessian(scores), strict=True
        ):
            close(one, its)
        close(bound.value_gradient_hessian(other)[2], bound.gradient_hessian(scores)[1])


@every_risk
@pytest.mark.parametrize(
    ("scores", "what"),
    [
        (np.where(np.arange(SIZE) == 4, np.nan, 1.0), "scores must be finite.*row 4"),
        (np.where(np.arange(SIZE) == 2, np.inf, 1.0), "scores must be finite.*row 2"),
        (np.zeros(SIZE - 1), "scores"),
        (np.zeros(SIZE + 1), "scores"),
        (np.zeros((SIZE, 2)), "scores"),
        (np.zeros(0), "scores"),
    ],
)
def test_scores_that_are_no_scores_are_rejected(name, scores, what):
    bound = BOUND[name]
    calls = [bound.value, bound.value_and_gradient]
    if bound.can_be_smoothed:
        calls += [lambda s: bound.smoothed(s, 0.5), lambda s: bound.curvature(s, 0.5)]
    if hasattr(bound, "gradient_hessian"):
        calls += [bound.gradient_hessian, bound.value_gradient_hessian]
    for call in calls:
        with pytest.raises(ValueError, match=what):
            call(scores)


@every_risk
def test_the_scores_given_stay_unchanged(name):
    scores = INTEGERS.astype(float)
    BOUND[name].value_and_gradient(scores)
    np.testing.assert_array_equal(scores, INTEGERS)


@every_risk
def test_the_same_scores_have_the_same_value_whatever_calls_came_before(name):
    bound, rng = BOUND[name], np.random.default_rng(0)
    scores = rng.normal(size=SIZE)
    value, gradient = bound.value_and_gradient(scores)
    for _ in range(3):
        bound.value_and_gradient(rng.normal(size=SIZE))
        again, its_gradient = bound.value_and_gradient(scores)
        assert again == value
        np.testing.assert_array_equal(its_gradient, gradient)


@every_risk
def test_convexity_and_a_lower_bound_are_declared_and_true(name):
    bound = BOUND[name]
    assert bound.is_convex is (name not in NOT_CONVEX)
    rng = np.random.default_rng(0)
    slack = 1e-9 + bound.relative_error
    for scale in (0.1, 1.0, 10.0, 1000.0):
        here, there = scale * rng.normal(size=(2, SIZE))
        value, gradient = bound.value_and_gradient(here)
        other = bound.value(there)
        assert min(value, other) >= bound.least_value - 1e-12
        if bound.is_convex:
            line = value + gradient @ (there - here)
            assert other >= line - slack * (abs(value) + scale)


@pytest.mark.parametrize("name", sorted(NOT_CONVEX))
def test_a_risk_that_is_not_declared_convex_is_not(name):
    bound, rng = BOUND[name], np.random.default_rng(1)
    for _ in range(200):
        ends = rng.normal(size=(2, SIZE)) * rng.choice([0.3, 3.0, 10.0])
        middle = bound.value(ends.mean(axis=0))
        if middle > (bound.value(ends[0]) + bound.value(ends[1])) / 2.0 + 1e-3:
            return
    pytest.fail("no chord below the risk was found")


@every_risk
def test_some_of_the_rows_have_the_same_risk_or_none(name):
    bound, rows = BOUND[name], np.arange(SIZE - 2)
    if not bound.can_be_smoothed:
        with pytest.raises(IncompatibleError, match="cannot be smoothed"):
            bound.at_rows(rows)
        return
    weights = None if bound.sample_weight is None else bound.sample_weight[rows]
    queries = None if bound.queries is None else QUERIES[rows]
    expected = bound.risk.bind(LABELS[rows], weights, queries)
    scores = INTEGERS[rows].astype(float)
    assert bound.at_rows(rows).value(scores) == expected.value(scores)
