"""Training ends where the metric no longer moves, not at a small gap alone."""

import itertools

import numpy as np
import pytest

from aucmax import GraphRanker
from aucmax.graphs.graph_problem import GraphProblem
from graphs.ranker_samples import graphs_of

LISTS = graphs_of(0, sizes=(12,) * 5, n_node_features=4, noise=3.0)


@pytest.fixture
def losses(monkeypatch):
    """Return the losses of the training graphs that the fit asks for."""
    asked, original = [], GraphProblem.prediction_losses

    def noted(problem, weights):
        asked.append(original(problem, weights))
        return asked[-1]

    monkeypatch.setattr(GraphProblem, "prediction_losses", noted)
    return asked


@pytest.mark.parametrize("loss", ["consistent", "fixed"])
def test_training_continues_until_the_metric_stands_still(losses, loss):
    model = GraphRanker(1.0, loss=loss, metric_tol=1e-3, max_rounds=200).fit(*LISTS)
    moves = [np.abs(b - a).mean() for a, b in itertools.pairwise(losses)]
    assert moves[-1] <= 1e-3
    assert all(move > 1e-3 for move in moves[:-1])
    tightest = 1e-3 / 4.0 ** len(moves)
    assert model.dual_gap_ <= tightest * model.history_["objective"][-1]


def test_without_a_tolerance_of_the_metric_the_gap_alone_decides(losses):
    by_gap = GraphRanker(1.0, metric_tol=None).fit(*LISTS)
    assert losses == []
    by_metric = GraphRanker(1.0).fit(*LISTS)
    assert by_gap.n_passes_ < by_metric.n_passes_
    assert by_metric.objective_ <= by_gap.objective_


@pytest.mark.parametrize(
    "limits", [{"max_rounds": 6}, {"loss": "fixed", "max_iter": 60}]
)
def test_where_the_metric_never_rests_the_limits_end_a_certified_fit(
    monkeypatch, limits
):
    signs = itertools.cycle([0.0, 1.0])
    monkeypatch.setattr(
        GraphProblem, "prediction_losses", lambda *_: np.array([next(signs)])
    )
    model = GraphRanker(1.0, **limits).fit(*LISTS)
    assert model.n_rounds_ <= limits.get("max_rounds", 1)
    assert model.n_iter_ == model.history_["gap"].size
    assert model.dual_gap_ <= 1e-3 * model.objective_ * (1.0 + 1e-3)
