"""Independent pieces of work, shared among threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

__all__ = ["run_all"]


def run_all(tasks: Sequence[Callable[[], None]], n_jobs: int) -> None:
    """Run all tasks, each of which writes to a place of its own.

    The threads end with the call, so that a process that forks later has none to miss.
    """
    if n_jobs == 1 or len(tasks) == 1:
        for task in tasks:
            task()
        return
    with ThreadPoolExecutor(min(n_jobs, len(tasks))) as pool:
        for finished in [pool.submit(task) for task in tasks]:
            finished.result()
