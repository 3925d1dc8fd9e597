"""The time that a search may take."""

import time

from aucmax.model_selection.out_of_fold import TimeUpError

__all__ = ["Clock"]


class Clock:
    """Seconds since the start, and whether they are too many.

    Parameters
    ----------
    time_limit : float or None
        The most seconds; None for no limit.
    """

    def __init__(self, time_limit: float | None) -> None:
        self.time_limit = time_limit
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start

    def spend(self, seconds: float) -> None:
        """Count time that an earlier process has spent."""
        self._start -= seconds

    def check(self, reserved: float = 0.0) -> None:
        """Raise TimeUpError unless the seconds reserved for later are left."""
        if self.time_limit is not None and self.seconds + reserved > self.time_limit:
            raise TimeUpError
