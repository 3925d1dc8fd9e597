"""Graphs: exact rankings against linear programs, growth to 10^6 nodes, training.

One section alone: ``python -m benchmarks structured.inference`` (or ``images``,
``cycles``, ``training``, ``growth``, ``memory``).
"""

import ctypes
import multiprocessing
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import cvxpy
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from aucmax import GraphRanker
from aucmax.datasets import make_letter_images
from aucmax.graphs import (
    Graph,
    grid_edges,
    rank,
    solve_program,
)
from aucmax.graphs.total_variation import optimality_gap, prox, value
from aucmax.metrics.top_sets import TopSets
from benchmarks.harness import Report, Timing, repeat_for, time_in_turn, timed

TITLE = "structured AUC: rankings of graphs against HiGHS, growth, training"
SIZES = (1_000, 10_000, 100_000, 1_000_000)
WARM_UP = 1.0  # seconds of short calls, before they are timed


class Model(NamedTuple):
    """Scores of nodes, edges, and what the two ends of an edge are worth together."""

    unary: np.ndarray
    edges: np.ndarray
    pair_weights: np.ndarray


def run(report: Report) -> None:
    for section in (inference, images, cycles, training, growth, memory):
        section(report)


def inference(report: Report) -> None:
    """Rank random graphs by blocks, and by the program with one set per size."""
    for n in (30, 50, 100):
        model, labels = sparse_graph(n, 3 * n), np.arange(n) % 3 == 0
        ours: dict[str, Callable[[], Any]] = {
            task: lambda m=model, y=labels, task=task: rank(*m, task=task, labels=y)
            for task in ("rank", "loss_augmented", "consistent")
        }
        times = time_in_turn(ours, repeats=20, warm_up=WARM_UP)
        for task, call in ours.items():
            # an interior point took longer wherever both were tried
            methods = ("simplex", "interior-point") if task == "rank" else ("simplex",)
            runs = [highs(model, task, labels, method) for method in methods]
            seconds, optimum = min(runs)
            is_held = n == 100
            report.add(
                f"n = {n}, |E| = {3 * n}: HiGHS / ours, {task!r}",
                seconds / times[task].best,
                at_least=500.0 if is_held and task == "rank" else None,
                remark=f"{seconds:.3g} s / {in_milliseconds(times[task])}",
            )
            report.add(
                f"n = {n}, |E| = {3 * n}: difference of values, {task!r}",
                abs(call().value - optimum) / abs(optimum),
                "of value",
                at_most=1e-8,
            )


def images(report: Report) -> None:
    """Rank the pixels of a large image; smooth a small one, against a QP solver."""
    model = image(300)
    rank(*image(10))
    seconds, ranking = timed(lambda: rank(*model))
    report.add(
        "300 x 300 pixels, all 90,000 top_sets",
        seconds,
        "s",
        at_most=10.0,
        remark=f"{ranking.blocks.size - 1:,} blocks",
    )
    report.add("300 x 300 pixels: certified gap", gap(model, ranking), "of value")
    small = smoothing(image(100))
    times = time_in_turn({"ours": lambda: prox(*small)}, repeats=5)
    peer, smooth = timed(lambda: smooth_by_qp(*small))
    report.add(
        "100 x 100 pixels, total variation: Clarabel / ours",
        peer / times["ours"].best,
        at_least=1.0,
        remark=f"{peer:.3g} s",
    )
    least = value(prox(*small), *small)
    report.add(
        "100 x 100 pixels: value of Clarabel less ours",
        (value(smooth, *small) - least) / least,
        "of value",
        at_least=0.0,
    )


def cycles(report: Report) -> None:
    """Rank long thin graphs of strong edges, on which much has far to flow."""
    n, grid = 90_000, image(300)
    values = np.random.default_rng(0).normal(size=n)
    models = {name: thin(values, edges) for name, edges in long_edges(n).items()}
    calls = {name: lambda m=model: rank(*m) for name, model in models.items()}
    times = time_in_turn({"grid": lambda: rank(*grid), **calls}, repeats=3)
    for name, call in calls.items():
        report.add(
            f"{name}, 90,000 nodes, weights of 100 / 300 x 300 pixels",
            times[name].best / times["grid"].best,
            remark=f"{times[name].best:.2g} s / {times['grid'].best:.2g} s",
        )
        report.add(f"{name}, 90,000 nodes", times[name].best, "s", at_most=3.0)
        report.add(
            f"{name}: certified gap",
            gap(models[name], call()),
            "of value",
            at_most=1e-12,
        )


