"""The candidates of a linear model, their scores on folds, and which one to take.

All are fitted together: regressions and hinges start from their neighbours, and all
sigmoids share the passes over the data.
"""

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucmax._core.mapped import take_rows
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.linear.linear_objective import LinearObjective
from aucmax.linear.risk_choice import LOSSES
from aucmax.metrics import partial_auc_score
from aucmax.regularizers.l2 import L2
from aucmax.risks import PairSigmoid, PartialHinge
from aucmax.solvers import Point, Start, StoppingRule
from aucmax.solvers.choice import SOLVERS
from aucmax.solvers.descent import Descent, descend, pull_back

Range = tuple[float, float]
WHOLE: Range = (0.0, 1.0)

# The relative gap of a hinge; the choice among candidates sees no smaller one.
_TOL_OF_HINGES = 1e-2
# The relative error of a sigmoid and its slope; a descent sees no smaller one.
_ACCURACY_OF_SIGMOIDS = 1e-4
# The most steps of a descent.
_MAX_STEPS = 30
# A step that gains less than this share of the value is idle and ends a descent.
_MIN_GAIN = 3e-5
# The most iterations of a logistic regression.
_MAX_ITERATIONS = 300
_GRADIENT_TOLERANCE = 1e-4  # scikit-learn's default for its logistic regression
_VALUE_TOLERANCE = 64 * float(np.finfo(np.float64).eps)  # the same
_MAX_LINE_SEARCH_STEPS = 50  # the same
# Another loss must be better than logistic regression by N standard errors.
_STANDARD_ERRORS = 0.5


class Candidate(NamedTuple):
    """One way to train a linear model, for a part of the curve."""

    loss: str  # "logistic regression" (of rows), or of pairs: "hinge", "sigmoid"
    fpr_range: Range
    tpr_range: Range
    C: float  # weight of the loss per row

    @property
    def params(self) -> dict[str, Any]:
        """What `cv_results_` and `best_params_` list."""
        return self._asdict()


class Fitted(NamedTuple):
    """The weights of one candidate, and what they cost."""

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

    def take(self, rows: IntArray) -> "Rows":
        """Return some of the rows."""
        return Rows(
            take_rows(self.X, rows),
            self.labels[rows],
            None if self.sample_weight is None else self.sample_weight[rows],
            None if self.queries is None else self.queries[rows],
        )

    def objective(self, candidate: Candidate) -> LinearObjective:
        """Return what a loss over pairs minimises."""
        loss, fpr_range, tpr_range, C = candidate
        risk = LOSSES[loss](PartialHinge(fpr_range, tpr_range=tpr_range))
        if isinstance(risk, PairSigmoid):
            risk.accuracy = _ACCURACY_OF_SIGMOIDS
        bound = risk.bind(self.labels, self.sample_weight, self.queries)
        return LinearObjective(self.X, bound, C * self.labels.size)


