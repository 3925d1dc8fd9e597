"""The workers of a fit: the parts that they hold, and how a fit survives deaths."""

from __future__ import annotations

import gc
import importlib.metadata
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from dask.base import get_scheduler

from aucmax.dask.tasks import Key, Tasks

T = TypeVar("T")

# Dask tries a task on several workers; this counts the repetitions of all of that.
_MAX_ATTEMPTS = 10
_SCHEDULER_TIMEOUT = 3.0  # seconds to answer at the start
_WORKER_TIMEOUT = 10.0  # seconds, for a cluster that has just been started
# Seconds for which the cluster may have no worker, while dead ones are being replaced,
# by the number of workers that died with the same task.
_ABSENCE_TIMEOUTS = ((8, -1.0), (4, 8.0), (2, 60.0), (0, 300.0))
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
            self._wait_for_the_scheduler()
            self._wait_for_a_worker()
            self._check_versions()

    def run(
        self, work: Callable[[], T], release: Callable[[], None], source: Tasks
    ) -> T:
        """Do some work; repeat it if workers died so often that Dask gives up."""
        # Dask does not repeat tasks that someone holds, so release drops them
        self._start, self._source = time.time(), source
        if self.client is None:
            return work()
        from distributed import KilledWorker

        for attempt in range(_MAX_ATTEMPTS):
            self.check_open()
            try:
                return work()
            except (KilledWorker, CancelledError, OSError) as error:
                last = error.with_traceback(None)
            self.check_open()
            self._check_deaths(0.0)
            release()
            gc.collect()  # frames of the error's traceback hold tasks, too
            time.sleep(min(0.1 * 2.0**attempt, 2.0))  # until the scheduler knows
        raise RuntimeError(
            f"workers died in {_MAX_ATTEMPTS} attempts at one pass over the data "
            f"({last}). Use smaller partitions, or workers with more memory."
        ) from last

    def compute(self, tasks: Tasks, wanted: Key | list[Key]) -> Any:
        """Return the results of tasks, even if workers die meanwhile."""
        return self.run(lambda: self.results(tasks, wanted), lambda: None, tasks)

    def results(self, tasks: Tasks, wanted: Key | list[Key]) -> Any:
        """Return the results of tasks, of this process or of the workers."""
        if self.client is not None:
            futures = tasks.start(self.client, wanted)
            self.wait(futures)
        try:
            if self.client is None:
                return tasks.compute(wanted)
            return self.client.gather(futures)
        except Exception as error:
            if not type(error).__module__.startswith(("distributed", "concurrent")):
                self._source.blame(error)
            raise

    def wait(self, futures: Any) -> None:
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
            self._check_deaths(time.monotonic() - last_seen)

    def _check_deaths(self, absence: float) -> None:
        """Raise an error if workers are gone for too long, or die with one task."""
        n_deaths, tasks = self._deaths_of_a_task()
        limit = next(limit for n, limit in _ABSENCE_TIMEOUTS if n_deaths >= n)
        if absence <= limit:
            return
        if n_deaths < 2:
            raise RuntimeError(
                f"the cluster has had no worker for {limit:.0f} seconds. Start "
                "workers, and try again."
            )
        raise RuntimeError(
            f"{n_deaths} workers died, one after the other, while they computed "
            f"{self._source.describe(tasks)}. Check how it is made, the memory that "
            "it needs, and the workers' logs."
        )

    def _deaths_of_a_task(self) -> tuple[int, set[Key]]:
        """Return the most workers that died with one task, and the tasks."""
        deaths = Counter[Key]()
        for when, event in self.client.get_events("all"):
            if when >= self._start and not event.get("expected"):
                deaths.update(event.get("processing-tasks", ()))
        most = max(deaths.values(), default=0)
        return most, {task for task, n_deaths in deaths.items() if n_deaths == most}

    def _wait_for_the_scheduler(self) -> None:
        deadline = time.monotonic() + _SCHEDULER_TIMEOUT
        while self.client.status == "connecting":
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"the scheduler {self.client.scheduler.address} does not answer. "
                    "Start it, and then a new distributed.Client(ADDRESS)."
                )
            time.sleep(0.1)

    def _wait_for_a_worker(self) -> None:
        try:
            self.client.wait_for_workers(1, timeout=_WORKER_TIMEOUT)
        except TimeoutError:
            raise RuntimeError(
                f"the scheduler {self.client.scheduler.address} has had no worker for "
                f"{_WORKER_TIMEOUT:.0f} seconds. Start one: dask worker ADDRESS."
            ) from None

    def _check_versions(self) -> None:
        """Reject workers without aucmax, or with another version of it."""
        own = importlib.metadata.version("aucmax")
        found = self.client.run(importlib.metadata.version, "aucmax", on_error="return")
        for address, version in found.items():
            if version != own:
                is_missing = isinstance(version, BaseException)
                has = "no aucmax" if is_missing else f"aucmax {version}"
                raise RuntimeError(
                    f"worker {address} has {has}, this process has aucmax {own}. "
                    "Install the same version on all workers."
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
        options: Sequence[dict[str, Any]] | None = None,
        *,
        shared: dict[str, Any] | None = None,
    ) -> list[Any]:
        """Call a function with each part, its options, and `shared`."""

        def work() -> list[Any]:
            tasks = Tasks(self._held())
            # each worker receives it once
            common = [] if shared is None else [tasks.add(_itself, shared=shared)]
            calls = zip(self.keys, options or [{}] * len(self), strict=True)
            wanted = [
                tasks.add(function, key, *common, **part_options)
                for key, part_options in calls
            ]
            return list(self.cluster.results(tasks, wanted))

        return self.cluster.run(work, self.release, self.source)

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


def _itself(shared: dict[str, Any]) -> dict[str, Any]:
    return shared
