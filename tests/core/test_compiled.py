"""Few rows need no compiler, and no state of its cache stops a call."""

import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from importlib import import_module
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import aucmax
from aucmax._core import compiled as _compiled
from aucmax._core.compiled import Loop, _run_in_thread, njit
from aucmax._core.sorting import insertion_sort
from aucmax.cli import main
from every_model import MODELS, fitted, scores

SOURCE = Path(aucmax.__file__).parents[1]
is_plain = os.environ.get("NUMBA_DISABLE_JIT") == "1"
needs_compiler = pytest.mark.skipif(is_plain, reason="nothing is compiled")


@njit()
def doubled(value):
    return value + value


@njit()
def last_and_largest(values):
    largest = values[0]
    for i in range(values.size):
        values[i] = doubled(values[i])
        largest = max(largest, values[i])
    return values[-1], largest


def kept(function=doubled.__wrapped__):
    """Return a loop that is compiled now and whose code is kept on disk."""
    return njit(cache=True)(function)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return a folder in which numba has kept a loop; nothing was reported yet."""
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(_compiled, "_reported", set())
    monkeypatch.setattr(_compiled, "MAX_ELEMENTS", -1)  # in every sample of the tests
    assert kept()(1.0) == 2.0
    return tmp_path


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
def test_a_damaged_cache_is_reported_once_with_its_folder(suffix, cache):
    (path,) = cache.rglob(f"*.{suffix}")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(RuntimeWarning, match="cache in") as caught:
        assert [kept()(1.0), kept()(1.0)] == [2.0, 2.0]
    assert len(caught) == 1
    assert str(path.parent) in str(caught[0].message)


@needs_compiler
def test_a_full_disk_stops_no_call(cache):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))
        with pytest.warns(RuntimeWarning, match="File too large") as caught:
            assert [kept()(1), kept()(True)] == [2, 2]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert len(caught) == 1
    assert kept()(1) == 2  # there is space again
    assert kept().dispatcher.stats.cache_path


@needs_compiler
def test_a_cache_that_cannot_be_made_again_is_reported(cache):
    loop = kept()
    assert loop(1.0) == 2.0
    shutil.rmtree(cache)
    cache.touch()
    with pytest.warns(RuntimeWarning, match=f"cache in {cache}"):
        assert loop(1) == 2


CALL = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from aucmax._core import compiled as _compiled
    from aucmax._core.sorting import fill_groups, insertion_sort
    import numpy as np
    values = np.array([2.0, 3.0, 1.0])
    _compiled.MAX_ELEMENTS = 0
    assert insertion_sort(np.arange(3), values, 9)
    fill_groups.dispatcher  # has no folder either
print(values.tolist())
for one in caught:
    if issubclass(one.category, RuntimeWarning):
        print(one.message)
"""


