"""Rows under a margin risk, and the weight of the pairs or rows that count."""

from numpy.typing import ArrayLike

from aucmax.risks._class_rows import split_classes
from aucmax.risks.contract import BoundRisk, Risk, reject_queries

__all__ = ["LARGEST_EXCESS", "BoundMargin", "checked_nu"]

# In units of the weight of all: by which a sum of weights may miss the caller's, who
# may have added them up in another order.
LARGEST_EXCESS = 1e-9


class BoundMargin(BoundRisk):
    """A margin risk of given rows; all rows are compared with each other."""

    def __init__(
        self,
        risk: Risk,
        labels: ArrayLike,
        sample_weight: ArrayLike | None,
        queries: ArrayLike | None,
    ) -> None:
        reject_queries(risk, queries)
        super().__init__(risk, labels, sample_weight)
        self._classes = split_classes(self.labels, self.sample_weight)


def checked_nu(name: str, nu: float, counted: str, total: float) -> float:
    """Return nu, or the weight of all where rounding puts nu above it.

    The message calls the parameter `name`, and what has the weight `counted`.
    """
    if not 0.0 < nu <= total * (1.0 + LARGEST_EXCESS):
        raise ValueError(
            f"{name}, the weight of the {counted} that count, must be above 0 and at "
            f"most that of all {counted}, {total:.12g}, got {nu!r}; use epsilon times "
            f"the weight of all {counted} for a share epsilon of them."
        )
    return min(nu, total)
