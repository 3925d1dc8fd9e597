r"""Rankings of the nodes of a graph by linear programming, for weights of any sign.

A ranking is a chain of sets of nodes, one of each size that counts, and a set of size l
has memberships :math:`z_{li} \in \{0, 1\}` with :math:`\sum_i z_{li} = l`. The products
:math:`z_{li} z_{lj}` at the ends of an edge e become variables :math:`m_{le}`, and
memberships may be fractional: the local polytope of every set,

.. math:: \max \sum_l v_l \Big( \sum_i \theta_i z_{li} + \sum_e J_e m_{le} \Big)
          \quad\text{s.t.}\quad \sum_i z_{li} = l, \quad z_{li} \le z_{l'i}
          \text{ for } l < l'

(Rosenfeld, Meshi, Tarlow, Globerson, AISTATS 2014, equations (7) and (9)). Where
:math:`J_e > 0` only :math:`m_{le} \le \min(z_{li}, z_{lj})` can bind, where :math:`J_e
< 0` only :math:`m_{le} \ge \max(0, z_{li} + z_{lj} - 1)`; the rest is left out. If no
weight is negative, :func:`aucmax.graphs.rank` finds the same optimum.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog

from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.graphs.graph import GraphBatch
from aucmax.graphs.inference import PairwiseModel, check_model
from aucmax.metrics.top_sets import TopSets

_MAX_VARIABLES = 2_000_000
_ADVICE = (
    "Use fewer top sets (TopSets.binned, TopSets.up_to) or, if no pair weight is "
    "negative, aucmax.graphs.rank, which needs no program."
)
_MAX_FRACTION = 1e-6  # distance from 0 or 1 of a membership that counts as integral
_TIME_IS_UP = 1  # SciPy's status
_MAX_COST = 1e4  # of a variable, where the median is 1; larger ones harm HiGHS


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """The optimum of the linear program over all sets, and a ranking made of it.

    Attributes
    ----------
    memberships : ndarray of shape (n_sets, n_nodes)
        How much of each node is in each set, from 0 to 1.
    value : float
        The optimum, at least the value of any ranking.
    is_integral : bool
        Whether every membership is 0 or 1. Then the sets are optimal themselves.
    order : ndarray of int64 of shape (n_nodes,)
        The nodes, best first: by `node_counts`, then by unary score (with the loss, if
        the task has one), then by number. For "consistent" positives come first.
    rounded_value : float
        The score of the ranking `order` itself; `value` if the program is nested and
        its solution integral, else at most that.
    node_counts : ndarray of shape (n_nodes,)
        The memberships of each node, summed with the sets' weights.
    edge_counts : ndarray of shape (n_edges,)
        The same of the edges' products m.
    """

    memberships: FloatArray
    value: float
    is_integral: bool
    order: IntArray
    rounded_value: float
    node_counts: FloatArray
    edge_counts: FloatArray


def solve_program(
    unary: ArrayLike,
    edges: ArrayLike,
    pair_weights: ArrayLike,
    *,
    top_sets: TopSets | None = None,
    nested: bool = True,
    task: Literal["rank", "loss_augmented", "consistent"] = "rank",
    labels: ArrayLike | None = None,
    time_limit: float | None = None,
) -> ProgramSolution:
    r"""Rank the nodes of a graph by the linear program over all sets, with HiGHS.

    Parameters
    ----------
    unary, edges, pair_weights, top_sets, task, labels
        As in :func:`rank`, but pair weights may have any sign.
    nested : bool
        Whether each set must hold the one before. If no weight is negative, this
        makes no difference to the optimum.
    time_limit : float, optional
        Maximum number of seconds.

    Returns
    -------
    ProgramSolution
        The optimum of the relaxation, and the ranking it is rounded to.

    Raises
    ------
    ValueError
        If an argument is out of its range, or there are over 2,000,000 variables.
    NotEnoughClassesError
        If all labels are the same.
    TimeoutError
        If the time limit was reached.

    Examples
    --------
    Nodes 0 and 1 are the best by themselves, but they repel each other.

    >>> from aucmax.graphs import solve_program
    >>> solution = solve_program([3.0, 2.5, 1.0], [[0, 1]], [-2.0])
    >>> solution.order
    array([0, 2, 1])
    >>> solution.value, solution.is_integral
    (11.5, True)
    """
    model, edge_of_row = check_model(unary, edges, pair_weights, top_sets, task, labels)
    n_sets, n, n_edges = model.top_sets.sizes.size, model.unary.size, len(model.edges)
    n_variables = n_sets * (n + n_edges)
    if n_variables > _MAX_VARIABLES:
        raise ValueError(
            f"{n_sets} top sets of {n} nodes and {n_edges} edges make a linear program "
            f"of {n_variables:,} variables; the limit is {_MAX_VARIABLES:,}. {_ADVICE}"
        )
    if time_limit is not None and not time_limit > 0.0:
        raise ValueError(f"time_limit must be positive or None, got {time_limit!r}.")
    memberships = np.empty((n_sets, n))
    if n_sets:
        solution: Any = linprog(
            **_program(model, nested),
            method="highs-ds",  # the dual simplex method ends at a vertex
            options={} if time_limit is None else {"time_limit": time_limit},
        )
        if solution.status == _TIME_IS_UP:
            raise TimeoutError(
                f"HiGHS did not solve the linear program of {n_variables:,} variables "
                f"within time_limit={time_limit:g} seconds. {_ADVICE}"
            )
        if solution.status != 0:
            raise RuntimeError(f"HiGHS found no optimum: {solution.message}")
        memberships = np.clip(solution.x[: n_sets * n].reshape(n_sets, n), 0.0, 1.0)
    rounded = np.rint(memberships) + 0.0  # no minus 0
    is_integral = bool((np.abs(memberships - rounded) <= _MAX_FRACTION).all())
    if is_integral:
        memberships = rounded
    first, second = (memberships[:, ends] for ends in model.edges.T)
    least = np.maximum(first + second - 1.0, 0.0)
    best = np.where(model.pair_weights < 0.0, least, np.minimum(first, second))
    weights = model.top_sets.weights
    node_counts, edge_counts = weights @ memberships, weights @ best
    order = _rounded(model, node_counts)
    return ProgramSolution(
        memberships,
        model.value(node_counts, edge_counts),
        is_integral,
        order,
        _value_of(model, order),
        node_counts,
        edge_counts[edge_of_row],
    )


def _program(model: PairwiseModel, nested: bool) -> dict[str, Any]:
    """Return linprog's arguments; the columns are z, then m, set by set."""
    sizes, weights = model.top_sets.sizes, model.top_sets.weights
    n_sets, n, n_edges = sizes.size, model.unary.size, len(model.edges)
    every_set = sparse.eye_array(n_sets)
    first, second = (
        sparse.kron(every_set, sparse.eye_array(n).tocsr()[ends], format="csr")
        for ends in model.edges.T
    )
    products = sparse.eye_array(n_sets * n_edges, format="csr")
    attracts = np.tile(model.pair_weights > 0.0, n_sets)
    repels = np.tile(model.pair_weights < 0.0, n_sets)
    rows: list[list[Any]] = [
        [-first[attracts], products[attracts]],
        [-second[attracts], products[attracts]],
        [first[repels] + second[repels], -products[repels]],
    ]
    limits = np.repeat([0.0, 1.0], [2 * attracts.sum(), repels.sum()])
    if nested and n_sets > 1:
        growth = sparse.diags_array(
            [1.0, -1.0], offsets=[0, 1], shape=(n_sets - 1, n_sets)
        )
        rows.append([sparse.kron(growth, sparse.eye_array(n)), None])
        limits = np.append(limits, np.zeros((n_sets - 1) * n))
    # the sets have fixed sizes, so a constant on all nodes may be taken away
    unary = model.unary - 0.5 * (model.unary.min() + model.unary.max())
    gains = [np.outer(weights, part).ravel() for part in (unary, model.pair_weights)]
    cost = -np.concatenate(gains)
    # HiGHS has absolute tolerances
    magnitudes = np.abs(cost[cost != 0.0])
    if magnitudes.size:
        cost /= max(np.median(magnitudes), magnitudes.max() / _MAX_COST)
    n_products = n_sets * n_edges
    bounds = np.tile([0.0, 1.0], (n_sets * n + n_products, 1))
    if model.positives_first is not None:
        excess = sizes[:, np.newaxis] - model.positives_first.sum()
        is_in = (excess >= 0) & model.positives_first
        is_out = (excess <= 0) & ~model.positives_first
        bounds[: n_sets * n][is_in.ravel(), 0] = 1.0
        bounds[: n_sets * n][is_out.ravel(), 1] = 0.0
    members = sparse.kron(every_set, np.ones((1, n)))
    return {
        "c": cost,
        "A_ub": sparse.block_array(rows, format="csc"),
        "b_ub": limits,
        "A_eq": sparse.hstack([members, sparse.coo_array((n_sets, n_products))]),
        "b_eq": sizes.astype(float),
        "bounds": bounds,
    }


