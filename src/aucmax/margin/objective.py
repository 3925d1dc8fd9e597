"""Weighted hypotheses under a margin risk: what a solver sees of the data."""

from typing import Protocol

import numpy as np

from aucmax._validation import BoolArray, FloatArray, IntArray
from aucmax.risks.base import Risk, Support
from aucmax.solvers.base import Point, inner

__all__ = ["MarginObjective"]


class _Columns(Protocol):
    """Hypotheses as a matrix H, seen through its products."""

    @property
    def n_hypotheses(self) -> int:
        """Number of hypotheses."""

    def scores(self, weights: FloatArray) -> FloatArray:
        """Return ``H @ weights``."""

    def edges(self, row_weights: FloatArray) -> FloatArray:
        """Return ``H.T @ row_weights``."""


class MarginObjective:
    """The risk of ``H @ weights``, over the hypotheses that may have weight.

    Parameters
    ----------
    hypotheses : Hypotheses or StumpColumns
        The hypotheses on the rows; their number may grow between solves.
    labels : ndarray of bool of shape (n_rows,)
        True for positives.
    risk : Risk
        What to minimise.
    sample_weight : ndarray of shape (n_rows,), optional
        Row weights; a pair weighs the product of its rows'.
    usable : ndarray of int, optional
        The hypotheses that may have weight; all if not given.

    Attributes
    ----------
    n_passes : float
        Passes over the data so far; a product in one direction is half a pass.
    """

    C = 1.0

    def __init__(
        self,
        hypotheses: _Columns,
        labels: BoolArray,
        risk: Risk,
        sample_weight: FloatArray | None = None,
        usable: IntArray | None = None,
    ) -> None:
        self.hypotheses = hypotheses
        self.labels = labels
        self.risk = risk
        self.sample_weight = sample_weight
        self.usable = usable
        self.n_passes = 0.0

    @property
    def n_parameters(self) -> int:
        """Number of hypotheses that may have weight."""
        if self.usable is None:
            return self.hypotheses.n_hypotheses
        return self.usable.size

    @property
    def least_risk(self) -> float:
        """Margins have no least value that is known beforehand."""
        return -np.inf

    @property
    def is_smoothable(self) -> bool:
        """Margins have kinks to stay."""
        return False

    def at(self, parameters: FloatArray) -> Point:
        """Score the parameters: the forward half of a pass."""
        self.n_passes += 0.5
        return Point(parameters, self.hypotheses.scores(self.widened(parameters)))

    def risk_value(self, point: Point) -> float:
        """Evaluate the risk itself: no pass."""
        return self.risk.value(point.scores, self.labels, self.sample_weight)

    def support(self, point: Point, width: float = 0.0) -> Support:
        """Evaluate the risk in score space: no pass."""
        value, subgradient = self.risk.value_and_subgradient(
            point.scores, self.labels, self.sample_weight
        )
        return Support(value, subgradient, value - inner(subgradient, point.scores))

    def pull_back(self, support: Support) -> FloatArray:
        """Turn a slope over scores into one over weights: the backward half."""
        self.n_passes += 0.5
        return self.narrowed(self.hypotheses.edges(support.subgradient))

    def flat_support(self) -> Support:
        """Return the support where all scores are 0: its slope is the mean of pairs."""
        return self.support(Point(np.empty(0), np.zeros(self.labels.size)))

    def widened(self, parameters: FloatArray) -> FloatArray:
        """Return the weights of all hypotheses: 0 for those that may have none."""
        if self.usable is None:
            return parameters
        weights = np.zeros(self.hypotheses.n_hypotheses)
        weights[self.usable] = parameters
        return weights

    def narrowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights of the hypotheses that may have weight."""
        return weights if self.usable is None else weights[self.usable]
