"""The candidates of a linear model: losses, ranges to train on, weights per row.

All candidates of one set of rows are fitted together: each logistic regression and each
hinge starts from its neighbour, and all sigmoids go down abreast, for one pass over the
data per step of all of them.
"""

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from aucmax._core.mapped import take_rows
from aucmax._core.row_matrix import as_row_matrix
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.linear.objective import LinearObjective
from aucmax.linear.risk_choice import LOSSES
from aucmax.linear.row_logistic import regression_path
from aucmax.linear.solver_choice import AutoSolver
from aucmax.regularizers import L2
from aucmax.risks import BoundRisk, PairSigmoid, PartialHinge
from aucmax.solvers import Point, Start, StoppingRule
from aucmax.solvers.descent import Descent, descend, pull_back

__all__ = ["Candidate", "Fitted", "Rows", "fit_candidates"]

Range = tuple[float, float]
WHOLE: Range = (0.0, 1.0)

# The relative gap of a hinge; the choice among candidates sees no smaller one.
_TOL_OF_HINGES = 1e-2
# The relative error of a sigmoid and its slope; a descent sees no smaller one.
_ACCURACY_OF_SIGMOIDS = 1e-4
# The most steps of a descent.
_MOST_STEPS = 30
# A step that gains less than this share of the value is idle and ends a descent.
_LEAST_GAIN = 3e-5
# The most iterations of a logistic regression.
_MOST_ITERATIONS = 300


class Candidate(NamedTuple):
    """One way to train a linear model.

    Attributes
    ----------
    loss : str
        "logistic regression" (of rows), or a loss over pairs: "hinge" or "sigmoid".
    fpr_range, tpr_range : pair of float
        The part of the curve that it is trained for.
    C : float
        The weight of the loss per row.
    """

    loss: str
    fpr_range: Range
    tpr_range: Range
    C: float

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
    """Rows to learn from.

    Attributes
    ----------
    X : ndarray or sparse matrix of shape (n_rows, n_features)
        The features.
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    sample_weight : ndarray of shape (n_rows,) or None
        Row weights.
    queries : ndarray of int64 of shape (n_rows,) or None
        The query of each row.
    """

    X: Any
    labels: BoolArray
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
        _, fpr_range, tpr_range, _ = candidate
        if candidate.loss == "sigmoid":
            sigmoid = PairSigmoid(
                fpr_range, tpr_range=tpr_range, accuracy=_ACCURACY_OF_SIGMOIDS
            )
            risk: BoundRisk = sigmoid.bind(
                self.labels, self.sample_weight, self.queries
            )
        else:
            part = PartialHinge(fpr_range, tpr_range=tpr_range)
            risk = LOSSES[candidate.loss](
                part, self.labels, self.sample_weight, self.queries
            )
        C = candidate.C * self.labels.size
        return LinearObjective(self.X, risk, C)


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
    model = LogisticRegression(warm_start=True, max_iter=_MOST_ITERATIONS)
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
        rows.X, rows.labels, rows.sample_weight, C_values, _MOST_ITERATIONS
    )
    found, began = {}, time.perf_counter()
    for candidate, (weights, n_iter) in zip(candidates, path, strict=True):
        now = time.perf_counter()
        found[candidate] = Fitted(weights, now - began, float(n_iter))
        began = now
    return found


def _hinges(rows: Rows, candidates: Sequence[Candidate]) -> dict[Candidate, Fitted]:
    found, start = {}, None
    rule = StoppingRule(tol=_TOL_OF_HINGES, max_iter=_MOST_ITERATIONS)
    for candidate in candidates:
        began = time.perf_counter()
        objective = rows.objective(candidate)
        solution = AutoSolver(rule).minimize(objective, L2(), start)
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
    for _ in range(_MOST_STEPS):
        descend(shared, going)
        going = [one for one in going if one.gain > _LEAST_GAIN * abs(one.value)]
        if not going:
            break
    seconds = (time.perf_counter() - began) / len(candidates)
    n_passes = shared.n_passes / len(candidates)
    return {
        candidate: Fitted(descent.point.parameters, seconds, n_passes)
        for candidate, descent in zip(candidates, descents, strict=True)
    }
