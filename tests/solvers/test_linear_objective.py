import numpy as np
import pytest
from scipy import sparse

from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairHinge, PartialHinge
from aucmax.solvers.proximal_newton import ProximalNewtonSolver
from aucmax.solvers.risk_objective import LinearObjective, begin
from aucmax.solvers.solver import StoppingRule

X = np.random.default_rng(0).normal(size=(20, 3))
LABELS = np.arange(20) % 3 == 0


@pytest.mark.parametrize(
    ("risk", "queries", "expected"),
    [
        (PairHinge(), None, True),
        (PartialHinge((0.0, 0.5)), None, True),
        (PartialHinge((0.0, 0.5), tpr_range=(0.3, 1.0)), None, True),
        (PartialHinge((0.2, 0.5)), None, False),
        (PartialHinge(tpr_range=(0.0, 0.5)), None, False),
        (PartialHinge((0.0, 0.5), bound="loose"), None, False),
        (PartialHinge((0.0, 0.5)), np.arange(20) // 10, True),
        (PartialHinge((0.2, 0.5)), np.arange(20) // 10, False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_support_is_smoothed_if_the_risk_can_be(risk, queries, expected):
    objective = LinearObjective(X, risk.bind(LABELS, queries=queries), 1.0)
    assert objective.risk.can_be_smoothed is expected
    point = objective.at(np.array([1.0, -1.0, 0.5]))
    if expected:
        assert objective.support(point, width=0.5).value >= objective.risk.value(
            point.scores
        )
    else:
        with pytest.raises(IncompatibleError, match="can be smoothed"):
            ProximalNewtonSolver(StoppingRule()).minimize(objective, L2())


def test_another_risk_goes_on_counting_passes():
    first = LinearObjective(X, PairHinge().bind(LABELS), 2.0)
    point = first.at(np.ones(3))
    second = first.with_risk(PartialHinge((0.0, 0.5)).bind(LABELS))
    second.pull_back(second.support(point))
    assert (first.n_passes, second.n_passes) == (0.5, 1.0)
    assert isinstance(first.risk.risk, PairHinge)
    assert second.risk.value(point.scores) >= first.risk.value(point.scores)


def test_cuts_of_many_columns_are_few():
    risk = PairHinge().bind(LABELS)
    for n_columns, expected in ((3, 500), (10**6, 67), (10**7, 20)):
        objective = LinearObjective(sparse.csr_array((20, n_columns)), risk, 1.0)
        _, _, cuts = begin(StoppingRule(), objective, L2(), None, max_cuts=500)
        assert cuts.capacity == expected