def growth(report: Report) -> None:
    """Follow the time per node from 10^3 to 10^6 nodes."""
    for name, draw in SHAPES.items():
        seconds, walks = [], []
        small = draw(SIZES[0])
        repeat_for(WARM_UP, lambda m=small: rank(*m))
        for n in SIZES:
            model = draw(n)
            repeats = 1 if n == SIZES[-1] else 4
            runs = [timed(lambda m=model: rank(*m)) for _ in range(repeats)]
            seconds.append(min(taken for taken, _ in runs))
            walks.append(min(timed(lambda m=model: components(m))[0] for _ in range(4)))
            report.add(
                f"{name}, 10^{round(np.log10(n))} nodes",
                1e6 * seconds[-1] / model.unary.size,
                "us per node",
                remark=f"{seconds[-1]:.3g} s, {len(model.edges):,} edges"
                + (f", exponent {exponent(seconds[-2:]):.2f}" if seconds[1:] else ""),
            )
        report.add(
            f"{name}: exponent of growth, 10^3 to 10^6 nodes",
            exponent(seconds),
            "",
            at_most=1.3,
            remark=f"scipy's connected_components {exponent(walks):.2f}",
        )
        report.add(
            f"{name}, 10^6 nodes: certified gap",
            gap(model, runs[-1][1]),
            "of value",
            at_most=1e-12,
        )


def memory(report: Report) -> None:
    """Tell the most memory taken beyond the input, of processes of their own."""
    for name in SHAPES:
        taken = []
        for n in SIZES[-2:]:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                taken.append(pool.apply(bytes_taken, (name, n)))
        report.add(f"{name}, 10^6 nodes: memory", taken[-1], "bytes per node or edge")
        report.add(
            f"{name}: the same, 10^6 / 10^5 nodes", taken[-1] / taken[0], at_most=1.1
        )


def training(report: Report) -> None:
    """Learn letters, unbinned; and count what the binned programs would take."""
    pictures, masks = make_letter_images("A", 20, flip=0.15, random_state=0)
    edges = grid_edges(*pictures[0].shape)
    graphs = [Graph(picture.reshape(-1, 1), edges) for picture in pictures]
    labels = [mask.ravel() for mask in masks]
    GraphRanker(tol=1e-2).fit(graphs[:2], labels[:2])
    seconds, ranker = timed(lambda: GraphRanker(tol=1e-2).fit(graphs, labels))
    report.add(
        "20 letters, unbinned, to a gap of 1e-2",
        seconds,
        "s",
        at_most=60.0,
        remark=f"{ranker.n_passes_:.0f} passes, {ranker.n_rounds_} rounds",
    )
    report.add(
        "20 letters: certified gap",
        ranker.dual_gap_ / ranker.objective_,
        "of value",
        at_most=1e-2,
    )
    by_gap = GraphRanker(tol=1e-2, metric_tol=None).fit(graphs, labels)
    report.add(
        "20 letters: passes until the metric rests / until the gap is reached",
        ranker.n_passes_ / by_gap.n_passes_,
        remark=f"AUC {ranker.score(graphs, labels):.4f}, "
        f"{by_gap.score(graphs, labels):.4f} by the gap alone",
    )
    # what a Frank-Wolfe step asks for: the best ranking together with its loss
    unary = graphs[0].node_features @ ranker.coef_[0] - labels[0]
    model = Model(unary, edges, graphs[0].edge_features @ ranker.edge_coef_[0])
    top_sets = TopSets.binned(unary.size, 10)
    runs = [
        highs(model, top_sets=top_sets, method=m) for m in ("simplex", "interior-point")
    ]
    program, optimum = min(runs)
    times = time_in_turn(
        {"ours": lambda: rank(*model, top_sets=top_sets)}, repeats=20, warm_up=WARM_UP
    )
    report.add(
        "one letter, 10 bins: HiGHS / ours",
        program / times["ours"].best,
        remark=f"{program:.3g} s / {in_milliseconds(times['ours'])}",
    )
    report.add(
        "one letter, 10 bins: difference of values",
        abs(rank(*model, top_sets=top_sets).value - optimum) / abs(optimum),
        "of value",
        at_most=1e-8,
    )
    report.add(
        "as many binned programs as our rankings / our whole fit",
        program * ranker.n_passes_ * len(graphs) / seconds,
        remark=f"{ranker.n_passes_ * len(graphs):.0f} programs",
    )


def in_milliseconds(timing: Timing) -> str:
    """Tell later calls and the first one apart."""
    return f"{1e3 * timing.best:.3g} ms, first call {1e3 * timing.first:.3g} ms"


def sparse_graph(n: int, n_edges: int | None = None) -> Model:
    """Draw a random attractive graph, three edges per node unless told."""
    generator = np.random.default_rng(0)
    n_edges = 3 * n if n_edges is None else n_edges
    drawn = np.empty(0, dtype=np.int64)
    while drawn.size < n_edges:
        i, j = np.sort(generator.integers(0, n, (2, 2 * n_edges)), axis=0)
        drawn = np.unique(np.concatenate([drawn, (i * n + j)[i < j]]))
    kept = generator.choice(drawn, n_edges, replace=False)
    edges = np.column_stack(np.divmod(np.sort(kept), n))
    return Model(generator.normal(size=n), edges, generator.exponential(0.5, n_edges))


