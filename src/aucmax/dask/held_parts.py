"""Parts of rows that workers keep in memory, and that are made anew when lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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
        self._whole: HeldParts | None = None  # of which these are some

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def futures(self) -> list[Any]:
        """The parts as futures of the client."""
        graph = self._held()
        return [graph[key] for key in self.keys]

    def call(
        self,
        function: Callable[..., Any],
        options: Sequence[dict[str, Any]] | None = None,
        *,
        beside: HeldParts | None = None,
        shared: dict[str, Any] | None = None,
        merge: Callable[[Sequence[Any]], Any] | None = None,
    ) -> list[Any]:
        """Call a function with each part and its options; return what it returns.

        It also gets the part of the same number that is `beside`, and what is `shared`
        by all calls, which is sent to each worker once. With `merge`, results are
        merged on the workers, and the list has one.
        """
        needed = [self] if beside is None else [self, beside]

        def work() -> list[Any]:
            tasks = Tasks({key: one for each in needed for key, one in each._items()})
            common = [] if shared is None else [tasks.add(_itself, shared=shared)]
            keys = zip(*(each.keys for each in needed), strict=True)
            wanted = [
                tasks.add(function, *part, *common, **own)
                for part, own in zip(keys, options or [{}] * len(self), strict=True)
            ]
            if merge is not None:
                wanted = [tasks.combine(merge, wanted)]
            return list(self.cluster.results(tasks, wanted))

        def release() -> None:
            for each in needed:
                each.release()

        return self.cluster.run(work, release, self.source)

    def only(self, chosen: Sequence[bool]) -> HeldParts:
        """Return some of the parts, which stay where they are."""
        keys = [key for key, own in zip(self.keys, chosen, strict=True) if own]
        some = HeldParts(self.source, keys, self.cluster)
        some._whole = self
        return some

    def release(self) -> None:
        """Let the workers forget the parts; they are made anew when need be."""
        if self._whole is not None:
            self._whole.release()
        self._graph = None

    def _items(self) -> Iterable[tuple[Key, Any]]:
        return self._held().items()

    def _held(self) -> dict[Key, Any]:
        if self._whole is not None:
            return self._whole._held()
        if self._graph is None:
            client = self.cluster.client
            self._graph = (
                self.source.graph
                if client is None
                else self.source.keep(self.keys, client)
            )
        return self._graph


def _itself(shared: dict[str, Any]) -> dict[str, Any]:
    return shared
