"""Methods, folds, and the choice of a parameter inside the training rows.

Every method is asked for the scores of *all* its parameters at once: rounds of one
boosting run, or a path over epsilon. The five folds are stratified and the same for all
methods. An inner cross-validation of the training rows, three folds, chooses a
parameter without a look at the test rows.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from aucmax.boosting import RankBoost, SoftRankBoost
from aucmax.exceptions import MarginWarning
from aucmax.margin import MarginRanker
from aucmax.metrics import roc_auc_score
from aucmax.risks import pairs_with_margin
from benchmarks.papers.suehiro2011_data import Data, load

N_FOLDS, N_INNER = 5, 3
TOLERANCE, INNER_TOLERANCE = 1e-2, 0.1  # of the margins, relative
MOST_ITERATIONS = 200  # of one solve


class Scored(NamedTuple):
    """The scores of the test rows for one parameter, and the margin in training."""

    scores: np.ndarray
    margin: float = np.nan


@dataclass(frozen=True)
class Method:
    """One algorithm with a set of hypotheses and the parameters to try.

    Attributes
    ----------
    name : str
        "RankBoost", "SoftRankBoost", or a formulation of `MarginRanker`.
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
    ) -> dict[float, Scored]:
        """Fit all parameters and score the test rows; `tol` is for margins."""
        if self.name == "RankBoost":
            return _rank_boost(self, X, y, X_test)
        if self.name == "SoftRankBoost":
            return _soft_rank_boost(self, X, y, X_test)
        return _margin_path(self, X, y, X_test, tol)


def _rank_boost(
    method: Method, X: Any, y: np.ndarray, X_test: Any
) -> dict[float, Scored]:
    rounds = [int(number) for number in method.parameters]
    model = RankBoost(max(rounds), hypotheses=method.hypotheses, learning_rate=1.0).fit(
        X, y
    )
    # where boosting ends early, later rounds would change nothing
    at = {number: min(number, model.n_iter_) for number in rounds}
    staged = _stages(model, X_test, set(at.values()))
    return {number: Scored(staged[round_]) for number, round_ in at.items()}


def _soft_rank_boost(
    method: Method, X: Any, y: np.ndarray, X_test: Any
) -> dict[float, Scored]:
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
    return {epsilon: Scored(staged[round_]) for epsilon, round_ in at.items()}


def _stages(model: Any, X: Any, wanted: set[int]) -> dict[int, np.ndarray]:
    """Return the scores after the rounds that are wanted."""
    if 0 in wanted:  # no hypothesis had an edge: all scores are equal
        return {0: model.decision_function(X)}
    stages = enumerate(model.staged_decision_function(X), start=1)
    return {number: scores for number, scores in stages if number in wanted}


def _margin_path(
    method: Method, X: Any, y: np.ndarray, X_test: Any, tol: float
) -> dict[float, Scored]:
    model = MarginRanker(
        method.name,
        hypotheses=method.hypotheses,
        tol=tol,
        max_iter=MOST_ITERATIONS,
    )
    models = model.fit_path(X, y, method.parameters)
    return {
        model.epsilon: Scored(model.decision_function(X_test), model.objective_)
        for model in models
    }


@dataclass
class FoldResult:
    """What one method did on one fold, for each of its parameters.

    Attributes
    ----------
    auc : list of float
        On the test rows.
    clean_auc : list of float
        The same against the labels before noise; empty where they are not known.
    loose_auc : list of float
        The share of test pairs with the positive *not below* the negative, when a
        constant hypothesis may take all the weight: 1 where the margin is not positive.
    inner_auc : list of float
        The mean over the inner folds, on parts of the training rows.
    margin : list of float
        In training; NaN for boosting.
    chosen_scores : ndarray or None
        Of the test rows, for the parameter that the inner folds like best.
    """

    data: dict[str, Any]
    method: str
    hypotheses: str
    fold: int
    parameters: list[float]
    auc: list[float] = field(default_factory=list)
    clean_auc: list[float] = field(default_factory=list)
    loose_auc: list[float] = field(default_factory=list)
    inner_auc: list[float] = field(default_factory=list)
    margin: list[float] = field(default_factory=list)
    seconds: float = 0.0
    chosen_scores: np.ndarray | None = None

    @property
    def chosen(self) -> int:
        """Which parameter the inner folds like best: the first of equals."""
        return int(np.argmax(self.inner_auc))

    def as_dict(self) -> dict[str, Any]:
        """Return what is written to JSON: all but the scores."""
        return {**asdict(self), "chosen_scores": None}


