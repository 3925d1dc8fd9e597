"""Parts of rows that workers keep in memory, and that are made anew when lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from aucmax.dask.cluster import Cluster
from aucmax.dask.tasks import Key, Tasks

__all__ = ["HeldParts"]


class HeldParts:
    """What some tasks return, kept by the workers.

    Without a client nothing is kept: parts are then made anew whenever they are needed.

    Parameters
    ----------
    source : Tasks
        The graph that makes the parts.
    keys : sequence of keys
        The tasks that return them.
    cluster : Cluster
        Who does the work.
    """

    def __init__(self, source: Tasks, keys: Sequence[Key], cluster: Cluster) -> None:
        self.source = source
        self.keys = list(keys)
        self.cluster = cluster
        self._graph: dict[Key, Any] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def futures(self) -> list[Any]:
        """The parts as futures of the client."""
        graph = self._held()
        return [graph[key] for key in self.keys]

    def call(
        self, function: Callable[..., Any], options: Sequence[dict[str, Any]]
    ) -> list[Any]:
        """Call a function with each part and its options; return what it returns."""

        def work() -> list[Any]:
            tasks = Tasks(self._held())
            wanted = [
                tasks.add(function, key, **own)
                for key, own in zip(self.keys, options, strict=True)
            ]
            return list(self.cluster.results(tasks, wanted))

        return self.cluster.run(work, self.begin_anew)

    def only(self, chosen: Sequence[bool]) -> HeldParts:
        """Return some of the parts, which stay where they are."""
        keys = [key for key, own in zip(self.keys, chosen, strict=True) if own]
        some = HeldParts(self.source, keys, self.cluster)
        some._graph = self._graph
        return some

    def begin_anew(self) -> None:
        """Have the parts made on the workers, or remember how to make them."""
        client = self.cluster.client
        if client is None:
            self._graph = self.source.graph
        else:
            self._graph = self.source.keep(self.keys, client)

    def release(self) -> None:
        """Let the workers forget the parts; they are made anew when need be."""
        self._graph = None

    def _held(self) -> dict[Key, Any]:
        if self._graph is None:
            self.begin_anew()
        assert self._graph is not None
        return self._graph
