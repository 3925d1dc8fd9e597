"""Independent pieces of work, shared among threads."""

from collections.abc import Callable, Sequence
from itertools import count
from threading import Thread

__all__ = ["run_all"]


def run_all(tasks: Sequence[Callable[[], None]], n_jobs: int) -> None:
    """Run all tasks, each of which writes to a place of its own.

    This thread takes part, so that one fewer has to be started: that is most of what
    sharing costs. The others end with the call, so that a process that forks later has
    none to miss.
    """
    if n_jobs == 1 or len(tasks) <= 1:
        for task in tasks:
            task()
        return
    numbers = count()  # each is handed out once, whichever thread asks
    errors: list[BaseException] = []

    def work() -> None:
        while not errors and (number := next(numbers)) < len(tasks):
            try:
                tasks[number]()
            except BaseException as error:
                errors.append(error)

    helpers = [Thread(target=work) for _ in range(min(n_jobs, len(tasks)) - 1)]
    for helper in helpers:
        helper.start()
    work()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]
