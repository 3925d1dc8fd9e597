"""How many positives are among the first rows of a ranking, for every number of rows.

Rows of equal score have no order of their own, so a tied block that is cut enters by
its mean over all orders: in equal parts. The count of positives found is therefore
piecewise linear in the number of rows opened, and turns at the corners of the ROC curve
alone, which is what makes it cheap to keep exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from aucmax._core.validation import FloatArray
from aucmax.metrics._steps import check_task
from aucmax.metrics.roc import corners

__all__ = ["AlertCurve", "alert_curve"]


@dataclass(frozen=True)
class AlertCurve:
    """Positives found by the number of rows opened, the highest scores first.

    Attributes
    ----------
    opened, found : ndarray of shape (n_corners,)
        Rows opened and positives among them, at the corners, from (0, 0) to all rows.
        With weights, both are weights.
    thresholds : ndarray of shape (n_corners,)
        A corner arises by opening all rows that score at least so much; the first is
        infinity.
    """

    opened: FloatArray
    found: FloatArray
    thresholds: FloatArray

    @property
    def n_rows(self) -> float:
        """Number of all rows, or their weight."""
        return float(self.opened[-1])

    @property
    def n_positive(self) -> float:
        """Number of positive rows, or their weight."""
        return float(self.found[-1])

    @property
    def base_rate(self) -> float:
        """Share of positives among all rows."""
        return self.n_positive / self.n_rows

    def found_among(self, opened: float | FloatArray) -> FloatArray:
        """Return the positives found among the first rows."""
        return np.asarray(np.interp(np.asarray(opened), self.opened, self.found))


def alert_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> AlertCurve:
    """Count the positives among the first rows; costs O(m log m)."""
    task = check_task(y_true, y_score, sample_weight, pos_label=pos_label)
    passed, found, thresholds = corners(task)
    return AlertCurve(found + passed, found, thresholds)
