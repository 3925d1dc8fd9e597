"""What a fit leaves on an estimator: all of it, or nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["replace_state", "unchanged_on_failure"]

_COLUMNS = ("n_features_in_", "feature_names_in_")


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Take back what a fit that ends in an error, or by Ctrl-C, has changed."""
    state = vars(estimator)
    before = dict(state)
    try:
        yield
    except BaseException:
        state.clear()
        state.update(before)
        raise


def replace_state(estimator: Any, fitted: Mapping[str, Any]) -> None:
    """Set what was fitted, and forget what an earlier fit has left."""
    state = vars(estimator)
    for name in list(state):
        if name.endswith("_") and name not in _COLUMNS:
            del state[name]
    state.update(fitted)
