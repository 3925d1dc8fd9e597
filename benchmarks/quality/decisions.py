"""Decisions: whether intervals hold, and calibration on tables.

The tables are real ones in the folder that AUCMAX_DATA names; without it that part is
left out.
"""

import os
import warnings
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from aucmax import AutoRanker
from aucmax.decisions import operating_point, reliability
from aucmax.metrics import roc_auc_score
from aucmax.tables import TableEncoder
from benchmarks.report import Report

TITLE = "From scores to decisions"
N_SAMPLES = 2000
RULES: dict[str, dict[str, float]] = {
    "a given threshold": {"threshold": 1.4},
    "100 alerts": {"alerts": 100},
    "a recall of 0.8": {"recall": 0.8},
    "an FPR of 0.05": {"fpr": 0.05},
    "a precision of 0.4": {"precision": 0.4},
    "costs of 20 and 1": {"cost_missed": 20.0, "cost_alarm": 1.0},
    "the best balanced accuracy": {},
}
SPLITS = 2
#: one row per gene, or hundreds of columns per row: a mean probability is chance there
LEFT_OUT = ("thrombin", "leukemia")
CALIBRATED = {"logistic": None, "lightgbm": None, "auto": {"time_limit": 6.0}}


def coverage(report: Report) -> None:
    """Count how often intervals hold what a threshold shows on other rows."""
    rng = np.random.default_rng(0)
    n_rows, share, shift = 1500, 0.06, 1.5
    for name, rule in RULES.items():
        held = {"found": 0, "false_alarms": 0, "precision": 0}
        for _ in range(N_SAMPLES):
            y = rng.random(n_rows) < share
            scores = rng.normal(size=n_rows) + shift * y
            try:
                point = operating_point(y, scores, **rule)
            except ValueError:  # no threshold is so precise
                continue
            recall, fpr = ndtr(shift - point.threshold), ndtr(-point.threshold)
            truth = {
                "found": recall * y.sum(),
                "false_alarms": fpr * (~y).sum(),
                "precision": share * recall / (share * recall + (1 - share) * fpr),
            }
            for count, value in truth.items():
                low, high = point.intervals[count]
                held[count] += low <= value <= high
        for count, times in held.items():
            percent, text = 100.0 * times / N_SAMPLES, count.replace("_", " ")
            report.add(f"{name}: intervals that hold {text}", percent, "%", at_least=92)


def calibration(report: Report) -> None:
    """Compare probabilities with base rates and with those of logistic regression."""
    if "AUCMAX_DATA" not in os.environ:
        print("AUCMAX_DATA names no folder of real data sets")
        return
    from benchmarks.papers.tables.data import TABLES, split

    tables = [table for table in TABLES if table not in LEFT_OUT]
    means: dict[str, dict[str, list[float]]] = {name: {} for name in CALIBRATED}
    briers: dict[str, list[float]] = {name: [] for name in ("plain", *CALIBRATED)}
    largest = 0.0
    for table in tables:
        for seed in range(SPLITS):
            rows = split(table, seed)
            plain = make_pipeline(TableEncoder(), LogisticRegression(max_iter=1000))
            chances = _fit(plain, rows).predict_proba(rows.X_test)[:, 1]
            briers["plain"].append(reliability(rows.y_test, chances).brier_score)
            for name, parameters in CALIBRATED.items():
                models = {} if name == "auto" else {"models": [(name, parameters)]}
                model = _fit(AutoRanker(**(models or parameters)), rows)
                chances = model.predict_proba(rows.X_test)[:, 1]
                found = reliability(rows.y_test, chances)
                briers[name].append(found.brier_score)
                ratio = found.mean_probability / found.base_rate
                means[name].setdefault(table, []).append(ratio)
                scores = model.decision_function(rows.X_test)
                areas = [roc_auc_score(rows.y_test, s) for s in (scores, chances)]
                largest = max(largest, abs(areas[0] - areas[1]))
        print(table, {n: round(float(np.mean(means[n][table])), 3) for n in means})
    report.add("largest change of an AUC", largest, "", at_most=1e-12)
    base = float(np.mean(briers["plain"]))
    report.add("Brier score of plain logistic regression", base, "")
    for name in CALIBRATED:
        off = [abs(float(np.mean(one)) - 1.0) for one in means[name].values()]
        report.add(f"{name}: Brier score", float(np.mean(briers[name])), "")
        report.add(
            f"{name}: mean probability off the base rate, worst table",
            100.0 * max(off),
            "%",
            at_most=10,
        )
    report.add(
        "auto: Brier score over that of plain logistic regression",
        float(np.mean(briers["auto"])) / base,
        at_most=1.0,
    )


def _fit(model: Any, rows: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows.X, rows.y)


def run(report: Report) -> None:
    coverage(report)
    calibration(report)
