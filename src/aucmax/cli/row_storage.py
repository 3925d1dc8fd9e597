"""Where rows are kept: in memory, on disk if that is short, or on Dask's workers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from time import monotonic
from typing import Any

import click

from aucmax.cli.output import Console
from aucmax.cli.reading import Source

# A frame, the matrix that is made of it, and what a fit copies.
_COPIES = 4
# A text file in memory, as cells and while they are read, by its size; packed ones are
# about a fifth of that.
_OF_TEXT, _OF_PACKED_TEXT = 2, 10
#: of a scheduler that has no dashboard, and no socket for other machines
LOOPBACK = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
_SECONDS_FOR_A_SCHEDULER = 5
_SECONDS_BETWEEN_LINES = 2.0

Command = Callable[..., None]

disk_option = click.option(
    "--on-disk/--in-memory",
    default=None,
    help="Whether to leave rows on disk and read them in parts [default: if they need "
    "more than the free memory].",
)


def stays_on_disk(data: Source, choice: bool | None, console: Console) -> bool:
    """Return whether to leave rows on disk: as the user says, or if memory is short."""
    if choice is not None:
        return choice
    if _fits_in_memory(data):
        return False
    from aucmax.datasets.memory import format_bytes, free_memory

    needed, free = _COPIES * _size(data), free_memory()
    console.note(
        f"{data.path} needs about {format_bytes(needed)} of memory, and "
        f"{format_bytes(free)} are free: rows stay on disk (--in-memory reads them all)"
    )
    return True


def _fits_in_memory(data: Source) -> bool:
    """Return whether a fit in memory needs no more of it than is free."""
    from aucmax.datasets.memory import free_memory

    return _COPIES * _size(data) <= free_memory()


def _size(data: Source) -> int:
    """Estimate the bytes of the rows in memory; 0 if they have to be there anyway."""
    from aucmax.datasets import COMPRESSIONS, open_table
    from aucmax.datasets.opening import file_format

    files = data.files
    if not all(file.is_file() for file in files):
        return 0  # reading a missing file raises the error
    kind = data.format or file_format(files[0])
    if kind in ("svmlight", "letor"):
        return 0
    if kind == "parquet":
        return int(open_table(data.path, format=data.format or "auto").estimated_size())
    sizes = (
        file.stat().st_size
        * (_OF_PACKED_TEXT if file.suffix.lower() in COMPRESSIONS else _OF_TEXT)
        for file in files
    )
    return sum(sizes)


def worker_options(command: Command) -> Command:
    """Add ``--workers`` and ``--scheduler``; the command gets `on_workers`."""

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
        help="Use the workers of this Dask scheduler, such as tcp://10.0.0.1:8786; "
        "they need access to the files of DATA.",
    )
    @wraps(command)
    def wrapped(
        *args: Any, workers: int | None, scheduler: str | None, **options: Any
    ) -> None:
        if workers is not None and scheduler is not None:
            raise click.UsageError(
                "--scheduler has its own workers; leave out --workers."
            )
        is_asked_for = workers is not None and not options["on_disk"]
        if is_asked_for and _fits_in_memory(options["data"]):
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


class ProgressLine:
    """The callback of a fit; every few seconds it prints a line of progress."""

    def __init__(self, step: Callable[..., None]) -> None:
        self._step = step
        self._last = monotonic()

    def __call__(self, progress: Any) -> None:
        """Show where the fit stands."""
        if monotonic() - self._last >= _SECONDS_BETWEEN_LINES:
            self._last = monotonic()
            self._step(str(progress), 0)

    def __reduce__(self) -> tuple[Any, ...]:
        """Stay here if a model is sent to a worker."""
        return ProgressLine, (_report_nothing,)


def _report_nothing(*_: Any) -> None:
    """Do nothing."""
