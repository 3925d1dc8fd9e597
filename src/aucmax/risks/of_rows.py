"""A smooth risk of rows that are known: only the scores are left to say."""

from typing import Protocol

from aucmax._core.validation import BoolArray, FloatArray

__all__ = ["RiskOfRows"]


class _Prepared(Protocol):
    accuracy: float

    def value_and_gradient(self, scores: FloatArray) -> tuple[float, FloatArray]:
        """Return the risk and its gradient."""


class RiskOfRows:
    """A smooth risk whose labels, weights and queries were counted once.

    It is a :class:`Risk` for solvers, and takes no notice of the labels and weights
    that they pass on. Only a convex one is supported from below by its gradient.

    Parameters
    ----------
    prepared : PreparedPairs or PreparedSigmoid
        The risk as a function of the scores alone.
    """

    is_smooth = True
    least_value = 0.0

    def __init__(self, prepared: _Prepared) -> None:
        self._prepared = prepared
        self.relative_error = prepared.accuracy

    def value(
        self,
        scores: FloatArray,
        labels: BoolArray | None = None,
        sample_weight: FloatArray | None = None,
    ) -> float:
        """Return the risk of these scores."""
        return self._prepared.value_and_gradient(scores)[0]

    def value_and_subgradient(
        self,
        scores: FloatArray,
        labels: BoolArray | None = None,
        sample_weight: FloatArray | None = None,
    ) -> tuple[float, FloatArray]:
        """Return the risk of these scores and its gradient."""
        return self._prepared.value_and_gradient(scores)
