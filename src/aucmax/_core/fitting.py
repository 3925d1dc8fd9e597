"""Progress of a fit, when boosting stops, and the attributes that a fit leaves."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self

from aucmax._core.parameters import check_callable

_COLUMNS = ("n_features_in_", "feature_names_in_")


def require_fitted(estimator: Any, attribute: str) -> None:
    """Raise scikit-learn's NotFittedError without a fitted attribute."""
    if not hasattr(estimator, attribute):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' "
            "with appropriate arguments before using this estimator."
        )


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Undo the changes of a fit that ends in an error, or by Ctrl-C."""
    state = vars(estimator)
    before = dict(state)
    try:
        yield
    except BaseException as error:
        state.clear()
        state.update(before)
        # Ctrl-C in a compiled function is a SystemError caused by a KeyboardInterrupt
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt) and cause is not error:
            raise KeyboardInterrupt from error
        raise


def replace_state(estimator: Any, fitted: Mapping[str, Any]) -> None:
    """Set the fitted attributes, and delete those of an earlier fit."""
    state = vars(estimator)
    for name in list(state):
        if name.endswith("_") and name not in _COLUMNS:
            del state[name]
    state.update(fitted)


def reporter(estimator: Any, every: int = 1) -> Callable[[Any], object] | None:
    """Return the function that a solver calls with its progress, or None."""
    check_callable("callback", estimator.callback)
    if not estimator.verbose and estimator.callback is None:
        return None

    def report(progress: Any) -> object:
        if every == 1 or progress.n_iter % every == 0:
            print_progress(estimator, progress)
        return estimator.callback is not None and estimator.callback(progress)

    return report


def print_progress(estimator: Any, progress: Any) -> None:
    """Print the progress of a verbose estimator."""
    if estimator.verbose and sys.stdout is not None:
        with suppress(OSError, ValueError):  # of a stream that is closed or gone
            sys.stdout.write(f"{type(estimator).__name__}: {progress}\n")


class RoundMonitor:
    """Counts rounds and their time from now on, and remembers the best round."""

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
        self._patience = patience  # maximum number of rounds without a better value
        self._report = report  # called after each round; stops if it returns true
        self._start = time.perf_counter()

    @classmethod
    def from_parameters(cls, estimator: Any, print_every: int = 1) -> Self:
        """Return the monitor that the parameters of an estimator describe."""
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
        """Report a counted round; return the reason to stop, or an empty string."""
        if self._report is not None and self._report(progress):
            return "callback"
        if self._patience is not None and self.n_iter - self.n_kept >= self._patience:
            return "no change"
        if self._max_time is not None and progress.seconds >= self._max_time:
            return "max time"
        return "max rounds" if self.n_iter >= self._max_rounds else ""
