"""Repeated splits, and the choice of a candidate inside the training rows.

The splits are stratified, two thirds to learn from, and the same for all methods. Three
inner folds of the training rows choose a candidate by the partial AUC itself, without a
look at the test rows.
"""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import partial_auc_score
from benchmarks.papers.narasimhan2013_data import Split, load, splits
from benchmarks.papers.narasimhan2013_methods import (
    INNER_TOLERANCE,
    TOLERANCE,
    Fitted,
    Training,
    fit_candidates,
)

N_INNER = 3
Range = tuple[float, float]


@dataclass(frozen=True)
class Plan:
    """Methods to run on one data set.

    Attributes
    ----------
    judged : pair of float
        The range of the partial AUC that chooses and judges.
    trained : pair of float or None
        The range that the machines are trained for, if it is another.
    """

    data: str
    methods: tuple[str, ...]
    n_splits: int
    judged: Range
    trained: Range | None = None


@dataclass
class Result:
    """What one method did on one split, for each of its candidates.

    Attributes
    ----------
    score, inner : list of float
        Partial AUC of the test rows, and its mean over the inner folds.
    risk, density, n_groups, gap : list
        Of the model of all training rows, see `Fitted`.
    spread : list of bool
        Whether the scores of the test rows differ at all.
    """

    data: str
    method: str
    split: int
    candidates: list[str] = field(default_factory=list)
    score: list[float] = field(default_factory=list)
    inner: list[float] = field(default_factory=list)
    risk: list[float] = field(default_factory=list)
    density: list[float] = field(default_factory=list)
    n_groups: list[int] = field(default_factory=list)
    spread: list[bool] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    total_groups: int = 0
    seconds: float = 0.0

    @property
    def chosen(self) -> int:
        """Which candidate the inner folds like best: the first of equals."""
        return int(np.argmax(self.inner))

    def as_dict(self) -> dict[str, Any]:
        """Return what is written to JSON, which has no NaN."""
        known = {name: [_known(x) for x in getattr(self, name)] for name in _MAY_MISS}
        return {**asdict(self), **known}

    @classmethod
    def from_dict(cls, saved: dict[str, Any]) -> "Result":
        """Read what `as_dict` has returned."""
        known = {
            name: [np.nan if x is None else x for x in saved.get(name, [])]
            for name in _MAY_MISS
        }
        return cls(**{**saved, **known})


_MAY_MISS = ("risk", "density", "gap")


def _known(value: float) -> float | None:
    return None if np.isnan(value) else value


class Task(NamedTuple):
    """All methods on one split of one data set."""

    plan: Plan
    split: int


def run_task(task: Task) -> list[Result]:
    """Fit on the training rows of a split, score its test rows, choose inside."""
    plan, problem = task.plan, load(task.plan.data)
    train, test = splits(plan.data, plan.n_splits)[task.split]
    outer = problem.split(train, test)
    folds = StratifiedKFold(N_INNER, shuffle=True, random_state=task.split)
    inner = [
        problem.split(train[part], train[rest])
        for part, rest in folds.split(np.zeros(train.size), problem.y[train])
    ]
    with warnings.catch_warnings():
        # weights of 0, or a solve that ran out of time, are results of the study
        for expected in (ConstantScoresWarning, ConvergenceWarning, UserWarning):
            warnings.simplefilter("ignore", expected)
        return [_run_method(task, method, outer, inner) for method in plan.methods]


def _run_method(
    task: Task, method: str, outer: Split, inner: Sequence[Split]
) -> Result:
    start = time.perf_counter()
    plan = task.plan
    result = Result(plan.data, method, task.split)
    result.total_groups = len(outer.groups or ())
    for one in _fit(method, plan, outer, TOLERANCE):
        result.candidates.append(one.candidate)
        result.score.append(_score(outer, one, plan))
        result.risk.append(one.risk)
        result.density.append(one.density)
        result.n_groups.append(one.n_groups)
        result.gap.append(one.gap)
        result.spread.append(bool(np.ptp(one.scores) > 0.0))
    table = [
        [_score(fold, one, plan) for one in _fit(method, plan, fold, INNER_TOLERANCE)]
        for fold in inner
    ]
    result.inner = np.mean(table, axis=0).tolist()
    result.seconds = time.perf_counter() - start
    return result


def _fit(method: str, plan: Plan, split: Split, tol: float) -> list[Fitted]:
    trained = plan.trained or plan.judged
    training = Training(split.X, split.y, split.X_test, trained, split.groups, tol)
    return fit_candidates(method, training)


def _score(split: Split, fitted: Fitted, plan: Plan) -> float:
    score = partial_auc_score(split.y_test, fitted.scores, fpr_range=plan.judged)
    return float(score)


def run_plans(
    plans: Iterable[Plan], pool: Executor, report: Callable[[str], None]
) -> list[Result]:
    """Run all methods on all splits of all data sets, some at a time."""
    tasks = [Task(plan, split) for plan in plans for split in range(plan.n_splits)]
    results: list[Result] = []
    waiting: list[Result] = []
    for task, found in zip(tasks, pool.map(run_task, tasks), strict=True):
        results += found
        waiting += found
        if task.split == task.plan.n_splits - 1:
            for method in task.plan.methods:
                report(_progress([one for one in waiting if one.method == method]))
            waiting = []
    return results


def _progress(found: Sequence[Result]) -> str:
    score = np.mean([one.score[one.chosen] for one in found])
    seconds = sum(one.seconds for one in found)
    first = found[0]
    return f"  {first.data:<16} {first.method:<20} {score:.4f}  {seconds:7.1f} s"
