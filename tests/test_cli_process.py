"""The command line as a process: interrupts, pipes, terminals, what help loads."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from aucmax.cli import main
from aucmax.cli.output import Console

PROGRAM = [sys.executable, "-m", "aucmax"]
PIPE = subprocess.PIPE
# enough to score that a pipe cannot hold it all
ROWS = 8000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("process")
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=ROWS).round(3) for j in range(8)}
    target = (columns["x0"] + rng.normal(size=ROWS) > 1).astype(int)
    pl.DataFrame({**columns, "target": target}).write_csv(folder / "big.csv")
    arguments = ["fit", folder / "big.csv", "--target", "target", "-q"]
    arguments += ["--model", "logistic", "-o", folder / "m.aucmax"]
    assert CliRunner().invoke(main, list(map(str, arguments))).exit_code == 0
    return folder


def test_help_imports_nothing_slow():
    commands = [[], *([name] for name in main.commands)]
    code = (
        "import sys; from click.testing import CliRunner; from aucmax.cli import main;"
        f"codes = [CliRunner().invoke(main, [*c, '-h']).exit_code for c in {commands}];"
        "slow = {'numpy', 'scipy', 'sklearn', 'polars', 'numba', 'matplotlib'};"
        "print(codes, *slow & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=PIPE, text=True
    )
    assert ran.stdout.strip() == str([0] * len(commands))


@pytest.mark.slow
@pytest.mark.parametrize(
    "line_to_wait_for", ["Cross-validating ...", "fold 1/40 logistic"]
)
def test_ctrl_c_ends_with_130_and_leaves_no_file(folder, line_to_wait_for):
    before = set(os.listdir(folder))
    arguments = ["compare", "big.csv", "--target", "target", "--cv", "40"]
    arguments += ["--models", "logistic,lightgbm"]
    child = subprocess.Popen(
        [*PROGRAM, *arguments], cwd=folder, stdout=PIPE, stderr=PIPE, text=True
    )
    said = ""
    while line_to_wait_for not in said:
        line = child.stderr.readline()
        assert line, said
        said += line
    child.send_signal(signal.SIGINT)
    try:
        _, rest = child.communicate(timeout=3)
    except subprocess.TimeoutExpired:
        # Python loses an interrupt that comes within the callback of a weak reference
        child.send_signal(signal.SIGINT)
        _, rest = child.communicate(timeout=300)
    # one within `exec`, as dataclasses use it, makes Python end by the signal: 130, too
    assert child.returncode in (130, -signal.SIGINT), said + rest
    assert "Interrupted" in rest
    assert "Traceback" not in rest
    # it stopped then and there
    assert "fold 40/40" not in rest
    assert set(os.listdir(folder)) == before


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM")
def test_a_search_that_is_killed_keeps_its_models(folder):
    fit = ["fit", "big.csv", "--target", "target", "--time-limit", "600"]
    child = subprocess.Popen(
        [*PROGRAM, *fit, "-o", "killed.aucmax"],
        cwd=folder, stdout=PIPE, stderr=PIPE, text=True,
    )  # fmt: skip
    while ", best so far" not in (line := child.stderr.readline()):
        assert line
    child.terminate()
    printed, said = child.communicate(timeout=300)
    assert child.returncode == 0, said
    assert "Saved to killed.aucmax" in printed


def test_a_reader_that_leaves_early_is_no_error(folder):
    child = subprocess.Popen(
        [*PROGRAM, "score", "m.aucmax", "big.csv"],
        cwd=folder,
        stdout=PIPE,
        stderr=PIPE,
        text=True,
    )
    assert child.stdout.readline() == "score,prediction\n"
    child.stdout.close()
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait(timeout=300) == 141


def test_scores_reach_the_output_whole(folder, capfd):
    with pytest.raises(SystemExit) as done:
        main(["score", f"{folder}/m.aucmax", f"{folder}/big.csv"])
    assert done.value.code == 0
    out, _ = capfd.readouterr()
    assert out.count("\n") == ROWS + 1
    assert "\x1b" not in out


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_bar(monkeypatch):
    import pty

    main_end, child_end = pty.openpty()
    with open(child_end, "w") as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        with Console().progress("Cross-validating", 2) as step:
            step("fold 1/2 logistic")
            step("fold 2/2 logistic")
    shown = b""
    with suppress(OSError):  # the other end is closed
        while piece := os.read(main_end, 4096):
            shown += piece
    os.close(main_end)
    shown = shown.decode()
    assert "━" in shown
    assert "2/2" in shown
    assert "fold 2/2 logistic" in shown
