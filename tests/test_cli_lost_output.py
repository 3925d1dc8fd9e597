"""Nothing that was computed is lost: streams that are broken, disks that are full."""

import errno
import io
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax import LambdaMART
from aucmax._core import atomic as _atomic
from aucmax.cli import main
from command_line import error_of, run

FIT = ["fit", "a.csv", "--target", "y", "--model", "logistic", "-o", "out/m.aucmax"]
#: each command that writes files, and the files
COMMANDS = {
    "fit": (FIT, ["m.aucmax"]),
    "score": (["score", "m.aucmax", "a.csv", "-o", "out/s.csv"], ["s.csv"]),
    "report": (["report", "m.aucmax", "a.csv", "-o", "out/e.md"], ["e.md"]),
    "compare": (
        ["compare", "a.csv", "--target", "y", "--models", "logistic", "--cv", "2",
         "--output-dir", "out"],
        ["a-report.html", "a.aucmax"],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=200).round(3) for j in range(2)}
    target = (columns["x0"] + rng.normal(size=200) > 0).astype(int)
    pl.DataFrame({**columns, "y": target}).write_csv(folder / "a.csv")
    run("fit", folder / "a.csv", *FIT[2:-1], folder / "m.aucmax", "-q")
    return folder


@pytest.fixture
def folder(model, tmp_path, monkeypatch):
    """Change to a folder with a table, a model, and places for results and scraps."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "m.aucmax"):
        (tmp_path / name).symlink_to(model / name)
    (tmp_path / "out").mkdir()
    (tmp_path / "scraps").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scraps"))
    return tmp_path


class Broken(io.StringIO):
    """A stream to which nothing can be written."""

    def __init__(self, number):
        super().__init__()
        self.number = number

    def write(self, _):
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("command", ["fit", "score"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EPIPE])
def test_a_broken_stream_costs_no_file(
    folder, command, stream, number, monkeypatch, capsys
):
    arguments, files = COMMANDS[command]
    monkeypatch.setattr(sys, stream, Broken(number))
    with pytest.raises(SystemExit) as done:
        main(arguments)
    assert os.listdir("out") == files
    if stream == "stderr":
        assert done.value.code == 0
        return
    assert done.value.code == (141 if number == errno.EPIPE else 2)
    printed = capsys.readouterr().err
    assert "Written: out/" in printed
    message = "Error: standard output: No space left"
    assert (message in printed) == (number == errno.ENOSPC)


@pytest.fixture
def full_disk(monkeypatch):
    """Return a function that lets nothing be written to a folder of this name."""
    create_partial = _atomic._create_partial

    def fill(name):
        def create(target):
            if name in target.parts:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
            return create_partial(target)

        monkeypatch.setattr(_atomic, "_create_partial", create)

    return fill


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_cannot_be_written_goes_to_a_temporary_folder(
    folder, full_disk, command
):
    full_disk("out")
    arguments, files = COMMANDS[command]
    ran = run(*arguments, exit_code=2)
    assert not os.listdir("out")
    for name in files:
        (place,) = Path("scraps").glob(f"aucmax-*/{name}")
        assert f"out/{name}: No space left" in ran.stderr
        assert f"{name} is in {place.absolute()} instead." in ran.stderr
        if name.endswith(".aucmax"):
            aucmax.load(place)


def test_a_file_that_can_be_written_nowhere_ends_no_command(folder, full_disk):
    full_disk(folder.name)
    ran = run(*COMMANDS["report"][0], exit_code=2)
    assert "e.md could not be written anywhere" in ran.stderr
    assert "AUC" in ran.stdout


def test_ctrl_c_after_a_model_is_saved_says_where_it_is(folder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["aucmax.cli.fit"], "search_record", interrupt)
    assert "Written: out/m.aucmax" in run(*FIT, exit_code=130).stderr


def test_a_device_is_rejected_before_the_work(folder):
    message = error_of(*FIT[:-1], os.devnull, "--force")
    assert "is a folder or a device" in message


def test_progress_that_cannot_be_printed_ends_no_fit(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Broken(errno.EPIPE))
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    model = LambdaMART(n_estimators=2, verbose=True).fit(X, y)
    assert model.n_iter_ == 2


def test_scores_without_a_standard_output_are_an_error(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as ended:
        main(["score", "m.aucmax", "a.csv"])
    assert ended.value.code == 2
    assert "standard output: is closed" in capsys.readouterr().err
