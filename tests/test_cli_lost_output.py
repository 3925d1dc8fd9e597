"""Nothing that was computed is lost: streams that are broken, disks that are full."""

import errno
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import aucmax
from aucmax import LambdaMART
from aucmax._core import atomic as _atomic
from aucmax.cli import main

FIT = ["fit", "a.csv", "--target", "y", "--model", "logistic", "-o", "out/m.aucmax"]
#: each command that writes files, and the files
COMMANDS = {
    "fit": (FIT, ["m.aucmax"]),
    "score": (["score", "m.aucmax", "a.csv", "-o", "out/s.csv"], ["s.csv"]),
    "report": (["report", "m.aucmax", "a.csv", "-o", "out/e.md"], ["e.md"]),
    "compare": (
        ["compare", "a.csv", "--target", "y", "--models", "logistic", "--folds", "2",
         "--output-dir", "out"],
        ["a-roc.png", "a-report.html", "a.aucmax"],
    ),
}  # fmt: skip
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="needs such streams")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=200).round(3) for j in range(2)}
    target = (columns["x0"] + rng.normal(size=200) > 0).astype(int)
    pl.DataFrame({**columns, "y": target}).write_csv(folder / "a.csv")
    arguments = ["fit", f"{folder}/a.csv", *FIT[2:-1], f"{folder}/m.aucmax", "-q"]
    assert CliRunner().invoke(main, arguments).exit_code == 0
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


def break_stream(number, state):
    """Have a descriptor closed, full, or a pipe that no one reads."""
    if state == "closed":
        os.close(number)
        return
    reader, writer = os.pipe()
    os.close(reader)
    if state == "full":
        os.close(writer)
        writer = os.open("/dev/full", os.O_WRONLY)
    os.dup2(writer, number)
    os.close(writer)


def run(arguments, broken, state, monkeypatch):
    """Run a command with a broken stream; return exit code and the other stream."""
    streams = {"stdout": 1, "stderr": 2}
    kept = [os.dup(number) for number in (0, 1, 2)]
    with monkeypatch.context() as patch, open("seen", "w+") as seen:
        for name, number in streams.items():
            closed = name == broken and state == "closed"
            original = None if closed else open(number, "w", closefd=False)  # noqa: SIM115
            patch.setattr(sys, name, original)
            patch.setattr(sys, f"__{name}__", original)
            if name != broken:
                os.dup2(seen.fileno(), number)
        break_stream(streams[broken], state)
        try:
            with pytest.raises(SystemExit) as done:
                main(arguments)
        finally:
            for number, copy in enumerate(kept):
                os.dup2(copy, number)
                os.close(copy)
        seen.seek(0)
        return done.value.code, seen.read()


STATES = ["closed", "full", "gone"]
if not os.path.exists("/dev/full"):
    STATES.remove("full")


@pytest.mark.slow
@POSIX
@pytest.mark.parametrize("command", ["fit", "score"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("state", STATES)
def test_a_broken_stream_costs_no_file(folder, command, stream, state, monkeypatch):
    arguments, files = COMMANDS[command]
    code, seen = run(arguments, stream, state, monkeypatch)
    assert sorted(os.listdir("out")) == sorted(files), seen
    assert "Traceback" not in seen
    assert not os.listdir("scraps")
    if stream == "stderr":
        assert code == 0
        return
    assert code == (141 if state == "gone" else 2)
    assert "Written: out/" in seen
    reason = {"closed": "Bad file", "full": "No space", "gone": ""}[state]
    assert ("Error: standard output: " + reason in seen) == (state != "gone")


@POSIX
@pytest.mark.parametrize("state", STATES)
def test_scores_that_no_one_receives_are_a_failure(folder, state, monkeypatch):
    code, _ = run(["score", "m.aucmax", "a.csv"], "stdout", state, monkeypatch)
    assert code == (141 if state == "gone" else 2)


@pytest.fixture
def full_disk(monkeypatch):
    """Return a function that lets nothing be written to a folder of this name."""
    before = _atomic._create_partial

    def fill(name, number=errno.ENOSPC):
        def create(target):
            if name in target.parts:
                raise OSError(number, os.strerror(number), str(target))
            return before(target)

        monkeypatch.setattr(_atomic, "_create_partial", create)

    return fill


def invoke(arguments, exit_code):
    ran = CliRunner().invoke(main, arguments)
    assert ran.exit_code == exit_code, ran.output
    assert "Traceback" not in ran.output
    return ran


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_file_that_cannot_be_written_goes_to_a_temporary_folder(
    folder, full_disk, command
):
    full_disk("out")
    arguments, files = COMMANDS[command]
    ran = invoke(arguments, exit_code=2)
    assert not os.listdir("out")
    for name in files:
        (place,) = Path("scraps").glob(f"aucmax-*/{name}")
        assert f"out/{name}: No space left" in ran.stderr
        assert f"{name} is in {place.absolute()} instead." in ran.stderr
        if name.endswith(".aucmax"):
            aucmax.load(place)
            assert arguments[0] != "fit" or str(place.absolute()) in ran.stdout


def test_a_file_that_can_be_written_nowhere_ends_no_command(
    folder, full_disk, monkeypatch
):
    full_disk(folder.name)
    ran = invoke(COMMANDS["report"][0], exit_code=2)
    assert "e.md could not be written anywhere" in ran.stderr
    assert "AUC" in ran.stdout
    assert not os.listdir("scraps")


def test_a_fault_in_a_picture_costs_no_model(folder, monkeypatch):
    monkeypatch.setattr(
        sys.modules["aucmax.cli.compare"], "save_curves", lambda *_, **__: 1 // 0
    )
    ran = CliRunner().invoke(main, COMMANDS["compare"][0])
    assert ran.exit_code == 1
    assert "ZeroDivisionError" in ran.stderr
    assert sorted(os.listdir("out")) == ["a-report.html", "a.aucmax"]
    assert not os.listdir("scraps")


def test_ctrl_c_after_a_model_is_saved_says_where_it_is(folder, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["aucmax.cli.fit"], "search_record", interrupt)
    assert "Written: out/m.aucmax" in invoke(FIT, exit_code=130).stderr


def test_a_device_is_refused_before_the_work(folder):
    command = [*FIT[:-1], os.devnull, "--force"]
    assert "is a folder or a device" in invoke(command, exit_code=2).stderr


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere"
)
def test_a_write_protected_file_is_refused_before_the_work(folder):
    Path("out/m.aucmax").touch(0o444)
    said = invoke([*FIT, "--force"], exit_code=2).stderr
    assert "no permission to write in out/m.aucmax" in said
    assert "Fitting" not in said


class Broken:
    def write(self, _):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


@pytest.mark.parametrize("stream", [None, Broken(), "closed"])
def test_progress_that_cannot_be_printed_ends_no_fit(stream, tmp_path, monkeypatch):
    if stream == "closed":
        stream = (tmp_path / "a").open("w")
        stream.close()
    monkeypatch.setattr(sys, "stdout", stream)
    X, y = np.arange(40.0)[:, None], np.arange(40) % 2
    model = LambdaMART(n_estimators=2, verbose=True).fit(X, y)
    assert model.n_iter_ == 2
