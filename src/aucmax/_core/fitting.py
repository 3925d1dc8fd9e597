"""What a fit reports while it runs, and what it leaves on the estimator."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

_COLUMNS = ("n_features_in_", "feature_names_in_")


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
        # Ctrl-C while a compiled function hands over its result is a SystemError,
        # caused by a KeyboardInterrupt
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
    """Return what a solver calls with its progress (true stops it), or None.

    A verbose estimator prints one in `every` iterations.
    """
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(
            f"callback must be None or a function, got {estimator.callback!r}."
        )
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
