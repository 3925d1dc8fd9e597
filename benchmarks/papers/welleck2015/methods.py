"""The methods of the study: each has candidates, fitted on one fold.

All trees have the same candidates, the same most rounds, and stop by the same measure:
the MAUC of the validation queries, by `aucmax.metrics`. Only the objective differs, and
what the libraries themselves do with it.
"""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC, LambdaMART, LevelSumRanker
from aucmax.exceptions import OneClassQueryWarning
from aucmax.metrics import multiclass_auc_score
from benchmarks.papers.choices import Candidate
from benchmarks.papers.welleck2015.data import Fold, Rows

RATES = (0.1, 0.25, 0.5, 0.9)  # of the paper
LEAVES = (7, 31)
ROUNDS, PATIENCE, MIN_ROWS = 300, 50, 20
#: weights of a mean over pairs; SVM-perf weighs a per cent, so that its 0.1 to 100,
#: the paper's values, are the last four
C_VALUES = tuple(10.0**power for power in range(-3, 5))
SVM_SECONDS = 20.0  # for one level and one C
WHOLE = 1_000  # longer than any list

MAUC, ORDINAL, LOGISTIC = (
    "LambdaMART-MAUC",
    "LambdaMART ordinal",
    "LambdaMART logistic",
)
SVM, SVM_QUERIES = "SVM, all rows", "SVM, by query"
LAMBDARANK, LAMBDARANK_WHOLE = "lambdarank", "lambdarank, whole"
XENDCG = "rank_xendcg"
PAIRWISE, PAIRWISE_WHOLE, NDCG = "rank:pairwise", "rank:pairwise, whole", "rank:ndcg"
OURS = {MAUC: "mauc", ORDINAL: "ordinal", LOGISTIC: "logistic"}
LIGHTGBM: dict[str, dict[str, Any]] = {
    LAMBDARANK: {"objective": "lambdarank"},
    LAMBDARANK_WHOLE: {"objective": "lambdarank", "lambdarank_truncation_level": WHOLE},
    XENDCG: {"objective": "rank_xendcg"},
}
XGBOOST: dict[str, dict[str, Any]] = {
    PAIRWISE: {"objective": "rank:pairwise"},
    PAIRWISE_WHOLE: {
        "objective": "rank:pairwise",
        "lambdarank_pair_method": "topk",
        "lambdarank_num_pair_per_sample": WHOLE,
    },
    NDCG: {"objective": "rank:ndcg"},
}
LINEAR = (SVM, SVM_QUERIES)
METHODS = (*OURS, *LINEAR, *LIGHTGBM, *XGBOOST)


class Fitted(NamedTuple):
    """Scores of the validation and test rows, and the rounds that were kept and run.

    A linear model has no rounds.
    """

    valid: np.ndarray
    test: np.ndarray
    kept: int = 0
    run: int = 0


def library(method: str) -> str:
    """Return the name of a method with that of its library."""
    if method in OURS or method in LINEAR:
        return method
    return f"{'LightGBM' if method in LIGHTGBM else 'XGBoost'} {method}"


def candidates(method: str) -> Iterator[Candidate]:
    """Return the settings that the validation queries choose from."""
    if method in LINEAR:
        by_query = method == SVM_QUERIES
        for C in C_VALUES:
            yield Candidate(f"C={C:g}", partial(_fit_svm, C=C, by_query=by_query))
        return
    if method in OURS:
        fit: Callable[..., Fitted] = partial(_fit_ours, OURS[method])
    elif method in LIGHTGBM:
        fit = partial(_fit_lightgbm, LIGHTGBM[method])
    else:
        fit = partial(_fit_xgboost, XGBOOST[method])
    for leaves in LEAVES:
        for rate in RATES:
            name = f"rate={rate:g}, leaves={leaves}"
            yield Candidate(name, partial(fit, rate=rate, leaves=leaves))


def mauc(rows: Rows, scores: np.ndarray) -> float:
    """Return the mean MAUC of the queries, by which every method is chosen."""
    return multiclass_auc_score(rows.y, scores, qid=rows.qid)