def fit_candidates(rows: Rows, candidates: Sequence[Candidate]) -> list[Fitted]:
    """Fit all candidates to the same rows.

    Sigmoids start from the logistic regression whose C is nearest to theirs; where none
    is among the candidates, one is fitted for that.
    """
    by_loss = {
        loss: sorted({c for c in candidates if c.loss == loss}, key=lambda c: c.C)
        for loss in ("logistic regression", "hinge", "sigmoid")
    }
    regressions = by_loss["logistic regression"]
    if not regressions and by_loss["sigmoid"]:
        middle = by_loss["sigmoid"][len(by_loss["sigmoid"]) // 2]
        regressions = [Candidate("logistic regression", WHOLE, WHOLE, middle.C)]
    starts = _regressions(rows, regressions)
    fitted = starts | _hinges(rows, by_loss["hinge"])
    fitted |= _sigmoids(rows, by_loss["sigmoid"], starts)
    return [fitted[candidate] for candidate in candidates]


def _regressions(
    rows: Rows, candidates: Sequence[Candidate]
) -> dict[Candidate, Fitted]:
    if as_row_matrix(rows.X).on_workers:
        return _regressions_in_parts(rows, candidates)
    model = LogisticRegression(warm_start=True, max_iter=_MAX_ITERATIONS)
    found = {}
    for candidate in candidates:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(C=candidate.C)
            model.fit(rows.X, rows.labels, rows.sample_weight)
        seconds = time.perf_counter() - start
        n_passes = float(model.n_iter_[0])
        found[candidate] = Fitted(model.coef_[0].copy(), seconds, n_passes)
    return found


def _regressions_in_parts(
    rows: Rows, candidates: Sequence[Candidate]
) -> dict[Candidate, Fitted]:
    C_values = [candidate.C for candidate in candidates]
    path = regression_path(
        rows.X, rows.labels, rows.sample_weight, C_values, _MAX_ITERATIONS
    )
    found, began = {}, time.perf_counter()
    for candidate, (weights, n_iter) in zip(candidates, path, strict=True):
        now = time.perf_counter()
        found[candidate] = Fitted(weights, now - began, float(n_iter))
        began = now
    return found


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


def _sigmoids(
    rows: Rows, candidates: Sequence[Candidate], starts: dict[Candidate, Fitted]
) -> dict[Candidate, Fitted]:
    """Let all sigmoids go down abreast."""
    if not candidates:
        return {}
    began = time.perf_counter()
    objectives = [rows.objective(candidate) for candidate in candidates]
    shared = objectives[0]  # the data are the same, only risks and C differ
    weights = np.array([one.weights for one in starts.values()])
    pairs = zip(weights, shared.scores_of(weights), strict=True)
    points = dict(zip(starts, pairs, strict=True))
    descents = []
    for candidate, objective in zip(candidates, objectives, strict=True):
        nearest = min(starts, key=lambda s: abs(np.log(s.C / candidate.C)))
        descents.append(Descent(objective, L2(), Point(*points[nearest])))
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


def regression_path(
    X: Any,
    labels: BoolArray,
    sample_weight: FloatArray | None,
    C_values: Sequence[float],
    max_iter: int,
) -> Iterator[tuple[FloatArray, int]]:
    r"""Yield the logistic regression of rows known by their products alone, for each C.

    Loss, steps and stopping rules are those of scikit-learn's lbfgs:

    .. math:: \frac{1}{W} \sum_r v_r \log(1 + e^{-y_r (x_r w + b)})
              + \frac{1}{2 C W} \|w\|^2

    with y of -1 and 1, and the sum W of the row weights v.
    """
    rows, target = as_row_matrix(X), labels.astype(np.float64)
    total = float(labels.size if sample_weight is None else sample_weight.sum())
    point = np.zeros(X.shape[1] + 1)
    for C in C_values:
        price = 1.0 / (C * total)

        def loss(point: FloatArray, price: float = price) -> tuple[float, FloatArray]:
            weights = point[:-1]
            scores = rows.matvec(weights) + point[-1]
            losses = np.logaddexp(0.0, scores) - target * scores
            slopes = expit(scores) - target
            if sample_weight is not None:
                losses, slopes = losses * sample_weight, slopes * sample_weight
            slopes /= total
            value = losses.sum() / total + 0.5 * price * (weights @ weights)
            gradient = np.append(rows.rmatvec(slopes) + price * weights, slopes.sum())
            return float(value), gradient

        found = minimize(
            loss,
            point,
            method="L-BFGS-B",
            jac=True,
            options={
                "maxiter": max_iter,
                "maxls": _MAX_LINE_SEARCH_STEPS,
                "gtol": _GRADIENT_TOLERANCE,
                "ftol": _VALUE_TOLERANCE,
            },
        )
        point = found.x
        yield point[:-1].copy(), int(found.nit)


class SearchFold(NamedTuple):
    """The metric, the seconds and the passes of each candidate on one fold."""

    scores: FloatArray
    seconds: FloatArray
    n_passes: FloatArray
    share: float  # of test rows to training rows


class SearchScores:
    """What the folds have measured so far."""

    def __init__(self) -> None:
        self._folds: list[SearchFold] = []

    def __len__(self) -> int:
        return len(self._folds)

    def add(self, fold: SearchFold) -> None:
        """Take in one fold."""
        self._folds.append(fold)

    @property
    def scores(self) -> FloatArray:
        """The metric of each candidate, of shape (n_folds, n_candidates)."""
        return np.array([fold.scores for fold in self._folds])

    @property
    def share(self) -> float:
        """Test rows per training row, on average."""
        return float(np.mean([fold.share for fold in self._folds]))

    def results(self, candidates: Sequence[Candidate]) -> dict[str, Any]:
        """Return the table that scikit-learn's searches have."""
        scores = self.scores
        mean = scores.mean(axis=0)
        return {
            "params": [candidate.params for candidate in candidates],
            **{f"split{k}_test_score": row for k, row in enumerate(scores)},
            "mean_test_score": mean,
            "std_test_score": scores.std(axis=0),
            "rank_test_score": (mean[:, None] < mean[None, :]).sum(axis=1) + 1,
            "mean_fit_time": np.mean([fold.seconds for fold in self._folds], axis=0),
            "mean_n_passes": np.mean([fold.n_passes for fold in self._folds], axis=0),
        }


def measure_fold(
    rows: Rows,
    candidates: Sequence[Candidate],
    part: dict[str, Any],
    train: IntArray,
    test: IntArray,
) -> SearchFold:
    """Fit all candidates to the training rows of a fold; measure them on the others."""
    fitted = fit_candidates(rows.take(train), candidates)
    held = rows.take(test)
    weights = np.array([one.weights for one in fitted])
    scores = np.ascontiguousarray(as_row_matrix(held.X).matvec(weights.T).T)
    values = [
        partial_auc_score(
            held.labels, s, sample_weight=held.sample_weight, qid=held.queries, **part
        )
        for s in scores
    ]
    return SearchFold(
        np.array(values),
        np.array([one.seconds for one in fitted]),
        np.array([one.n_passes for one in fitted]),
        test.size / train.size,
    )


def choose(scores: FloatArray, candidates: Sequence[Candidate], share: float) -> int:
    """Return the best candidate, unless logistic regression is about as good."""
    mean = scores.mean(axis=0)
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
    return best if gain.mean() > _STANDARD_ERRORS * error else simplest
