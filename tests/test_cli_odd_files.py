"""Every command against every odd file: one line of error, exit code 2."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from aucmax.cli import main
from command_line import save_logistic
from torture.amount import times

COMMANDS = {
    "compare": ["compare", "{}", "--target", "sick"],
    "fit": ["fit", "{}", "--target", "sick", "-o", "new.aucmax"],
    "score": ["score", "good.aucmax", "{}"],
    "evaluate": ["evaluate", "good.aucmax", "{}"],
    "explain": ["explain", "good.aucmax", "{}"],
    "report": ["report", "good.aucmax", "{}"],
    "score by": ["score", "{}", "good.csv"],
    "evaluate by": ["evaluate", "{}", "good.csv"],
}
GARBAGE = np.random.default_rng(0).bytes(4096)
CONTENTS = {
    "empty": b"",
    "header alone": b"age,sick\n",
    "binary garbage": GARBAGE,
    "a NUL byte": b"age,sick\n1,0\n2,\x001\n",
    "a line of separators": b"," * (1 << 15),
    "an open quote": b'age,sick\n"1,0\n2,1\n',
    "half a UTF-16 character": b"\xff\xfea\x00g",
}
ENDINGS = [
    "csv", "csv.gz", "csv.zst", "csv.zip", "tsv", "parquet", "feather", "jsonl", "xlsx",
    "ods", "xlsb", "svm", "letor",
]  # fmt: skip


@pytest.fixture(scope="module")
def good_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    table = pl.DataFrame({"age": np.arange(40) % 7 * 1.0, "sick": [0, 0, 1, 1] * 10})
    table.write_csv(folder / "good.csv")
    save_logistic(folder / "good.aucmax", table, "sick")
    return folder


@pytest.fixture(autouse=True)
def in_folder(good_files, inside):
    for name in ("good.csv", "good.aucmax"):
        os.link(good_files / name, name)


def check_error(command, path, **options):
    words = [word.format(path) for word in command]
    if path.endswith((".svm", ".letor")):
        words = [word for word in words if word not in ("--target", "sick")]
    ran = CliRunner().invoke(main, [*words, "-q"], **options)
    said = f"{words}: {ran.stderr}"
    assert ran.exit_code == 2, said
    assert ran.stdout == "", said
    assert "Traceback" not in ran.stderr, said
    message = ran.stderr[ran.stderr.index("Error: ") :].strip()
    assert "\n" not in message, said
    assert 20 < len(message) < 2000, said
    assert sorted(os.listdir()) in (
        ["good.aucmax", "good.csv"],
        sorted({"good.aucmax", "good.csv", path}),
    )


@pytest.mark.parametrize("kind", times(list(CONTENTS)[:5], list(CONTENTS)))
@pytest.mark.parametrize("ending", ENDINGS)
def test_content_that_is_no_table(ending, kind):
    path, content = f"odd.{ending}", CONTENTS[kind]
    Path(path).write_bytes(content)
    # the same reader serves all commands; each is tried with some of the files
    chosen = (len(ending) + len(content)) % len(COMMANDS)
    check_error(list(COMMANDS.values())[chosen], path)


def test_paths_that_are_no_file():
    for path in ("od\0d.csv", "", "o" * 300 + ".csv"):
        check_error(COMMANDS["score"], path)
    os.symlink("odd.csv", "odd.csv")
    check_error(COMMANDS["score"], "odd.csv")
    os.unlink("odd.csv")
    check_error(COMMANDS["fit"], "-", input=b"")


def test_a_pipe_that_is_closed_at_once():
    os.mkfifo("odd.csv")
    closing = threading.Thread(target=lambda: open("odd.csv", "wb").close())
    closing.start()
    check_error(COMMANDS["score"], "odd.csv")
    closing.join(5)


@pytest.mark.slow
def test_standard_input_that_is_closed():
    ran = subprocess.run(
        [sys.executable, "-m", "aucmax", "score", "good.aucmax", "-"],
        capture_output=True, text=True, check=False, preexec_fn=lambda: os.close(0),
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr == "Error: standard input is closed; name a file, or pipe rows.\n"
