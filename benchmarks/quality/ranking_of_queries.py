"""AutoRanker against tuned rankers at the same seconds: docs/studies/ranking.md.

The protocol, written before the run, is on that page.
"""

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import lightgbm
import numpy as np
import xgboost

from aucmax import AutoRanker, LambdaMART
from aucmax.metrics import ndcg_score
from benchmarks.papers.tables.study import clocks_of_the_process
from benchmarks.papers.welleck2015.data import FILES, N_PARTS, Fold, Rows, fold_of, join
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
#: how each library calls the parameters of CHOICES
NAMES = {
    "lightgbm": "learning_rate num_leaves min_data_in_leaf lambda_l2 feature_fraction",
    "xgboost": "eta max_leaves min_child_weight lambda colsample_bytree",
    "lambdamart": "learning_rate num_leaves min_child_samples reg_lambda "
    "colsample_bytree",
}


def settings_at_random(names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the defaults, then random settings."""
    generator = np.random.default_rng(0)
    yield {}
    while True:
        values = [generator.choice(values) for values in CHOICES.values()]
        yield dict(zip(names, values, strict=True))


def grow_lightgbm(
    rows: Rows, valid: Rows | None, setting: dict[str, Any], n_rounds: int
) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    """Train lambdarank; return its scores and its number of rounds."""
    parameters = {
        **setting,
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
    }
    parameters |= {"num_threads": 1, "verbose": -1, "seed": 0}
    train = lightgbm.Dataset(rows.X, rows.y, group=rows.query_sizes())
    options: dict[str, Any] = {}
    if valid is not None:
        held = train.create_valid(valid.X, valid.y, group=valid.query_sizes())
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        options = {"valid_sets": [held], "callbacks": [stop]}
    booster = lightgbm.train(parameters, train, n_rounds, **options)
    return booster.predict, booster.best_iteration


def grow_xgboost(
    rows: Rows, valid: Rows | None, setting: dict[str, Any], n_rounds: int
) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    """Train rank:ndcg; return its scores and its number of rounds."""
    parameters = dict(setting)
    if "min_child_weight" in parameters:  # in units of hessians
        parameters["min_child_weight"] = parameters["min_child_weight"] / 20.0
    if setting:
        parameters |= {"grow_policy": "lossguide", "max_depth": 0}
    parameters |= {"objective": "rank:ndcg", "eval_metric": "ndcg@10", "nthread": 1}

    def data(part: Rows) -> xgboost.DMatrix:
        matrix = xgboost.DMatrix(part.X, part.y)
        matrix.set_group(part.query_sizes())
        return matrix

    options: dict[str, Any] = {}
    if valid is not None:
        options = {"evals": [(data(valid), "v")], "early_stopping_rounds": PATIENCE}
        options["verbose_eval"] = False
    booster = xgboost.train(parameters, data(rows), n_rounds, **options)
    n_best = n_rounds if valid is None else booster.best_iteration + 1
    return (
        lambda X: booster.predict(xgboost.DMatrix(X), iteration_range=(0, n_best)),
        n_best,
    )


def grow_lambdamart(
    rows: Rows, valid: Rows | None, setting: dict[str, Any], n_rounds: int
) -> tuple[Callable[[np.ndarray], np.ndarray], int]:
    """Train LambdaMART for the NDCG; return its scores and its number of rounds."""
    parameters: dict[str, Any] = {
        key: np.asarray(value).item() for key, value in setting.items()
    }
    model = LambdaMART("ndcg", n_estimators=n_rounds, n_jobs=1, **parameters)
    options: dict[str, Any] = {}
    if valid is not None:
        model.set_params(n_iter_no_change=PATIENCE, eval_metric="ndcg@10")
        options["eval_set"] = {"X": valid.X, "y": valid.y, "qid": valid.qid}
    model.fit(rows.X, rows.y, qid=rows.qid, **options)
    return model.decision_function, getattr(model, "best_iteration_", model.n_iter_)


def tuned(library: str, grow: Callable[..., Any], fold: Fold) -> np.ndarray:
    """Draw settings until half of the seconds are over; refit the best to all rows."""
    start = time.process_time()
    tried = []
    for setting in settings_at_random(NAMES[library].split()):
        score, n_rounds = grow(fold.train, fold.valid, setting, MAX_ROUNDS)
        valid = fold.valid
        value = ndcg_score(valid.y, score(valid.X), k=10, qid=valid.qid)
        tried.append((value, setting, n_rounds))
        if time.process_time() - start > 0.8 * SECONDS:
            break
    _, setting, n_rounds = max(tried, key=lambda one: one[0])
    score, _ = grow(join([fold.train, fold.valid]), None, setting, max(n_rounds, 1))
    return score(fold.test.X)


def automatic(fold: Fold) -> np.ndarray:
    """Fit AutoRanker with its defaults to all rows but those of the test."""
    rows = join([fold.train, fold.valid])
    with clocks_of_the_process():
        model = AutoRanker(time_limit=SECONDS).fit(rows.X, rows.y, qid=rows.qid)
    return model.decision_function(fold.test.X)


METHODS: dict[str, Callable[[Fold], np.ndarray]] = {
    "AutoRanker": automatic,
    "LightGBM lambdarank": lambda fold: tuned("lightgbm", grow_lightgbm, fold),
    "XGBoost rank:ndcg": lambda fold: tuned("xgboost", grow_xgboost, fold),
    "LambdaMART ndcg": lambda fold: tuned("lambdamart", grow_lambdamart, fold),
}


def run(report: Report) -> None:
    """Measure all methods on fold after fold of all collections."""
    values: dict[tuple[str, str, str], list[np.ndarray]] = {}
    for number in range(N_PARTS):
        for name in FILES:
            fold = fold_of(name, number)
            for method, fit in METHODS.items():
                start = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
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
