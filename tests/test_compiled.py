"""Where nothing can be written, all works; who waits for the compiler is told."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from io import StringIO
from pathlib import Path

import pytest

import aucmax
from aucmax import _compiled
from aucmax._compiled import _beside

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


def test_the_main_thread_hears_an_interrupt_while_another_compiles():
    ended = threading.Event()

    def compile_slowly(signature):
        time.sleep(1.0)
        ended.set()

    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _beside(compile_slowly)("a signature")
    assert not ended.is_set() or time.perf_counter() - start > 0.9  # a slow machine
    assert ended.wait(30.0)


def test_what_a_compiler_returns_or_raises_comes_from_the_other_thread():
    seen = []

    def compile_one(signature):
        seen.append(threading.current_thread().name)
        return signature[::-1]

    assert _beside(compile_one)("abc") == "cba"
    assert seen == ["aucmax-compiler"]
    with pytest.raises(TypeError):
        _beside(compile_one)(7)


class Stream(StringIO):
    """What is written to a terminal, or to a file."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "seconds", "n_lines"),
    [(True, [0.2, 0.2, 0.2], 1), (True, [0.0, 0.01], 0), (False, [0.4], 0)],
    ids=["a long wait", "soon done", "no terminal"],
)
def test_a_terminal_is_told_once_what_a_first_call_waits_for(
    is_terminal, seconds, n_lines, monkeypatch
):
    monkeypatch.setattr(_compiled, "_PATIENCE", 0.3)
    monkeypatch.setattr(_compiled._Wait, "seconds", 0.0)
    monkeypatch.setattr(_compiled._Wait, "is_told", False)
    monkeypatch.setattr("sys.stderr", Stream(is_terminal))
    for some in seconds:
        _beside(time.sleep)(some)
    assert sys.stderr.getvalue().count("compiling once") == n_lines
