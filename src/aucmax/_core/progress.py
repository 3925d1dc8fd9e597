"""News of a fit: to standard output, and to whoever has asked for them."""

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["reporter"]


def reporter(estimator: Any) -> Callable[[Any], object] | None:
    """Return what a solver shall call with its progress, or None if no one listens.

    Writes a line if `verbose`, and calls `callback`, whose true answer stops the fit.
    """
    if estimator.callback is not None and not callable(estimator.callback):
        raise TypeError(
            f"callback must be None or a function, got {estimator.callback!r}."
        )
    if not estimator.verbose and estimator.callback is None:
        return None

    def report(progress: Any) -> object:
        if estimator.verbose and sys.stdout is not None:
            with suppress(OSError, ValueError):  # of a stream that is closed or gone
                sys.stdout.write(f"{type(estimator).__name__}: {progress}\n")
        return estimator.callback is not None and estimator.callback(progress)

    return report
