"""What a fit leaves on an estimator: all of it, or nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["replace_state", "unchanged_on_failure"]

_COLUMNS = ("n_features_in_", "feature_names_in_")


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Take back what a fit that ends in an error, or by Ctrl-C, has changed.

    Ctrl-C while a compiled function hands over its result is Python's SystemError,
    caused by a KeyboardInterrupt; it becomes that interrupt again.
    """
    state = vars(estimator)
    before = dict(state)
    try:
        yield
    except BaseException as error:
        state.clear()
        state.update(before)
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt) and cause is not error:
            raise KeyboardInterrupt from error
        raise


def replace_state(estimator: Any, fitted: Mapping[str, Any]) -> None:
    """Set what was fitted, and forget what an earlier fit has left."""
    state = vars(estimator)
    for name in list(state):
        if name.endswith("_") and name not in _COLUMNS:
            del state[name]
    state.update(fitted)
