"""Work that threads share: all of it is done, once, and errors come out."""

import threading

import pytest

from aucmax.risks._pairs.level_pairs import run_all


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 8])
@pytest.mark.parametrize("n_tasks", [0, 1, 2, 7])
def test_each_task_is_run_once_and_no_thread_is_left(n_jobs, n_tasks):
    done, before = [0] * n_tasks, threading.active_count()

    def task(number):
        done[number] += 1

    run_all([lambda k=k: task(k) for k in range(n_tasks)], n_jobs)
    assert done == [1] * n_tasks
    assert threading.active_count() == before


def test_threads_work_at_the_same_time():
    meeting = threading.Barrier(3, timeout=60)
    run_all([meeting.wait] * 3, 3)


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_an_error_of_a_task_is_raised(n_jobs):
    def fail():
        raise ZeroDivisionError("of a task")

    with pytest.raises(ZeroDivisionError, match="of a task"):
        run_all([lambda: None, fail, lambda: None], n_jobs)
