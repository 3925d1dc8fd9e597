"""Dask's collections, told apart without loading Dask.

Whoever has such a collection has loaded Dask before; the room ``aucmax.dask`` is
entered then, and only then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

__all__ = ["dask_room", "is_dask", "maps_dask", "serves_dask"]

P = ParamSpec("P")
T = TypeVar("T")


def is_dask(values: Any) -> bool:
    """Tell an array, series or frame of Dask by the method that all of them have."""
    return hasattr(type(values), "__dask_graph__")


def dask_room(module: str) -> Any:
    """Return a module of ``aucmax.dask``."""
    return import_module(f"aucmax.dask.{module}")


def serves_dask(metric: Callable[P, T]) -> Callable[P, T]:
    """Let a metric of arrays take Dask's collections, by its namesake over there."""

    @wraps(metric)
    def either(*args: P.args, **kwargs: P.kwargs) -> T:
        if any(map(is_dask, args)) or any(map(is_dask, kwargs.values())):
            namesake = getattr(dask_room("metrics"), metric.__name__)
            found: T = namesake(*args, **kwargs)
            return found
        return metric(*args, **kwargs)

    return either


def maps_dask(method: Callable[..., T]) -> Callable[..., T]:
    """Let a method that says something of each row take rows in parts.

    What it then returns is an array of Dask, computed when it is asked for.
    """

    @wraps(method)
    def either(self: Any, X: Any) -> T:
        if is_dask(X):
            found: T = dask_room("scoring").map_rows(self, method.__name__, X)
            return found
        return method(self, X)

    return either
