"""AutoRanker against tuned rankers at the same seconds: docs/studies/ranking.md.

The protocol, written before the run, is on that page.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from aucmax import AutoRanker
from aucmax.metrics import ndcg_score
from benchmarks.papers import rankers
from benchmarks.papers.tables.study import clocks_of_the_process
from benchmarks.papers.welleck2015.data import FILES, N_PARTS, Fold, fold_of, join
from benchmarks.report import Report

TITLE = "NDCG@10 of AutoRanker and of tuned rankers, 20 processor seconds each"
SECONDS = 20.0
MAX_ROUNDS, PATIENCE = 500, 40
#: the first setting has the defaults of the library; the others are drawn at random
CHOICES = {
    "learning_rate": (0.02, 0.05, 0.1),
    "leaves": (7, 15, 31, 63),
    "rows_per_leaf": (5, 20, 50),
    "l2": (0.0, 3.0, 10.0),
    "columns": (0.5, 0.8, 1.0),
}
#: how to grow trees, how the library calls the parameters of CHOICES, and the others
LIBRARIES: dict[str, tuple[Callable[..., rankers.Grown], str, dict[str, Any]]] = {
    "LightGBM lambdarank": (
        rankers.grow_lightgbm,
        "learning_rate num_leaves min_data_in_leaf lambda_l2 feature_fraction",
        {"objective": "lambdarank", "metric": "ndcg", "eval_at": [10]},
    ),
    "XGBoost rank:ndcg": (
        rankers.grow_xgboost,
        "eta max_leaves min_child_weight lambda colsample_bytree",
        {"objective": "rank:ndcg", "eval_metric": "ndcg@10"},
    ),
    "LambdaMART ndcg": (
        rankers.grow_lambdamart,
        "learning_rate num_leaves min_child_samples reg_lambda colsample_bytree",
        {"objective": "ndcg"},
    ),
}


def settings_at_random(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the defaults, then random settings."""
    generator = np.random.default_rng(0)
    yield {}
    while True:
        values = [generator.choice(values).item() for values in CHOICES.values()]
        setting = dict(zip(names, values, strict=True))
        if "min_child_weight" in setting:  # of XGBoost, in units of hessians
            setting["min_child_weight"] /= 20.0
            setting |= {"grow_policy": "lossguide", "max_depth": 0}
        yield setting


def tuned(library: str, fold: Fold) -> np.ndarray:
    """Draw settings until most of the seconds are over; refit the best to all rows."""
    grow, names, shared = LIBRARIES[library]
    start = time.process_time()
    tried = []
    for setting in settings_at_random(names.split()):
        valid, parameters = fold.valid, {**shared, **setting}
        grown = grow(fold.train, valid, parameters, MAX_ROUNDS, PATIENCE)
        value = ndcg_score(valid.y, grown.score(valid.X), k=10, qid=valid.qid)
        tried.append((value, parameters, grown.kept))
        if time.process_time() - start > 0.8 * SECONDS:
            break
    _, parameters, kept = max(tried, key=lambda one: one[0])
    rows = join([fold.train, fold.valid])
    return grow(rows, None, parameters, max(kept, 1), PATIENCE).score(fold.test.X)


def automatic(fold: Fold) -> np.ndarray:
    """Fit AutoRanker with its defaults to all rows but those of the test."""
    rows = join([fold.train, fold.valid])
    with clocks_of_the_process():
        model = AutoRanker(time_limit=SECONDS).fit(rows.X, rows.y, qid=rows.qid)
    return model.decision_function(fold.test.X)


METHODS: dict[str, Callable[[Fold], np.ndarray]] = {
    "AutoRanker": automatic,
    **{name: partial(tuned, name) for name in LIBRARIES},
}


def run(report: Report) -> None:
    """Measure all methods on fold after fold of all collections."""
    values: dict[tuple[str, str, str], list[np.ndarray]] = {}
    for number in range(N_PARTS):
        for name in FILES:
            fold = fold_of(name, number)
            for method, fit in METHODS.items():
                start = time.process_time()
                with warnings.catch_warnings(action="ignore"):
                    scores = fit(fold)
                seconds = time.process_time() - start
                test = fold.test
                for rule in ("skip", "one"):
                    by_query = ndcg_score(
                        test.y, scores, k=10, qid=test.qid, empty=rule, average=None
                    )
                    defined = by_query[~np.isnan(by_query)]
                    values.setdefault((name, method, rule), []).append(defined)
                    title = f"{name}, fold {number + 1}, {method}, empty={rule!r}"
                    remark = f"{seconds:.0f} s"
                    report.add(title, float(defined.mean()), "", remark=remark)
    for name in FILES:
        auto = np.concatenate(values[name, "AutoRanker", "skip"])
        for method in METHODS:
            other = np.concatenate(values[name, method, "skip"])
            gain = auto - other
            error = float(gain.std() / np.sqrt(gain.size))
            title = f"{name}, all folds, {method}"
            remark = f"AutoRanker {gain.mean():+.4f} +- {1.96 * error:.4f}"
            report.add(title, float(other.mean()), "", remark=remark)
