"""Tables: reading, comparing, explaining, AutoRanker."""

import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

from aucmax import AutoRanker
from aucmax.datasets import load_svmlight, load_table
from aucmax.inspection import permutation_importance
from aucmax.model_selection import LightGBMBaseline, compare_models
from aucmax.report import report_comparison
from benchmarks.gates import gate, merge_sort, ratio, seconds


def table(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw a table with lines, products and noise."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    strength = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3])
    return X, strength + generator.logistic(size=n_rows) > 1.0


@gate("load_svmlight / scikit-learn's reader, 30,000 x 46", at_most=0.5)
def svmlight() -> float:
    X = np.random.default_rng(0).random((30_000, 46))
    features = " ".join(f"{j + 1}:%.6f" for j in range(46))
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.txt")
        with path.open("w") as stream:
            for i, row in enumerate(X):
                stream.write(f"{i % 3} qid:{i // 100} {features % tuple(row)} # {i}\n")
        return ratio(
            lambda: load_svmlight(path),
            lambda: load_svmlight_file(str(path), query_id=True),
            repeats=2,
        )


@gate("load_table, checked / polars.read_csv, 100,000 x 46", at_most=6.0)
def csv() -> float:
    X = np.random.default_rng(0).random((100_000, 46)).round(6)
    with TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        pl.DataFrame(X).write_csv(path)
        return ratio(lambda: load_table(path), lambda: pl.read_csv(path))


@gate("report page of two models / the comparison, 50,000 x 20", at_most=0.5)
def report_page() -> float:
    X, y = table(50_000, 20)
    models = [("a", LogisticRegression()), ("b", LightGBMBaseline(50))]
    comparisons = []
    comparing = seconds(
        lambda: comparisons.append(compare_models(pl.DataFrame(X), y, models, cv=3))
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        return seconds(lambda: report_comparison(comparisons[0]).save(path)) / comparing


@gate("permutation_importance / 60 scorings and sorts, 10^5 x 50", at_most=2.2)
def importance() -> float:
    X, y = table(100_000, 50)
    model = LightGBMBaseline(20).fit(X[:5000], y[:5000])

    def score_and_sort() -> None:
        for _ in range(60):
            merge_sort(model.decision_function(X))

    ours = partial(permutation_importance, model, X, y, max_rows=y.size)
    return ratio(ours, score_and_sort, 1)


@gate("AutoRanker / LightGBM of 300 rounds, 3,000 x 30", at_most=120.0)
def auto_ranker() -> float:
    X, y = table(3000, 30)
    AutoRanker(time_limit=1.0).fit(X[:300], y[:300])  # loads and compiles

    def processor(call) -> float:
        start = time.process_time()
        call()
        return time.process_time() - start

    peer = min(processor(lambda: LightGBMBaseline(300).fit(X, y)) for _ in range(3))
    return processor(lambda: AutoRanker(time_limit=None).fit(X, y)) / peer
