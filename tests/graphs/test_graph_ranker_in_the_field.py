"""GraphRanker with scikit-learn, files, threads, and fits that end early."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks as checks

import aucmax
from aucmax import GraphRanker
from graphs.ranker_samples import graphs_of

SLOW = {"C": 100.0, "tol": 1e-7}  # a fit of some rounds and iterations


def weights_of(model):
    return np.concatenate([model.coef_[0], model.edge_coef_[0]])


@pytest.mark.parametrize(
    "check",
    [
        checks.check_no_attributes_set_in_init,
        checks.check_parameters_default_constructible,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_do_not_raise_errors_in_init_or_set_params,
        checks.check_estimator_cloneable,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_valid_tag_types,
    ],
)
def test_checks_of_scikit_learn_that_need_no_table_pass(check):
    check("GraphRanker", GraphRanker())


def test_an_unfitted_model_says_so():
    graphs, labels = graphs_of(0)
    model = GraphRanker()
    for call in (model.decision_function, model.predict, model.predict_ranking):
        with pytest.raises(NotFittedError):
            call(graphs)
    with pytest.raises(NotFittedError):
        model.score(graphs, labels)


def test_grid_search_chooses_over_lists_of_graphs():
    graphs, labels = graphs_of(1, sizes=(8, 6, 9, 7, 8, 6))
    grid = {"loss": ["consistent", "fixed"]}
    search = GridSearchCV(GraphRanker(tol=1e-2), grid, cv=2, error_score="raise")
    search.fit(graphs, labels)
    best = GraphRanker(tol=1e-2, **search.best_params_).fit(graphs, labels)
    np.testing.assert_array_equal(weights_of(search.best_estimator_), weights_of(best))
    assert search.score(graphs, labels) == best.score(graphs, labels)


@pytest.mark.parametrize("params", [{}, {"metric": "binned", "bins": [2, 5]}])
def test_a_saved_model_scores_bit_by_bit_alike(params, tmp_path):
    graphs, labels = graphs_of(3)
    named = [np.where(y, "yes", "no") for y in labels]
    model = GraphRanker(callback=lambda progress: False, **params).fit(graphs, named)
    aucmax.save(model, tmp_path / "model")
    again = aucmax.load(tmp_path / "model")
    assert type(again) is GraphRanker
    assert again.callback is None
    for one, other in zip(
        model.decision_function(graphs), again.decision_function(graphs), strict=True
    ):
        assert one.tobytes() == other.tobytes()
    for one, other in zip(model.predict(graphs), again.predict(graphs), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.score(graphs, named) == model.score(graphs, named)
    for name in ("objective_", "dual_gap_", "n_rounds_", "n_skipped_", "intercept_"):
        assert getattr(again, name) == getattr(model, name)
    for name, values in model.history_.items():
        np.testing.assert_array_equal(again.history_[name], values)


@pytest.mark.parametrize("name", ["coef_", "edge_coef_", "intercept_", "classes_"])
def test_a_state_that_no_fit_leaves_is_not_saved(name, tmp_path):
    graphs, labels = graphs_of(3)
    model = GraphRanker().fit(graphs, labels)
    setattr(model, name, np.zeros(5))
    with pytest.raises(ValueError, match="but of shape"):
        aucmax.save(model, tmp_path / "model")


@pytest.mark.parametrize("last", [1, 4, 7])
def test_a_callback_that_returns_true_stops_the_whole_fit(last):
    graphs, labels = graphs_of(4, sizes=(12, 15, 9))
    heard = []

    def stop(progress):
        heard.append(progress)
        return progress.n_iter == last

    model = GraphRanker(callback=stop, **SLOW)
    with pytest.warns(ConvergenceWarning, match="was not reached"):
        model.fit(graphs, labels)
    assert len(heard) == model.n_iter_ == last
    assert 0.0 <= model.score(graphs, labels) <= 1.0


def test_a_verbose_fit_prints_one_line_per_iteration(capsys):
    graphs, labels = graphs_of(5)
    model = GraphRanker(verbose=1).fit(graphs, labels)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert all(line.startswith("GraphRanker: ") for line in lines)
    GraphRanker().fit(graphs, labels)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("limit", [{"max_time": 0}, {"max_iter": 1}, {"max_iter": 6}])
def test_a_limit_ends_with_a_warning_and_a_model(limit):
    graphs, labels = graphs_of(6, sizes=(12, 15, 9))
    model = GraphRanker(**limit, **SLOW)
    with pytest.warns(ConvergenceWarning, match="tol=1e-07 was not reached") as caught:
        model.fit(graphs, labels)
    assert len(caught) == 1
    assert caught[0].filename == __file__  # where fit was called
    assert model.n_iter_ <= limit.get("max_iter", 1)
    assert model.dual_gap_ > 0.0
    # what a single step has found may be no more than weights of 0
    assert model.score(graphs, labels) >= (0.8 if model.n_iter_ > 1 else 0.5)
    assert (model.edge_coef_ >= 0.0).all()
    assert sorted(model.predict_ranking(graphs)[2].tolist()) == list(range(9))


def test_data_are_not_changed_by_fit_and_prediction():
    graphs, labels = graphs_of(8)
    copies = [
        (g.node_features.copy(), g.edges.copy(), g.edge_features.copy()) for g in graphs
    ]
    for graph in graphs:
        for name in ("node_features", "edges", "edge_features"):
            getattr(graph, name).flags.writeable = False
    GraphRanker().fit(graphs, labels).decision_function(graphs)
    for graph, (nodes, edges, features) in zip(graphs, copies, strict=True):
        np.testing.assert_array_equal(graph.node_features, nodes)
        np.testing.assert_array_equal(graph.edges, edges)
        np.testing.assert_array_equal(graph.edge_features, features)
