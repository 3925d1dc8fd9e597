"""Tasks of a study: run once, in processes of one thread, and recorded one by one.

Each record is a file, so that an interrupted run resumes where it stopped. The page of
a study is made of its records alone.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Task:
    """One call that returns a record, which is a dataclass.

    Attributes
    ----------
    part : str
        The part of the study that it belongs to.
    name : str
        Unique within the study; names the file of the record.
    call : callable
        Can be pickled: a function of a module, or a partial of one.
    record : type
        The class of the record.
    files : tuple of Path
        The data that it reads.
    is_timed : bool
        Whether nothing may run beside it, because its seconds count.
    """

    part: str
    name: str
    call: Callable[[], Any]
    record: type
    files: tuple[Path, ...] = ()
    is_timed: bool = False

    def path(self, folder: Path) -> Path:
        """Return the file of the record."""
        letters = (one if one.isalnum() or one == "." else "-" for one in self.name)
        return folder / f"{''.join(letters).lower()}.json"

    def missing(self) -> Path | None:
        """Return the first file that is not there."""
        return next((path for path in self.files if not path.is_file()), None)


def with_data(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks whose data are there, and say which files are not."""
    for path in dict.fromkeys(path for task in tasks if (path := task.missing())):
        print(
            f"{path} is not there, so what needs it is left out. Name the folder of "
            "the data sets in AUCMAX_DATA."
        )
    return [task for task in tasks if task.missing() is None]


def run(tasks: Iterable[Task], folder: Path, n_jobs: int) -> list[Any]:
    """Run what has no record in the folder yet, and return all records."""
    tasks = list(tasks)
    folder.mkdir(parents=True, exist_ok=True)
    waiting = [task for task in tasks if not task.path(folder).is_file()]
    with processes(n_jobs) as pool:
        side_by_side = [task for task in waiting if not task.is_timed]
        for line in pool.map(_run, side_by_side, [folder] * len(side_by_side)):
            print(line, flush=True)
        for task in waiting:
            if task.is_timed:
                print(pool.submit(_run, task, folder).result(), flush=True)
    return [
        task.record(**json.loads(task.path(folder).read_text(encoding="utf-8")))
        for task in tasks
    ]


def _run(task: Task, folder: Path) -> str:
    """Run one task and write its record whole or not at all; say what came of it."""
    record = task.call()
    path = task.path(folder)
    partial = path.with_suffix(f".{os.getpid()}")
    text = json.dumps(asdict(record), default=np.ndarray.tolist)
    partial.write_text(f"{text}\n", encoding="utf-8")
    partial.replace(path)
    return f"  {task.name:<60} {record}"


@contextmanager
def processes(n_jobs: int) -> Iterator[Executor]:
    """Start processes that compute on one thread each."""
    os.environ["OMP_NUM_THREADS"] = "1"  # the processes inherit it
    # a fork would copy the locks of the reader's threads, but not the threads
    context = get_context("spawn")
    with ProcessPoolExecutor(n_jobs, context, initializer=_be_one_thread) as pool:
        yield pool


def _be_one_thread() -> None:
    threadpool_limits(1)
