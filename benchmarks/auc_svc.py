"""AUCSVC: passes to a certified gap, time outside the passes, memory, start-up."""

import statistics
import subprocess
import sys
import tracemalloc
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC
from aucmax.linear.linear_objective import LinearObjective
from aucmax.metrics import roc_auc_score
from benchmarks.harness import Report, share_outside, time_in_turn, timed

TITLE = "AUCSVC against LogisticRegression and against bare products with the data"
PASSES = {1.0: 10, 100.0: 25, 10_000.0: 60}
FIRST_FIT = """
import time, numpy as np
start = time.perf_counter()
import aucmax
imported = time.perf_counter() - start
X = np.random.default_rng(0).normal(size=(1000, 20))
y = X[:, 0] + X[:, 1] > 1.0
aucmax.AUCSVC().fit(X, y)
print(imported, time.perf_counter() - start)
"""


def run(report: Report) -> None:
    for name, make in {
        "overlapping classes": overlapping,
        "linear rule": linear,
    }.items():
        passes(report, name, *make(50_000, 100, 0.15))
    against_logistic_regression(report)
    memory(report)
    queries(report)
    wide_bits(report)
    start_up(report)


def overlapping(n_rows: int, n_features: int, share: float) -> tuple[np.ndarray, ...]:
    X, y = make_classification(
        n_rows,
        n_features,
        n_informative=20,
        n_redundant=20,
        weights=[1.0 - share],
        flip_y=0.05,
        random_state=0,
    )
    return StandardScaler().fit_transform(X), y


def linear(n_rows: int, n_features: int, share: float) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_features))
    score = X @ generator.normal(size=n_features) / np.sqrt(n_features)
    score += 0.5 * generator.normal(size=n_rows)
    y = (score > np.quantile(score, 1.0 - share)).astype(int)
    return StandardScaler().fit_transform(X), y


def passes(report: Report, name: str, X: np.ndarray, y: np.ndarray) -> None:
    ones, scores = np.ones(X.shape[1]), np.ones(X.shape[0])
    for C, most in PASSES.items():
        model = AUCSVC(C)
        shares = []

        def fit(model: AUCSVC = model, shares: list[float] = shares) -> None:
            fitted = partial(model.fit, X, y)
            shares.append(share_outside(fitted, LinearObjective, "_product"))

        times = time_in_turn({"fit": fit, "pass": lambda: (X @ ones, X.T @ scores)}, 15)
        gap = model.dual_gap_ / model.objective_
        label = f"{name}, C = {C:g}"
        remark = f"relative gap {gap:.1e}"
        report.add(label, model.n_passes_, "passes", at_most=most, remark=remark)
        report.add(
            f"{label}: time outside / in the passes",
            statistics.median(shares),
            at_most=1.0,
        )
        report.add(
            f"{label}: fit / one bare pass", times["fit"].best / times["pass"].best
        )


def against_logistic_regression(report: Report) -> None:
    X, y = overlapping(200_000, 50, 0.1)
    train, test = slice(100_000), slice(100_000, None)
    ours, theirs = AUCSVC(), LogisticRegression(class_weight="balanced")
    times = time_in_turn(
        {
            "ours": lambda: ours.fit(X[train], y[train]),
            "theirs": lambda: theirs.fit(X[train], y[train]),
        }
    )
    report.add(
        "100,000 x 50: time / balanced logistic regression",
        times["ours"].best / times["theirs"].best,
        at_most=4.0,
    )
    auc = [
        roc_auc_score(y[test], model.decision_function(X[test]))
        for model in (ours, theirs)
    ]
    report.add(
        "100,000 x 50: test AUC - balanced logistic regression's",
        auc[0] - auc[1],
        "",
        at_least=0.0,
        remark=f"{auc[0]:.5f} and {auc[1]:.5f}",
    )


def memory(report: Report) -> None:
    X, y = linear(100_000, 50, 0.1)
    allowed = 0.25 * X.nbytes + 40 * len(y)
    for C in (1.0, 10_000.0):
        tracemalloc.start()
        AUCSVC(C).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        report.add(
            f"peak extra memory / (25% of X + 40 bytes per row), C = {C:g}",
            peak / allowed,
            at_most=1.0,
        )


def queries(report: Report) -> None:
    """Pairs within queries against the same rows in one ranking."""
    generator = np.random.default_rng(0)
    X, y = linear(200_000, 50, 0.15)
    qid = np.repeat(np.arange(2_000), 100)
    X = X + 0.5 * generator.normal(size=(2_000, 50))[qid]  # what queries differ in
    for C in (100.0, 10_000.0):
        within, across = AUCSVC(C), AUCSVC(C)
        times = time_in_turn(
            {
                "within": partial(within.fit, X, y, qid=qid),
                "across": partial(across.fit, X, y),
            },
            repeats=2,
        )
        report.add(
            f"2,000 queries x 100 rows, C = {C:g}: passes / without queries",
            within.n_passes_ / across.n_passes_,
            at_most=3.0,
            remark=f"{within.n_passes_:g} and {across.n_passes_:g} passes, "
            f"{times['within'].best / times['across'].best:.2g} x the time",
        )


def wide_bits(report: Report) -> None:
    """Zeros and ones, many more columns than rows, and classes that can be parted."""
    generator = np.random.default_rng(0)
    X = (generator.random((400, 20_000)) < 0.1).astype(float)
    y = X[:, :50].sum(axis=1) + generator.normal(size=400) > 8.0
    models = {solver: AUCSVC(100.0, solver=solver) for solver in ("auto", "bundle")}
    times = time_in_turn(
        {name: partial(model.fit, X, y) for name, model in models.items()}, repeats=1
    )
    report.add(
        "400 x 20,000 bits, C = 100: gap 1e-3",
        models["auto"].n_passes_,
        "passes",
        at_most=150,
        remark=f"{models['bundle'].n_passes_:g} by cutting planes alone",
    )
    report.add(
        "400 x 20,000 bits: cutting planes alone / ours",
        times["bundle"].best / times["auto"].best,
        at_least=1.0,
    )


def start_up(report: Report) -> None:
    runs = []
    for _ in range(5):
        command = [sys.executable, "-c", FIRST_FIT]
        options = {"capture_output": True, "text": True, "check": True}
        whole, answer = timed(partial(subprocess.run, command, **options))
        runs.append((*map(float, answer.stdout.split()), whole))
    imported, fitted, whole = np.median(runs, axis=0)
    report.add("import aucmax", imported, "s", at_most=1.0)
    report.add("import and first fit, 1,000 rows", fitted, "s", at_most=3.0)
    report.add("whole process", whole, "s")
