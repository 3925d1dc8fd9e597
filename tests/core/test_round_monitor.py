import time
from itertools import count
from typing import NamedTuple

import pytest

from aucmax._core.fitting import RoundMonitor


class Progress(NamedTuple):
    seconds: float


def run(watch, values):
    """Count rounds until there is a reason to stop; return it."""
    for value in values:
        watch.count(value)
        reason = watch.reason_to_stop(Progress(watch.seconds))
        if reason:
            return reason
    return ""


def test_all_rounds_are_kept_where_nothing_is_validated():
    watch = RoundMonitor(7, patience=2)
    assert run(watch, [None] * 100) == "max rounds"
    assert (watch.n_iter, watch.n_kept, watch.validation) == (7, 7, [])


def test_rounds_are_kept_up_to_the_first_of_the_best_value():
    watch = RoundMonitor(100)
    values = [0.5, 0.7, 0.6, 0.7, 0.2]
    assert [watch.count(value) for value in values] == [True, True, False, False, False]
    assert (watch.n_iter, watch.n_kept, watch.validation) == (5, 2, values)


@pytest.mark.parametrize("patience", [1, 3])
def test_patience_is_rounds_without_a_better_value(patience):
    watch = RoundMonitor(100, patience=patience)
    assert run(watch, [-3.0, -2.0] + [-2.0] * 50) == "no change"
    assert (watch.n_iter, watch.n_kept) == (2 + patience, 2)


def test_the_time_is_that_since_the_watch_was_made(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", map(float, count()).__next__)
    watch = RoundMonitor(100, max_time=4.0)
    assert run(watch, [None] * 100) == "max time"
    assert watch.n_iter == 4


def test_a_true_answer_to_a_report_stops_before_anything_else():
    seen = []
    watch = RoundMonitor(
        3, report=lambda progress: seen.append(progress) or len(seen) > 2
    )
    assert run(watch, [None] * 100) == "callback"
    assert len(seen) == watch.n_iter == 3
