"""The methods of the study: each has candidates, fitted on one fold.

All trees have the same candidates, the same most rounds, and stop by the same measure:
the MAUC of the validation queries, by `aucmax.metrics`. Only the objective differs, and
what the libraries themselves do with it. The validation queries choose a candidate;
nothing is measured on the test rows, so that what is chosen cannot depend on them.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from aucmax import AUCSVC, LevelSumRanker
from aucmax.exceptions import OneClassQueryWarning
from aucmax.metrics import multiclass_auc_score
from benchmarks.papers import rankers
from benchmarks.papers.choices import Candidate, Choice
from benchmarks.papers.welleck2015.data import Fold, Rows, fold_of

RATES = (0.1, 0.25, 0.5, 0.9)  # of the paper
LEAVES = (7, 31)
ROUNDS, PATIENCE, MIN_ROWS = 300, 50, 20
#: weights of a mean over pairs; SVM-perf weighs a per cent, so that its 0.1 to 100,
#: the paper's values, are the last four
C_VALUES = tuple(10.0**power for power in range(-3, 5))
SVM_SECONDS = 20.0  # for one level and one C
WHOLE = 1_000  # longer than any list

MAUC, ORDINAL = "LambdaMART-MAUC", "LambdaMART ordinal"
LOGISTIC = "LambdaMART logistic"
SVM, SVM_QUERIES = "SVM, all rows", "SVM, by query"
LAMBDARANK, LAMBDARANK_WHOLE = "lambdarank", "lambdarank, whole"
XENDCG = "rank_xendcg"
PAIRWISE, PAIRWISE_WHOLE, NDCG = "rank:pairwise", "rank:pairwise, whole", "rank:ndcg"
LINEAR = (SVM, SVM_QUERIES)
OURS: dict[str, dict[str, Any]] = {
    MAUC: {"objective": "mauc"},
    ORDINAL: {"objective": "ordinal"},
    LOGISTIC: {"objective": "logistic"},
}
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
FULL_TREES = {"min_child_samples": MIN_ROWS, "colsample_bytree": 1.0, "reg_lambda": 0.0}
LARGE_LEAVES = {"min_data_in_leaf": MIN_ROWS}
LOSSGUIDE = {"max_depth": 0, "grow_policy": "lossguide", "tree_method": "hist"}
#: how to grow trees, what a library calls rate and leaves, and its other parameters
LIBRARIES: list[tuple[dict[str, Any], Callable[..., rankers.Grown], str, str, Any]] = [
    (OURS, rankers.grow_lambdamart, "learning_rate", "num_leaves", FULL_TREES),
    (LIGHTGBM, rankers.grow_lightgbm, "learning_rate", "num_leaves", LARGE_LEAVES),
    (XGBOOST, rankers.grow_xgboost, "eta", "max_leaves", LOSSGUIDE),
]
METHODS = (*OURS, *LINEAR, *LIGHTGBM, *XGBOOST)


class Fitted(NamedTuple):
    """Scores of the validation and test rows, and the rounds that were run, if any."""

    valid: np.ndarray
    test: np.ndarray
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
    library = next(one for one in LIBRARIES if method in one[0])
    for leaves, rate in product(LEAVES, RATES):
        fit = partial(_fit_trees, library, method, rate=rate, leaves=leaves)
        yield Candidate(f"rate={rate:g}, leaves={leaves}", fit)


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


def _fit_trees(
    library: Any, method: str, fold: Fold, rate: float, leaves: int
) -> Fitted:
    options, grow, rate_name, leaves_name, shared = library
    train, valid = fold.train, fold.valid
    if method == LOGISTIC:  # of two levels; the measure has all
        train, valid = (replace(rows, y=rows.y > 0) for rows in (train, valid))
    parameters = {**options[method], **shared, rate_name: rate, leaves_name: leaves}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassQueryWarning)  # they teach nothing
        grown = grow(
            train, valid, parameters, ROUNDS, PATIENCE, partial(mauc, fold.valid)
        )
    return Fitted(grown.score(fold.valid.X), grown.score(fold.test.X), grown.run)


@dataclass
class Result(Choice):
    """Outcome of one method on one fold, judged by the MAUC of the validation queries.

    Seconds are processor time of training, measuring on the validation queries
    included. The other kind would count what else the machine does.

    Attributes
    ----------
    run : list of int
        Rounds; 0 for a linear model.
    scores : list of float
        Of the test rows, by the candidate chosen.
    """

    run: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)


def run_method(data: str, fold: int, method: str) -> Result:
    """Fit all candidates, choose one, and keep its scores of the test rows."""
    rows, result = fold_of(data, fold), Result(data, method, fold)
    for candidate in candidates(method):
        start = time.process_time()
        fitted = candidate.fit(rows)
        result.seconds.append(time.process_time() - start)
        result.candidates.append(candidate.name)
        result.valid.append(mauc(rows.valid, fitted.valid))
        result.run.append(fitted.run)
        if result.chosen == len(result.valid) - 1:
            result.scores = fitted.test.tolist()
    return result
