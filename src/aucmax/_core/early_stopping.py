"""When boosting stops, whatever a round adds, and which of its rounds are kept."""

import time
from collections.abc import Callable
from typing import Any, Protocol, Self

from aucmax._core.fitting import reporter

__all__ = ["RoundsWatch"]


class _Progress(Protocol):
    """Where boosting stands; what a callback receives after each round."""

    @property
    def seconds(self) -> float:
        """Time since the start."""


class RoundsWatch:
    """Counts rounds and their time, and remembers the best one. The clock starts here.

    `patience` is the most rounds without a better value on the validation rows;
    `report` is called with the progress after each round, and a true answer stops. Of
    the `n_iter` rounds so far, those up to the first one of the best value are the
    `n_kept`: all, if there are no validation rows. `validation` has the value after
    each round.
    """

    def __init__(
        self,
        max_rounds: int,
        max_time: float | None = None,
        patience: int | None = None,
        report: Callable[[Any], object] | None = None,
    ) -> None:
        self.n_iter = 0
        self.n_kept = 0
        self.validation: list[float] = []
        self._max_rounds = max_rounds
        self._max_time = max_time
        self._patience = patience
        self._report = report
        self._start = time.perf_counter()

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """Return the watch that the parameters of an estimator ask for."""
        return cls(
            estimator.n_estimators,
            estimator.max_time,
            estimator.n_iter_no_change,
            reporter(estimator),
        )

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.perf_counter() - self._start

    def count(self, validation: float | None) -> bool:
        """Count a round, with its value on the validation rows; tell if it is kept."""
        self.n_iter += 1
        is_best = True
        if validation is not None:
            is_best = self.n_kept == 0 or validation > self.validation[self.n_kept - 1]
            self.validation.append(validation)
        if is_best:
            self.n_kept = self.n_iter
        return is_best

    def reason_to_stop(self, progress: _Progress) -> str:
        """Report a round that was counted; return why to stop, or nothing."""
        if self._report is not None and self._report(progress):
            return "callback"
        if self._patience is not None and self.n_iter - self.n_kept >= self._patience:
            return "no change"
        if self._max_time is not None and progress.seconds >= self._max_time:
            return "max time"
        return "max rounds" if self.n_iter >= self._max_rounds else ""
