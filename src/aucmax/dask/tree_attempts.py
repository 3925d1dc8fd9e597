"""Rounds on many workers that survive the death of some.

All tasks of an attempt fail with one; the next starts from the last checkpoint.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from threading import Thread
from typing import Any, TypeAlias
from urllib.parse import urlparse

from distributed import Client, Future, Variable
from xgboost import config_context
from xgboost.core import XGBoostError
from xgboost.tracker import RabitTracker

from aucmax.dask.cluster import Cluster, HeldParts
from aucmax.dask.tree_worker import Grown, TreeJob, grow

MAX_FAILURES = 20
_MAX_FAILURES_WITHOUT_PROGRESS = 4
_STALL_TIMEOUT = 300.0  # seconds without a round, after which an attempt has failed
_ABSENCE_TIMEOUT = 3.0  # seconds for which the scheduler may not know a worker
_PLACEMENT_TIMEOUT = 60.0  # seconds for blocks that are computed, but with nobody
_EXIT_TIMEOUT = 60  # seconds for workers to end a round, and leave
_PAUSE = 0.05

Tell: TypeAlias = Callable[[int], bool]


@dataclass
class _State:
    """What is known of all attempts so far."""

    trees: bytes | None = None
    n_rounds: int = 0
    n_told: int = 0
    last_round: int = 0
    n_failures: int = 0
    n_stalled: int = 0
    error: BaseException | None = None
    last_progress: float = field(default_factory=time.monotonic)


def grow_on_workers(
    cluster: Cluster, job: TreeJob, parts: HeldParts, tell: Tell
) -> tuple[Grown, int]:
    """Grow the trees of a job until `tell` answers true; count failed attempts."""
    state, start = _State(), time.monotonic()
    checkpoint = job.checkpoint(cluster.client)
    with _listening(cluster.client, job, state):
        while True:
            left = job.seconds
            if left is not None:
                left = max(left - (time.monotonic() - start), 0.0)
            current = replace(job, seconds=left)
            grown = _attempt(cluster, current, parts, state, tell)
            if grown is not None:
                return grown, state.n_failures
            cluster.check_open()
            _count_failure(state, checkpoint)


def _count_failure(state: _State, checkpoint: Variable) -> None:
    """Look up the last checkpoint; give up where nothing gets done."""
    before = state.trees
    with suppress(Exception):  # there may be none yet
        state.trees = checkpoint.get(timeout="2s")
    state.n_failures += 1
    state.n_stalled = 0 if state.trees != before else state.n_stalled + 1
    if (
        state.n_failures > MAX_FAILURES
        or state.n_stalled >= _MAX_FAILURES_WITHOUT_PROGRESS
    ):
        raise RuntimeError(
            f"workers were lost {state.n_failures} times, the last "
            f"{state.n_stalled} times without a checkpoint in between: the fit is "
            "given up. Look at the workers' memory, and at their logs."
        ) from state.error


def _attempt(
    cluster: Cluster, job: TreeJob, parts: HeldParts, state: _State, tell: Tell
) -> Grown | None:
    """Run rounds on all workers that hold blocks; return None if some were lost."""
    client = cluster.client
    blocks, placed = _place(cluster, parts)
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
            state.trees,
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        for place, (worker, numbers) in enumerate(sorted(placed.items()))
    ]
    state.last_progress = time.monotonic()
    try:
        return _watch(cluster, job, tasks, set(placed), state, tell)
    finally:
        # also when the user has had enough: the workers then stop after their round
        with suppress(Exception):
            client.cancel(tasks, force=True)
        # workers take their leave of it, if they are there; nobody else should wait
        Thread(target=_free, args=(tracker,), daemon=True).start()


def _place(
    cluster: Cluster, parts: HeldParts
) -> tuple[list[Future], dict[str, list[int]]]:
    """Wait for the blocks, computed anew where they were lost; say who has them."""

    def work() -> tuple[list[Future], dict[str, list[int]]]:
        deadline = time.monotonic() + _PLACEMENT_TIMEOUT
        while time.monotonic() < deadline:
            blocks = parts.futures
            cluster.wait(blocks)
            for block in blocks:
                if block.status in ("error", "cancelled"):
                    block.result()  # raises the error, which names the partition
            holders = cluster.client.who_has(blocks)
            placed: defaultdict[str, list[int]] = defaultdict(list)
            for number, block in enumerate(blocks):
                for worker in sorted(holders.get(block.key, ()))[:1]:
                    placed[worker].append(number)
            if sum(map(len, placed.values())) == len(blocks):
                return blocks, dict(placed)
            time.sleep(_PAUSE)
        raise RuntimeError("the rows could not be placed: workers come and go.")

    return cluster.run(work, parts.release, parts.source)


def _watch(
    cluster: Cluster,
    job: TreeJob,
    tasks: Sequence[Future],
    workers: set[str],
    state: _State,
    tell: Tell,
) -> Grown | None:
    """Wait for the end of an attempt; return None if it has failed."""
    last_seen = time.monotonic()
    while True:
        while state.n_told < state.n_rounds and not state.last_round:
            state.n_told += 1
            enough = tell(state.n_told)
            cluster.check_open()
            if enough:
                state.last_round = state.n_told
                cluster.client.set_metadata([job.name], state.last_round)
        cluster.check_open()
        statuses = {task.status for task in tasks}
        if statuses == {"finished"}:
            grown: Grown = tasks[0].result()
            return grown
        if statuses & {"error", "lost", "cancelled"}:
            state.error = _error_of_others(tasks)
            return None
        now, known = time.monotonic(), cluster.client.scheduler_info(n_workers=-1)
        if workers <= known["workers"].keys():
            last_seen = now
        absence, silence = now - last_seen, now - state.last_progress
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


@contextmanager
def _listening(client: Client, job: TreeJob, state: _State) -> Iterator[None]:
    """Hear of each round; leave nothing behind at the scheduler."""

    def hear(event: tuple[float, Any]) -> None:
        state.n_rounds, state.last_progress = int(event[1]), time.monotonic()

    client.subscribe_topic(job.name, hear)
    try:
        yield
    finally:
        with suppress(Exception):  # of a client that was closed
            client.unsubscribe_topic(job.name)
            job.checkpoint(client).delete()
