"""The benchmarks name the gates they miss, and all of them can be imported."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # the folder of the benchmarks

from benchmarks import __main__ as command
from benchmarks import baseline
from benchmarks.gates import Gate
from benchmarks.page import Outcome, write_page
from benchmarks.quality.coverage import __main__ as coverage
from benchmarks.quality.coverage.cells import BY_NAME, CELLS

ROOT = Path(__file__).parents[1]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
)
FAST = Gate("made.fast", "fast enough", lambda: 1.0, 2.0, None, "x")
LOW = Gate("made.low", "too | low", lambda: 0.5, None, 0.75, "x")


@pytest.fixture
def run(monkeypatch):
    """Return a call that runs gates from the shell, measured in this process."""

    def call(*gates, arguments=()):
        monkeypatch.setattr(command, "GATES", {one.name: one for one in gates})

        def measure(line, **_):
            value = json.dumps(command.GATES[line[-1]].measure())
            return subprocess.CompletedProcess(line, 0, f"a line\n{value}\n", "")

        monkeypatch.setattr(command.subprocess, "run", measure)
        return command.main(arguments)

    return call


def test_a_run_that_meets_its_limits_exits_with_0(run, capsys):
    assert run(FAST) == 0
    assert capsys.readouterr().out.endswith("\n1 of 1 gates met\n")


def test_a_missed_gate_is_named_and_exits_with_1(run, capsys):
    assert run(FAST, LOW) == 1
    out = capsys.readouterr().out
    assert "MISSED" in next(line for line in out.splitlines() if "made.low" in line)
    assert out.endswith("\n1 of 2 gates met\n")


def test_gates_are_chosen_by_name(run, capsys):
    assert run(FAST, LOW, arguments=("made.fast",)) == 0
    assert "1 of 1 gates" in capsys.readouterr().out


def test_an_unknown_name_is_an_error(run, capsys):
    with pytest.raises(SystemExit):
        run(FAST, arguments=("nothing",))
    assert "no benchmark 'nothing'" in capsys.readouterr().err


def test_not_a_number_and_a_failed_process_miss_their_limit():
    failed = subprocess.CompletedProcess([], 1, "", "Traceback\nValueError: bad\n")
    value, remark = command.read_value(failed)
    assert remark == "ValueError: bad"
    assert Outcome(FAST, value, remark, 0.0).is_met is False


def test_a_missing_peer_is_not_a_missed_gate():
    missing = "ModuleNotFoundError: No module named 'torch'\n"
    value, remark = command.read_value(subprocess.CompletedProcess([], 1, "", missing))
    assert (value, Outcome(FAST, value, remark, 0.0).is_met) == (None, None)
    ours = missing.replace("torch", "aucmax.gone")
    value, _ = command.read_value(subprocess.CompletedProcess([], 1, "", ours))
    assert Outcome(FAST, value, "", 0.0).is_met is False


def test_the_page_has_a_row_per_gate(tmp_path):
    path = tmp_path / "performance.md"
    write_page(path, [Outcome(FAST, 1.0, "", 3.0), Outcome(LOW, 0.5, "", 3.0)])
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Performance"
    assert lines[-2:] == [
        "| fast enough | 1 x | at most 2 | met |",
        "| too / low | 0.5 x | at least 0.75 | **missed** |",
    ]


@pytest.mark.parametrize("module", MODULES)
def test_every_module_can_be_imported(module):
    if "\nimport torch" in (ROOT / f"{module.replace('.', '/')}.py").read_text():
        pytest.importorskip("torch", reason="torch is not installed")
    import_module(module)


def test_the_baseline_is_the_median_of_its_runs_and_the_worst_change_comes_first():
    runs = [{FAST.name: value, LOW.name: 2 * value} for value in (3.0, 1.0, 2.0)]
    figures = baseline.summarise(runs)
    assert figures[FAST.name] == {"median": 2.0, "spread": 3.0}
    gates = {one.name: one for one in (FAST, LOW)}
    # of the second gate more is better
    values = {FAST.name: 3.0, LOW.name: 1.0, "made.new": 1.0}
    changes = [change for change, _ in baseline.compare(figures, values, gates)]
    assert changes == [float("inf"), 4.0, 1.5]


def test_cells_of_coverage_are_measured_stored_and_compared(tmp_path, capsys):
    stored = tmp_path / "coverage.json"
    cells = ["--cells", "near pairs, redrawn, 0.7, 0.05 of the rows, 100 and 100"]
    options = [*cells, "--jobs", "1", "--output", str(stored)]
    assert coverage.main(options) == 0
    figures = json.loads(stored.read_text())
    assert [name.rpartition(": ")[2] for name in figures] == ["difference", "test"]
    assert all(0.5 < one["coverage"] <= 1.0 for one in figures.values())
    assert coverage.main([*options, "--compare"]) == 0
    out = capsys.readouterr().out
    assert "+0.0  1.000x" in out
    assert out.endswith("0 of 2 are more than one point lower\n")


def test_stored_figures_of_coverage_are_those_of_its_cells():
    names = {name.partition(":")[0] for name in json.loads(coverage.STORED.read_text())}
    by_name = {name for name in CELLS if name.startswith(BY_NAME)}
    assert names == CELLS.keys() - by_name
