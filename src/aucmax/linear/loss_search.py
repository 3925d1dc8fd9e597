"""The candidates of a linear model, their scores on folds, and the choice of one."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from aucmax._core.mapped import take_rows
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.linear.risk_choice import LOSSES, survival_risk
from aucmax.metrics.metric_names import NamedMetric
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairSigmoid, PartialHinge, SmoothAveragePrecision
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.descent import Descent, descend, pull_back
from aucmax.solvers.risk_objective import LinearObjective
from aucmax.solvers.solver import Point, Start, StoppingRule

Range = tuple[float, float]
Regression = Callable[[float], tuple[FloatArray, int]]  # C in; weights, iterations out
WHOLE: Range = (0.0, 1.0)
#: of rows, then of pairs; the last two are bounded
CANDIDATE_LOSSES = (
    "logistic regression",
    "hinge",
    "sigmoid",
    "smooth average precision",
)

_TOL_OF_COX = 1e-6  # relative gap; the likelihood of equal scores is far above 0
_TOL_OF_HINGES = 1e-2  # relative gap; the choice among candidates sees no smaller one
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

    loss: str  # one of CANDIDATE_LOSSES
    fpr_range: Range
    tpr_range: Range
    C: float  # weight of the loss per row
    width: float | None = None  # of smooth ranks; in standard deviations of the start

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that the loss has, by name."""
        return {k: value for k, value in self._asdict().items() if value is not None}


class Fitted(NamedTuple):
    """The weights of one candidate, and the cost of the fit."""

    weights: FloatArray
    seconds: float
    n_passes: float


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
        return Rows(
            take_rows(self.X, rows),
            self.labels[rows],
            None if self.sample_weight is None else self.sample_weight[rows],
            None if self.queries is None else self.queries[rows],
            None if self.target is None else self.target[rows],
        )

    def described(self, candidate: Candidate) -> dict[str, Any]:
        """Return the parameters of a candidate by name."""
        is_cox = self.target is not None and candidate.loss == "logistic regression"
        return (candidate._replace(loss="cox") if is_cox else candidate).parameters

    def objective(self, candidate: Candidate, spread: float = 1.0) -> LinearObjective:
        """Return what a loss over pairs minimises; widths are in units of `spread`."""
        loss, fpr_range, tpr_range, C, width = candidate
        if self.target is not None:
            of_times = self.target, self.sample_weight, self.queries
            bound = survival_risk(loss, *of_times, _ACCURACY_OF_SIGMOIDS)
            return LinearObjective(self.X, bound, C * self.labels.size)
        if width is None:
            risk = LOSSES[loss](PartialHinge(fpr_range, tpr_range=tpr_range))
        else:
            risk = SmoothAveragePrecision(width * spread)
        if isinstance(risk, PairSigmoid | SmoothAveragePrecision):
            risk.accuracy = _ACCURACY_OF_SIGMOIDS
        bound = risk.bind(self.labels, self.sample_weight, self.queries)
        return LinearObjective(self.X, bound, C * self.labels.size)


