"""The risk of linear scores, and the width over which its kinks are smoothed."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from math import sqrt
from typing import Any, Self

import numpy as np
from scipy import sparse

from aucmax._core.row_matrix import RowMatrix, as_row_matrix
from aucmax._core.threshold import balanced_threshold
from aucmax._core.validation import BoolArray, FloatArray, IntArray
from aucmax.exceptions import IncompatibleError
from aucmax.regularizers.regularizer import ProximalRegularizer, Regularizer
from aucmax.risks._pairs.pair_laplacians import append_column
from aucmax.risks.contract import BoundRisk, Support
from aucmax.solvers.cuts import Cuts
from aucmax.solvers.line_search import LineSearch
from aucmax.solvers.solver import Monitor, Point, Start, StoppingRule, inner, require

MAX_WIDTH = 2.2  # every pair lies on the smoothed part if all scores are equal
MIN_TOL_OF_SMOOTHING = 1e-6  # a smoothed risk is not precise enough for less
WIDTH_AT_A_START = 0.1  # factor of the first width; a wider one leaves a good start
MIN_NARROWING = 0.2  # factor of the width per iteration
_MIN_CUTS = 20  # to keep, however many numbers each has
_MAX_NUMBERS = 2**26  # in all cuts, unless they are the fewest: half a gigabyte
_ROUNDING = 1e-14  # share of a line's terms by which rounding may have raised it


class RiskObjective(ABC):
    """C times the risk of the scores; a subclass has the data that give them."""

    X: Any  # one row per score
    forms_columns = False  # whether only those asked for exist in memory
    min_damping = 1e-7  # of steps over columns, in shares of their mean curvature
    min_entering = 300  # parameters that may join a step over columns at once
    keeps_row_weights = False  # whether cuts keep their gradients over the scores

    def __init__(self, risk: BoundRisk, C: float = 1.0) -> None:
        self.risk = risk
        self.C = C
        self.n_passes = 0.0  # a product in one direction is half a pass

    @property
    def n_rows(self) -> int:
        """Number of scores."""
        return int(self.risk.labels.size)

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """Length of the parameter vector."""

    @abstractmethod
    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""

    def require_certifiable(self, solver: str, *, bounded: bool = True) -> None:
        """Raise an error unless the risk is convex and, if asked, bounded below."""
        risk = self.risk
        for declaration in ("is_convex", "least_value"):
            require(risk, declaration, solver, "Declare it on the bound risk.")
        if not risk.is_convex:
            raise IncompatibleError(
                f"{risk.risk!r} is not convex, so {solver} cannot certify a minimum. "
                "AUCSVC(loss='sigmoid') descends to a local one, without a certificate."
            )
        if bounded and risk.least_value == -np.inf:
            raise IncompatibleError(
                f"{risk.risk!r} has no lower bound, which {solver} needs for its "
                "certificate. Try a regularizer with a radius, such as L1Ball."
            )

    @property
    def least_value(self) -> float:
        """Return C times the least value of the risk, minus infinity if it has none."""
        return self.C * self.risk.least_value

    def lower_bound(
        self, regularizer: ProximalRegularizer, constant: float, slope: FloatArray
    ) -> float:
        """Return the bound of a line below C times the risk plus the regularizer."""
        # measured from the least value; a risk without one is minimised over a set
        base = self.least_value if np.isfinite(self.least_value) else 0.0
        return base + regularizer.lower_bound(constant - base, slope)

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk, smoothed if `width` > 0, in score space: no pass."""
        if width > 0.0:
            return _lowered(self.risk.smoothed(point.scores, width))
        value, subgradient = self.risk.value_and_gradient(point.scores)
        margin = self.risk.line_margin
        if margin is None:
            offset = value - inner(subgradient, point.scores)
        else:
            offset = margin * float(subgradient[~self.risk.labels].sum())
        return _lowered(Support(value, subgradient, offset))

    def hessian(
        self, columns: Any, last: FloatArray, point: Point, width: float
    ) -> FloatArray:
        """Return the smoothed risk's Hessian over `columns` and a last column."""
        form = self.risk.curvature(point.scores, width)
        return self.C * form(append_column(columns, last))

    def is_useful(self, gradient: FloatArray) -> BoolArray | bool:
        """Return which parameters are worth a weight, if the L1 penalty allows it."""
        return True

    @abstractmethod
    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over parameters: the backward half."""

    @abstractmethod
    def columns(self, which: IntArray) -> Any:
        """Return some columns, dense or sparse, up to a constant each."""


def _lowered(line: Support) -> Support:
    """Lower a line by as much as rounding may have raised it."""
    terms = abs(line.offset) + abs(line.value - line.offset)
    return line._replace(offset=line.offset - _ROUNDING * terms)


def directional_derivative(
    direction: Point,
    point: Point,
    subgradient: FloatArray,
    objective: RiskObjective,
    regularizer: Regularizer,
) -> float:
    """Return how fast the objective grows along a direction: no pass."""
    growth = float(regularizer.gradient(point.parameters) @ direction.parameters)
    return growth + objective.C * inner(subgradient, direction.scores)


def value_at(point: Point, objective: RiskObjective, regularizer: Regularizer) -> float:
    """Return the objective with the risk itself, not smoothed: no pass."""
    penalty = regularizer.value(point.parameters)
    return penalty + objective.C * objective.risk.value(point.scores)


def first_start(objective: RiskObjective, regularizer: Any) -> Start:
    """Return the origin, or the point of a set next to it."""
    origin = np.zeros(objective.n_parameters)
    if hasattr(regularizer, "prox"):
        origin = regularizer.prox(origin, 0.0)
    return Start(objective.at(origin))


def begin(
    rule: StoppingRule,
    objective: RiskObjective,
    regularizer: Any,
    start: Start | None,
    max_cuts: int,
) -> tuple[Point, Monitor, Cuts]:
    """Return the first point (the origin by default), a clock, and the known cuts."""
    if start is None:
        start = first_start(objective, regularizer)
    cuts, keeps_sources = start.cuts, objective.keeps_row_weights
    size = objective.n_parameters + keeps_sources * objective.n_rows
    max_cuts = min(max_cuts, max(_MAX_NUMBERS // max(size, 1), _MIN_CUTS))
    if cuts is None or (keeps_sources and cuts.sources is None):
        cuts = Cuts(objective.n_parameters, max_cuts, keep_sources=keeps_sources)
    cuts.resize(max_cuts)
    return start.point, rule.monitor(start.history), cuts


def first_width(objective: RiskObjective, start: Start | None) -> float:
    """Return the width to begin with; 0 if the risk cannot be smoothed."""
    if not objective.risk.can_be_smoothed:
        return 0.0
    return MAX_WIDTH if start is None else WIDTH_AT_A_START * MAX_WIDTH


def plane_value(support: Support, point: Point) -> float:
    """Return the height of a line at a point."""
    return support.offset + inner(support.subgradient, point.scores)


def lost_by_smoothing(support: Support, point: Point) -> float:
    """Return how far a smoothed risk's line is below the risk where it was found."""
    return support.value - plane_value(support, point)


