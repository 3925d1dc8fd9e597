"""Reports: what a page costs beyond the comparison, and how large it gets."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from aucmax.model_selection import compare_models
from benchmarks.harness import Report, timed

TITLE = "Reports"
MODELS = [
    ("logistic", LogisticRegression()),
    ("lightgbm", "lightgbm"),
    ("naive Bayes", GaussianNB()),
    ("tree", DecisionTreeClassifier(max_depth=8, random_state=0)),
]


def table(n_rows: int, n_columns: int, share: float) -> tuple[pl.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    odds = X[:, :5] @ [1.0, 0.8, 0.6, 0.4, 0.2] + 1.5 * rng.normal(size=n_rows)
    return pl.DataFrame(X), odds > np.quantile(odds, 1.0 - share)


def run_page(report: Report, n_rows: int, n_columns: int, share: float) -> None:
    X, y = table(n_rows, n_columns, share)
    models = [name if model == name else (name, model) for name, model in MODELS]
    seconds, found = timed(lambda: compare_models(X, y, models, n_folds=2))
    name = f"four models, {n_rows:,} rows, {n_columns} columns, {share:.0%} positive"
    with TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        taken, _ = timed(lambda: found.report().save(path))
        size = path.stat().st_size / 1e6
    remark = f"(the comparison took {seconds:.0f} s)"
    report.add(f"report of {name}", taken, "s", at_most=5, remark=remark)
    report.add(f"its size, {name}", size, "MB", at_most=1.5)


def run(report: Report) -> None:
    run_page(report, 200_000, 20, 0.05)
    run_page(report, 200_000, 20, 0.5)
    run_page(report, 20_000, 200, 0.1)
