"""Methods, folds, and the choice of a parameter inside the training rows.

Every method is asked for the scores of *all* its parameters at once: rounds of one
boosting run, or a path over epsilon. The five folds are stratified and the same for all
methods. An inner cross-validation of the training rows, three folds, chooses a
parameter without a look at the test rows.
"""

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from aucmax.boosting import RankBoost, SoftRankBoost
from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker
from aucmax.metrics import roc_auc_score
from benchmarks.papers.choices import Choice
from benchmarks.papers.suehiro2011.data import Data, Problem, folds_of, load, splits

RANKBOOST, SOFTRANKBOOST = "RankBoost", "SoftRankBoost"
N_INNER = 3
TOLERANCE, INNER_TOLERANCE = 1e-2, 0.1  # of the margins, relative
MAX_ITERATIONS = 200  # of one solve


@dataclass(frozen=True)
class Method:
    """One algorithm with a set of hypotheses and the parameters to try.

    Attributes
    ----------
    name : str
        RANKBOOST, SOFTRANKBOOST, or a formulation of `MarginRanker`.
    hypotheses : str
        "features", "signed" or "stumps".
    parameters : tuple of float
        Numbers of rounds of RankBoost; epsilons of the others.
    most_rounds : int
        For SoftRankBoost.
    """

    name: str
    hypotheses: str
    parameters: tuple[float, ...]
    most_rounds: int = 10_000

    def path(
        self, X: Any, y: np.ndarray, X_test: Any, tol: float = TOLERANCE
    ) -> dict[float, np.ndarray]:
        """Fit all parameters and score the test rows; `tol` is for margins."""
        if self.name == RANKBOOST:
            return _rank_boost(self, X, y, X_test)
        if self.name == SOFTRANKBOOST:
            return _soft_rank_boost(self, X, y, X_test)
        return _margin_path(self, X, y, X_test, tol)


def _rank_boost(
    method: Method, X: Any, y: np.ndarray, X_test: Any
) -> dict[float, np.ndarray]:
    rounds = [int(number) for number in method.parameters]
    model = RankBoost(max(rounds), hypotheses=method.hypotheses, learning_rate=1.0).fit(
        X, y
    )
    # where boosting ends early, later rounds would change nothing
    at = {number: min(number, model.n_iter_) for number in rounds}
    staged = _stages(model, X_test, set(at.values()))
    return {number: staged[round_] for number, round_ in at.items()}


def _soft_rank_boost(
    method: Method, X: Any, y: np.ndarray, X_test: Any
) -> dict[float, np.ndarray]:
    model = SoftRankBoost(
        min(method.parameters),
        hypotheses=method.hypotheses,
        n_estimators=method.most_rounds,
    ).fit(X, y)
    # epsilon only says when to stop, so that one run passes through all of them
    loss, at = model.history_["loss"], {}
    for epsilon in method.parameters:
        reached = np.flatnonzero(loss <= epsilon)
        at[epsilon] = int(reached[0]) + 1 if reached.size else loss.size
    staged = _stages(model, X_test, set(at.values()))
    return {epsilon: staged[round_] for epsilon, round_ in at.items()}


def _stages(model: Any, X: Any, wanted: set[int]) -> dict[int, np.ndarray]:
    """Return the scores after the rounds that are wanted."""
    if 0 in wanted:  # no hypothesis had an edge: all scores are equal
        return {0: model.decision_function(X)}
    stages = enumerate(model.staged_decision_function(X), start=1)
    return {number: scores for number, scores in stages if number in wanted}


def _margin_path(
    method: Method, X: Any, y: np.ndarray, X_test: Any, tol: float
) -> dict[float, np.ndarray]:
    model = MarginRanker(
        method.hypotheses, method.name, tol=tol, max_iter=MAX_ITERATIONS
    )
    models = model.fit_path(X, y, method.parameters)
    return {model.epsilon: model.decision_function(X_test) for model in models}


@dataclass
class FoldResult(Choice):
    """Outcome of one method on one fold, judged by the mean AUC of the inner folds.

    The candidates are its parameters.

    Attributes
    ----------
    auc : list of float
        On the test rows, for each parameter.
    """

    hypotheses: str = "features"
    auc: list[float] = field(default_factory=list)

    @property
    def variant(self) -> tuple[str, str]:
        """The method with its hypotheses."""
        return self.method, self.hypotheses


def run_method(data: Data, method: Method, fold: int, inner: bool) -> FoldResult:
    """Fit on the training rows of a fold, score its test rows, choose inside."""
    start = time.perf_counter()
    problem = load(data)
    train, test = splits(data)[fold]
    result = FoldResult(str(data), method.name, fold, list(method.parameters))
    result.hypotheses = method.hypotheses
    with warnings.catch_warnings():
        # a margin that is not positive, or too few rounds, is a result of the study
        for expected in (MarginWarning, ConvergenceWarning, UserWarning):
            warnings.simplefilter("ignore", expected)
        X, X_test = problem.split(train, test)
        path = method.path(X, problem.y[train], X_test)
        if inner:
            result.valid = _inner_auc(problem, method, train)
    for parameter in method.parameters:
        result.auc.append(roc_auc_score(problem.y[test], path[parameter]))
    result.seconds = [time.perf_counter() - start]
    return result


def _inner_auc(problem: Problem, method: Method, train: np.ndarray) -> list[float]:
    sums = np.zeros(len(method.parameters))
    for part, rest in folds_of(problem.y[train], N_INNER):
        X, X_rest = problem.split(train[part], train[rest])
        path = method.path(X, problem.y[train[part]], X_rest, INNER_TOLERANCE)
        labels = problem.y[train[rest]]
        sums += [roc_auc_score(labels, path[one]) for one in method.parameters]
    return list(sums / N_INNER)