def fit_candidates(rows: Rows, candidates: Sequence[Candidate]) -> list[Fitted]:
    """Fit all candidates to the same rows; sigmoids start from a regression."""
    by_loss = {
        loss: sorted({c for c in candidates if c.loss == loss}, key=lambda c: c.C)
        for loss in CANDIDATE_LOSSES
    }
    regressions, hinges, *others = by_loss.values()
    bounded = [candidate for own in others for candidate in own]
    if not regressions and bounded:
        middle = bounded[len(bounded) // 2]
        regressions = [Candidate("logistic regression", WHOLE, WHOLE, middle.C)]
    starts = _regressions(rows, regressions)
    fitted = starts | _hinges(rows, hinges)
    fitted |= _bounded(rows, bounded, starts)
    return [fitted[candidate] for candidate in candidates]


def _regressions(
    rows: Rows, candidates: Sequence[Candidate]
) -> dict[Candidate, Fitted]:
    fit, found = _regression(rows), {}
    for candidate in candidates:
        start = time.perf_counter()
        weights, n_iter = fit(candidate.C)
        seconds = time.perf_counter() - start
        found[candidate] = Fitted(weights, seconds, float(n_iter))
    return found


def _regression(rows: Rows) -> Regression:
    """Return a logistic regression with loss and steps of scikit-learn's lbfgs."""
    if rows.target is not None:
        return _cox_model(rows)
    # 1/W sum_r v_r log(1 + exp(-y_r (x_r w + b))) + |w|^2 / (2 C W), y of -1 and 1
    matrix, target = as_row_matrix(rows.X), rows.labels.astype(np.float64)
    weight = rows.sample_weight
    total = float(target.size if weight is None else weight.sum())
    shares = (1.0 if weight is None else weight) / total
    point = np.zeros(rows.X.shape[1] + 1)

    def fit(C: float) -> tuple[FloatArray, int]:
        nonlocal point
        price = 1.0 / (C * total)

        def loss(point: FloatArray) -> tuple[float, FloatArray]:
            weights = point[:-1]
            scores = matrix.matvec(weights) + point[-1]
            losses = np.logaddexp(0.0, scores) - target * scores
            slopes = shares * (expit(scores) - target)
            value = (shares * losses).sum() + 0.5 * price * (weights @ weights)
            gradient = matrix.rmatvec(slopes) + price * weights
            return float(value), np.append(gradient, slopes.sum())

        options: Any = {"maxiter": _MAX_ITERATIONS, **_LBFGS_OPTIONS}
        found = minimize(loss, point, method="L-BFGS-B", jac=True, options=options)
        point = found.x
        return point[:-1].copy(), int(found.nit)

    return fit


def _cox_model(rows: Rows) -> Regression:
    """Return Cox's model, the regression of censored times."""
    start: Start | None = None
    rule = StoppingRule(tol=_TOL_OF_COX, max_iter=_MAX_ITERATIONS)

    def fit(C: float) -> tuple[FloatArray, int]:
        nonlocal start
        objective = rows.objective(Candidate("cox", WHOLE, WHOLE, C))
        found = SOLVERS["descent"](rule).minimize(objective, L2(), start)
        start = Start(found.point)
        return found.point.parameters, found.n_iter

    return fit


def _hinges(rows: Rows, candidates: Sequence[Candidate]) -> dict[Candidate, Fitted]:
    found, start = {}, None
    rule = StoppingRule(tol=_TOL_OF_HINGES, max_iter=_MAX_ITERATIONS)
    for candidate in candidates:
        began = time.perf_counter()
        objective = rows.objective(candidate)
        solution = SOLVERS["auto"](rule).minimize(objective, L2(), start)
        start = Start(solution.point, solution.cuts)
        seconds = time.perf_counter() - began
        weights = solution.point.parameters
        found[candidate] = Fitted(weights, seconds, objective.n_passes)
    return found


def _bounded(
    rows: Rows, candidates: Sequence[Candidate], starts: dict[Candidate, Fitted]
) -> dict[Candidate, Fitted]:
    """Minimise all bounded losses side by side."""
    if not candidates:
        return {}
    began = time.perf_counter()
    # the data are the same, only risks and C differ
    shared = rows.objective(candidates[0])
    weights = np.array([one.weights for one in starts.values()])
    pairs = zip(weights, shared.scores_of(weights), strict=True)
    points = dict(zip(starts, pairs, strict=True))
    descents = []
    for candidate in candidates:
        nearest = min(starts, key=lambda s: abs(np.log(s.C / candidate.C)))
        start = Point(*points[nearest])
        spread = float(start.scores.std()) or 1.0
        objective = rows.objective(candidate, spread)
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
    seconds = (time.perf_counter() - began) / len(candidates)
    n_passes = shared.n_passes / len(candidates)
    return {
        candidate: Fitted(descent.point.parameters, seconds, n_passes)
        for candidate, descent in zip(candidates, descents, strict=True)
    }


class SearchFold(NamedTuple):
    """The metric, the seconds and the passes of each candidate on one fold."""

    scores: FloatArray  # NaN, as the others, for candidates that were not fitted
    seconds: FloatArray
    n_passes: FloatArray
    share: float  # of test rows to training rows


def search_results(
    folds: Sequence[SearchFold], candidates: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Return the table that scikit-learn's searches have."""
    scores, seconds, n_passes, _ = map(np.array, zip(*folds, strict=True))
    mean = scores.mean(axis=0)
    ranked = np.nan_to_num(mean, nan=-np.inf)
    return {
        "params": candidates,
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
) -> SearchFold:
    """Fit the candidates that are kept to rows of a fold; measure them on others."""
    share = test.size / train.size
    if rows.queries is None:
        train = _some_rows(train, rows.labels[train])
    fitted = fit_candidates(rows.take(train), [candidates[k] for k in kept])
    held = rows.take(test)
    weights = np.array([one.weights for one in fitted])
    scores = np.ascontiguousarray(as_row_matrix(held.X).matvec(weights.T).T)
    found = np.full((3, len(candidates)), np.nan)
    # the top k of all rows are fewer of a fold; of a query they are as many
    portion = test.size / rows.labels.size if rows.queries is None else 1.0
    measure = metric.of_share(portion).prepare(
        held.labels if held.target is None else held.target,
        sample_weight=held.sample_weight,
        qid=held.queries,
    )
    for k, one, s in zip(kept, fitted, scores, strict=True):
        found[:, k] = measure(s), one.seconds, one.n_passes
    values, seconds, n_passes = found
    return SearchFold(values, seconds, n_passes, share)


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
        if is_whole and loss == "logistic regression":
            break
    return sorted(kept)


def choose(scores: FloatArray, candidates: Sequence[Candidate], share: float) -> int:
    """Return the best candidate, unless logistic regression is about as good."""
    mean = np.nan_to_num(scores.mean(axis=0), nan=-np.inf)
    best = int(mean.argmax())
    simple = [k for k, c in enumerate(candidates) if c.loss == "logistic regression"]
    if not simple or best in simple:
        return best
    simplest = simple[int(mean[simple].argmax())]
    gain = scores[:, best] - scores[:, simplest]
    n_folds = gain.size
    if n_folds < 2:
        return simplest
    error = float(np.sqrt(gain.var(ddof=1) * (1.0 / n_folds + share)))
    return best if gain.mean() > _MIN_STANDARD_ERRORS * error else simplest
