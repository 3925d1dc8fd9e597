r"""A risk is a number to minimise that depends on scores and labels, never on the data.

A risk is configuration. Bound to rows, it maps their scores to a number :math:`R` that
is small when positives have higher scores than negatives. A solver uses it only through
the methods of :class:`BoundRisk`, which check the scores, so one risk serves dense,
sparse, boosted and structured models. The tests of each risk check this contract:

- the value equals the literal definition in ``tests/reference.py``;
- the gradient :math:`g` at :math:`s` is a subgradient of a convex risk:
  :math:`R(s') \ge R(s) + \langle g, s' - s \rangle` for every :math:`s'`;
- adding one constant to every score changes neither;
- the same scores give the same value, whatever calls came before;
- O(m log m) time and O(m) memory for m rows, never the pairs themselves.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aucmax._core import validation
from aucmax._core.censored_times import SurvivalRows, split_target
from aucmax._core.validation import BoolArray, FloatArray, IntArray, Queries
from aucmax.exceptions import IncompatibleError, NotEnoughClassesError

#: a quadratic form, V -> V^T L V
Form: TypeAlias = Callable[[Any], FloatArray]
#: gradient and hessian, of any floating-point type
Derivatives: TypeAlias = tuple[NDArray[Any], NDArray[Any]]


class Support(NamedTuple):
    r"""A line below a risk, :math:`R(s') \ge o + \langle g, s' \rangle`."""

    value: float  # of the risk at the given scores, or a bound slightly above it
    subgradient: FloatArray  # the slope g, of shape (n_rows,)
    offset: float  # the constant o


class Risk(Protocol):
    """The method of every risk."""

    def bind(
        self,
        labels: ArrayLike,
        sample_weight: ArrayLike | None = None,
        queries: ArrayLike | None = None,
    ) -> "BoundRisk":
        """Return the risk of these rows, a function of the scores alone.

        Parameters
        ----------
        labels : array-like of shape (n_rows,)
            Two values; the second in sorted order is the positive class.
        sample_weight : array-like of shape (n_rows,), default=None
            Nonnegative row weights, some of them positive in each class. A row of
            weight 2 counts as two equal rows.
        queries : array-like of shape (n_rows,), default=None
            The query of each row, of any hashable type; rows of one query need not be
            neighbours. The risk is the mean over the queries with rows of both classes.
        """


class BoundRisk(ABC):
    """A risk bound to labels, weights and queries: a function of the scores alone.

    :meth:`Risk.bind` validates the rows once. The methods take the finite scores of all
    rows, of any numeric type; the same scores give the same value, whatever calls came
    before. A subclass declares `is_convex` and `least_value`, and defines
    ``_value_and_gradient(scores)`` for scores that are checked: float64, contiguous,
    finite, one per row.

    Attributes
    ----------
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    sample_weight : ndarray of shape (n_rows,) or None
        Row weights.
    is_convex : bool
        Whether the risk is convex, and each gradient a subgradient: certificates need
        it.
    least_value : float
        A lower bound of the risk, minus infinity if there is none.
    line_margin : float or None
        If given, the risk is a mean of hinges of this margin: the offset of its line is
        the margin times the slopes of the negatives.
    is_smooth : bool
        Whether the risk has a gradient everywhere.
    relative_error : float
        Upper bound of the relative error of the value.
    can_be_smoothed : bool
        Whether `smoothed` and `curvature` exist, which second-order solvers need.
    """

    is_convex: bool
    least_value: float
    line_margin: float | None = None
    is_smooth = False
    relative_error = 0.0
    can_be_smoothed = False

    def __init__(
        self,
        risk: Risk,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None = None,
    ) -> None:
        self.risk = risk
        self.labels: BoolArray = validation.check_binary_labels(labels, "labels")[1]
        # not rescaled: nu of margin risks is in their unit
        self.sample_weight = validation.nonnegative_weights(
            sample_weight, self.labels.size
        )
        self.queries: Queries | None = None
        if queries is not None:
            self.queries = validation.check_qid(queries, self.labels.size, "queries")
        elif self.sample_weight is not None:
            is_used = self.sample_weight > 0.0
            if not (is_used & self.labels).any() or not (is_used & ~self.labels).any():
                raise NotEnoughClassesError(
                    "All rows of one class have weight 0, so there is nothing to rank."
                )

    def value(self, scores: ArrayLike) -> float:
        """Return the risk of these scores."""
        return self._value_and_gradient(self._checked(scores))[0]

    def value_and_gradient(self, scores: ArrayLike) -> tuple[float, FloatArray]:
        """Return the risk of these scores and its gradient, at a kink a subgradient."""
        return self._value_and_gradient(self._checked(scores))

    def smoothed(self, scores: ArrayLike, width: float) -> Support:
        """Return a line below the risk whose slope is the smoothed risk's gradient.

        `width` > 0 is the length of the interval over which a kink is rounded off.
        """
        self.require_smooth()
        return self._smoothed(self._checked(scores), width)

    def curvature(self, scores: ArrayLike, width: float) -> Form:
        """Return the smoothed risk's Hessian L as the map V -> V^T L V.

        V has one row per score and any number of columns, dense or sparse.
        """
        self.require_smooth()
        return self._curvature(self._checked(scores), width)

    def _checked(self, scores: ArrayLike) -> FloatArray:
        return validation.check_scores(scores, self.labels.size, "scores")

    @abstractmethod
    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return both for checked scores."""

    def _smoothed(self, scores: FloatArray, width: float) -> Support:
        raise NotImplementedError  # by a risk that can be smoothed

    def _curvature(self, scores: FloatArray, width: float) -> Form:
        raise NotImplementedError  # by a risk that can be smoothed

    def require_smooth(self) -> None:
        """Raise if the risk has no smoothed version."""
        if not self.can_be_smoothed:
            raise IncompatibleError(
                f"{self.risk!r} cannot be smoothed, which a second-order solver needs. "
                "Try solver='bundle'."
            )

    def at_rows(self, rows: IntArray) -> "BoundRisk":
        """Bind the same risk to some of the rows; for a risk that can be smoothed."""
        self.require_smooth()
        queries = None if self.queries is None else self.queries.codes[rows]
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        return self.risk.bind(self.labels[rows], weight, queries)

    def draw_rows(self, rows_per_class: int, rng: np.random.Generator) -> IntArray:
        """Draw rows of both classes with any weight, up to `rows_per_class` of each."""
        members = [self.labels, ~self.labels]
        if self.sample_weight is not None:
            members = [rows & (self.sample_weight > 0.0) for rows in members]
        drawn = [
            rng.choice(rows, min(rows_per_class, rows.size), replace=False)
            for rows in map(np.flatnonzero, members)
        ]
        return np.sort(np.concatenate(drawn))