def _rounded(model: PairwiseModel, node_counts: FloatArray) -> IntArray:
    """Order nodes by their counts, of which those that nearly agree are equal."""
    counts = np.round(node_counts / (model.top_sets.weights.sum() or 1.0), 9)
    by_class = np.zeros(counts.size, dtype=bool)
    if model.positives_first is not None:
        by_class = ~model.positives_first
    return np.lexsort((-model.unary, -counts, by_class)).astype(np.int64, copy=False)


def _value_of(model: PairwiseModel, order: IntArray) -> float:
    """Return the score of a ranking, in the time of its nodes, edges and sets."""
    weight_up_to, _ = model.top_sets.prefix_sums()
    node_counts = np.empty(order.size)
    # the node at place r, from 0, is in every set of more than r nodes
    node_counts[order] = weight_up_to[-1] - weight_up_to[:-1]
    first, second = (node_counts[ends] for ends in model.edges.T)
    return model.value(node_counts, np.minimum(first, second))


def solve_repelling(
    batch: GraphBatch,
    unary: FloatArray,
    pair_weights: FloatArray,
    top_sets: Sequence[TopSets],
    nested: bool,
    positives_first: BoolArray | None = None,
) -> Iterator[tuple[slice, slice, ProgramSolution]]:
    """Solve the graphs with a negative pair weight; yield nodes and edges, too."""
    repels = np.flatnonzero(pair_weights < 0.0)
    owners = np.searchsorted(batch.edge_offsets, repels, side="right") - 1
    for m in np.unique(owners):
        nodes = slice(*batch.node_offsets[m : m + 2].tolist())
        edges = slice(*batch.edge_offsets[m : m + 2].tolist())
        solution = solve_program(
            unary[nodes],
            batch.edges[edges] - nodes.start,
            pair_weights[edges],
            top_sets=top_sets[m],
            nested=nested,
            task="rank" if positives_first is None else "consistent",
            labels=None if positives_first is None else positives_first[nodes],
        )
        yield nodes, edges, solution
