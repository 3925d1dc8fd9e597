"""The candidates of a linear model, their scores on folds, and the choice of one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from aucmax._core.mapped import take_rows
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.row_splits import Folds
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.linear.risk_choice import survival_risk
from aucmax.metrics.metric_names import NamedMetric
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairHinge, PairSigmoid, Risk, SmoothAveragePrecision
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.descent import Descent, descend, pull_back
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Point, Start, StoppingRule

Range = tuple[float, float]
Fitted = tuple[FloatArray, float, float]  # weights, seconds, passes over the data
Solutions = tuple[list[FloatArray], float]  # weights of each, passes of all
WHOLE: Range = (0.0, 1.0)
#: of rows, then of pairs; the last two are bounded
CANDIDATE_LOSSES = (
    "logistic regression",
    "hinge",
    "sigmoid",
    "smooth average precision",
)
#: of rows, and of censored times: another loss must be clearly better
SIMPLE_LOSSES = ("logistic regression", "cox")

# solver and relative gap: the likelihood of equal scores is far above 0, and the choice
# among candidates sees no smaller gap of hinges
_SOLVERS = {"cox": ("descent", 1e-6), "hinge": ("auto", 1e-2)}
_ACCURACY_OF_SIGMOIDS = 1e-4  # relative error; a descent sees no smaller one
_MAX_STEPS = 30  # of a descent
_MIN_GAIN = 3e-5  # share of the value; a step that gains less ends a descent
_MAX_ITERATIONS = 300  # of a logistic regression or a hinge
# scikit-learn's defaults for its logistic regression
_LBFGS_OPTIONS = {"maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(np.float64).eps}
_MAX_ROWS = 4000  # that a fold compares candidates by
_ENOUGH_OF_A_CLASS = 1000  # rows, even if these are more than a share of _MAX_ROWS
_MIN_STANDARD_ERRORS = 0.5  # by which another loss must beat logistic regression


class Candidate(NamedTuple):
    """A loss, a part of the ROC curve and a weight."""

    loss: str  # one of CANDIDATE_LOSSES, or "cox" for logistic regression
    fpr_range: Range
    tpr_range: Range
    C: float  # weight of the loss per row
    width: float | None = None  # of smooth ranks; in standard deviations of the start

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that the loss has, by name."""
        return {k: value for k, value in self._asdict().items() if value is not None}


Fits = dict[Candidate, Fitted]


@dataclass(frozen=True)
class Rows:
    """Rows to learn from."""

    X: Any
    labels: BoolArray  # True for positives
    sample_weight: FloatArray | None = None
    queries: IntArray | None = None
    target: Any = None  # events and times, if labels are events

    def take(self, rows: IntArray) -> "Rows":
        """Return some of the rows."""
        parts: Any = self.labels, self.sample_weight, self.queries, self.target
        parts = [None if values is None else values[rows] for values in parts]
        return Rows(take_rows(self.X, rows), *parts)

    def objective(self, candidate: Candidate, spread: float = 1.0) -> LinearObjective:
        """Return what a loss over pairs minimises; widths are in units of `spread`."""
        loss, fpr_range, tpr_range, C, width = candidate
        risk: Risk
        if self.target is not None:
            risk = survival_risk(loss, _ACCURACY_OF_SIGMOIDS)
        elif loss == "hinge":
            risk = PairHinge()
        elif width is None:
            ends: Any = {"fpr_range": fpr_range, "tpr_range": tpr_range}
            risk = PairSigmoid(**ends, accuracy=_ACCURACY_OF_SIGMOIDS)
        else:
            risk = SmoothAveragePrecision(
                width * spread, accuracy=_ACCURACY_OF_SIGMOIDS
            )
        target = self.labels if self.target is None else self.target
        bound = risk.bind(target, self.sample_weight, self.queries)
        return LinearObjective(self.X, bound, C * self.labels.size)