@pytest.mark.slow
@needs_compiler
@pytest.mark.skipif(os.name != "posix", reason="relies on HOME")
@pytest.mark.parametrize("folder", [None, "/dev/null/cache"], ids=["none", "no folder"])
def test_a_disk_that_cannot_be_written_is_reported_once(folder, tmp_path):
    package = tmp_path / "aucmax"
    left_out = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(aucmax.__file__).parent, package, ignore=left_out)
    for parent, _, _ in os.walk(package):
        (Path(parent) / "__pycache__").touch()  # not even an administrator can write
    names = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    environment = {k: v for k, v in os.environ.items() if k not in names}
    environment |= {"HOME": "/dev/null", "PYTHONPATH": str(tmp_path)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"NUMBA_CACHE_DIR": folder} if folder else {}
    ran = subprocess.run(
        [sys.executable, "-c", CALL],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    values, message = ran.stdout.splitlines()
    assert values == "[1.0, 2.0, 3.0]"
    assert f"the cache in {folder or package / '_core'} failed" in message


def test_only_ctrl_c_interrupts_the_program(monkeypatch):
    def end_early(*_):
        raise EOFError("Ran out of input")

    monkeypatch.setattr("aucmax.datasets.load_demo", end_early)
    ran = CliRunner().invoke(main, ["demo"])
    assert "EOFError: Ran out of input" in ran.output
    assert "Interrupted" not in ran.output
    assert ran.exit_code != 130


def test_ctrl_c_interrupts_the_main_thread_while_another_compiles():
    ended = threading.Event()

    def compile_slowly(signature):
        time.sleep(1.0)
        ended.set()

    timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        _run_in_thread(compile_slowly, "a signature")
    assert not ended.is_set() or time.perf_counter() - start > 0.9  # a slow machine
    assert ended.wait(30.0)


IMPORT = """
import signal
from aucmax._core import compiled as _compiled
_compiled.MAX_ELEMENTS = -1
from aucmax._core.sorting import insertion_sort
import numpy as np
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGPROF, interrupt)
signal.setitimer(signal.ITIMER_PROF, 0.1)
try:
    insertion_sort(np.arange(2), np.array([2.0, 1.0]), 9)
except KeyboardInterrupt:
    print("interrupted")
print(insertion_sort(np.arange(2), np.array([2.0, 1.0]), 9))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "ITIMER_PROF"), reason="there is no such timer")
def test_ctrl_c_while_numba_is_imported_leaves_it_usable():
    ran = subprocess.run(
        [sys.executable, "-c", IMPORT], capture_output=True, text=True, timeout=300
    )
    assert ran.stdout.split() == ["interrupted", "True"], ran.stderr


class Stream(StringIO):
    """Text written to a terminal, or to a file."""

    def __init__(self, is_terminal):
        super().__init__()
        self.isatty = lambda: is_terminal


@pytest.mark.parametrize(
    ("is_terminal", "seconds", "n_lines"),
    [(True, [0.2, 0.2], 1), (True, [0.0, 0.01], 0), (False, [0.2], 0)],
    ids=["a long wait", "soon done", "no terminal"],
)
def test_a_terminal_shows_once_why_a_first_call_waits(
    is_terminal, seconds, n_lines, monkeypatch
):
    monkeypatch.setattr(_compiled, "_PAUSE", 0.05)
    monkeypatch.setattr(_compiled, "_PATIENCE", 0.05)
    monkeypatch.setattr(_compiled, "_reported", set())
    monkeypatch.setattr("sys.stderr", Stream(is_terminal))
    for some in seconds:
        _run_in_thread(time.sleep, some)
    assert sys.stderr.getvalue().count("compiled loops, a few seconds") == n_lines


@pytest.fixture
def largest(monkeypatch):
    """Return a loop that is not compiled yet, while small arrays are left to Python."""
    monkeypatch.setattr(_compiled, "MAX_ELEMENTS", 10)
    monkeypatch.setattr(_compiled, "_MAX_SECONDS", 60.0)
    return njit()(last_and_largest.__wrapped__)


def is_compiled(loop):
    return "dispatcher" in vars(loop)


@pytest.mark.parametrize("size", [10, 11], ids=["few", "many"])
def test_few_elements_are_left_to_python_with_the_same_result(size, largest):
    values = np.arange(float(size))
    results = largest(values)
    np.testing.assert_array_equal(values, 2.0 * np.arange(size))
    assert results == (2.0 * size - 2.0,) * 2
    assert [type(one) for one in results] == [float, float]
    assert is_compiled(largest) == (size > 10)


def test_a_loop_that_takes_long_in_all_is_compiled(largest, monkeypatch):
    monkeypatch.setattr(_compiled, "_MAX_SECONDS", 1e-3)
    for _ in range(10_000):
        assert largest(np.ones(10)) == (2.0, 2.0)
        if is_compiled(largest):
            break
    assert is_compiled(largest)


def test_every_loop_can_be_called_from_python():
    # a function without an entry point ends the process when Python calls it
    results = []
    for path in (SOURCE / "aucmax").rglob("*.py"):
        if path.name == "compiled.py":
            continue
        text = path.read_text()
        assert not re.search(r"^\s*(import|from) numba", text, re.MULTILINE), path
        if "njit" in text:
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            results += vars(import_module(name)).values()
    loops = [one for one in results if isinstance(one, Loop)]
    assert len(loops) > 50
    allowed = {"cache", "nogil", "inline", "error_model"}
    assert [loop for loop in loops if not loop._options.keys() <= allowed] == []
    with pytest.raises(TypeError):
        njit(no_cpython_wrapper=True)


def test_python_does_not_warn_where_compiled_loops_do_not(largest):
    for size in (1, 11):
        assert largest(np.full(size, 1e308)) == (np.inf, np.inf)


def test_an_error_in_a_loop_leaves_later_calls_as_they_were(largest):
    with pytest.raises(IndexError):
        largest(np.empty(0))
    assert not hasattr(_compiled._thread, "runs_python")
    assert largest(np.ones(2)) == (2.0, 2.0)


def test_loops_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(insertion_sort)) is insertion_sort


FITS = """
import sys
import numpy as np
import every_model
for name in sys.argv[2:]:
    results = every_model.scores(name, every_model.fitted(name))
    np.save(f"{sys.argv[1]}/{name}.npy", results)
"""


@pytest.mark.slow
@pytest.mark.parametrize("names", [list(MODELS)[k::4] for k in range(4)], ids=range(4))
def test_models_of_few_rows_are_the_same_without_the_compiler(names, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", FITS, str(tmp_path), *names],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    for name in names:
        results = np.load(tmp_path / f"{name}.npy")
        np.testing.assert_array_equal(results, scores(name, fitted(name)), name)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["AUCSVC", "LambdaMART"])
def test_a_first_fit_of_few_rows_does_without_numba(name):
    options = "n_estimators=2" if name == "LambdaMART" else ""
    code = f"""
import sys
import numpy as np
import aucmax
X = np.random.default_rng(0).normal(size=(200, 4))
aucmax.{name}({options}).fit(X, X[:, 0] > X[:, 1] ** 2 - 1.0)
assert "numba" not in sys.modules
"""
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=True, timeout=300
    )
