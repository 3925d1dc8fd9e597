"""The workers of a fit, and the parts that they hold."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from dask.base import get_scheduler

from aucmax.dask.tasks import Key, Tasks

_WORKER_TIMEOUT = 10.0  # seconds, for a cluster that has just been started
# seconds for which the cluster may have no worker, while dead ones are being replaced
_MAX_ABSENCE = 120.0
_POLL_INTERVAL = 2.0  # seconds


class Cluster:
    """The client at the start of the fit, if there is one."""

    def __init__(self) -> None:
        get = get_scheduler()
        owner = getattr(get, "__self__", None)
        is_client = "distributed" in sys.modules and isinstance(
            owner, sys.modules["distributed"].Client
        )
        self.client: Any = owner if is_client else None
        if self.client is not None:
            try:
                self.client.wait_for_workers(1, timeout=_WORKER_TIMEOUT)
            except (TimeoutError, OSError, RuntimeError):
                raise RuntimeError(
                    f"the scheduler of {self.client!r} does not answer, or has had no "
                    f"worker for {_WORKER_TIMEOUT:.0f} seconds. Start a scheduler, "
                    "workers (dask worker ADDRESS), and a new "
                    "distributed.Client(ADDRESS)."
                ) from None

    def compute(
        self, tasks: Tasks, wanted: Key | list[Key], source: Tasks | None = None
    ) -> Any:
        """Return the results of tasks; an error names the partition of its source."""
        source = source or tasks
        if self.client is not None:
            self.check_open()
            futures = tasks.start(self.client, wanted)
            self.wait(futures)
        try:
            if self.client is None:
                return tasks.compute(wanted)
            return self.client.gather(futures)
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise RuntimeError(
                    "workers died, one after the other, while they computed "
                    f"{source.describe({getattr(error, 'task', '')})}. Check how it "
                    "is made, the memory that it needs, and the workers' logs."
                ) from None
            if not type(error).__module__.startswith(("distributed", "concurrent")):
                source.blame(error)
            raise

    def wait(self, futures: object) -> None:
        """Wait for results as long as the cluster has a worker, or may get one."""
        from distributed import wait

        last_seen = time.monotonic()
        while True:
            self.check_open()
            try:
                with self.client.as_current():
                    wait(futures, timeout=_POLL_INTERVAL)
                return
            except TimeoutError:
                if self.client.scheduler_info(n_workers=1).get("workers"):
                    last_seen = time.monotonic()
            if time.monotonic() - last_seen > _MAX_ABSENCE:
                raise RuntimeError(
                    f"the cluster has had no worker for {_MAX_ABSENCE:.0f} seconds. "
                    "Start workers, and try again."
                )

    def check_open(self) -> None:
        """Reject a client that was closed meanwhile."""
        if self.client.status not in ("running", "connecting"):
            raise RuntimeError(
                f"the Dask client is {self.client.status}, or its scheduler is gone; "
                "both must stay until the fit is done."
            )


class HeldParts:
    """The results of some tasks, held by the workers and computed again when lost."""

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
        self,
        function: Callable[..., Any],
        options: Sequence[dict[str, object]] | None = None,
    ) -> list[Any]:
        """Call a function with each part and its options."""
        tasks = Tasks(self._held())
        calls = zip(self.keys, options or [{}] * len(self), strict=True)
        wanted = [
            tasks.add(function, key, **part_options) for key, part_options in calls
        ]
        return list(self.cluster.compute(tasks, wanted, self.source))

    def release(self) -> None:
        """Let the workers drop the parts; they are computed again when needed."""
        self._graph = None

    def _held(self) -> dict[Key, Any]:
        client = self.cluster.client
        if self._graph is None and client is None:
            self._graph = self.source.graph
        elif self._graph is None:
            # the cluster holds results and tasks, and computes lost ones again
            futures = self.source.start(client, self.keys)
            self._graph = dict(zip(self.keys, futures, strict=True))
        return self._graph