def no_pairs_error(
    n_queries: int, needed: str = "rows of both classes"
) -> NotEnoughClassesError:
    """Return the error of a risk none of whose queries has what it ranks."""
    return NotEnoughClassesError(
        f"None of the {n_queries} queries has {needed}, so there is nothing to rank. "
        "Check that the ids are those of queries, not of rows."
    )


class BoundTreeRisk(BoundRisk):
    """A bound risk with second derivatives of each score, which trees need.

    Attributes
    ----------
    row_scale : float or ndarray of shape (n_rows,)
        Brings derivatives to about one per row, for learners with absolute limits.
    n_rows, n_queries, n_skipped : int
        Number of rows, of queries, and of queries without pairs.
    """

    row_scale: float | FloatArray
    n_rows: int
    n_queries: int
    n_skipped = 0

    @abstractmethod
    def _derivatives(
        self, scores: FloatArray, with_value: bool = True
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the value, if needed, and both derivatives for checked scores."""

    def _value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        return self._derivatives(scores)[:2]

    def value_gradient_hessian(
        self, scores: ArrayLike
    ) -> tuple[float, FloatArray, FloatArray]:
        """Return the risk, its gradient, and the diagonal of its second derivatives."""
        return self._derivatives(self._checked(scores))

    def gradient_hessian(
        self, scores: ArrayLike, *, scaled: bool = False, out: Derivatives | None = None
    ) -> Derivatives:
        """Return (or fill) both derivatives; `scaled` for tree learners."""
        derivatives = self._derivatives(self._checked(scores), with_value=False)[1:]
        out = out or derivatives
        for result, derivative in zip(out, derivatives, strict=True):
            np.multiply(derivative, self.row_scale if scaled else 1.0, out=result)
        return out


class BoundSurvivalRisk(BoundTreeRisk):
    """A risk bound to events and times; `labels` has the events, `target` both."""

    def __init__(
        self,
        risk: Risk,
        target: Any,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        self.risk = risk
        self.target = target
        self.rows = SurvivalRows(*split_target(target), sample_weight, queries)
        self.labels = self.rows.event
        self.sample_weight = None if sample_weight is None else self.rows.weight
        self.n_rows = self.labels.size
        self.n_queries = self.rows.starts.size - 1  # strata need no warning
