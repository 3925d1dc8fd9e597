"""The command line as a process: interrupts, pipes, start-up time."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

PROGRAM = [sys.executable, "-m", "aucmax"]
PIPE = subprocess.PIPE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("process")
    rng = np.random.default_rng(0)
    n_rows = 20_000
    columns = {f"x{j}": rng.normal(size=n_rows).round(3) for j in range(8)}
    target = (columns["x0"] + rng.normal(size=n_rows) > 1).astype(int)
    pl.DataFrame({**columns, "target": target}).write_csv(folder / "big.csv")
    arguments = ["fit", "big.csv", "--target", "target", "-o", "m.aucmax", "-q"]
    subprocess.run([*PROGRAM, *arguments], cwd=folder, check=True)
    return folder


def test_help_answers_at_once():
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([*PROGRAM, "--help"], check=True, stdout=PIPE)
        seconds.append(time.perf_counter() - start)
    assert min(seconds) < 0.5


def test_help_imports_nothing_slow():
    code = (
        "import sys; from click.testing import CliRunner; from aucmax.cli import main;"
        "[CliRunner().invoke(main, [*c, '--help']) for c in ([], ['fit'])];"
        "print(*{'numpy', 'sklearn', 'polars', 'numba'} & set(sys.modules))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, stdout=PIPE, text=True
    )
    assert ran.stdout.split() == []


@pytest.mark.parametrize("news", ["Cross-validating ...", "fold 1/40 logistic"])
def test_ctrl_c_ends_with_130_and_leaves_no_file(folder, news):
    before = set(os.listdir(folder))
    arguments = ["compare", "big.csv", "--target", "target", "--folds", "40"]
    child = subprocess.Popen(
        [*PROGRAM, *arguments], cwd=folder, stdout=PIPE, stderr=PIPE, text=True
    )
    said = ""
    while news not in said:
        line = child.stderr.readline()
        assert line, said
        said += line
    sent = time.perf_counter()
    child.send_signal(signal.SIGINT)
    _, rest = child.communicate(timeout=60)
    assert child.returncode == 130, said + rest
    assert "Interrupted" in rest
    assert "Traceback" not in rest
    assert time.perf_counter() - sent < 5
    assert set(os.listdir(folder)) == before


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
    assert child.wait(timeout=60) == 141


def test_scores_survive_a_pipe_whole(folder):
    ran = subprocess.run(
        [*PROGRAM, "score", "m.aucmax", "big.csv"],
        cwd=folder,
        stdout=PIPE,
        check=True,
        text=True,
    )
    assert ran.stdout.count("\n") == 20_001
    assert "\x1b" not in ran.stdout


def test_a_pipe_gets_plain_lines_and_no_control_characters(folder):
    arguments = ["compare", "big.csv", "--target", "target", "--no-save"]
    ran = subprocess.run(
        [*PROGRAM, *arguments, "--models", "logistic,lightgbm", "--folds", "2"],
        cwd=folder,
        capture_output=True,
        check=True,
        text=True,
    )
    assert "\x1b" not in ran.stdout + ran.stderr
    assert "fold 2/2 lightgbm AUC" in ran.stderr
    row = next(line for line in ran.stdout.splitlines() if line.startswith("logistic"))
    assert row.split()[-1].startswith("p")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_a_bar(folder):
    import pty

    main_end, child_end = pty.openpty()
    arguments = ["compare", "big.csv", "--target", "target", "--no-save"]
    child = subprocess.Popen(
        [*PROGRAM, *arguments, "--models", "logistic", "--folds", "2"],
        cwd=folder,
        stdout=PIPE,
        stderr=child_end,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(child_end)
    screen = b""
    while True:
        try:
            piece = os.read(main_end, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        screen += piece
    os.close(main_end)
    child.communicate(timeout=60)
    assert child.returncode == 0
    assert "━".encode() in screen
    assert b"2/2" in screen
