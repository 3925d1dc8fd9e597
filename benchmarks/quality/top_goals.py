"""Does it pay to train and choose for the top of the list: docs/studies/top.md.

The protocol, written before the run, is on that page. If ``AUCMAX_RESULTS`` names a
folder, each split becomes a file there, and what is there already is not run again.
"""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from aucmax import AutoRanker, LambdaMART, LinearRankerCV
from aucmax.datasets import load_table
from aucmax.metrics.metric_names import parse_metric
from aucmax.tables import TableEncoder
from benchmarks.papers.data import SPARSE, path_of, read_sparse
from benchmarks.papers.differences import mean_difference
from benchmarks.report import Report, stored

TITLE = "Models trained and chosen for the top of the list, against the AUC"
GOALS = ("average_precision", "recall@fpr=0.01", "precision@recall=0.8")
POSITIVE = {"satimage": 4, "segment": 4, "vehicle": "opel"}
TABLES = (
    *("mammography", "hypothyroid", "sick", "sick-euthyroid"),
    *(*POSITIVE, "thrombin", "a9a"),
)
N_SPLITS = 2
MAX_ROWS, MAX_TEST_ROWS = 3000, 8000
FITS_OF_AUTO = 30  # six candidates on five folds
ROUNDS = {"n_estimators": 400, "n_iter_no_change": 40, "validation_fraction": 0.2}


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return raw rows, and which are positive."""
    if name in SPARSE:
        return read_sparse(name)
    table = load_table(path_of(name))
    y = table["target"].to_numpy() == POSITIVE.get(name, 1)
    return table.drop("target"), y


def models(goal: str | None) -> dict[str, tuple[str, Callable[[], Any]]]:
    """Return the view and the maker of each model for a goal; None is the AUC."""
    auto: dict[str, Any] = {"max_fits": FITS_OF_AUTO, "calibrate": None}
    linear: dict[str, Any] = {"metric": goal}
    trees: dict[str, Any] = {"eval_metric": goal, "n_jobs": 1, **ROUNDS}
    if goal is None:
        linear, trees = {"losses": ("logistic regression",)}, ROUNDS
    else:
        auto["metric"] = goal
    return {
        "linear": ("linear", lambda: LinearRankerCV(**linear)),
        "trees": ("trees", lambda: LambdaMART("logistic", **trees)),
        "AutoRanker": ("raw", lambda: AutoRanker(**auto)),
    }


def measure_split(name: str, number: int) -> dict[str, float]:
    """Return the test metrics of every model on one split."""
    rows, y = load(name)
    sizes = {
        "train_size": min(MAX_ROWS, y.size // 2),
        "test_size": min(MAX_TEST_ROWS, y.size // 2),
    }
    train, test = train_test_split(
        np.arange(y.size), stratify=y, random_state=number, **sizes
    )
    encoder = TableEncoder().fit(rows[train])
    views = {
        "linear": encoder.transform,
        "trees": lambda given: encoder.matrix(given, "trees"),
        "raw": lambda given: given,
    }
    outcome = {}
    for goal in (None, *GOALS):
        for side, (view, make) in models(goal).items():
            with warnings.catch_warnings(action="ignore"):
                fitted = make().fit(views[view](rows[train]), y[train])
            scores = fitted.decision_function(views[view](rows[test]))
            for metric in ("auc", *GOALS) if goal is None else ("auc", goal):
                value = parse_metric(metric).function(y[test], scores)
                outcome[f"{side}|{goal}|{metric}"] = float(value)
    return outcome


def run(report: Report) -> None:
    results = {
        name: [
            stored(f"top-{name}-{number}", partial(measure_split, name, number))
            for number in range(N_SPLITS)
        ]
        for name in TABLES
    }
    for side in models(None):
        for goal in GOALS:
            plain, aimed = (
                np.array([mean_of(splits, key) for splits in results.values()])
                for key in (f"{side}|None|{goal}", f"{side}|{goal}|{goal}")
            )
            gain = mean_difference(aimed - plain)
            print(
                f"{side:<11} {goal:<21} AUC {plain.mean():.4f} goal "
                f"{aimed.mean():.4f} gain {gain.mean:+.4f} +- {gain.reach:.4f} above "
                f"on {(aimed > plain).sum()} of {gain.n}"
            )
            for name, before, after in zip(results, plain, aimed, strict=True):
                print(f"    {name:<15} {before:.4f} {after:.4f} {after - before:+.4f}")
            report.add(f"{side}, {goal}: gain", gain.mean)


def mean_of(splits: list[dict[str, float]], key: str) -> float:
    return float(np.mean([one[key] for one in splits]))
