"""Checks of parameters that many models have, with one message each."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

__all__ = ["check_choice", "check_integer", "check_max_time", "check_positive"]


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
