"""When boosting stops, whatever a round adds, and which of its rounds are kept."""

import time
from collections.abc import Callable
from typing import Any, Self

from aucmax._core.fitting import reporter


class RoundMonitor:
    """Counts rounds and their time from now on, and remembers the best one."""

    def __init__(
        self,
        max_rounds: int,
        max_time: float | None = None,
        patience: int | None = None,
        report: Callable[[Any], object] | None = None,
    ) -> None:
        self.n_iter = 0  # rounds so far
        self.n_kept = 0  # up to the first of the best value; without validation, all
        self.validation: list[float] = []  # the value after each round
        self._max_rounds = max_rounds
        self._max_time = max_time
        self._patience = patience  # most rounds without a better value
        self._report = report  # called after each round; a true answer stops
        self._start = time.perf_counter()

    @classmethod
    def of(cls, estimator: Any, print_every: int = 1) -> Self:
        """Return the watch that the parameters of an estimator ask for."""
        return cls(
            estimator.n_estimators,
            estimator.max_time,
            estimator.n_iter_no_change,
            reporter(estimator, print_every),
        )

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start

    def count(self, validation: float | None) -> bool:
        """Count a round and its value on validation rows; return whether it is kept."""
        self.n_iter += 1
        is_best = True
        if validation is not None:
            is_best = self.n_kept == 0 or validation > self.validation[self.n_kept - 1]
            self.validation.append(validation)
        if is_best:
            self.n_kept = self.n_iter
        return is_best

    def reason_to_stop(self, progress: Any) -> str:
        """Report a round that was counted; return why to stop, or nothing."""
        if self._report is not None and self._report(progress):
            return "callback"
        if self._patience is not None and self.n_iter - self.n_kept >= self._patience:
            return "no change"
        if self._max_time is not None and progress.seconds >= self._max_time:
            return "max time"
        return "max rounds" if self.n_iter >= self._max_rounds else ""
