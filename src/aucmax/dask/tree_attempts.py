"""Rounds on many workers; if some die, the next attempt starts from a checkpoint."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from threading import Thread
from typing import Any
from urllib.parse import urlparse

from distributed import Future
from xgboost import config_context
from xgboost.core import XGBoostError
from xgboost.tracker import RabitTracker

from aucmax.dask.cluster import Cluster, HeldParts
from aucmax.dask.tree_worker import Grown, TreeJob, grow

MAX_FAILURES = 20
_MAX_FAILURES_WITHOUT_PROGRESS = 4
_STALL_TIMEOUT = 300.0  # seconds without a round, after which an attempt has failed
_ABSENCE_TIMEOUT = 3.0  # seconds for which the scheduler may not know a worker
_PLACEMENT_TIMEOUT = 60.0  # seconds for computed blocks that no worker holds
_EXIT_TIMEOUT = 60  # seconds for workers to end a round, and leave
_PAUSE = 0.05


class TreeAttempts:
    """Grows the trees of a job until `report`, called per round, returns true."""

    def __init__(
        self,
        cluster: Cluster,
        job: TreeJob,
        parts: HeldParts,
        report: Callable[[int], bool],
    ) -> None:
        self.n_failures = 0
        self._cluster = cluster
        self._job = job
        self._parts = parts
        self._report = report
        self._checkpoint = job.checkpoint(cluster.client)
        self._trees: bytes | None = None  # of the last checkpoint
        self._n_stalled = 0  # failures since then
        self._n_rounds = self._n_reported = self._last_round = 0
        self._error: BaseException | None = None
        self._start = self._last_progress = time.monotonic()

    def run(self) -> Grown:
        """Attempt to grow the trees until an attempt succeeds."""
        client, topic = self._cluster.client, self._job.name
        client.subscribe_topic(topic, self._count_round)
        try:
            while True:
                grown = self._attempt()
                if grown is not None:
                    return grown
                self._cluster.check_open()
                self._count_failure()
        finally:
            with suppress(Exception):  # of a client that was closed
                client.unsubscribe_topic(topic)
                self._checkpoint.delete()

    def _count_round(self, event: tuple[float, Any]) -> None:
        self._n_rounds, self._last_progress = int(event[1]), time.monotonic()

    def _count_failure(self) -> None:
        """Look up the last checkpoint; give up if attempts make no progress."""
        before = self._trees
        with suppress(Exception):  # there may be none yet
            self._trees = self._checkpoint.get(timeout="2s")
        self.n_failures += 1
        self._n_stalled = 0 if self._trees != before else self._n_stalled + 1
        if (
            self.n_failures > MAX_FAILURES
            or self._n_stalled >= _MAX_FAILURES_WITHOUT_PROGRESS
        ):
            raise RuntimeError(
                f"the fit stopped because workers were lost {self.n_failures} times, "
                f"the last {self._n_stalled} times without a checkpoint in between. "
                "Check the workers' memory and their logs."
            ) from self._error

    def _attempt(self) -> Grown | None:
        """Run rounds on all workers that hold blocks; return None if some were lost."""
        client, job = self._cluster.client, self._job
        if job.seconds is not None:
            left = job.seconds - (time.monotonic() - self._start)
            job = replace(job, seconds=max(left, 0.0))
        blocks, placed = self._cluster.run(
            self._place, self._parts.release, self._parts.source
        )
        host = urlparse(client.scheduler.address).hostname or "127.0.0.1"
        with config_context(verbosity=0):
            tracker = RabitTracker(len(placed), host_ip=host, sortby="task", timeout=60)
            tracker.start()
        tasks = [
            client.submit(
                grow,
                [blocks[k] for k in numbers],
                job,
                {**tracker.worker_args(), "dmlc_task_id": f"{place:06d}"},
                self._trees,
                workers=[worker],
                allow_other_workers=False,
                pure=False,
            )
            for place, (worker, numbers) in enumerate(sorted(placed.items()))
        ]
        self._last_progress = time.monotonic()
        try:
            return self._monitor(tasks, set(placed))
        finally:
            # also after Ctrl-C: the workers then stop after their round
            with suppress(Exception):
                client.cancel(tasks, force=True)
            # living workers sign off from the tracker; the fit need not wait for them
            Thread(target=_free, args=(tracker,), daemon=True).start()

    def _place(self) -> tuple[list[Future], dict[str, list[int]]]:
        """Wait for the blocks, computed again if lost; return those of each worker."""
        deadline = time.monotonic() + _PLACEMENT_TIMEOUT
        while time.monotonic() < deadline:
            blocks = self._parts.futures
            self._cluster.wait(blocks)
            for block in blocks:
                if block.status in ("error", "cancelled"):
                    block.result()  # raises the error, which names the partition
            holders = self._cluster.client.who_has(blocks)
            placed: defaultdict[str, list[int]] = defaultdict(list)
            for number, block in enumerate(blocks):
                for worker in sorted(holders.get(block.key, ()))[:1]:
                    placed[worker].append(number)
            if sum(map(len, placed.values())) == len(blocks):
                return blocks, dict(placed)
            time.sleep(_PAUSE)
        raise RuntimeError("the rows could not be placed: workers come and go.")

    def _monitor(self, tasks: Sequence[Future], workers: set[str]) -> Grown | None:
        """Wait for the end of an attempt; return None if it has failed."""
        client, last_seen = self._cluster.client, time.monotonic()
        while True:
            while self._n_reported < self._n_rounds and not self._last_round:
                self._n_reported += 1
                should_stop = self._report(self._n_reported)
                self._cluster.check_open()
                if should_stop:
                    self._last_round = self._n_reported
                    client.set_metadata([self._job.name], self._last_round)
            self._cluster.check_open()
            statuses = {task.status for task in tasks}
            if statuses == {"finished"}:
                grown: Grown = tasks[0].result()
                return grown
            if statuses & {"error", "lost", "cancelled"}:
                self._error = _error_of_others(tasks)
                return None
            now, known = time.monotonic(), client.scheduler_info(n_workers=-1)
            if workers <= known["workers"].keys():
                last_seen = now
            absence, silence = now - last_seen, now - self._last_progress
            if absence > _ABSENCE_TIMEOUT or silence > _STALL_TIMEOUT:
                return None
            time.sleep(_PAUSE)


def _error_of_others(tasks: Sequence[Future]) -> BaseException | None:
    """Return an error of XGBoost, a ValueError of survivors; raise our own."""
    found: BaseException | None = None
    for task in tasks:
        if task.status == "error":
            found = task.exception()
            is_ours = isinstance(found, ValueError | TypeError | ImportError)
            if is_ours and not isinstance(found, XGBoostError):
                raise found
    return found


def _free(tracker: RabitTracker) -> None:
    with suppress(Exception):
        tracker.wait_for(_EXIT_TIMEOUT)
    with suppress(Exception):
        tracker.free()
