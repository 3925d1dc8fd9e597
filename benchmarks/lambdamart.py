"""LambdaMART: the price of all pairs, against a sort and against tree learners."""

import resource
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
import xgboost

from aucmax import LambdaMART
from aucmax.metrics import roc_auc_score
from aucmax.risks import PairLogistic
from benchmarks.harness import Report, time_in_turn

TITLE = "LambdaMART: all pairs against np.argsort, LightGBM and XGBoost"
THREADS = 2
ROUNDS = 100
FEW_ROUNDS = 25  # of 10^6 rows, which take long enough
N_COLUMNS = 46  # as in the LETOR sets
# equal trees: leaves, bins, step; all else as each library has it
LIGHTGBM = {
    "num_leaves": 31,
    "learning_rate": 0.1,
    "min_data_in_leaf": 20,
    "num_threads": THREADS,
    "force_row_wise": True,
    "deterministic": True,
    "verbosity": -1,
}
OURS = {
    "num_leaves": 31,
    "learning_rate": 0.1,
    "min_child_samples": 20,
    "colsample_bytree": 1.0,
    "reg_lambda": 0.0,
}
XGBOOST = {
    "max_leaves": 31,
    "grow_policy": "lossguide",
    "max_depth": 0,
    "max_bin": 255,
    "eta": 0.1,
    "tree_method": "hist",
    "nthread": THREADS,
}
XGB = "XGBoost, 10 pairs per row"
LAMBDARANK = "LightGBM lambdarank in pieces"  # it refuses queries of over 10,000 rows
SAMPLED_PAIRS = {"objective": "rank:pairwise", "lambdarank_pair_method": "mean"}

Rows = tuple[np.ndarray, np.ndarray]


def run(report: Report) -> None:
    one_query(report, 100_000)
    many_queries(report)
    against_a_sort(report)
    growth(report)
    one_query(report, 1_000_000)


