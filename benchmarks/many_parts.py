"""Rows in ten thousand parts, in one process: what travels, and what cells cost.

Parts are made, counted and thrown away one after the other, as workers would do it.
From the seconds that a row of a large part takes, the last figures say what a round of
ten billion rows takes on a thousand workers of one thread: all of them count at the
same time, and what travels goes over a network of 10 Gbit/s, there and back.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module

import numpy as np

from aucmax.risks import PairHinge, PairLogistic
from aucmax.risks._grid_sums import Grid, GridSums, TwoClasses
from aucmax.trees.pair_objectives import find_objective
from benchmarks.harness import Report, timed

with suppress(ImportError):  # an extra, without which this is left out
    from aucmax.dask import cells

TITLE = "many parts: what travels, what cells cost"
N_ROWS = int(float(os.environ.get("AUCMAX_ROWS", "1e7")))
N_PARTS = 10_000
N_COLUMNS = 20
FAR_ROWS, FAR_WORKERS = 1e10, 1000
LARGE = 1_000_000  # rows of a part whose time counts
BYTES_A_SECOND = 10e9 / 8


def run(report: Report) -> None:
    """Measure both kinds of cells, and go to ten billion rows on paper."""
    import_module("dask")
    linear(report)
    trees(report)


def parts() -> Iterator[tuple[np.ndarray, "cells.Labels"]]:
    """Make the rows of each part, and their labels."""
    for number in range(N_PARTS):
        generator = np.random.default_rng(number)
        shape = N_ROWS // N_PARTS, N_COLUMNS
        X = generator.standard_normal(shape, np.float32)
        noise = generator.standard_normal(shape[0])
        yield X, cells.Labels(X[:, 0] + 0.5 * X[:, 1] + noise > 1.5, None)


def linear(report: Report) -> None:
    """Count the scores of a linear model in cells; compare the risk with its own."""
    weights = np.zeros(N_COLUMNS, np.float32)
    weights[:3] = 0.8, 0.4, 0.05
    width = 2.0**-7  # that of tol=1e-3
    shared = {"weights": weights, "width": width}
    found, scores, labels = [], [], []
    for X, known in parts():
        found.append(cells._count(X, known, shared))
        scores.append(np.asarray(X @ weights, dtype=np.float64))
        labels.append(known.is_positive)
    keys, masses, sums = merged(found)
    all_scores, all_labels = np.concatenate(scores), np.concatenate(labels)
    is_positive, places = keys % 2 == 1, keys // 2
    risk = PairHinge()
    of_means = risk.bind(is_positive, masses).value(sums / masses)
    exact = risk.bind(all_labels).value(all_scores)
    facing = dict(zip(places[~is_positive], masses[~is_positive], strict=True))
    at_kinks = sum(
        mass * facing.get(place - 2**7, 0.0)
        for place, mass in zip(places[is_positive], masses[is_positive], strict=True)
    )
    bound = 0.5 * width * at_kinks / (all_labels.sum() * (~all_labels).sum())
    size = 24.0 * keys.size
    report.add("linear: cells with rows", keys.size, "")
    report.add("linear: bytes that a part sends a pass, at most", size, "bytes")
    report.add("linear: error of the risk, relative", (exact - of_means) / exact, "")
    report.add("linear: bound of that error", bound / exact, "", at_most=1e-4)
    report.add("linear: error by its bound", (exact - of_means) / bound, at_most=1.0)
    X = np.random.default_rng(0).standard_normal((LARGE, N_COLUMNS), np.float32)
    known = cells.Labels(X[:, 0] > 1.0, None)
    slopes = {**shared, "keys": keys, "slopes": np.ones(keys.size)}
    cells._count(X, known, shared)  # loads
    counting, _ = timed(lambda: cells._count(X, known, shared))
    pulling, _ = timed(lambda: cells._pull_back(X, known, slopes))
    seconds = (counting + pulling) / LARGE
    report.add("linear: a pass over a row", 1e9 * seconds, "ns")
    far = FAR_ROWS / FAR_WORKERS * seconds
    depth = np.ceil(np.log(FAR_WORKERS) / np.log(8))  # merges of eight at a time
    travel = 2 * 8 * depth * size / BYTES_A_SECOND
    report.add("linear, 1e10 rows on 1,000 workers: work of a pass", far, "s")
    report.add("linear, 1e10 rows on 1,000 workers: travel", travel, "s")


def merged(found: list) -> tuple:
    """Merge eight at a time, as the workers do."""
    while len(found) > 1:
        found = [cells._merged(found[k : k + 8]) for k in range(0, len(found), 8)]
    return found[0]


def trees(report: Report) -> None:
    """Add up moments of scores in cells; compare the gradient with the exact one."""
    risk = find_objective("logistic").risk()
    generator = np.random.default_rng(0)
    labels = generator.random(N_ROWS) < 0.1
    scores = 2.0 * generator.standard_normal(N_ROWS) + labels
    grid = Grid.between(scores.min(), scores.max(), 1.0, risk.accuracy)
    places = np.array_split(np.arange(N_ROWS), N_PARTS)
    total: np.ndarray = np.zeros(())

    def sums_of(rows: np.ndarray, add_others) -> GridSums:
        sides = labels[rows].view(np.uint8)
        classes = TwoClasses.of(sides, None, [(0.0, 1.0)] * 2, 0.0)
        at = classes.at(scores[rows])
        return GridSums(at, grid, 1, add_others=add_others)

    def collect(own: np.ndarray) -> np.ndarray:
        nonlocal total
        total = total + own
        return own

    for rows in places:
        sums_of(rows, collect)
    chosen = places[:: N_PARTS // 100]
    unit = N_ROWS / 2.0 / (labels.sum() * (~labels).sum())
    found = [
        sums_of(rows, lambda _: total).gradient_hessian(unit)[0] for rows in chosen
    ]
    pairs = PairLogistic(accuracy=1e-12).bind(labels.astype(np.int64))
    exact, _ = pairs.gradient_hessian(scores, scaled=True)
    rows = np.concatenate(chosen)
    error = np.abs(np.concatenate(found) / exact[rows] - 1.0).max()
    report.add("trees: bytes that a worker sends a round", total.nbytes, "bytes")
    report.add(
        "trees: largest relative error of a gradient", error, "", at_most=risk.accuracy
    )
    everything = np.arange(min(LARGE, N_ROWS))
    taken, _ = timed(
        lambda: sums_of(everything, lambda _: total).gradient_hessian(unit)
    )
    seconds = taken / everything.size
    report.add("trees: gradient of a row", 1e9 * seconds, "ns")
    # XGBoost adds up histograms of 31 leaves, 256 bins and two numbers of 8 bytes
    histograms = 31 * 256 * 16 * N_COLUMNS
    travel = 2 * (total.nbytes + histograms) / BYTES_A_SECOND
    far = FAR_ROWS / FAR_WORKERS * seconds
    report.add("trees, 1e10 rows on 1,000 workers: our gradient", far, "s")
    report.add("trees, 1e10 rows on 1,000 workers: travel", travel, "s")
    report.add(
        "... of all scores in place of cells", 8 * FAR_ROWS / BYTES_A_SECOND, "s"
    )