class Task(NamedTuple):
    """One method on one fold of one data set."""

    data: Data
    method: Method
    fold: int
    inner: bool


def run_task(task: Task) -> FoldResult:
    """Fit on the training rows of a fold, score its test rows, choose inside."""
    start = time.perf_counter()
    problem, method = load(task.data), task.method
    train, test = splits(task.data)[task.fold]
    parameters = list(method.parameters)
    result = FoldResult(
        asdict(task.data), method.name, method.hypotheses, task.fold, parameters
    )
    with warnings.catch_warnings():
        # a margin that is not positive, or too few rounds, is a result of the study
        for expected in (MarginWarning, ConvergenceWarning, UserWarning):
            warnings.simplefilter("ignore", expected)
        X, X_test = problem.split(train, test)
        path = method.path(X, problem.y[train], X_test)
        if task.inner:
            result.inner_auc = _inner_auc(task, train)
    for parameter in parameters:
        scored = path[parameter]
        result.auc.append(roc_auc_score(problem.y[test], scored.scores))
        if problem.clean is not None:
            clean = roc_auc_score(problem.clean[test], scored.scores)
            result.clean_auc.append(clean)
        result.margin.append(float(scored.margin))
        result.loose_auc.append(_loose_auc(problem.y[test], scored))
    if result.inner_auc:
        result.chosen_scores = path[parameters[result.chosen]].scores
    result.seconds = time.perf_counter() - start
    return result


def _inner_auc(task: Task, train: np.ndarray) -> list[float]:
    problem = load(task.data)
    sums = np.zeros(len(task.method.parameters))
    for part, rest in _folds(problem.y[train], N_INNER):
        X, X_rest = problem.split(train[part], train[rest])
        path = task.method.path(X, problem.y[train[part]], X_rest, INNER_TOLERANCE)
        labels = problem.y[train[rest]]
        sums += [
            roc_auc_score(labels, path[parameter].scores)
            for parameter in task.method.parameters
        ]
    return list(sums / N_INNER)


def splits(data: Data) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows: five folds, or the split that data come with."""
    problem = load(data)
    return problem.splits or list(_folds(problem.y, N_FOLDS))


def _folds(y: np.ndarray, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    splitter = StratifiedKFold(n, shuffle=True, random_state=0)
    yield from splitter.split(np.zeros(y.size), y)


def _loose_auc(labels: np.ndarray, scored: Scored) -> float:
    if scored.margin <= 0.0:
        return 1.0
    n_pairs = int(labels.sum()) * int((~labels).sum())
    return float(pairs_with_margin(scored.scores, labels, 0.0)) / n_pairs


def run_tasks(
    data: Iterable[Data],
    methods: Sequence[Method],
    *,
    inner: bool,
    n_jobs: int,
    report: Callable[[str], None],
) -> list[FoldResult]:
    """Run all methods on all folds of all data sets, some at a time."""
    tasks = [
        Task(one, method, fold, inner)
        for one in data
        for method in methods
        for fold in range(len(splits(one)))
    ]
    results = []
    # a fork would copy the locks of the reader's threads, but not the threads
    context = get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, initializer=_be_one_thread) as pool:
        for task, result in zip(tasks, pool.map(run_task, tasks), strict=True):
            results.append(result)
            if task.fold == len(splits(task.data)) - 1:
                report(_progress(results[-task.fold - 1 :]))
    return results


def _be_one_thread() -> None:
    threadpool_limits(1)


def _progress(folds: list[FoldResult]) -> str:
    best = np.mean([fold.auc for fold in folds], axis=0).max()
    seconds = sum(fold.seconds for fold in folds)
    data = " ".join(
        str(value) for value in folds[0].data.values() if value is not False
    )
    name = f"{folds[0].method}, {folds[0].hypotheses}"
    return f"  {data:<16} {name:<28} best AUC {best:.4f}  {seconds:7.1f} s"
