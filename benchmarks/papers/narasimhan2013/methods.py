"""The methods of the study: each fits candidates and scores the test rows of splits.

Every method has the same number of candidates, so that tuning is equal: six weights C
of the risk, six of logistic regression, three sizes of trees after two numbers of
rounds, or three upper ends of the range with two C each. `LinearRankerCV` chooses by
folds of its own, with other losses or among logistic regressions alone.

The splits are stratified, two thirds to learn from, and the same for all methods. Three
inner folds of the training rows choose a candidate by the partial AUC itself, without a
look at the test rows.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from aucmax import AUCSVC, LinearRankerCV
from aucmax.exceptions import ConstantScoresWarning
from aucmax.metrics import partial_auc_score
from benchmarks.papers.choices import Choice
from benchmarks.papers.narasimhan2013.data import Split, load, splits

C_VALUES = tuple(10.0**power for power in range(6))
# of a sum over rows, not of a mean
LOGISTIC_C = tuple(10.0**power for power in range(-3, 3))
FEW_C = (10.0, 1000.0)
SIGMOID_C = (100.0, 10_000.0)
ENDS = (0.1, 0.3, 1.0)  # for "tight, end tuned"
LEAVES, ROUNDS = (4, 15, 31), (50, 200)
TOLERANCE, INNER_TOLERANCE = 1e-3, 1e-2  # relative gap of every convex problem
MAX_SECONDS = 2.0  # for one of them

TIGHT, LOOSE, FULL = "tight", "loose", "SVM-AUC"
TUNED = "tight, end tuned"
LOGISTIC, TREES = "logistic", "LightGBM"
SIGMOID, CHOSEN = "sigmoid, end tuned", "LinearRankerCV"
SAME_FOLDS = "logistic, folds of LinearRankerCV"
PENALTIES: dict[str, dict[str, Any]] = {
    "L2": {"penalty": "l2"},
    "elastic net 0.001": {"penalty": "elasticnet", "l1_ratio": 0.001},
    "elastic net 0.1": {"penalty": "elasticnet", "l1_ratio": 0.1},
    "L1": {"penalty": "l1"},
    "group": {"penalty": "group"},
}


class Fitted(NamedTuple):
    """One candidate: the scores of the test rows, and what the weights are like.

    Attributes
    ----------
    density : float
        The share of the weights that are not 0.
    n_groups : int
        Groups with a weight that is not 0.
    """

    candidate: str
    scores: np.ndarray
    density: float = np.nan
    n_groups: int = 0


@dataclass(frozen=True)
class Training:
    """Rows to learn from, rows to score, and the range that counts."""

    X: Any
    y: np.ndarray
    X_test: Any
    fpr_range: tuple[float, float]
    groups: list[list[int]] | None = None
    tol: float = TOLERANCE


def _machine(training: Training, **parameters: Any) -> AUCSVC:
    options = {"fpr_range": training.fpr_range, **parameters}
    return AUCSVC(tol=training.tol, max_time=MAX_SECONDS, **options)


def _path(training: Training, machine: AUCSVC, C: Sequence[float]) -> list[Fitted]:
    models = machine.fit_path(training.X, training.y, C)
    return [_summary(model, training) for model in models]


def _summary(model: AUCSVC, training: Training) -> Fitted:
    weights = model.coef_[0]
    used = weights != 0.0
    name = f"C = {model.C:g}"
    if tuple(model.fpr_range) != training.fpr_range:
        name = f"up to {model.fpr_range[1]:g}, {name}"
    n_groups = sum(bool(used[group].any()) for group in training.groups or ())
    scores = model.decision_function(training.X_test)
    return Fitted(name, scores, float(used.mean()), n_groups)


def _svm(
    training: Training, C: Sequence[float] = C_VALUES, **parameters: Any
) -> list[Fitted]:
    return _path(training, _machine(training, **parameters), C)


def _tuned(
    training: Training, C: Sequence[float] = FEW_C, **parameters: Any
) -> list[Fitted]:
    candidates = []
    for end in ENDS:
        machine = _machine(training, fpr_range=(0.0, end), **parameters)
        candidates += _path(training, machine, C)
    return candidates


def _chosen(training: Training, **parameters: Any) -> list[Fitted]:
    model = LinearRankerCV(fpr_range=training.fpr_range, **parameters)
    model.fit(training.X, training.y)
    scores = model.decision_function(training.X_test)
    return [Fitted(str(model.best_params_), scores)]


def _sparse(training: Training, **parameters: Any) -> list[Fitted]:
    if parameters["penalty"] == "group":
        parameters["groups"] = training.groups
    return _svm(training, **parameters)


def _logistic(
    training: Training, C_values: Sequence[float] = LOGISTIC_C
) -> list[Fitted]:
    model = LogisticRegression(warm_start=True, max_iter=2000, tol=1e-5)
    candidates = []
    for C in C_values:
        model.set_params(C=C).fit(training.X, training.y)
        scores = model.decision_function(training.X_test)
        candidates.append(Fitted(f"C = {C:g}", scores))
    return candidates


def _trees(training: Training) -> list[Fitted]:
    import lightgbm

    rows = training.y.size
    options = {
        "objective": "binary",
        "learning_rate": 0.1,
        "min_data_in_leaf": min(20, rows // 10),
        "feature_fraction": 0.2 if training.X.shape[1] > 1000 else 1.0,
        "num_threads": 1,
        "force_col_wise": True,
        "seed": 0,
        "verbose": -1,
    }
    candidates = []
    for leaves in LEAVES:
        # a data set can be grown on once
        data = lightgbm.Dataset(training.X, training.y.astype(float))
        model = lightgbm.train({**options, "num_leaves": leaves}, data, max(ROUNDS))
        for rounds in ROUNDS:
            scores = model.predict(training.X_test, num_iteration=rounds)
            name = f"{leaves} leaves, {rounds} rounds"
            candidates.append(Fitted(name, np.asarray(scores)))
    return candidates


METHODS: dict[str, Callable[[Training], list[Fitted]]] = {
    TIGHT: _svm,
    TUNED: _tuned,
    LOOSE: partial(_svm, bound="loose"),
    FULL: partial(_svm, fpr_range=(0.0, 1.0)),
    LOGISTIC: _logistic,
    TREES: _trees,
    SIGMOID: partial(_tuned, C=SIGMOID_C, loss="sigmoid"),
    CHOSEN: _chosen,
    SAME_FOLDS: partial(_chosen, losses=("logistic regression",)),
    **{name: partial(_sparse, **options) for name, options in PENALTIES.items()},
}


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
