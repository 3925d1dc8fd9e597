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

import aucmax
from aucmax.cli import main
from aucmax.cli.entry_point import _explain
from aucmax.model_selection import table_model
from torture.amount import times

COMMANDS = {
    "compare": ["compare", "{}", "--target", "sick", "--no-save"],
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
    "names and blanks": b"age,sick\n\n\n",
    "binary garbage": GARBAGE,
    "a NUL byte": b"age,sick\n1,0\n2,\x001\n",
    "NUL bytes alone": bytes(100),
    "a line of a megabyte": b"1" * (1 << 20),
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
    model = table_model("logistic", target="sick")
    aucmax.save(model.fit(table.drop("sick"), table["sick"]), folder / "good.aucmax")
    return folder


@pytest.fixture(autouse=True)
def in_folder(good_files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("good.csv", "good.aucmax"):
        os.link(good_files / name, name)


def refuse(command, path, **options):
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
    refuse(list(COMMANDS.values())[chosen], path)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
class TestEveryCommand:
    @pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
    def test_text_that_is_no_table(self, command, content):
        Path("odd.csv").write_bytes(content)
        refuse(command, "odd.csv")

    def test_a_folder(self, command):
        Path("odd").mkdir()
        refuse(command, "odd")

    def test_a_folder_named_like_a_file(self, command):
        Path("odd.csv").mkdir()
        refuse(command, "odd.csv")

    def test_dev_null(self, command):
        refuse([*command, "--format", "csv"], "/dev/null")

    def test_a_name_with_a_nul_byte(self, command):
        refuse(command, "od\0d.csv")

    def test_an_empty_name(self, command):
        refuse(command, "")

    def test_a_name_that_is_too_long(self, command):
        refuse(command, "o" * 300 + ".csv")

    def test_a_link_to_itself(self, command):
        os.symlink("odd.csv", "odd.csv")
        refuse(command, "odd.csv")

    def test_a_pipe_that_is_closed_at_once(self, command):
        os.mkfifo("odd.csv")
        # a model is never read from a pipe, so that the other end may wait for ever
        closing = threading.Thread(
            target=lambda: open("odd.csv", "wb").close(), daemon=True
        )
        closing.start()
        refuse(command, "odd.csv")
        reader = os.open("odd.csv", os.O_RDONLY | os.O_NONBLOCK)
        closing.join(5)
        os.close(reader)

    def test_standard_input_without_anything(self, command):
        refuse(command, "-", input=b"")


@pytest.mark.slow
def test_standard_input_that_is_closed():
    ran = subprocess.run(
        [sys.executable, "-m", "aucmax", "score", "good.aucmax", "-"],
        capture_output=True, text=True, check=False, preexec_fn=lambda: os.close(0),
    )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr == "Error: standard input is closed; name a file, or pipe rows.\n"


def test_a_library_without_memory_is_not_called_missing():
    for error in (
        ImportError("libscipy.so: failed to map segment from shared object"),
        OSError("lib_lightgbm.so: failed to map segment from shared object"),
        ImportError("libgomp.so: cannot allocate memory in static TLS block"),
    ):
        assert "not enough memory to load the program (lib" in _explain(error)
    assert "install it" in _explain(ModuleNotFoundError("No module named 'dask'"))
    assert "no details" in _explain(MemoryError())