def narrowing(lost: float, allowed: float) -> float:
    """Return the factor of a width after which it loses no more than is allowed."""
    if lost <= allowed:
        return 1.0
    # what smoothing loses falls with the square of the width
    return max(sqrt(allowed / lost), MIN_NARROWING)


def search_line(
    origin: Point,
    direction: Point,
    objective: RiskObjective,
    regularizer: Regularizer,
    width: float,
    longest: float,
    slope: float | None = None,
) -> tuple[Point, Support, float]:
    """Return where the objective has nearly stopped falling, and its plane: no pass."""
    # from a slope that is smooth, closer searches take more time than passes they save
    accuracy = 0.2 if slope is None else 0.5
    search = LineSearch(slope, longest=longest, accuracy=accuracy)
    while search.is_open:
        point = origin.moved(direction, search.length)
        plane = objective.support(point, width)
        gradient = plane.subgradient
        search.report(
            directional_derivative(direction, point, gradient, objective, regularizer)
        )
    return point, plane, search.length


class LinearObjective(RiskObjective):
    """C times the risk of ``X @ w``, with sums in float64 and no copy of the data."""

    product_cost = 0.5  # passes per product with the data

    def __init__(self, X: Any, risk: BoundRisk, C: float) -> None:
        super().__init__(risk, C)
        self.X = X

    @property
    def n_parameters(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def _matrix(self) -> RowMatrix:
        return as_row_matrix(self.X)

    def with_risk(self, risk: BoundRisk) -> Self:
        """Return the same data under another risk; the count of passes continues."""
        other = copy.copy(self)
        other.risk = risk
        return other

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""
        if not parameters.any():
            return Point(parameters, np.zeros(self.X.shape[0]))
        return Point(parameters, self._product(self._matrix.matvec, parameters))

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over features: the backward half."""
        return self._product(self._matrix.rmatvec, support.subgradient)

    def columns(self, which: IntArray) -> Any:
        """Return some columns in float64, dense or sparse: their share of a pass."""
        matrix: Any = self.X
        chosen = matrix[:, which].astype(np.float64)
        is_sparse: bool = sparse.issparse(chosen)
        if is_sparse:
            chosen = sparse.csr_array(chosen)
            self.n_passes += chosen.nnz / max(matrix.nnz, 1)
        else:
            self.n_passes += which.size / matrix.shape[1]
        return chosen

    def scores_of(self, parameters: FloatArray) -> FloatArray:
        """Score each row of parameters: the forward half of one pass for all."""
        return np.ascontiguousarray(self._product(self._matrix.matvec, parameters.T).T)

    def gradients_of(self, subgradients: FloatArray) -> FloatArray:
        """Pull each row of slopes over scores back: the backward half for all."""
        return np.ascontiguousarray(
            self._product(self._matrix.rmatvec, subgradients.T).T
        )

    def curvature(self, point: Point, width: float, rows_per_class: int) -> FloatArray:
        """Estimate the risk's Hessian over features from a sample of the rows."""
        # always the same rows, from those with any weight, or from some of the queries
        rows = self.risk.draw_rows(rows_per_class, np.random.default_rng(0))
        drawn_rows: Any = self._matrix.take(rows)
        is_sparse: bool = sparse.issparse(drawn_rows)
        if is_sparse:
            drawn_rows = drawn_rows.toarray()
        sample = drawn_rows.astype(np.float64, copy=False)
        return self.risk.at_rows(rows).curvature(point.scores[rows], width)(sample)

    def threshold(self, point: Point) -> float:
        """Return where `predict` cuts the scores."""
        risk = self.risk
        return balanced_threshold(point.scores, risk.labels, risk.sample_weight)

    def _product(
        self, product: Callable[[FloatArray], FloatArray], vector: FloatArray
    ) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            result = product(vector)
        self.n_passes += self.product_cost
        if not np.isfinite(result).all():
            raise FloatingPointError(
                "a product with the data overflows. Scale the columns, or lower C."
            )
        return result