def fit_candidates(rows: Rows, candidates: Sequence[Candidate]) -> list[Fitted]:
    """Fit all candidates to the same rows; sigmoids start from a regression."""
    ordered = sorted(candidates, key=lambda c: (c.loss, c.C))
    simple = [c for c in ordered if c.loss in SIMPLE_LOSSES]
    hinges = [c for c in ordered if c.loss == "hinge"]
    bounded = [c for c in ordered if c.loss in CANDIDATE_LOSSES[2:]]
    if not simple and bounded:
        loss = SIMPLE_LOSSES[rows.target is not None]
        simple = [Candidate(loss, WHOLE, WHOLE, bounded[len(bounded) // 2].C)]
    fitted: Fits = {}
    first = _regressions if rows.target is None else _convex
    for fit, alike in ((first, simple), (_bounded, bounded), (_convex, hinges)):
        began = time.perf_counter()
        weights, n_passes = fit(rows, alike, fitted) if alike else ([], 0.0)
        seconds = time.perf_counter() - began
        for candidate, one in zip(alike, weights, strict=True):
            fitted[candidate] = one, seconds / len(alike), n_passes / len(alike)
    return [fitted[candidate] for candidate in candidates]


def _regressions(rows: Rows, candidates: Sequence[Candidate], _: Fits) -> Solutions:
    """Fit logistic regressions with loss and steps of scikit-learn's lbfgs."""
    # 1/W sum_r v_r log(1 + exp(-y_r (x_r w + b))) + |w|^2 / (2 C W), y of -1 and 1
    matrix, target = as_row_matrix(rows.X), rows.labels.astype(np.float64)
    weight = np.ones(target.size) if rows.sample_weight is None else rows.sample_weight
    total = float(weight.sum())
    shares = weight / total

    def loss(point: FloatArray, penalty: float) -> tuple[float, FloatArray]:
        weights = point[:-1]
        scores = matrix.matvec(weights) + point[-1]
        losses = np.logaddexp(0.0, scores) - target * scores
        residuals = shares * (expit(scores) - target)
        value = (shares * losses).sum() + 0.5 * penalty * (weights @ weights)
        gradient = matrix.rmatvec(residuals) + penalty * weights
        return float(value), np.append(gradient, residuals.sum())

    solutions, n_iter, point = [], 0, np.zeros(rows.X.shape[1] + 1)
    options: Any = {"maxiter": _MAX_ITERATIONS, **_LBFGS_OPTIONS}
    for candidate in candidates:
        penalty = 1.0 / (candidate.C * total)
        solution = minimize(
            loss, point, (penalty,), method="L-BFGS-B", jac=True, options=options
        )
        point, n_iter = solution.x, n_iter + solution.nit
        solutions.append(point[:-1].copy())
    return solutions, n_iter


def _convex(rows: Rows, candidates: Sequence[Candidate], _: Fits) -> Solutions:
    """Minimise hinges or partial likelihoods, each from the solution before."""
    solutions, n_passes, start = [], 0.0, None
    for candidate in candidates:
        objective = rows.objective(candidate)
        solver, tol = _SOLVERS[candidate.loss]
        rule = StoppingRule(tol, max_iter=_MAX_ITERATIONS)
        solution = SOLVERS[solver](rule).minimize(objective, L2(), start)
        start = Start(solution.point, solution.cuts)
        solutions.append(solution.point.parameters)
        n_passes += objective.n_passes
    return solutions, n_passes


def _bounded(rows: Rows, candidates: Sequence[Candidate], fitted: Fits) -> Solutions:
    """Minimise all bounded losses side by side, from the nearest regressions."""
    # the data are the same, only risks and C differ
    shared = rows.objective(candidates[0])
    weights = np.array([one for one, _, _ in fitted.values()])
    scores = shared.scores_of(weights)
    C_values = np.array([one.C for one in fitted])
    descents = []
    for candidate in candidates:
        nearest = int(np.argmin(np.abs(np.log(C_values / candidate.C))))
        start = Point(weights[nearest], scores[nearest])
        objective = rows.objective(candidate, float(start.scores.std()) or 1.0)
        descents.append(Descent(objective, L2(), start))
        if candidate.width is None:  # else the width goes by the scale of the start
            descents[-1].scale()
    pull_back(shared, descents)
    going = descents
    for _ in range(_MAX_STEPS):
        descend(shared, going)
        going = [one for one in going if one.gain > _MIN_GAIN * abs(one.value)]
        if not going:
            break
    return [descent.point.parameters for descent in descents], shared.n_passes


def search_results(
    measured: FloatArray, candidates: Sequence[Candidate]
) -> dict[str, Any]:
    """Return the table that scikit-learn's searches have, of `measure_fold`."""
    scores, seconds, n_passes = measured.transpose(1, 0, 2)
    mean = scores.mean(axis=0)
    ranked = np.nan_to_num(mean, nan=-np.inf)
    return {
        "params": [candidate.parameters for candidate in candidates],
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": scores.std(axis=0),
        "rank_test_score": (ranked[:, None] < ranked[None, :]).sum(axis=1) + 1,
        "mean_fit_time": np.nanmean(seconds, axis=0),
        "mean_n_passes": np.nanmean(n_passes, axis=0),
    }


def measure_fold(
    rows: Rows,
    candidates: Sequence[Candidate],
    kept: Sequence[int],
    metric: NamedMetric,
    train: IntArray,
    test: IntArray,
) -> FloatArray:
    """Return metric, seconds and passes of candidates on a fold, NaN if not kept."""
    if rows.queries is None:
        train = _some_rows(train, rows.labels[train])
    fitted = fit_candidates(rows.take(train), [candidates[k] for k in kept])
    held = rows.take(test)
    weights = np.array([one for one, _, _ in fitted])
    scores = np.ascontiguousarray(as_row_matrix(held.X).matvec(weights.T).T)
    # the top k of all rows are fewer of a fold; of a query they are as many
    portion = test.size / rows.labels.size if rows.queries is None else 1.0
    measure = metric.of_share(portion).prepare(
        held.labels if held.target is None else held.target,
        sample_weight=held.sample_weight,
        qid=held.queries,
    )
    measured = np.full((3, len(candidates)), np.nan)
    for k, (_, seconds, n_passes), row_scores in zip(kept, fitted, scores, strict=True):
        measured[:, k] = measure(row_scores), seconds, n_passes
    return measured


def _some_rows(train: IntArray, labels: BoolArray) -> IntArray:
    """Draw rows to compare candidates by; not fewer than enough of either class."""
    share = _MAX_ROWS / train.size
    if share >= 1.0:
        return train
    draw, kept = np.random.default_rng(0), []
    for rows in (train[labels], train[~labels]):
        n_kept = min(rows.size, max(int(share * rows.size), _ENOUGH_OF_A_CLASS))
        kept.append(draw.choice(rows, n_kept, replace=False))
    return np.sort(np.concatenate(kept))


def survivors(scores: FloatArray, candidates: Sequence[Candidate]) -> list[int]:
    """Return the best half of each loss.

    For the whole curve, losses that are behind logistic regression are left out.
    """
    whole = WHOLE, WHOLE, None
    is_whole = all((c.fpr_range, c.tpr_range, c.width) == whole for c in candidates)
    order = np.argsort(-scores.mean(axis=0), kind="stable").tolist()
    kept: list[int] = []
    for loss in dict.fromkeys(candidates[k].loss for k in order):
        own = [k for k in order if candidates[k].loss == loss]
        kept += own[: max(1, len(own) // 2)]
        if is_whole and loss in SIMPLE_LOSSES:
            break
    return sorted(kept)


def choose(scores: FloatArray, candidates: Sequence[Candidate], folds: Folds) -> int:
    """Return the best candidate, unless logistic regression is about as good."""
    mean = np.nan_to_num(scores.mean(axis=0), nan=-np.inf)
    best = int(mean.argmax())
    simple = [k for k, c in enumerate(candidates) if c.loss in SIMPLE_LOSSES]
    if not simple or best in simple:
        return best
    simplest = simple[int(mean[simple].argmax())]
    gain = scores[:, best] - scores[:, simplest]
    n_folds = gain.size
    if n_folds < 2:
        return simplest
    share = float(np.mean([test.size / train.size for train, test in folds[:n_folds]]))
    error = float(np.sqrt(gain.var(ddof=1) * (1.0 / n_folds + share)))
    return best if gain.mean() > _MIN_STANDARD_ERRORS * error else simplest
