"""A threshold for alerts that a model stores, with its outcome on the rows it is of."""

from dataclasses import fields
from math import isfinite
from typing import Any, Self

from aucmax._core import saved_state as saved
from aucmax.decisions.operating_point import OperatingPoint

_FIELDS = {one.name for one in fields(OperatingPoint)}


class AlertMixin:
    """Models that can store an operating point."""

    _saved_state = saved.optional(
        alert_point_=saved.SavedField(
            lambda point, state: None if _is_point(point) else "an operating point"
        )
    )

    @property
    def alert_threshold_(self) -> float | None:
        """Scores above it are alerts; None if no threshold is stored."""
        point = getattr(self, "alert_point_", None)
        return None if point is None else float(point["threshold"])

    def store_threshold(self, point: OperatingPoint) -> Self:
        """Store a threshold in the model, with its rule, counts and intervals.

        ``predict`` then uses it, and ``aucmax score`` adds a column ``alert``. A new
        fit deletes it.

        Parameters
        ----------
        point : OperatingPoint
            What :func:`aucmax.decisions.operating_point` returns for scores of this
            model, on rows that it was not fitted to.

        Returns
        -------
        self : object
            The model, with ``alert_threshold_`` and the dict ``alert_point_``.
        """
        self.alert_point_: dict[str, Any] = point.to_dict()
        return self


def _is_point(point: object) -> bool:
    """Return whether a file holds what `store_threshold` stores."""
    if not isinstance(point, dict) or set(point) != _FIELDS:
        return False
    threshold, intervals = point["threshold"], point["intervals"]
    is_number = isinstance(threshold, float) and isfinite(threshold)
    return is_number and isinstance(point["rule"], str) and isinstance(intervals, dict)
