"""Dispatch of Dask's collections to `aucmax.dask`, recognised without loading Dask."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")

#: functions for Dask's collections, by the name of the function that they replace
IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {}
_LOADERS: list[Callable[[], None]] = []


def set_dask_loader(load: Callable[[], None]) -> None:
    """Set the function that imports `aucmax.dask`, called for the first collection."""
    _LOADERS[:] = [load]


def is_dask(values: Any) -> bool:
    """Return whether this is a Dask array, series or frame."""
    return hasattr(type(values), "__dask_graph__")


def dask_version(name: str) -> Callable[..., Any]:
    """Return the implementation of a function for Dask's collections."""
    if not IMPLEMENTATIONS:
        for load in _LOADERS:
            load()
    return IMPLEMENTATIONS[name]


def map_over_partitions(method: Callable[..., T]) -> Callable[..., T]:
    """Make a method with one result per row accept a collection; return a lazy one."""

    @wraps(method)
    def either(self: Any, X: Any) -> T:
        if is_dask(X):
            result: T = dask_version("map_rows")(self, method.__name__, X)
            return result
        return method(self, X)

    return either
