"""Trees of three libraries for rows in queries, grown until validation stops them.

Without `valid` all rounds are grown. A `measure` of the scores of the validation rows
takes the place of the metric of the library, and is maximised.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from aucmax import LambdaMART
from benchmarks.papers.welleck2015.data import Rows

Measure = Callable[[np.ndarray], float]


class Grown(NamedTuple):
    """A call that scores rows, and the rounds that were kept and run."""

    score: Callable[[np.ndarray], np.ndarray]
    kept: int
    run: int


def grow_lightgbm(
    rows: Rows,
    valid: Rows | None,
    parameters: dict[str, Any],
    n_rounds: int,
    patience: int,
    measure: Measure | None = None,
) -> Grown:
    import lightgbm

    parameters = {"num_threads": 1, "seed": 0, "verbosity": -1, **parameters}
    train = lightgbm.Dataset(rows.X, rows.y, group=rows.query_sizes())
    options: dict[str, Any] = {}
    if valid is not None:
        held = train.create_valid(valid.X, valid.y, group=valid.query_sizes())
        stop = lightgbm.early_stopping(patience, verbose=False)
        options = {"valid_sets": [held], "callbacks": [stop]}
    if measure is not None:
        parameters["metric"] = "none"
        options["feval"] = lambda scores, _: ("measure", measure(scores), True)
    booster = lightgbm.train(parameters, train, n_rounds, **options)
    kept = booster.best_iteration  # later rounds are dropped
    return Grown(booster.predict, kept, min(kept + patience, n_rounds))


def grow_xgboost(
    rows: Rows,
    valid: Rows | None,
    parameters: dict[str, Any],
    n_rounds: int,
    patience: int,
    measure: Measure | None = None,
) -> Grown:
    import xgboost

    def matrix(part: Rows) -> Any:
        made = xgboost.DMatrix(part.X, part.y)
        made.set_group(part.query_sizes())
        return made

    parameters = {"nthread": 1, "seed": 0, **parameters}
    options: dict[str, Any] = {"verbose_eval": False}
    if valid is not None:
        options |= {"evals": [(matrix(valid), "v")], "early_stopping_rounds": patience}
    if measure is not None:
        parameters["disable_default_eval_metric"] = True
        options["custom_metric"] = lambda scores, _: ("measure", measure(scores))
        options["maximize"] = True
    booster = xgboost.train(parameters, matrix(rows), n_rounds, **options)
    kept = n_rounds if valid is None else booster.best_iteration + 1

    def score(X: np.ndarray) -> np.ndarray:
        return booster.predict(xgboost.DMatrix(X), iteration_range=(0, kept))

    return Grown(score, kept, booster.num_boosted_rounds())


def grow_lambdamart(
    rows: Rows,
    valid: Rows | None,
    parameters: dict[str, Any],
    n_rounds: int,
    patience: int,
    measure: Measure | None = None,
) -> Grown:
    model = LambdaMART(n_estimators=n_rounds, n_jobs=1, **parameters)
    options: dict[str, Any] = {}
    if valid is not None:
        options["eval_set"] = {"X": valid.X, "y": valid.y, "qid": valid.qid}
        metric: Any = "ndcg@10"
        if measure is not None:
            metric = lambda _, scores, **__: measure(scores)  # noqa: E731
        model.set_params(n_iter_no_change=patience, eval_metric=metric)
    model.fit(rows.X, rows.y, qid=rows.qid, **options)
    kept = getattr(model, "best_iteration_", model.n_iter_)
    return Grown(model.decision_function, int(kept), int(model.n_iter_))
