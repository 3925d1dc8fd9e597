"""A linear model of nodes and edges that ranks the nodes of graphs."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from aucmax._core import parameters
from aucmax._core import saved_state as saved
from aucmax._core.features import check_column_sizes
from aucmax._core.fitting import replace_state, reporter, unchanged_on_failure
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import NotEnoughClassesError
from aucmax.graphs._graph_checks import (
    check_edge_features,
    check_node_labels,
)
from aucmax.graphs.graph import GraphBatch
from aucmax.graphs.graph_problem import GraphProblem, predict_scores
from aucmax.metrics import auc_at_k_score, binned_auc_score, roc_auc_score
from aucmax.metrics.top_sets import Bins, TopSets, check_bins, check_k
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairHinge
from aucmax.solvers.block_frank_wolfe import TangentL2
from aucmax.solvers.bundle import BundleSolver
from aucmax.solvers.difference_of_convex import (
    DifferenceOfConvexSolver,
    RoundsSolution,
)
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Point, Progress, Start, StoppingRule

_METRICS: dict[str, Any] = {  # the top sets that count, the score, options of both
    "auc": (TopSets.every, roc_auc_score, ()),
    "binned": (TopSets.binned, binned_auc_score, ("bins",)),
    "at_k": (TopSets.up_to, auc_at_k_score, ("k",)),
    "unnested": (TopSets.every, roc_auc_score, ()),
}
# of the pair weights that start the rounds, per node, in spreads of node scores
_EDGE_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0)
_MIN_RISK = 1e-3  # least denominator of a relative gap: the optimum may be near 0


@dataclass(eq=False, repr=False)
class GraphRanker(BaseEstimator):
    r"""Rank the nodes of graphs, where neighbours support each other.

    Node i of a graph scores :math:`\theta_i = w^\top x_i`, and two neighbours in one
    set add :math:`J_{ij} = v^\top f_{ij}`, with features of nodes x and of edges f. The
    score of a ranking is the sum over its top sets,

    .. math:: \sum_l s(z_l), \qquad
              s(z) = \sum_i \theta_i z_i + \sum_{(i,j)} J_{ij} z_i z_j ,

    and the best one is predicted: for :math:`J \ge 0` exactly, by one total-variation
    problem (see :func:`aucmax.graphs.rank`). Training minimises

    .. math:: \frac12 \|(w, v)\|^2 + C \, \frac1M \sum_m
              \max_z [s_m(z) + \Delta_m(z)] - \max_{z \sim y_m} s_m(z) ,

    an L2 penalty plus C times a bound of the mean loss :math:`\Delta` = 1 - AUC over M
    graphs. The second maximum is over the rankings with all positives first, and scores
    are divided by the graph's number of pairs, so that the margin is 1 in units of node
    scores. The bound is a difference of convex functions: each round replaces the
    subtracted one by its tangent and solves the convex problem with a certified gap: an
    iteration ranks all graphs, and takes block-coordinate Frank-Wolfe steps over the
    cutting planes kept. Rounds start from the weights of nodes alone. Without edges the
    model is :class:`aucmax.AUCSVC` with one query per graph.

    Parameters
    ----------
    C : float, default=10.0
        The weight of the mean risk; larger values fit the training graphs more closely.
        Scale the features first: the penalty treats all weights alike.
    metric : {"auc", "binned", "at_k", "unnested"}, default="auc"
        The metric to maximise: over all pairs; over pairs of different `bins`, where
        those within one count half; over the top `k`; or over sets of every size that
        need not be nested, which differs from "auc" where pair weights are negative.
    bins : int or sequence, default=10
        For "binned": the number of equal bins; or the rows that the first bin, the
        first two, ... hold, as numbers or as shares of the nodes.
    k : int, default=10
        For "at_k".
    pair_weights : {"nonnegative", "free"}, default="nonnegative"
        Whether neighbours only attract each other. "nonnegative" needs edge features
        that are not negative, and is exact and fast. "free" solves one linear program
        per graph with a negative pair weight, in fit and prediction: for small graphs.
    loss : {"consistent", "fixed", "ramp"}, default="consistent"
        The ranking that the best one with its loss is compared with: the best one with
        all positives first; the same, chosen once at the start, which makes the problem
        convex; or the best of all, a tighter bound with more local optima.
    max_rounds : int, default=20
        Maximum number of convex problems.
    tol : float, default=1e-3
        The certified gap at which a convex problem is solved, relative to its
        value, and the decrease that ends the rounds.
    metric_tol : float or None, default=5e-3
        Once `tol` is reached, training repeats with a fourfold tighter one until the
        metric of the training graphs changes by at most this on average, or until
        `max_rounds`, `max_iter` or `max_time` is reached. None stops at `tol`.
    max_iter : int, default=1000
        Maximum number of iterations of all rounds together.
    max_time : float, default=None
        Stop after this many seconds, with the best solution so far.
    callback : callable, default=None
        Called after each iteration with its progress; the fit stops if it returns true.
    verbose : int, default=0
        Whether to write one line per iteration or round to standard output.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_node_features)
        The weights w of node features.
    edge_coef_ : ndarray of shape (1, n_edge_features)
        The weights v of edge features.
    intercept_ : ndarray of shape (1,)
        Minus the threshold of the best balanced accuracy on the training nodes. It
        does not affect ranking.
    objective_ : float
        The value reached; that of the convex problem if ``loss="fixed"``.
    dual_gap_ : float
        The certified gap of the last round's convex problem.
    history_ : dict of str to ndarray of shape (n_iter\_,)
        After each iteration the lowest value of its round's convex problem,
        "objective", and the certified "gap" of it.
    n_rounds_, n_iter_ : int
        Convex problems solved, and iterations of all of them.
    n_passes_ : float
        Number of searches for the best rankings of all training graphs.
    n_graphs_, n_skipped_ : int
        Numbers of graphs used, and of those skipped because their nodes are of one
        class or no set that counts separates them.
    n_node_features_in_, n_edge_features_in_ : int
        Numbers of features.
    classes_ : ndarray of shape (2,)
        The labels; the second is the positive class.

    See Also
    --------
    aucmax.graphs.Graph : A graph, also from data frames and other libraries.
    aucmax.AUCSVC : The same without edges.

    References
    ----------
    .. [1] N. Rosenfeld, O. Meshi, D. Tarlow, A. Globerson. Learning structured models
       with the AUC loss and its generalizations. AISTATS 2014.
    .. [2] S. Lacoste-Julien, M. Jaggi, M. Schmidt, P. Pletscher. Block-coordinate
       Frank-Wolfe optimization for structural SVMs. ICML 2013.

    Examples
    --------
    Pixels of noisy letters; those of the letter should come first.

    >>> from aucmax import GraphRanker
    >>> from aucmax.datasets import make_letter_images
    >>> from aucmax.graphs import Graph, grid_edges
    >>> images, masks = make_letter_images("A", 4, random_state=0)
    >>> edges = grid_edges(*images[0].shape)
    >>> graphs = [Graph(image.reshape(-1, 1), edges) for image in images]
    >>> labels = [mask.ravel() for mask in masks]
    >>> ranker = GraphRanker(tol=1e-2).fit(graphs[:3], labels[:3])
    >>> ranker.score(graphs[3:], labels[3:]) > 0.95
    True
    """

    classes_: NDArray[Any] = field(init=False)

    _unsaved_params = ("callback",)
    _saved_state = saved.fields(
        n_node_features_in_=saved.count,
        n_edge_features_in_=saved.count,
        classes_=saved.array(saved.LABEL_KINDS, 2),
        coef_=saved.array("f", 1, "n_node_features_in_"),
        edge_coef_=saved.array("f", 1, "n_edge_features_in_"),
        intercept_=saved.array("f", 1),
        **saved.optional(
            objective_=saved.number,
            dual_gap_=saved.number,
            n_rounds_=saved.count,
            n_iter_=saved.count,
            n_passes_=saved.number,
            n_graphs_=saved.count,
            n_skipped_=saved.count,
            history_=saved.instance_of(dict),
        ),
    )

    C: float = 10.0
    _: KW_ONLY
    metric: str = "auc"
    bins: Bins = 10
    k: int = 10
    pair_weights: str = "nonnegative"
    loss: str = "consistent"
    max_rounds: int = 20
    tol: float = 1e-3
    metric_tol: float | None = 5e-3
    max_iter: int = 1000
    max_time: float | None = None
    callback: Callable[[Progress], object] | None = None
    verbose: int = 0

    def fit(self, X: Sequence[Any], y: Sequence[ArrayLike]) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of Graph or tuple
            Graphs of any sizes with the same features; a tuple is (node features,
            edges) or (node features, edges, edge features).
        y : sequence of array-like of shape (n_nodes,)
            The labels of each graph's nodes, two distinct ones in all. The second in
            sorted order is the positive class. Graphs of one class are skipped.

        Returns
        -------
        self : object
            The fitted model.
        """
        with unchanged_on_failure(self):
            self._check_parameters()
            batch = self._batch(X)
            classes, is_positive = check_node_labels(y, batch.node_offsets)
            check_column_sizes(batch.node_features, name="node_features")
            check_column_sizes(batch.edge_features, name="edge_features")
            begun = time.perf_counter()
            problem = self._problem(batch, is_positive)
            start = self._start(problem)
            left = None
            if self.max_time is not None:
                left = max(self.max_time - (time.perf_counter() - begun), 0.0)
            floor = problem.C * _MIN_RISK
            rule = StoppingRule(self.tol, self.max_iter, left, reporter(self), floor)
            solver = DifferenceOfConvexSolver(
                rule, self.max_rounds, self.loss == "fixed", self._is_final(problem)
            )
            is_bounded = self.pair_weights == "nonnegative"
            d = problem.n_node_features if is_bounded else problem.n_parameters
            solution = solver.minimize(problem, TangentL2(d), Start(start))
            self._warn_if_unfinished(solution, rule)
            n_skipped = batch.n_graphs - problem.n_blocks
            fitted = {"classes_": classes, "n_skipped_": n_skipped}
            replace_state(self, fitted | self._fitted(problem, solution))
        return self

    def decision_function(self, X: Sequence[Any]) -> list[FloatArray]:
        """Score the nodes of each graph; sorting the scores gives the ranking.

        Parameters
        ----------
        X : sequence of Graph or tuple
            Graphs of any sizes with the same features; a tuple is (node features,
            edges) or (node features, edges, edge features).

        Returns
        -------
        list of ndarray of shape (n_nodes,)
            Smoothed scores of each graph's nodes, positive where `predict` returns the
            positive class. Tied nodes differ by a millionth, by their own scores.
        """
        batch, scores = self._scored(X)
        return batch.split(scores)

    def predict_ranking(self, X: Sequence[Any]) -> list[IntArray]:
        """Return the nodes of each graph, best first.

        Parameters
        ----------
        X : sequence of Graph or tuple
            Graphs of any sizes with the same features; a tuple is (node features,
            edges) or (node features, edges, edge features).

        Returns
        -------
        list of ndarray of int64 of shape (n_nodes,)
            Numbers of nodes; of equal ones the smaller number comes first.
        """
        scored = self.decision_function(X)
        return [np.argsort(-scores, kind="stable") for scores in scored]

    def predict(self, X: Sequence[Any]) -> list[NDArray[Any]]:
        """Predict the positive class where the score is above 0.

        Parameters
        ----------
        X : sequence of Graph or tuple
            Graphs of any sizes with the same features; a tuple is (node features,
            edges) or (node features, edges, edge features).

        Returns
        -------
        list of ndarray of shape (n_nodes,)
            Labels.
        """
        scored = self.decision_function(X)
        return [self.classes_[(scores > 0.0).astype(np.intp)] for scores in scored]

    def score(self, X: Sequence[Any], y: Sequence[ArrayLike]) -> float:
        """Return the mean metric over the graphs that have both classes.

        Parameters
        ----------
        X : sequence of Graph or tuple
            Graphs of any sizes with the same features; a tuple is (node features,
            edges) or (node features, edges, edge features).
        y : sequence of array-like of shape (n_nodes,)
            The labels of each graph's nodes, two distinct ones in all. The second in
            sorted order is the positive class. Graphs of one class are skipped.

        Returns
        -------
        float
            The mean AUC, or what `metric` names.
        """
        batch, scores = self._scored(X)
        _, is_positive = check_node_labels(y, batch.node_offsets, self.classes_)
        score = _METRICS[self.metric][1]
        return float(
            score(is_positive, scores, qid=batch.graph_of_node, **self._options)
        )

    @property
    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _METRICS[self.metric][2]}

    def _top_sets(self, batch: GraphBatch) -> list[TopSets]:
        """Return the top sets of each graph that count."""
        sizes = np.diff(batch.node_offsets).tolist()
        make = _METRICS[self.metric][0]
        made = {n: make(n, **self._options) for n in set(sizes)}
        return [made[n] for n in sizes]

    def _check_parameters(self) -> None:
        for name in ("C", "tol"):
            parameters.check_positive(name, getattr(self, name))
        if self.metric_tol is not None:
            parameters.check_positive("metric_tol", self.metric_tol)
        for name in ("max_rounds", "max_iter"):
            parameters.check_integer(name, getattr(self, name))
        parameters.check_max_time(self.max_time)
        choices = {
            "pair_weights": ("nonnegative", "free"),
            "loss": ("consistent", "fixed", "ramp"),
            "metric": _METRICS,
        }
        for name, known in choices.items():
            parameters.check_choice(name, getattr(self, name), known)
        if self.metric == "binned":
            check_bins(self.bins)
        if self.metric == "at_k":
            check_k(self.k)

    def _problem(self, batch: GraphBatch, is_positive: BoolArray) -> GraphProblem:
        """Keep the graphs whose labels the metric separates."""
        top_sets, parts = self._top_sets(batch), batch.split(is_positive)
        kept = [m for m, y in enumerate(parts) if top_sets[m].spread(int(y.sum())) > 0]
        if not kept:
            raise NotEnoughClassesError(
                f"none of the {batch.n_graphs} graphs has nodes of both classes that "
                f"metric={self.metric!r} can separate; at least one is needed."
            )
        if len(kept) < batch.n_graphs:
            n_edge_features = batch.edge_features.shape[1]
            graphs = [batch.graphs[m] for m in kept]
            batch = GraphBatch.from_graphs(graphs, None, n_edge_features)
        return GraphProblem(
            batch,
            np.concatenate([parts[m] for m in kept]),
            [top_sets[m] for m in kept],
            float(self.C),  # compiled loops take no large integers
            loss=self.loss,
            nested=self.metric != "unnested",
        )

    def _start(self, problem: GraphProblem) -> Point:
        """Return the weights of a model of nodes, with the best edge strength."""
        # rounds find a local optimum only, and edge weights of 0 may be one
        batch, C = problem.batch, problem.C
        risk = PairHinge().bind(problem.labels, queries=batch.graph_of_node)
        rule = StoppingRule(self.tol, self.max_iter, self.max_time)
        nodes = LinearObjective(batch.node_features, risk, C)
        node_weights = BundleSolver(rule).minimize(nodes, L2()).point.parameters
        per_node = 2.0 * float(batch.edge_features.sum()) / batch.n_nodes
        spread = float(np.std(batch.node_features @ node_weights))
        strengths = _EDGE_STRENGTHS if per_node > 0.0 and spread > 0.0 else (0.0,)
        n_edge_weights = problem.n_parameters - node_weights.size
        tried, values = [], []
        for strength in strengths:
            edge_weight = strength * spread / (per_node or 1.0)
            weights = np.append(node_weights, np.full(n_edge_weights, edge_weight))
            tried.append(problem.at(weights))
            values.append(L2().value(weights) + problem.value(tried[-1]))
        return tried[int(np.argmin(values))]

    def _is_final(self, problem: GraphProblem) -> Callable[[Point], bool] | None:
        """Return whether the metric changes little from one solution to the next."""
        tol, losses = self.metric_tol or 0.0, [np.array(np.inf)]

        def is_final(point: Point) -> bool:
            losses.append(problem.prediction_losses(point))
            return bool(np.abs(losses[-1] - losses[-2]).mean() <= tol)

        return None if self.metric_tol is None else is_final

    def _fitted(
        self, problem: GraphProblem, solution: RoundsSolution
    ) -> dict[str, Any]:
        d, weights = problem.n_node_features, solution.point.parameters
        nodes, pairs = np.split(solution.point.scores, [problem.labels.size])
        scores = self._ranked(problem.batch, nodes, pairs)
        return {
            "coef_": weights[np.newaxis, :d].copy(),
            "edge_coef_": weights[np.newaxis, d:].copy(),
            "intercept_": np.array([-balanced_threshold(scores, problem.labels)]),
            "objective_": solution.value,
            "dual_gap_": solution.gap,
            "n_rounds_": solution.n_rounds,
            "history_": {
                "objective": np.array([step.value for step in solution.history]),
                "gap": np.array([step.gap for step in solution.history]),
            },
            "n_iter_": solution.n_iter,
            "n_passes_": problem.n_passes,
            "n_graphs_": problem.n_blocks,
            "n_node_features_in_": d,
            "n_edge_features_in_": problem.n_parameters - d,
        }

    def _batch(self, X: Sequence[Any], *expected: int) -> GraphBatch:
        batch = GraphBatch.from_graphs(X, *expected)
        if self.pair_weights == "nonnegative":
            check_edge_features(batch.edge_features, batch.edge_offsets)
        return batch

    def _ranked(
        self, batch: GraphBatch, nodes: FloatArray, pairs: FloatArray
    ) -> FloatArray:
        """Return scores that sort the nodes, for scores of nodes and pairs."""
        is_nested = self.metric != "unnested"
        return predict_scores(batch, nodes, pairs, self._top_sets(batch), is_nested)

    def _scored(self, X: Sequence[Any]) -> tuple[GraphBatch, FloatArray]:
        check_is_fitted(self, "coef_")
        batch = self._batch(X, self.n_node_features_in_, self.n_edge_features_in_)
        nodes = batch.node_features @ self.coef_[0]
        pairs = batch.edge_features @ self.edge_coef_[0]
        return batch, self._ranked(batch, nodes, pairs) + self.intercept_

    def _warn_if_unfinished(self, solution: RoundsSolution, rule: StoppingRule) -> None:
        if solution.converged:
            return
        last = solution.history[-1]
        reason = f"ended with a gap of {last.gap / last.value:.2g} of its value"
        if rule.is_reached(last.value, last.gap):
            reason = "still lowered the objective"
        warnings.warn(
            f"stopped after {last.n_iter} iterations and {last.seconds:.1f} s: round "
            f"{solution.n_rounds} {reason}; tol={self.tol:g} was not reached. Increase "
            "max_rounds, max_iter or max_time, scale the features, or increase tol.",
            ConvergenceWarning,
            stacklevel=3,
        )