def draw(m: int, seed: int, n_queries: int = 1) -> Rows:
    """Draw rows with interactions and noise; one in twenty of a query is positive."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(m, N_COLUMNS)).astype(np.float32)
    score = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + X[:, 3] + np.abs(X[:, 11])
    score += 0.5 * X[:, 4:10].sum(axis=1) * (X[:, 10] > 0.0)
    score += 1.5 * generator.logistic(size=m)
    by_query = score.reshape(n_queries, -1)
    return X, (by_query > np.quantile(by_query, 0.95, axis=1)[:, None]).ravel()


def against_a_sort(report: Report) -> None:
    """Time one query of 10^6 rows: value, gradient, hessian, checks and sort."""
    generator = np.random.default_rng(0)
    labels = generator.random(1_000_000) < 0.1
    scores = generator.normal(size=labels.size) + labels
    calls: dict[str, Callable[[], object]] = {"sort": lambda: np.argsort(scores)}
    for is_ranked in (False, True):
        for n_jobs in (1, THREADS):
            risk = PairLogistic(is_ranked, n_jobs=n_jobs)
            name = f"{'rank-weighted' if is_ranked else 'plain'}, {n_jobs} threads"
            calls[name] = lambda risk=risk: risk.bind(labels).value_gradient_hessian(
                scores
            )
    times = time_in_turn(calls, 5)
    base = times.pop("sort").best
    for name, timing in times.items():
        report.add(
            f"10^6 rows: {name} / np.argsort",
            timing.best / base,
            at_most=4.0,
            remark=f"first call {timing.first:.1f} s",
        )


def growth(report: Report) -> None:
    """Go to 10^7 rows: time against a sort of as many, and memory."""
    generator = np.random.default_rng(0)
    labels = generator.random(10_000_000) < 0.1
    scores = generator.normal(size=labels.size) + labels
    risk = PairLogistic(rank_weighted=True, n_jobs=THREADS)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    risk.bind(labels).value_gradient_hessian(scores)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = time_in_turn(
        {
            "all": lambda: risk.bind(labels).value_gradient_hessian(scores),
            "tenth": lambda: risk.bind(labels[::10]).value_gradient_hessian(
                scores[::10]
            ),
            "sort": lambda: np.argsort(scores),
            "sorted tenth": lambda: np.argsort(scores[::10]),
        },
        2,
    )
    seconds = {name: timing.best for name, timing in times.items()}
    report.add(
        "10^7 rows: rank-weighted / np.argsort",
        seconds["all"] / seconds["sort"],
        at_most=4.0,
    )
    report.add(
        "10^7 rows / 10^6 rows",
        seconds["all"] / seconds["tenth"],
        remark=f"np.argsort {seconds['sort'] / seconds['sorted tenth']:.1f}",
    )
    report.add(
        "10^7 rows: memory besides scores and labels",
        1024.0 * (after - before) / labels.size,
        "bytes per row",
        at_most=250.0,
    )


def one_query(report: Report, m: int) -> None:
    """Train on one query, for the whole AUC, against classifiers and sampled pairs."""
    X, y = draw(m, 0)
    X_test, y_test = draw(100_000, 1)
    is_small = m == 100_000
    rounds = ROUNDS if is_small else FEW_ROUNDS
    fits: dict[str, Callable[[], Callable[[np.ndarray], np.ndarray]]] = {
        "binary": lambda: lightgbm_scores(X, y, {"objective": "binary"}, rounds=rounds),
        "logistic": lambda: lambdamart_scores("logistic", X, y, rounds=rounds),
        "auc": lambda: lambdamart_scores("auc", X, y, rounds=rounds),
    }
    if is_small:
        ten_pairs = {**SAMPLED_PAIRS, "lambdarank_num_pair_per_sample": 10}
        pieces = np.full(m // 1000, 1000)
        fits |= {
            XGB: lambda: xgboost_scores(X, y, np.array([m]), ten_pairs),
            LAMBDARANK: lambda: lightgbm_scores(
                X, y, {"objective": "lambdarank"}, pieces
            ),
        }
    results = train_in_turn(fits, repeats=1)
    base = results["binary"][0]
    areas = {
        name: roc_auc_score(y_test, score(X_test))
        for name, (_, score) in results.items()
    }
    size = f"10^{round(np.log10(m))} rows, {rounds} rounds"
    report.add(f"{size}: LightGBM binary", base, "s")
    for name in fits:
        if name == "binary":
            continue
        is_ours = name in ("logistic", "auc")
        report.add(
            f"{size}: {name} / binary",
            results[name][0] / base,
            at_most=(1.3 if is_small else 1.15) if is_ours else None,
            remark=f"test AUC {areas[name]:.4f}",
        )
        for peer in {"binary", XGB} & set(fits) if is_ours else ():
            report.add(
                f"{size}: test AUC, {name} less that of {peer}",
                areas[name] - areas[peer],
                "",
                at_least=0.0 if is_small else None,
                remark=f"{areas[peer]:.4f}",
            )


def many_queries(report: Report) -> None:
    """Train on 2,000 queries of 100 rows, against one sampled pair per row."""
    n_queries, size = 2_000, 100
    X, y = draw(n_queries * size, 0, n_queries)
    X_test, y_test = draw(n_queries * size, 1, n_queries)
    qid = np.repeat(np.arange(n_queries), size)
    sizes = np.full(n_queries, size)
    one_pair = {**SAMPLED_PAIRS, "lambdarank_num_pair_per_sample": 1}
    results = train_in_turn(
        {
            "xgboost": lambda: xgboost_scores(X, y, sizes, one_pair),
            "logistic": lambda: lambdamart_scores("logistic", X, y, qid),
            "auc": lambda: lambdamart_scores("auc", X, y, qid),
        },
        repeats=1,
    )
    base, score = results["xgboost"]
    peer = roc_auc_score(y_test, score(X_test), qid=qid)
    for name in ("logistic", "auc"):
        seconds, score = results[name]
        area = roc_auc_score(y_test, score(X_test), qid=qid)
        report.add(
            f"2,000 x 100: {name!r} / XGBoost, one pair per row",
            seconds / base,
            at_most=1.0,
        )
        report.add(
            f"2,000 x 100: AUC per query, {name!r} less XGBoost's {peer:.4f}",
            area - peer,
            "",
            at_least=0.0,
        )


def train_in_turn(
    fits: dict[str, Callable[[], Any]], repeats: int
) -> dict[str, tuple[float, Any]]:
    """Train each, taking turns; return the best seconds and the last model's scores."""
    scores: dict[str, Any] = {}

    def keep(name: str) -> Callable[[], None]:
        return lambda: scores.__setitem__(name, fits[name]())

    times = time_in_turn({name: keep(name) for name in fits}, repeats)
    return {name: (times[name].best, scores[name]) for name in fits}


def lambdamart_scores(
    objective: str,
    X: np.ndarray,
    y: np.ndarray,
    qid: np.ndarray | None = None,
    rounds: int = ROUNDS,
) -> Callable[[np.ndarray], np.ndarray]:
    model = LambdaMART(objective, n_estimators=rounds, n_jobs=THREADS, **OURS)
    return model.fit(X, y, qid=qid).decision_function


def lightgbm_scores(
    X: np.ndarray,
    y: np.ndarray,
    objective: dict[str, Any],
    sizes: np.ndarray | None = None,
    rounds: int = ROUNDS,
) -> Callable[[np.ndarray], np.ndarray]:
    parameters = {**LIGHTGBM, **objective}
    rows = lightgbm.Dataset(X, y.astype(float), group=sizes, params=parameters)
    return lightgbm.train(parameters, rows, rounds).predict


def xgboost_scores(
    X: np.ndarray, y: np.ndarray, sizes: np.ndarray, objective: dict[str, Any]
) -> Callable[[np.ndarray], np.ndarray]:
    rows = xgboost.QuantileDMatrix(X, y.astype(float), group=sizes, max_bin=255)
    model = xgboost.train({**XGBOOST, **objective}, rows, ROUNDS)
    return lambda more: model.predict(xgboost.DMatrix(more))
