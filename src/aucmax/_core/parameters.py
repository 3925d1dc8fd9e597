"""Checks of parameters that many models have, with one message each."""

from collections.abc import Callable, Collection, Iterable
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

_MAX_COUNT = 2**53  # beyond it, doubles do not count


def check_positive(name: str, value: Any) -> None:
    """Raise unless the value is a positive, finite number."""
    if not isinstance(value, Real) or not 0.0 < float(value) < np.inf:
        raise ValueError(f"{name} must be positive and finite, got {value!r}.")


def check_integer(
    name: str, value: Any, least: int = 1, most: int = _MAX_COUNT
) -> None:
    """Raise unless the value is an integer from `least` to `most`."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or int(value) < least:
        raise ValueError(
            f"{name} must be an integer of at least {least}, got {value!r}."
        )
    if int(value) > most:
        raise ValueError(f"{name} must be at most {most}, got {value!r}.")


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Raise unless the value is a finite number from low to high."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    number = float(value) if is_number else np.nan
    if not low <= number <= high or np.isinf(number):
        raise ValueError(
            f"{name} must be a finite number from {low:g} to {high:g}, got {value!r}."
        )


def check_share(name: str, value: Any) -> None:
    """Raise unless the value is a number above 0 and below 1."""
    if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise ValueError(f"{name} must be above 0 and below 1, got {value!r}.")


def check_names(name: str, values: Any) -> None:
    """Raise unless the values are a collection of strings."""
    if isinstance(values, str) or not isinstance(values, Collection):
        raise TypeError(f"{name} must be a list of strings, got {values!r}.")
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a list of strings, but has {value!r}.")


def random_generator(random_state: Any) -> np.random.Generator:
    """Return the random generator of a seed, or a new one for None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            "random_state must be None, a NumPy generator, or an integer of at least "
            f"0, got {random_state!r}."
        ) from error


def check_max_time(value: Any, name: str = "max_time") -> None:
    """Raise unless the value is None or a number of seconds."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if value is not None and not (is_number and float(value) >= 0.0):
        raise ValueError(f"{name} must be None or a number of seconds, got {value!r}.")


def check_choice(name: str, value: Any, known: Iterable[object]) -> None:
    """Raise unless the value is one of the known names."""
    if value not in tuple(known):
        listed = ", ".join(map(repr, known))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")


def check_callable(name: str, value: Any) -> None:
    """Raise unless the value is None or can be called."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be None or a function, got {value!r}.")


def check_interval(name: str, value: Any, high: float, *, zero: bool = False) -> None:
    """Raise unless the value is a number in (0, high], or [0, high] with `zero`."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 <= float(value) <= high or (value == 0 and not zero):
        bracket = "[" if zero else "("
        raise ValueError(f"{name} must be in {bracket}0, {high:g}], got {value!r}.")


def check_range(name: str, ends: Any) -> tuple[float, float]:
    """Return the two ends of a range of rates as floats, or raise."""
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
    """Raise unless the limits of rounds, time and patience are valid."""
    check_integer("n_estimators", estimator.n_estimators)
    check_max_time(estimator.max_time)
    patience = estimator.n_iter_no_change
    if patience is None:
        return
    check_integer("n_iter_no_change", patience)
    fraction = getattr(estimator, "validation_fraction", None)
    if eval_set is None and fraction is None:
        raise ValueError(
            f"n_iter_no_change={patience} needs validation rows: call "
            "fit(X, y, eval_set=(X_validation, y_validation)), or set it to None."
        )
    if eval_set is None:
        check_share("validation_fraction", fraction)


def reject_foreign(**advice: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Reject parameters of other libraries by name; each error names ours."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            for name in kwargs:
                if name in advice:
                    raise TypeError(
                        f"{function.__name__}() has no parameter {name!r}: "
                        f"{advice[name]}"
                    )
            return function(*args, **kwargs)

        return wrapped

    return decorate
