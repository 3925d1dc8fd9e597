"""The benchmarks say which targets they miss, and all of them can be imported."""

import json
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the folder of the benchmarks

from benchmarks import __main__ as command
from benchmarks.harness import share_outside

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
)


@pytest.fixture
def run(monkeypatch):
    """Return a call that runs a benchmark of these figures from the shell."""

    def call(*figures, arguments=("made_up",)):
        def add_all(report):
            for name, value, target in figures:
                report.add(name, value, **target)

        module = SimpleNamespace(TITLE="made up", run=add_all, one_part=add_all)
        monkeypatch.setitem(sys.modules, "benchmarks.made_up", module)
        monkeypatch.setattr(command, "known", lambda: ["made_up"])
        return command.main(arguments)

    return call


FAST = ("fast enough", 1.0, {"at_most": 2.0})
SLOW = ("too slow", 3.0, {"at_most": 2.0})
LOW = ("too low", 0.5, {"at_least": 0.75, "unit": "AUC"})
BARE = ("a bare figure", 7.0, {})


def test_a_run_that_meets_its_targets_exits_with_0(run, capsys):
    assert run(FAST, BARE, ("on the line", 2.0, {"at_most": 2.0})) == 0
    assert capsys.readouterr().out.endswith("\n2 of 2 targets met\n")


def test_missed_targets_are_listed_at_the_end_and_exit_with_1(run, capsys):
    assert run(SLOW, FAST, LOW, BARE) == 1
    _, _, end = capsys.readouterr().out.rpartition("\n\n")
    assert end.splitlines() == [
        "1 of 3 targets met",
        "  MISSED made up: too slow: 3 x, should be at most 2",
        "  MISSED made up: too low: 0.5 AUC, should be at least 0.75",
    ]


def test_not_a_number_misses_its_target(run):
    assert run(("broken", float("nan"), {"at_most": 1.0})) == 1


def test_one_function_of_a_benchmark_can_be_run(run, capsys):
    assert run(FAST, arguments=("made_up.one_part",)) == 0
    assert "1 of 1 targets met" in capsys.readouterr().out


def test_figures_are_written_to_json(run, tmp_path):
    path = tmp_path / "figures.json"
    run(SLOW, BARE, arguments=("made_up", "--json", str(path)))
    (report,) = json.loads(path.read_text())
    assert [figure["met"] for figure in report["figures"]] == [False, None]


def test_figures_are_written_as_a_page(run, tmp_path):
    path = tmp_path / "performance.md"
    run(SLOW, FAST, BARE, arguments=("made_up", "--page", str(path)))
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Performance"
    assert lines[-4:] == [
        "| **made up** | | |  |",
        "| too slow | 3 x | at most 2 **missed** |  |",
        "| fast enough | 1 x | at most 2 met |  |",
        "| a bare figure | 7 x |  |  |",
    ]
    assert any("numpy" in line and "lightgbm" in line for line in lines)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_a_benchmark_ends_when_its_time_is_over(monkeypatch, capsys):
    def go_on(report):
        report.add("done", 1.0)
        time.sleep(60.0)

    module = SimpleNamespace(TITLE="long", run=go_on)
    monkeypatch.setitem(sys.modules, "benchmarks.long", module)
    monkeypatch.setattr(command, "known", lambda: ["long"])
    report = command.run("long", seconds=0.1)
    assert [figure.name for figure in report.figures] == ["done"]
    assert report.remark == "ended after 0.1 s"
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_a_benchmark_whose_peer_is_missing_is_left_out(monkeypatch):
    module = SimpleNamespace(TITLE="lone", run=lambda _: import_module("no_such_peer"))
    monkeypatch.setitem(sys.modules, "benchmarks.lone", module)
    monkeypatch.setattr(command, "known", lambda: ["lone"])
    assert command.run("lone").remark == "left out: no_such_peer is not installed"


def test_an_unknown_benchmark_is_refused(run, capsys):
    with pytest.raises(SystemExit):
        run(arguments=("nothing",))
    assert "there is no benchmark 'nothing'" in capsys.readouterr().err


def test_every_benchmark_is_found():
    names = command.known()
    assert {"auc_svc", "metrics", "structured", "quality.decisions"} <= set(names)
    for name in names:
        assert command.parts_of(name) == (name, "run")
        assert command.parts_of(f"{name}.part") == (name, "part")
        module = import_module(f"benchmarks.{name}")
        assert module.TITLE
        assert callable(module.run)


def test_a_run_without_names_measures_speed_alone(monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(command, "run", lambda name, _: ran.append(name))
    monkeypatch.setattr(command, "missed", lambda _: [])
    monkeypatch.setattr(command, "summary", lambda _: "")
    assert command.main([]) == 0
    assert "metrics" in ran
    assert not [name for name in ran if name.startswith("quality")]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_can_be_imported(module):
    if "\nimport torch" in (ROOT / f"{module.replace('.', '/')}.py").read_text():
        pytest.importorskip("torch", reason="torch is not installed")
    import_module(module)


def test_time_outside_of_methods_is_told_from_that_within():
    class Worker:
        def work(self):
            return sum(range(200_000))

    bare = Worker.work
    share = share_outside(lambda: Worker().work(), Worker, "work")
    assert 0.0 <= share < 1.0
    assert Worker.work is bare
