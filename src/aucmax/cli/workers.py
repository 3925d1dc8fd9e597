"""Dask's workers for a command: a cluster of this machine, or one that is running."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from time import monotonic
from typing import Any

import click

from aucmax.cli.console import Console
from aucmax.cli.room import fits_in_memory

__all__ = ["LOOPBACK", "News", "worker_options"]

#: of a scheduler that has no dashboard, and no socket for other machines
LOOPBACK = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_SECONDS_FOR_A_SCHEDULER = 5
_SECONDS_BETWEEN_NEWS = 2.0

Command = Callable[..., None]


def worker_options(command: Command) -> Command:
    """Add ``--workers`` and ``--scheduler``; the command gets `on_workers`.

    The cluster is there while the command runs.
    """

    @click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Start N local Dask workers, if the rows do not fit in memory or with "
        "--on-disk.",
    )
    @click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Have the work done by Dask's workers of this scheduler, such as "
        "tcp://10.0.0.1:8786; they must see the files of DATA.",
    )
    @wraps(command)
    def wrapped(
        *args: Any, workers: int | None, scheduler: str | None, **options: Any
    ) -> None:
        if workers is not None and scheduler is not None:
            raise click.UsageError("--scheduler has its own workers: leave --workers.")
        is_asked_for = workers is not None and not options["on_disk"]
        if is_asked_for and fits_in_memory(options["data"]):
            Console(is_quiet=options["quiet"]).note(
                "the rows fit in memory, where they take less time: no workers are "
                "started (--on-disk starts them)"
            )
            workers = None
        with ExitStack() as stack:
            on_workers = workers is not None or scheduler is not None
            if on_workers:
                stack.enter_context(_client(workers, scheduler))
            command(*args, on_workers=on_workers, **options)

    return wrapped


@contextmanager
def _client(n_workers: int | None, address: str | None) -> Iterator[Any]:
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        raise click.ClickException(
            "--workers and --scheduler need Dask: pip install 'aucmax[dask]'."
        ) from error
    with ExitStack() as stack:
        if address is None:
            cluster = LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                scheduler_kwargs=LOOPBACK,
                silence_logs="ERROR",
            )
            stack.enter_context(cluster)
            yield stack.enter_context(Client(cluster))
            return
        try:
            client = Client(address, timeout=_SECONDS_FOR_A_SCHEDULER)
        except (OSError, ValueError) as error:
            raise click.ClickException(
                f"there is no scheduler at {address} ({error}). Start one with 'dask "
                "scheduler', or start workers of this machine with --workers."
            ) from error
        yield stack.enter_context(client)


class News:
    """What a fit calls with its progress; every few seconds a line is shown."""

    def __init__(self, step: Callable[..., None]) -> None:
        self._step = step
        self._last = monotonic()

    def __call__(self, progress: Any) -> None:
        """Show where the fit stands."""
        if monotonic() - self._last >= _SECONDS_BETWEEN_NEWS:
            self._last = monotonic()
            self._step(str(progress), 0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Stay here if a model is sent to a worker."""
        return News, (_tell_nobody,)


def _tell_nobody(*_: Any) -> None:
    """Do nothing."""
