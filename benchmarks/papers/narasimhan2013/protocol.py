"""Repeated splits, and the choice of a candidate inside the training rows.

The splits are stratified, two thirds to learn from, and the same for all methods. Three
inner folds of the training rows choose a candidate by the partial AUC itself, without a
look at the test rows.
"""

import time
import warnings
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold

from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import partial_auc_score
from benchmarks.papers.choices import Choice
from benchmarks.papers.narasimhan2013.data import Split, load, splits
from benchmarks.papers.narasimhan2013.methods import (
    INNER_TOLERANCE,
    METHODS,
    TOLERANCE,
    Fitted,
    Training,
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

    part: str
    data: str
    methods: tuple[str, ...]
    n_splits: int
    judged: Range
    trained: Range | None = None

    def fit(self, method: str, split: Split, tol: float) -> list[Fitted]:
        """Fit all candidates of a method."""
        trained = self.trained or self.judged
        return METHODS[method](
            Training(split.X, split.y, split.X_test, trained, split.groups, tol)
        )

    def score(self, split: Split, fitted: Fitted) -> float:
        """Return the partial AUC of the test rows."""
        judged = self.judged
        return float(partial_auc_score(split.y_test, fitted.scores, fpr_range=judged))


@dataclass
class Result(Choice):
    """Outcome of one method on one split, judged by the mean over the inner folds.

    Attributes
    ----------
    score : list of float
        Partial AUC of the test rows, for each candidate.
    density, n_groups : list
        Of the model of all training rows, see `Fitted`.
    """

    part: str = ""
    score: list[float] = field(default_factory=list)
    density: list[float] = field(default_factory=list)
    n_groups: list[int] = field(default_factory=list)
    total_groups: int = 0


@lru_cache(maxsize=1)
def _split(data: str, n_splits: int, number: int) -> tuple[Split, list[Split]]:
    """Return one split, and the inner folds of its training rows."""
    problem = load(data)
    train, test = splits(data, n_splits)[number]
    folds = StratifiedKFold(N_INNER, shuffle=True, random_state=number)
    inner = [
        problem.split(train[part], train[rest])
        for part, rest in folds.split(np.zeros(train.size), problem.y[train])
    ]
    return problem.split(train, test), inner


def run_method(plan: Plan, method: str, number: int) -> Result:
    """Fit on the training rows of a split, score its test rows, choose inside."""
    outer, inner = _split(plan.data, plan.n_splits, number)
    result = Result(plan.data, method, number, part=plan.part)
    result.total_groups = len(outer.groups or ())
    start = time.perf_counter()
    with warnings.catch_warnings():
        # weights of 0, or a solve that ran out of time, are results of the study
        for expected in (ConstantScoresWarning, ConvergenceWarning, UserWarning):
            warnings.simplefilter("ignore", expected)
        for one in plan.fit(method, outer, TOLERANCE):
            result.candidates.append(one.candidate)
            result.score.append(plan.score(outer, one))
            result.density.append(one.density)
            result.n_groups.append(one.n_groups)
        result.valid = [0.0]
        if len(result.candidates) > 1:
            result.valid = _mean_scores(plan, method, inner)
    result.seconds = [time.perf_counter() - start]
    return result


def _mean_scores(plan: Plan, method: str, folds: list[Split]) -> list[float]:
    """Return the mean partial AUC of each candidate over the folds."""
    table = [
        [plan.score(fold, one) for one in plan.fit(method, fold, INNER_TOLERANCE)]
        for fold in folds
    ]
    return [float(mean) for mean in np.mean(table, axis=0)]
