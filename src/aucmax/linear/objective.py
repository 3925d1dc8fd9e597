"""A linear model under a risk: what a solver sees of the data."""

import copy
from dataclasses import dataclass, field
from typing import Any, Self, cast

import numpy as np
from scipy import sparse

from aucmax._validation import BoolArray, FloatArray
from aucmax.risks.base import Risk, SmoothableRisk, Support
from aucmax.solvers.base import Point, inner

__all__ = ["LinearObjective"]


@dataclass(eq=False)
class LinearObjective:
    """C times the risk of ``X @ w``.

    The data are read through ``X @ w`` and ``X.T @ g`` alone, never copied, in their
    own precision; scores and slopes are float64.

    Parameters
    ----------
    X : ndarray, memmap or sparse array of shape (n_rows, n_features)
        The data, float32 or float64.
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    risk : Risk
        What to minimise.
    C : float
        The weight of the risk.
    sample_weight : ndarray of shape (n_rows,), optional
        Row weights; a pair weighs the product of its rows'.

    Attributes
    ----------
    n_passes : float
        Passes over the data so far; a product in one direction is half a pass.
    """

    X: Any
    labels: BoolArray
    risk: Risk
    C: float
    sample_weight: FloatArray | None = None
    n_passes: float = field(default=0.0, init=False)

    @property
    def n_parameters(self) -> int:
        """Number of features."""
        return int(self.X.shape[1])

    @property
    def least_risk(self) -> float:
        """The least that the risk can be, as far as it tells."""
        return float(getattr(self.risk, "least_value", -np.inf))

    @property
    def is_smoothable(self) -> bool:
        """Whether the risk offers what a second-order solver needs."""
        # a class may offer the methods, and some of its risks may not
        return isinstance(self.risk, SmoothableRisk) and getattr(
            self.risk, "can_be_smoothed", True
        )

    def with_risk(self, risk: Risk) -> Self:
        """Return the same data under another risk; passes go on being counted."""
        other = copy.copy(self)
        other.risk = risk
        return other

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""
        if not parameters.any():
            return Point(parameters, np.zeros(self.X.shape[0]))
        return Point(parameters, self._product(self.X, parameters))

    def risk_value(self, point: Point) -> float:
        """Evaluate the risk itself: no pass."""
        return self.risk.value(point.scores, self.labels, self.sample_weight)

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk, smoothed if `width` > 0, in score space: no pass."""
        if width > 0.0:
            return cast(SmoothableRisk, self.risk).smoothed(
                point.scores, self.labels, self.sample_weight, width=width
            )
        value, subgradient = self.risk.value_and_subgradient(
            point.scores, self.labels, self.sample_weight
        )
        return Support(value, subgradient, value - inner(subgradient, point.scores))

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over features: the backward half."""
        return self._product(self.X.T, support.subgradient)

    def curvature(self, point: Point, width: float, rows_per_class: int) -> FloatArray:
        """Estimate the risk's Hessian over features from a sample of the rows.

        Up to `rows_per_class` rows of each class are drawn from those with any weight,
        always the same ones. With all of them in the sample this is the Hessian of the
        smoothed risk itself.
        """
        generator = np.random.default_rng(0)
        members = [self.labels, ~self.labels]
        if self.sample_weight is not None:
            members = [rows & (self.sample_weight > 0.0) for rows in members]
        drawn = [
            generator.choice(rows, min(rows_per_class, rows.size), replace=False)
            for rows in map(np.flatnonzero, members)
        ]
        rows = np.sort(np.concatenate(drawn))
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        drawn_rows = self.X[rows]
        if sparse.issparse(self.X):
            drawn_rows = drawn_rows.toarray()
        sample = drawn_rows.astype(np.float64, copy=False)
        form = cast(SmoothableRisk, self.risk).curvature(
            point.scores[rows], self.labels[rows], weight, width=width
        )
        return form(sample)

    def _product(self, matrix: Any, vector: FloatArray) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = vector.astype(matrix.dtype, copy=False)
            result = np.asarray(matrix @ narrow, dtype=np.float64)
        self.n_passes += 0.5
        if not np.isfinite(result).all():
            raise FloatingPointError("a product with the data is not finite")
        return result