def image(side: int) -> Model:
    """Draw a smooth square image with noise; neighbouring pixels attract."""
    waves = np.linspace(0.0, 3.0, side)
    noise = np.random.default_rng(0).normal(size=(side, side))
    pixels = np.outer(np.sin(waves), np.cos(waves)) + 0.3 * noise
    edges = grid_edges(side, side)
    return Model(pixels.ravel(), edges, np.full(len(edges), 0.4))


def chain(n: int) -> Model:
    """Draw a random walk with noise along a chain."""
    generator = np.random.default_rng(0)
    steps = np.cumsum(generator.normal(scale=0.1, size=n))
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return Model(steps + generator.normal(size=n), edges, np.full(n - 1, 2.0))


def tree(n: int) -> Model:
    """Draw a tree in which each node hangs from a random earlier one."""
    generator = np.random.default_rng(0)
    parents = (generator.random(n - 1) * np.arange(1, n)).astype(np.int64)
    edges = np.column_stack([parents, np.arange(1, n)])
    return Model(generator.normal(size=n), edges, generator.exponential(0.5, n - 1))


def thin(values: np.ndarray, edges: np.ndarray) -> Model:
    return Model(values, edges, np.full(len(edges), 100.0))


def long_edges(n: int) -> dict[str, np.ndarray]:
    """Return the edges of graphs that are long and have cycles."""
    nodes, half = np.arange(n), n // 2
    cycle = np.column_stack([nodes, (nodes + 1) % n])
    shorter = np.column_stack([nodes[:half], (nodes[:half] + 1) % half])
    return {
        "cycle": cycle,
        "two joined cycles": np.vstack([shorter, shorter + half, [[0, half]]]),
        "cycle with two chords": np.vstack(
            [cycle, [[0, half], [n // 4, half + n // 4]]]
        ),
        "ladder": grid_edges(2, half),
    }


SHAPES: dict[str, Callable[[int], Model]] = {
    "image": lambda n: image(round(n**0.5)),
    "random graph": sparse_graph,
    "chain": chain,
    "tree": tree,
}


def smoothing(model: Model) -> Model:
    """Return the total-variation problem that ranks the nodes: u, edges, weights."""
    half = model.pair_weights / 2.0
    shares = np.bincount(model.edges.ravel(), np.repeat(half, 2), model.unary.size)
    return Model(model.unary + shares, model.edges, half)


def gap(model: Model, ranking: Any) -> float:
    """Return the certified distance of a ranking's scores from the optimum."""
    problem = smoothing(model)
    return optimality_gap(ranking.scores, *problem) / value(ranking.scores, *problem)


def exponent(seconds: list[float]) -> float:
    """Return the power of the size with which the time grew, tenfold size by size."""
    return float(np.log10(seconds[-1] / seconds[0])) / (len(seconds) - 1)


def components(model: Model) -> int:
    """Visit all nodes and edges, which takes linear time: what memory itself costs."""
    n, ones = model.unary.size, np.ones(len(model.edges), dtype=np.int8)
    matrix = sparse.coo_array((ones, model.edges.T), shape=(n, n))
    return int(connected_components(matrix, directed=False)[0])


def highs(
    model: Model,
    task: str = "rank",
    labels: np.ndarray | None = None,
    method: str = "simplex",
    top_sets: TopSets | None = None,
) -> tuple[float, float]:
    """Solve the linear program; return seconds and optimum."""
    seconds, solution = timed(
        lambda: solve_program(
            *model, task=task, labels=labels, method=method, top_sets=top_sets
        )
    )
    return seconds, solution.value


def smooth_by_qp(
    values: np.ndarray, edges: np.ndarray, weights: np.ndarray
) -> np.ndarray:
    """Smooth values along edges with an interior-point solver."""
    x = cvxpy.Variable(values.size)
    variation = weights @ cvxpy.abs(x[edges[:, 0]] - x[edges[:, 1]])
    objective = cvxpy.Minimize(cvxpy.sum_squares(x - values) / 2 + variation)
    cvxpy.Problem(objective).solve(solver=cvxpy.CLARABEL)
    return np.asarray(x.value)


def bytes_taken(name: str, n: int) -> float:
    """Return the most memory beyond the input, for each node and edge (on Linux)."""
    rank(*SHAPES[name](100))
    model = SHAPES[name](n)
    ctypes.CDLL(None).malloc_trim(0)  # give back what drawing took
    process = Path("/proc/self")
    (process / "clear_refs").write_text("5")  # forget the peak so far
    before = peak_bytes(process)
    rank(*model)
    return (peak_bytes(process) - before) / (model.unary.size + len(model.edges))


def peak_bytes(process: Path) -> int:
    # not by resource.getrusage, which counts what the parent process had
    status = (process / "status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])
