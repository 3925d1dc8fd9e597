"""Graphs: exact rankings against linear programs and a conic solver; training."""

import cvxpy
import numpy as np

from aucmax import GraphRanker
from aucmax.datasets import make_letter_images
from aucmax.graphs import Graph, grid_edges, rank, solve_program
from aucmax.graphs.total_variation import prox
from benchmarks.gates import best_seconds, gate, merge_sort, ratio, seconds


def image(side: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a smooth square image with noise; neighbouring pixels attract."""
    waves = np.linspace(0.0, 3.0, side)
    noise = np.random.default_rng(0).normal(size=(side, side))
    pixels = np.outer(np.sin(waves), np.cos(waves)) + 0.3 * noise
    edges = grid_edges(side, side)
    return pixels.ravel(), edges, np.full(len(edges), 0.4)


@gate("ranking of 100 nodes / HiGHS on the n-level program", at_most=0.002)
def against_highs() -> float:
    problem = image(10)
    ours = best_seconds({"ours": lambda: rank(*problem)}, repeats=300)["ours"]
    return ours / seconds(lambda: solve_program(*problem))


@gate("total variation of 100 x 100 pixels / Clarabel", at_most=0.5)
def total_variation() -> float:
    values, edges, weights = image(100)
    x = cvxpy.Variable(values.size)
    variation = weights @ cvxpy.abs(x[edges[:, 0]] - x[edges[:, 1]])
    program = cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(x - values) / 2 + variation)
    )
    return ratio(
        lambda: prox(values, edges, weights),
        lambda: program.solve(solver=cvxpy.CLARABEL),
        repeats=2,
    )


@gate("a ranking of 300 x 300 pixels / a merge sort of them", at_most=70.0)
def large_image() -> float:
    problem = image(300)
    return ratio(lambda: rank(*problem), lambda: merge_sort(problem[0]), repeats=3)


@gate("GraphRanker, 20 letters, to a gap of 1e-2", at_most=60, unit="passes")
def letters() -> float:
    pictures, masks = make_letter_images("A", 20, flip=0.15, random_state=0)
    edges = grid_edges(*pictures[0].shape)
    graphs = [Graph(picture.reshape(-1, 1), edges) for picture in pictures]
    return GraphRanker(tol=1e-2).fit(graphs, [m.ravel() for m in masks]).n_passes_
