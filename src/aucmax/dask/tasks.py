"""Tasks of one computation, in one graph.

Dask's ``delayed`` copies the list of all earlier tasks whenever a task is made that
needs them. With hundreds of parts, that takes longer than the work.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias
from uuid import uuid4

import dask
import dask.threaded
import numpy as np
from dask.base import get_scheduler

__all__ = ["Key", "Tasks"]

Key: TypeAlias = tuple[str, int] | str  # the name of a task
Waiting: TypeAlias = Callable[[Any], None]

_BRANCHES = 8  # of a tree of sums: so many parts are in one worker's memory
# Vectors travel with the tasks that need them: they are meant to be in the graph.
_LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "1TB"}


class Tasks:
    """A graph that grows task by task, and is computed where Dask is told to."""

    def __init__(self, graph: dict[Key, Any] | None = None) -> None:
        self.graph: dict[Key, Any] = dict(graph or {})
        self._token = uuid4().hex

    def take(self, collections: Iterable[Any]) -> list[list[Key]]:
        """Take over collections of Dask; return the tasks of their blocks."""
        blocks = []
        for collection in collections:
            delayed = list(np.ravel(collection.to_delayed()))
            self.graph.update(delayed[0].dask)  # of all blocks
            # what is persisted is left out there, if it is an array
            self.graph.update(_persisted(collection))
            blocks.append([block.key for block in delayed])
        return blocks

    def add(self, function: Callable[..., Any], *needed: Any, **options: Any) -> Key:
        """Add a task; it calls a function with the results of tasks, and options.

        What is needed are tasks or lists of tasks.
        """
        key = (f"{function.__name__.strip('_')}-{self._token}", len(self.graph))
        self.graph[key] = (partial(function, **options), *needed)
        return key

    def combine(
        self, merge: Callable[[Sequence[Any]], Any], results: Sequence[Key]
    ) -> Key:
        """Merge results in their order, by a tree of tasks."""
        while len(results) > 1:
            results = [
                self.add(merge, list(results[k : k + _BRANCHES]))
                for k in range(0, len(results), _BRANCHES)
            ]
        return results[0]

    def compute(self, wanted: Key | list[Key]) -> Any:
        """Return the result of a task, or of each of a list."""
        get = get_scheduler() or dask.threaded.get
        with dask.config.set(_LARGE_GRAPHS):
            return get(self.graph, wanted)

    def compute_on(self, client: Any, wanted: list[Key], wait: Waiting) -> Any:
        """Return the results of tasks of a client, after waiting for them."""
        with dask.config.set(_LARGE_GRAPHS):
            futures = client.get(self.graph, wanted, sync=False)
        wait(futures)
        return client.gather(futures)

    def keep(self, wanted: list[Key], client: Any) -> dict[Key, Any]:
        """Start tasks on the workers of a client, and return them as a graph.

        The cluster keeps the results, and how they were made: those that are lost with
        a worker are made anew.
        """
        with dask.config.set(_LARGE_GRAPHS):
            futures = client.get(self.graph, wanted, sync=False)
        return dict(zip(wanted, futures, strict=True))


def _persisted(collection: Any) -> dict[Key, Any]:
    if "distributed" not in sys.modules:
        return {}
    futures = import_module("distributed").futures_of(collection)
    return {future.key: future for future in futures}
