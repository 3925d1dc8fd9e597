"""Checks of parameters that many models have, with one message each."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = [
    "check_choice",
    "check_integer",
    "check_interval",
    "check_max_time",
    "check_positive",
    "check_range",
    "check_stopping",
]


def check_positive(name: str, value: Any) -> None:
    """Refuse what is not a positive, finite number."""
    if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")


def check_integer(name: str, value: Any) -> None:
    """Refuse what is not an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}.")


def check_max_time(value: Any) -> None:
    """Refuse what is neither None nor a number of seconds."""
    is_number = isinstance(value, Real) and float(value) >= 0.0
    if value is not None and not is_number:
        raise ValueError(f"max_time must be None or seconds, got {value!r}.")


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """Refuse what is not one of the known names."""
    if value not in tuple(known):
        listed = ", ".join(map(repr, known))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")


def check_interval(name: str, value: Any, high: float, *, zero: bool = False) -> None:
    """Refuse a value that is not a number in (0, high], or [0, high] with `zero`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 <= float(value) <= high or (value == 0 and not zero):
        bracket = "[" if zero else "("
        raise ValueError(f"{name} must be in {bracket}0, {high:g}], got {value!r}.")


def check_range(name: str, ends: Any) -> tuple[float, float]:
    """Return the two ends of a range of rates, or complain."""
    try:
        low, high = map(float, ends)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a pair of numbers (low, high), got {ends!r}."
        ) from None
    if not 0 <= low < high <= 1:
        raise ValueError(
            f"{name} must satisfy 0 <= low < high <= 1, got {ends!r}; "
            "use (0, 1) for the whole range."
        )
    return low, high


def check_stopping(estimator: Any, eval_set: Any) -> None:
    """Refuse limits of rounds, of time and of patience that make no sense."""
    check_integer("n_estimators", estimator.n_estimators)
    check_max_time(estimator.max_time)
    patience = estimator.n_iter_no_change
    if patience is None:
        return
    check_integer("n_iter_no_change", patience)
    fraction = getattr(estimator, "validation_fraction", None)
    if eval_set is None and fraction is None:
        raise ValueError(
            f"n_iter_no_change={patience} needs rows to watch: "
            "call fit(X, y, eval_set=(X_validation, y_validation)), or set it to None."
        )
    is_share = isinstance(fraction, Real) and 0.0 < float(fraction) < 1.0
    if eval_set is None and not is_share:
        raise ValueError(
            f"validation_fraction must be above 0 and below 1, got {fraction!r}."
        )
