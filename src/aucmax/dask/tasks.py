"""Tasks of one computation in one graph, without the copies of ``delayed``."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, TypeAlias
from uuid import uuid4

import dask
import dask.threaded
import numpy as np
from dask.base import get_scheduler
from dask.optimization import cull

Key: TypeAlias = tuple[str, int] | str  # the name of a task

# Vectors are sent with the tasks that need them, in the graph on purpose.
_LARGE_GRAPHS = {"distributed.admin.large-graph-warning-threshold": "1TB"}


class Tasks:
    """A graph that grows task by task, computed by the scheduler in use."""

    def __init__(self, graph: dict[Key, object] | None = None) -> None:
        self.graph: dict[Key, Any] = dict(graph or {})
        self._token = uuid4().hex
        self._blocks: dict[str, list[Key]] = {}  # of the collections added

    def take(self, collections: Mapping[str, object]) -> list[list[Key]]:
        """Add named Dask collections; return the tasks of their blocks."""
        for name, collection in collections.items():
            delayed = _delayed_blocks(collection)
            self.graph.update(delayed[0].dask)  # of all blocks
            # the graph of a persisted array lacks its futures
            self.graph.update(_persisted(collection))
            self._blocks[name] = [block.key for block in delayed]
        return [self._blocks[name] for name in collections]

    def describe(self, tasks: set[Key]) -> str:
        """Return the names of the partitions that need any of these tasks."""
        names = [
            f"partition {number} of {name}"
            for name, blocks in self._blocks.items()
            for number, block in enumerate(blocks)
            if tasks & cull(self.graph, [block])[0].keys()
        ]
        return " or ".join(names) or f"the tasks {tasks}"

    def blame(self, error: Exception) -> None:
        """Raise an error that names the failing block, if there is one."""
        if re.match(r"(In )?(partition|block) \d", str(error)):
            return  # the block is named
        for name, blocks in self._blocks.items():
            for number, block in enumerate(blocks):
                try:
                    self.compute(self.add(_nothing, block))
                except Exception as cause:
                    raise RuntimeError(
                        f"partition {number} of {name} cannot be computed: "
                        f"{type(cause).__name__}: {cause}"
                    ) from error

    def add(self, function: Callable[..., Any], *needed: Any, **options: Any) -> Key:
        """Add a call with the results of tasks, or of lists of tasks, and options."""
        key = (f"{function.__name__.strip('_')}-{self._token}", len(self.graph))
        self.graph[key] = (partial(function, **options), *needed)
        return key

    def compute(self, wanted: Key | list[Key]) -> Any:
        """Return the result of a task, or of each of a list."""
        get = get_scheduler() or dask.threaded.get
        with dask.config.set(_LARGE_GRAPHS):
            return get(self.graph, wanted)

    def start(self, client: Any, wanted: Key | list[Key]) -> Any:
        """Start tasks on the workers of a client, and return them as futures."""
        with dask.config.set(_LARGE_GRAPHS):
            return client.get(self.graph, wanted, sync=False)


def itself(value: object) -> Any:
    """Return the value: a task that a cluster sends to each worker once."""
    return value


def _nothing(block: object) -> None:
    """Return None for a block, which has to be computed for it."""


def _delayed_blocks(collection: Any) -> list[Any]:
    """Return the blocks of an array, or the partitions of a frame."""
    # Dask's optimisation merges small files if few columns are read, so the columns of
    # one frame would no longer match
    if not hasattr(collection, "simplify"):
        return list(np.ravel(collection.to_delayed()))
    frame = collection.simplify()  # reads the columns that are used
    if frame.npartitions != collection.npartitions:
        frame = collection
    return list(frame.to_delayed(optimize_graph=False))


def _persisted(collection: object) -> dict[Key, Any]:
    if "distributed" not in sys.modules:
        return {}
    futures = import_module("distributed").futures_of(collection)
    return {future.key: future for future in futures}
