"""Table 5: the cost of the exact problem over pairs, and of its reduction.

The paper's data: N = 100, r = 3 of k = 10, noise 5 %, as many positives as negatives,
epsilon = 0.2. Passes over the data come first, because they are the same on every
machine; seconds only serve for ratios between the columns of one run.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from aucmax.datasets import make_r_of_k
from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker

EPSILON = 0.2
PROGRAM = "HiGHS, pairs as printed"
PRINTED_SIZES = (100, 500, 1000, 1500)
LARGER_SIZES = (10_000, 100_000, 1_000_000)
MAX_LISTED_NUMBERS = 30_000_000  # of a dense constraint matrix
MAX_REDUCTION_ROWS = 100_000  # for "adaptive" and "global"


@dataclass
class Timing:
    """One solve: how long, how many passes, and how far from the optimum at most."""

    m: int
    solver: str
    seconds: float | None
    passes: float | None = None
    gap: float | None = None
    note: str = ""

    def __str__(self) -> str:
        return f"m = {self.m:,}, {self.solver}: {self.seconds} s {self.note}"


@dataclass
class Timings:
    """All solves, which are comparable because they were timed in one process."""

    timings: list[dict[str, Any]]

    def all(self) -> list[Timing]:
        """Return them as they were."""
        return [Timing(**one) for one in self.timings]

    def __str__(self) -> str:
        return "".join(f"\n{one}" for one in self.all())


def time_solvers(sizes: tuple[int, ...], most_seconds: float) -> Timings:
    """Solve the same problems at several sizes in several ways.

    The linear program as the paper prints it is given `most_seconds`.
    """
    timings: list[Timing] = []
    for m in sizes:
        X, y = make_r_of_k(
            m, 100, r=3, k=10, label_noise=0.05, dtype=np.float32, random_state=0
        )
        labels = y == 1
        tol = 1e-4 if m <= max(PRINTED_SIZES) else 1e-3
        repeats = 3 if m <= 10_000 else 1
        for formulation in ("pairs", "instances", "adaptive", "global"):
            if formulation in ("adaptive", "global") and m > MAX_REDUCTION_ROWS:
                continue
            model = MarginRanker("features", formulation, EPSILON, tol=tol)
            timings.append(_time_ours(model, X, y, repeats))
        if m <= max(PRINTED_SIZES):
            H = X.astype(np.float64)
            timings.append(_time_program(H, labels, most_seconds))
    return Timings([vars(one) for one in timings])


def _time_ours(model: MarginRanker, X: Any, y: np.ndarray, repeats: int) -> Timing:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MarginWarning)
            model.fit(X, y)
        seconds.append(time.perf_counter() - start)
    figures = min(seconds), model.n_passes_, model.certificate_.gap
    return Timing(X.shape[0], model.formulation, *figures, f"tol {model.tol:g}")


def _time_program(H: np.ndarray, labels: np.ndarray, most_seconds: float) -> Timing:
    p, n = int(labels.sum()), int((~labels).sum())
    timing = Timing(labels.size, PROGRAM, None, note="not run")
    if p * n * H.shape[1] <= MAX_LISTED_NUMBERS:
        start = time.perf_counter()
        try:
            solve_printed_program(H, labels, EPSILON * p * n, most_seconds)
            timing.seconds, timing.note = time.perf_counter() - start, ""
        except TimeoutError:
            timing.note = f"no optimum within {most_seconds:g} s"
    return timing


def solve_printed_program(
    H: np.ndarray, labels: np.ndarray, nu: float, most_seconds: float
) -> None:
    """Solve problem (2) as the paper prints it: one dense constraint per pair."""
    pairs = (H[labels][:, None] - H[~labels][None]).reshape(-1, H.shape[1]) / 2.0
    n_pairs, n = pairs.shape
    # weights, rho, then one slack per pair: margin >= rho - slack
    rows = sparse.hstack([-pairs, np.ones((n_pairs, 1)), -sparse.eye_array(n_pairs)])
    cost = np.concatenate([np.zeros(n), [-1.0], np.full(n_pairs, 1.0 / nu)])
    sums = np.concatenate([np.ones(n), np.zeros(1 + n_pairs)])[None, :]
    free = np.array([(0, np.inf)] * n + [(-np.inf, np.inf)] + [(0, np.inf)] * n_pairs)
    limits = cost, rows, np.zeros(n_pairs), sums, [1.0], free
    options = {"time_limit": most_seconds}
    solution = linprog(*limits, method="highs", options=options)
    if solution.status == 1:
        raise TimeoutError
    if solution.status != 0:
        raise RuntimeError(f"HiGHS found no optimum: {solution.message}")
