"""The candidates of a linear model, their scores on folds, and the choice of one."""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from aucmax._core.eval_set import LabelledRows
from aucmax._core.row_matrix import as_row_matrix
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
WHOLE: Range = (0.0, 1.0)
SMOOTH_RANKS = "smooth average precision"
#: of rows, then of pairs; the last two are bounded
CANDIDATE_LOSSES = ("logistic regression", "hinge", "sigmoid", SMOOTH_RANKS)
#: of rows, and of censored times: another loss must be clearly better
SIMPLE_LOSSES = ("logistic regression", "cox")

# solver and relative gap: the likelihood of equal scores is far above 0, and the choice
# among candidates sees no smaller gap of hinges
_SOLVERS = {"cox": ("descent", 1e-6), "hinge": ("auto", 1e-2)}
_ACCURACY_OF_SIGMOIDS = 1e-4  # relative error; a descent sees no smaller one
_MAX_STEPS = 30  # of a descent
_MIN_GAIN = 3e-4  # share of the value; a step that gains less ends a descent
_MAX_ITERATIONS = 300  # of a logistic regression or a hinge
# scikit-learn's defaults for its logistic regression
_LBFGS_OPTIONS = {"maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(np.float64).eps}
# rows on which a fold compares all candidates, and of a class at least
_MAX_ROWS, _MIN_ROWS_OF_A_CLASS = 4000, 1000


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


Candidates = Sequence[Candidate]
Weights = dict[Candidate, FloatArray]


def fit_candidates(
    rows: LabelledRows, candidates: Candidates, train: IntArray | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weights, seconds and passes of candidates, fitted to the same rows.

    Bounded losses start from a regression.
    """
    if train is not None:
        rows = rows.part(train)
    has_times = rows.labels.dtype.names is not None
    ordered = sorted(candidates, key=lambda c: (c.loss, c.C))
    simple = [c for c in ordered if c.loss in SIMPLE_LOSSES]
    hinges = [c for c in ordered if c.loss == "hinge"]
    bounded = [c for c in ordered if c.loss in CANDIDATE_LOSSES[2:]]
    if bounded and not simple:
        middle = bounded[len(bounded) // 2].C
        simple = [Candidate(SIMPLE_LOSSES[has_times], WHOLE, WHOLE, middle)]
    weights: Weights = {}
    costs: dict[Candidate, tuple[float, float]] = {}
    first = _fit_convex if has_times else _fit_regressions
    for fit, alike in ((first, simple), (_fit_bounded, bounded), (_fit_convex, hinges)):
        if alike:
            began = time.perf_counter()
            n_passes = fit(rows, alike, weights) / len(alike)
            seconds = (time.perf_counter() - began) / len(alike)
            costs |= dict.fromkeys(alike, (seconds, n_passes))
    seconds_and_passes = np.array([costs[one] for one in candidates]).T
    return np.array([weights[one] for one in candidates]), *seconds_and_passes


def is_positive(labels: NDArray[Any]) -> BoolArray:
    """Return which rows are positive, or have an event."""
    return np.asarray(labels if labels.dtype.names is None else labels["event"])


def sample_rows(train: IntArray, rows: LabelledRows) -> IntArray:
    """Draw rows to compare candidates by; not fewer than enough of either class."""
    share = _MAX_ROWS / train.size
    if share >= 1.0 or rows.queries is not None:
        return train
    draw, drawn = np.random.default_rng(0), []
    labels = is_positive(rows.labels)[train]
    for members in (train[labels], train[~labels]):
        n_drawn = min(
            members.size, max(int(share * members.size), _MIN_ROWS_OF_A_CLASS)
        )
        drawn.append(draw.choice(members, n_drawn, replace=False))
    return np.sort(np.concatenate(drawn))


def _objective(
    rows: LabelledRows, candidate: Candidate, spread: float = 1.0
) -> LinearObjective:
    """Return what a loss over pairs minimises; widths are in units of `spread`."""
    loss, fpr_range, tpr_range, C, width = candidate
    risk: Risk = PairHinge()
    if rows.labels.dtype.names is not None:
        risk = survival_risk(loss, _ACCURACY_OF_SIGMOIDS)
    elif loss == "sigmoid":
        risk = PairSigmoid(
            fpr_range, tpr_range=tpr_range, accuracy=_ACCURACY_OF_SIGMOIDS
        )
    elif width is not None:
        risk = SmoothAveragePrecision(width * spread, accuracy=_ACCURACY_OF_SIGMOIDS)
    bound = risk.bind(rows.labels, rows.weight, rows.codes)
    return LinearObjective(rows.X, bound, C * rows.labels.size)


def _fit_regressions(rows: LabelledRows, alike: Candidates, weights: Weights) -> float:
    """Fit logistic regressions with loss and steps of scikit-learn's lbfgs."""
    # 1/W sum_r v_r log(1 + exp(-y_r (x_r w + b))) + |w|^2 / (2 C W), y of -1 and 1
    matrix, target = as_row_matrix(rows.X), rows.labels.astype(np.float64)
    weight = np.ones(target.size) if rows.weight is None else rows.weight
    total = float(weight.sum())
    shares = weight / total

    def loss(point: FloatArray, penalty: float) -> tuple[float, FloatArray]:
        w = point[:-1]
        scores = matrix.matvec(w) + point[-1]
        losses = np.logaddexp(0.0, scores) - target * scores
        residuals = shares * (expit(scores) - target)
        value = (shares * losses).sum() + 0.5 * penalty * (w @ w)
        gradient = matrix.rmatvec(residuals) + penalty * w
        return float(value), np.append(gradient, residuals.sum())

    n_iter, point = 0, np.zeros(rows.X.shape[1] + 1)
    options: Any = {"maxiter": _MAX_ITERATIONS, **_LBFGS_OPTIONS}
    for candidate in alike:
        penalty = 1.0 / (candidate.C * total)
        solution = minimize(
            loss, point, (penalty,), method="L-BFGS-B", jac=True, options=options
        )
        point, n_iter = solution.x, n_iter + solution.nit
        weights[candidate] = point[:-1].copy()
    return n_iter


def _fit_convex(rows: LabelledRows, alike: Candidates, weights: Weights) -> float:
    """Minimise hinges or partial likelihoods, each from the solution before."""
    n_passes, start = 0.0, None
    for candidate in alike:
        objective = _objective(rows, candidate)
        solver, tol = _SOLVERS[candidate.loss]
        rule = StoppingRule(tol, max_iter=_MAX_ITERATIONS)
        solution = SOLVERS[solver](rule).minimize(objective, L2(), start)
        start = Start(solution.point, solution.cuts)
        weights[candidate] = solution.point.parameters
        n_passes += objective.n_passes
    return n_passes


def _fit_bounded(rows: LabelledRows, alike: Candidates, weights: Weights) -> float:
    """Minimise all bounded losses side by side, from the nearest regressions."""
    # the data are the same, only risks and C differ
    shared = _objective(rows, alike[0])
    start_weights = np.array([*weights.values()])
    start_scores = shared.scores_of(start_weights)
    C_values = np.array([one.C for one in weights])
    descents = []
    for candidate in alike:
        nearest = int(np.argmin(np.abs(np.log(C_values / candidate.C))))
        start = Point(start_weights[nearest], start_scores[nearest])
        objective = _objective(rows, candidate, float(start.scores.std()) or 1.0)
        descents.append(Descent(objective, L2(), start))
        if candidate.width is None:  # else the width goes by the scale of the start
            descents[-1].scale()
    pull_back(shared, descents)
    active = descents
    for _ in range(_MAX_STEPS):
        active = descend(shared, active, _MIN_GAIN)
        if not active:
            break
    for candidate, descent in zip(alike, descents, strict=True):
        weights[candidate] = descent.point.parameters
    return shared.n_passes


def score_candidates(
    rows: LabelledRows, weights: FloatArray, metric: NamedMetric, test: IntArray
) -> list[float]:
    """Return the metric of the test rows for each candidate's weights."""
    held_out = rows.part(test)
    scores = np.ascontiguousarray(as_row_matrix(held_out.X).matvec(weights.T).T)
    # the top k of all rows are fewer of a fold; of a query they are as many
    portion = test.size / rows.labels.size if rows.queries is None else 1.0
    measure = metric.of_share(portion).prepare(
        held_out.labels, sample_weight=held_out.weight, qid=held_out.codes
    )
    return [measure(one) for one in scores]


def search_results(
    measured: FloatArray, candidates: Candidates, n_pruning: int
) -> dict[str, Any]:
    """Return the table that scikit-learn's searches have.

    `measured` holds scores, seconds and passes, by fold and candidate. Means are over
    the folds after the first `n_pruning`, if there are any.
    """
    scores, seconds, n_passes = measured.transpose(1, 0, 2)
    deciding = scores[n_pruning if len(scores) > n_pruning else 0 :]
    mean = deciding.mean(axis=0)
    ranked = np.nan_to_num(mean, nan=-np.inf)
    return {
        "params": [candidate.parameters for candidate in candidates],
        **{f"split{k}_test_score": row for k, row in enumerate(scores)},
        "mean_test_score": mean,
        "std_test_score": deciding.std(axis=0),
        "rank_test_score": (ranked[:, None] < ranked[None, :]).sum(axis=1) + 1,
        "mean_fit_time": np.nanmean(seconds, axis=0),
        "mean_n_passes": np.nanmean(n_passes, axis=0),
    }


def finalists(scores: FloatArray, candidates: Candidates) -> list[int]:
    """Return the best logistic regression and the best other candidate."""
    order = np.argsort(-scores.mean(axis=0), kind="stable").tolist()
    simple = [k for k in order if candidates[k].loss in SIMPLE_LOSSES]
    others = [k for k in order if candidates[k].loss not in SIMPLE_LOSSES]
    return sorted(simple[:1] + others[:1])
