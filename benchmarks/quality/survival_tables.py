"""AutoRanker on tables of censored times and published folds: docs/studies/survival.md.

The protocol, written before the run, is on that page. Tables are looked for in the
folder ``survival`` of ``AUCMAX_DATA``; ``AUCMAX_ITERATIONS`` sets how many of the
published iterations run. If ``AUCMAX_RESULTS`` names a folder, each iteration becomes a
file there, and what is there already is not run again.
"""

import os
import time
import warnings
from functools import partial

import numpy as np
import polars as pl

from aucmax import AutoRanker
from aucmax.metrics import concordance_index, survival_target
from benchmarks.papers.data import FOLDER
from benchmarks.papers.differences import mean_difference
from benchmarks.report import Report, stored

TITLE = "AutoRanker on censored times, by Harrell's C on published folds"
FILES = FOLDER / "survival"
N_ITERATIONS = int(os.environ.get("AUCMAX_ITERATIONS", "5"))
SECONDS = 30.0
# the learners of the published table that are shown beside the best one
SHOWN = ("CPH", "GAM", "RAN", "RFSRC", "MBSTAFT", "XGBCox")


def run(report: Report) -> None:
    published = read_published()
    names = [name for name in published["CPH"] if (FILES / f"{name}.csv.gz").is_file()]
    if not names:
        print(f"no tables in {FILES}; name the folder of data sets in AUCMAX_DATA")
        return
    results = {
        name: [
            stored(f"survival-{name}-{k}", partial(measure_iteration, name, k))
            for k in range(1, n_iterations(name) + 1)
        ]
        for name in names
    }
    auto, cox = (
        np.array([np.mean([one[side] for one in results[name]]) for name in names])
        for side in ("auto", "cox")
    )
    print(f"{'table':<10} {'auto':>6} {'Cox':>6}  auto - Cox       ", *SHOWN, "best")
    for name, ours, line in zip(names, auto, cox, strict=True):
        gains = np.array([one["auto"] - one["cox"] for one in results[name]])
        best = max(learner[name] for learner in published.values())
        shown = " ".join(f"{published[learner][name]:.4f}" for learner in SHOWN)
        # folds share training rows
        share = float(np.mean([one["test"] / one["train"] for one in results[name]]))
        reach = mean_difference(gains, overlap=share).reach
        gain = f"{ours - line:+.4f} +- {reach:.4f}"
        print(f"{name:<10} {ours:.4f} {line:.4f}  {gain} {shown} {best:.4f}")
    means = {learner: np.mean(list(of.values())) for learner, of in published.items()}
    best = max(means, key=means.__getitem__)
    seconds = max(one["seconds"] for many in results.values() for one in many)
    report.add("mean C of AutoRanker", auto.mean(), "", at_least=float(means[best]))
    report.add(f"mean C of {best}, all published iterations", means[best], "")
    report.add("mean C of Cox", cox.mean(), "")
    report.add("mean C of CPH, all published iterations", means["CPH"], "")
    gain = mean_difference(auto - cox)
    report.add("AutoRanker less Cox", gain.mean, "", remark=f"+- {gain.reach:.4f}")
    best_learner = np.array([published[best][name] for name in names])
    line = np.array([published["CPH"][name] for name in names])
    gain = mean_difference((auto - cox) - (best_learner - line))
    title = f"the same, less that of {best} and CPH"
    report.add(title, gain.mean, "", remark=f"+- {gain.reach:.4f}")
    report.add("tables above Cox", float((auto > cox).sum()), "", at_least=8.0)
    report.add("longest fit, seconds", seconds, "", at_most=SECONDS)


def read_published() -> dict[str, dict[str, float]]:
    """Return the published mean C of each learner on each table."""
    path, found = FILES / "published.csv", {}
    if path.is_file():
        for row in pl.read_csv(path).iter_rows(named=True):
            found.setdefault(row["learner_id"], {})[row["table"]] = row["harrell_c"]
    return found or {"CPH": {}}


def n_iterations(name: str) -> int:
    """Return how many iterations run: of those published, at most the number set."""
    folds = pl.read_csv(FILES / f"{name}.folds.csv.gz")
    return min(N_ITERATIONS, folds["iteration"].n_unique())


def measure_iteration(name: str, number: int) -> dict[str, float]:
    """Return the C of both models on the test rows of one iteration."""
    table = pl.read_csv(FILES / f"{name}.csv.gz")
    folds = pl.read_csv(FILES / f"{name}.folds.csv.gz")
    test = folds.filter(pl.col("iteration") == number)["row_id"].to_numpy() - 1
    train = np.setdiff1d(np.arange(table.height), test)
    X = table.drop("time", "status")
    y = survival_target(table["status"], table["time"])
    models = {"auto": AutoRanker(time_limit=SECONDS), "cox": AutoRanker(models=["cox"])}
    outcome: dict[str, float] = {"train": train.size, "test": test.size}
    for side, model in models.items():
        start = time.perf_counter()
        with warnings.catch_warnings(action="ignore"):
            model.fit(X[train], y[train])
        if side == "auto":
            outcome["seconds"] = time.perf_counter() - start
        scores = model.decision_function(X[test])
        outcome[side] = concordance_index(y["event"][test], y["time"][test], scores)
    return outcome
