"""The runner of the studies: records, what is left out, tables, intervals."""

import sys
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))  # the folder of the benchmarks

from benchmarks.papers import __main__ as command
from benchmarks.papers.choices import Choice, Results
from benchmarks.papers.differences import average, mean_difference
from benchmarks.papers.markdown import Table, largest_bold
from benchmarks.papers.tasks import Task, run, with_data


@dataclass
class Record:
    number: float
    values: list[float]


def recorded(number, counter):
    """Return a record, and leave a trace of the call."""
    with Path(counter).open("a") as stream:
        stream.write("x")
    return Record(number, np.arange(3) / 2)


@pytest.fixture
def tasks(tmp_path):
    counter = tmp_path / "calls"
    return counter, [
        Task("a part", f"Task {k}, 50 %", partial(recorded, k, counter), Record)
        for k in (1.5, float("nan"))
    ]


@pytest.mark.slow
def test_what_has_a_record_is_not_run_again(tmp_path, tasks):
    counter, some = tasks
    first = run(some, tmp_path / "records", 1)
    again = run(some, tmp_path / "records", 1)
    assert counter.read_text() == "xx"
    assert first[0] == again[0] == Record(1.5, [0.0, 0.5, 1.0])
    assert np.isnan(again[1].number)
    names = sorted(path.name for path in (tmp_path / "records").iterdir())
    assert names == ["task-1.5--50--.json", "task-nan--50--.json"]


def test_tasks_without_their_data_are_left_out_and_named_once(tmp_path, capsys):
    there, absent = tmp_path / "there", tmp_path / "absent"
    there.touch()
    tasks = [Task("", str(p), print, Record, (p,)) for p in (there, absent, absent)]
    assert with_data(tasks) == tasks[:1]
    assert capsys.readouterr().out.count(str(absent)) == 1


@pytest.mark.parametrize("name", command.NAMES)
def test_tasks_of_a_study_have_files_of_their_own(name):
    study = import_module(f"benchmarks.papers.{name}.study")
    for some in (study.tasks(), study.quick_tasks()):
        paths = [task.path(Path()) for task in some]
        assert paths
        assert len(set(paths)) == len(paths)


def test_an_interval_of_independent_differences_is_students():
    apart = np.random.default_rng(0).normal(size=20)
    difference = mean_difference(apart)
    low, high = stats.t.interval(0.95, 19, apart.mean(), stats.sem(apart))
    assert difference[:2] == pytest.approx(((low + high) / 2, (high - low) / 2))


def test_copies_in_one_group_do_not_narrow_an_interval():
    apart = np.random.default_rng(0).normal(size=20)
    difference = mean_difference(np.tile(apart, 3), np.tile(np.arange(20), 3))
    assert difference.reach == pytest.approx(mean_difference(apart).reach)


def test_overlap_is_corrected_as_nadeau_and_bengio_do():
    apart = np.random.default_rng(0).normal(size=10)
    error = np.sqrt((1 / 10 + 1 / 2) * apart.var(ddof=1))
    difference = mean_difference(apart, overlap=1 / 2)
    assert difference.reach == pytest.approx(stats.t.ppf(0.975, 9) * error)


def test_differences_are_bold_where_0_is_outside():
    clear, unclear = (
        mean_difference(np.array([1.0, 1.1])),
        mean_difference(np.arange(2)),
    )
    assert clear.is_ahead
    assert clear.in_points(1).startswith("**+105.0 [")
    assert not unclear.in_points(1).startswith("**")
    assert average([clear, clear]).reach == pytest.approx(clear.reach / np.sqrt(2))


def test_tables_are_aligned_and_the_largest_is_bold():
    cells = largest_bold([0.5, None, 0.25], ".2f")
    assert str(Table(["a", "longer", "c"], [cells])).splitlines() == [
        "| a        | longer | c    |",
        "| -------- | ------ | ---- |",
        "| **0.50** | -      | 0.25 |",
    ]


def test_the_first_of_equal_candidates_is_chosen():
    choices = [Choice("d", "m", k, ["a", "b", "c"], [0.1, 0.3, 0.3]) for k in range(2)]
    results = Results(choices)
    assert choices[0].chosen == 1
    assert results.folds("d", "m") == choices
    assert results.folds("d", "other") == []