def _fit_svm(fold: Fold, C: float, by_query: bool) -> Fitted:
    scaler = StandardScaler().fit(fold.train.X)
    model = LevelSumRanker(AUCSVC(C=C, max_time=SVM_SECONDS))
    qid = fold.train.qid if by_query else None
    with warnings.catch_warnings():
        # queries of one level teach nothing, here as in every method; and a solve that
        # ran out of time is judged like any other
        for expected in (ConvergenceWarning, OneClassQueryWarning):
            warnings.simplefilter("ignore", expected)
        model.fit(scaler.transform(fold.train.X), fold.train.y, qid=qid)
    valid, test = (
        model.decision_function(scaler.transform(rows.X))
        for rows in (fold.valid, fold.test)
    )
    return Fitted(valid, test)


def _fit_ours(objective: str, fold: Fold, rate: float, leaves: int) -> Fitted:
    def measure(_: np.ndarray, scores: np.ndarray, **__: np.ndarray) -> float:
        return mauc(fold.valid, scores)  # of all levels, whatever was learned from

    def targets(rows: Rows) -> np.ndarray:
        return rows.y > 0 if objective == "logistic" else rows.y

    model = LambdaMART(
        objective,
        n_estimators=ROUNDS,
        learning_rate=rate,
        num_leaves=leaves,
        min_child_samples=MIN_ROWS,
        colsample_bytree=1.0,
        reg_lambda=0.0,
        n_iter_no_change=PATIENCE,
        eval_metric=measure,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassQueryWarning)  # they teach nothing
        model.fit(
            fold.train.X,
            targets(fold.train),
            qid=fold.train.qid,
            eval_set={
                "X": fold.valid.X,
                "y": targets(fold.valid),
                "qid": fold.valid.qid,
            },
        )
    valid, test = (model.decision_function(rows.X) for rows in (fold.valid, fold.test))
    return Fitted(valid, test, int(model.best_iteration_), int(model.n_iter_))


def _fit_lightgbm(
    options: dict[str, Any], fold: Fold, rate: float, leaves: int
) -> Fitted:
    import lightgbm

    train = lightgbm.Dataset(fold.train.X, fold.train.y, group=fold.train.query_sizes())
    valid = lightgbm.Dataset(
        fold.valid.X, fold.valid.y, group=fold.valid.query_sizes(), reference=train
    )
    settings = {
        **options,
        "learning_rate": rate,
        "num_leaves": leaves,
        "min_data_in_leaf": MIN_ROWS,
        "metric": "none",
        "num_threads": 1,
        "seed": 0,
        "verbosity": -1,
    }
    measured: list[float] = []

    def measure(scores: np.ndarray, _: Any) -> tuple[str, float, bool]:
        measured.append(mauc(fold.valid, scores))
        return "mauc", measured[-1], True

    booster = lightgbm.train(
        settings,
        train,
        ROUNDS,
        valid_sets=[valid],
        feval=measure,
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    kept = booster.best_iteration
    scores = (
        booster.predict(rows.X, num_iteration=kept) for rows in (fold.valid, fold.test)
    )
    return Fitted(*scores, kept, len(measured))


def _fit_xgboost(
    options: dict[str, Any], fold: Fold, rate: float, leaves: int
) -> Fitted:
    import xgboost

    train, valid, test = (
        _matrix(xgboost, rows) for rows in (fold.train, fold.valid, fold.test)
    )
    settings = {
        **options,
        "eta": rate,
        "max_leaves": leaves,
        "max_depth": 0,
        "grow_policy": "lossguide",
        "tree_method": "hist",
        "nthread": 1,
        "seed": 0,
        "disable_default_eval_metric": True,
    }
    stop = xgboost.callback.EarlyStopping(
        rounds=PATIENCE, metric_name="mauc", data_name="valid", maximize=True
    )
    booster = xgboost.train(
        settings,
        train,
        ROUNDS,
        evals=[(valid, "valid")],
        custom_metric=lambda scores, _: ("mauc", mauc(fold.valid, scores)),
        callbacks=[stop],
        verbose_eval=False,
    )
    kept = booster.best_iteration + 1
    scores = (
        booster.predict(rows, iteration_range=(0, kept)).astype(float)
        for rows in (valid, test)
    )
    return Fitted(*scores, kept, booster.num_boosted_rounds())


def _matrix(xgboost: Any, rows: Rows) -> Any:
    matrix = xgboost.DMatrix(rows.X, rows.y)
    matrix.set_group(rows.query_sizes())
    return matrix
