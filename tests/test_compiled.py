"""Where nothing can be written, all works; who waits for the compiler is told."""

import os
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

import aucmax
from aucmax import _compiled

CALL = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import aucmax.metrics, aucmax.structured
    from aucmax._sorting import insertion_sort
import numpy as np
values = np.array([2.0, 3.0, 1.0])
assert insertion_sort(np.arange(3), values, 9)
print(values.tolist())
print(*[w.message for w in caught if issubclass(w.category, RuntimeWarning)])
"""


@pytest.fixture(scope="module")
def read_only_package(tmp_path_factory):
    """Copy the package to where not even an administrator can add a cache."""
    home = tmp_path_factory.mktemp("read_only")
    package = home / "aucmax"
    shutil.copytree(
        Path(aucmax.__file__).parent,
        package,
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for folder, _, _ in os.walk(package):
        (Path(folder) / "__pycache__").touch()
    return home


def run(package, temporary):
    environment = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMP", "TEMP")
    }
    environment |= {
        "HOME": "/dev/null",
        "PYTHONPATH": str(package),
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(temporary),
    }
    result = subprocess.run(
        [sys.executable, "-c", CALL],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=package,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


@pytest.mark.skipif(os.name != "posix", reason="relies on HOME and TMPDIR")
def test_without_a_cache_folder_loops_are_kept_in_a_temporary_one(
    read_only_package, tmp_path
):
    values, message = run(read_only_package, tmp_path)
    assert values == "[1.0, 2.0, 3.0]"
    assert message.count("can be written") == 1
    (folder,) = tmp_path.iterdir()
    assert str(folder) in message
    assert folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.rglob("*.nbi"))
    # a folder that others may write to is not used: numba runs what it finds there
    folder.chmod(0o777)
    _, message = run(read_only_package, tmp_path)
    assert f"kept in {folder}." not in message


class Terminal(StringIO):
    """What is written to a terminal, or to a file."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


def compiling(module, seconds, is_terminal, monkeypatch):
    """Compile loops of a module for so many seconds each; return what was said."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(_compiled.time, "perf_counter", lambda: clock.now)
    monkeypatch.setattr("sys.stderr", Terminal(is_terminal))
    note = _compiled.CompilingNote()
    loop = SimpleNamespace(py_func=SimpleNamespace(__module__=module))
    event = SimpleNamespace(data={"dispatcher": loop})
    for own in seconds:
        clock.now += 100.0  # of other work
        note.on_start(event)
        inner = SimpleNamespace(py_func=SimpleNamespace(__module__="numba.np"))
        note.on_start(SimpleNamespace(data={"dispatcher": inner}))
        clock.now += own
        note.on_end(event)
        note.on_end(event)
    return sys.stderr.getvalue()


def test_a_terminal_is_told_once_what_a_first_call_waits_for(monkeypatch):
    said = compiling("aucmax.risks", [0.6, 0.6, 5.0, 5.0], True, monkeypatch)
    assert said.count("compiling once") == 1
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("module", "seconds", "is_terminal"),
    [
        ("aucmax.risks", [0.6, 0.3, 9.0], True),  # the last one was not foreseen
        ("aucmax.risks", [5.0, 5.0], False),
        ("another", [5.0, 5.0], True),
    ],
    ids=["soon done", "no terminal", "another library"],
)
def test_nobody_else_is_told(module, seconds, is_terminal, monkeypatch):
    assert compiling(module, seconds, is_terminal, monkeypatch) == ""


def test_a_compiled_loop_is_noticed(monkeypatch):
    monkeypatch.setattr(_compiled, "_PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr", Terminal(True))
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        pytest.skip("nothing is compiled")

    def one_more(number):
        return number + 1

    one_more.__module__ = "aucmax.made_up"
    note = _compiled.CompilingNote()
    with _compiled.event.install_listener("numba:compile", note):
        assert _compiled.njit(one_more)(1) == 2
    assert "compiling once" in sys.stderr.getvalue()
