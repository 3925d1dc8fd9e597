"""Tasks of one computation, in one graph.

Dask's ``delayed`` copies the list of all earlier tasks whenever a task is made that
needs them. With hundreds of parts, that takes longer than the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from dask.delayed import Delayed

__all__ = ["Key", "Tasks"]

Key: TypeAlias = tuple[str, int] | str  # the name of a task

_BRANCHES = 8  # of a tree of sums: so many parts are in one worker's memory


class Tasks:
    """A graph that grows task by task, and is computed where Dask is told to."""

    def __init__(self) -> None:
        self._graph: dict[Key, Any] = {}
        self._token = uuid4().hex

    def take(self, collections: Iterable[Any]) -> list[list[Key]]:
        """Take over collections of Dask; return the tasks of their blocks."""
        blocks = []
        for collection in collections:
            delayed = list(np.ravel(collection.to_delayed()))
            self._graph.update(delayed[0].dask)  # of all blocks
            blocks.append([block.key for block in delayed])
        return blocks

    def add(self, function: Callable[..., Any], *needed: Any, **options: Any) -> Key:
        """Add a task; it calls a function with the results of tasks, and options.

        What is needed are tasks or lists of tasks.
        """
        key = (f"{function.__name__.strip('_')}-{self._token}", len(self._graph))
        self._graph[key] = (partial(function, **options), *needed)
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
        key = self.add(_itself, wanted)
        return Delayed(key, self._graph).compute()


def _itself(result: Any) -> Any:
    return result
