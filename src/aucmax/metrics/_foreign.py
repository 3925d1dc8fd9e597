"""Parameters that other libraries' functions of the same name have."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

__all__ = ["advising"]

P = ParamSpec("P")
R = TypeVar("R")


def advising(**advice: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse parameters by their names, each with what to use in its place."""

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
