"""Few rows need no compiler, nor does it need a folder; who waits for it is told."""

import os
import pickle
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

import aucmax
from aucmax import _compiled
from aucmax._compiled import Loop, _beside, load_compiler, njit
from aucmax._sorting import insertion_sort
from every_model import MODELS, fitted, scores

SOURCE = Path(aucmax.__file__).parents[1]
CALL = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from aucmax import _compiled
    from aucmax._sorting import fill_groups, insertion_sort
    import numpy as np
    values = np.array([2.0, 3.0, 1.0])
    _compiled.MOST_ELEMENTS = 0
    assert insertion_sort(np.arange(3), values, 9)
    fill_groups.dispatcher  # has no folder either
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


@njit
def doubled(value):
    return value + value


@njit
def last_and_largest(values):
    largest = values[0]
    for i in range(values.size):
        values[i] = doubled(values[i])
        largest = max(largest, values[i])
    return values[-1], largest


@pytest.fixture
def largest(monkeypatch):
    """Return a loop that is not compiled yet, while small arrays are left to Python."""
    monkeypatch.setattr(_compiled, "MOST_ELEMENTS", 10)
    monkeypatch.setattr(_compiled, "_BEFORE_COMPILING", 60.0)
    return njit(last_and_largest.__wrapped__)


def is_compiled(loop):
    return loop._dispatcher is not None


@pytest.mark.parametrize("size", [10, 11], ids=["few", "many"])
def test_few_elements_are_left_to_python_with_the_same_result(size, largest):
    values = np.arange(float(size))
    found = largest(values)
    np.testing.assert_array_equal(values, 2.0 * np.arange(size))
    assert found == (2.0 * size - 2.0,) * 2
    assert [type(one) for one in found] == [float, float]
    assert is_compiled(largest) == (size > 10)


def test_elements_are_counted_in_tuples_of_arrays():
    nested = np.ones(3), 7, (np.ones((2, 2)), (np.ones(4),))
    assert _compiled._n_elements(nested) == 11


def test_a_loop_that_takes_long_in_all_is_compiled(largest, monkeypatch):
    monkeypatch.setattr(_compiled, "_BEFORE_COMPILING", 1e-3)
    assert is_compiled_soon(largest)


def is_compiled_soon(loop, n_calls=10_000):
    for _ in range(n_calls):
        assert loop(np.ones(10)) == (2.0, 2.0)
        if is_compiled(loop):
            return True
    return False


@pytest.mark.parametrize("seconds", [0.0, np.inf], ids=["numba is not", "in use"])
def test_a_loop_that_was_compiled_before_is_loaded_once_numba_is_in_use(
    seconds, largest, monkeypatch
):
    monkeypatch.setattr(_compiled, "_BEFORE_LOADING", 1e-4)
    monkeypatch.setattr(_compiled, "_BEFORE_IMPORTING", 60.0)
    kept = njit(cache=True)(last_and_largest.__wrapped__)
    monkeypatch.setattr(kept, "_was_compiled_before", True)
    monkeypatch.setattr(_compiled._Python, "seconds", seconds)
    monkeypatch.setattr(largest, "_was_compiled_before", False)
    assert not is_compiled_soon(largest, 200)
    assert is_compiled_soon(kept, 200) == (seconds == np.inf)


def test_numba_is_in_use_once_its_compiler_is_loaded(monkeypatch):
    monkeypatch.setattr(_compiled._Python, "seconds", 0.0)
    load_compiler()
    assert _compiled._Python.seconds == np.inf
    assert "numba" in sys.modules


@pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)
def test_what_numba_has_kept_is_found(monkeypatch, tmp_path):
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert not njit(doubled.__wrapped__)._was_compiled_before
    assert not njit(cache=True)(doubled.__wrapped__)._was_compiled_before
    njit(cache=True)(doubled.__wrapped__).dispatcher(1.0)
    assert njit(cache=True)(doubled.__wrapped__)._was_compiled_before
    assert not njit(cache=True)(last_and_largest.__wrapped__)._was_compiled_before


def test_python_does_not_warn_where_compiled_loops_do_not(largest):
    for size in (1, 11):
        assert largest(np.full(size, 1e308)) == (np.inf, np.inf)


def test_an_error_in_a_loop_leaves_later_calls_as_they_were(largest):
    with pytest.raises(IndexError):
        largest(np.empty(0))
    assert not _compiled._turn.is_pythons
    assert largest(np.ones(2)) == (2.0, 2.0)


def test_python_runs_a_whole_loop_or_none_of_it(monkeypatch):
    inner = njit(doubled.__wrapped__)
    outer = njit(last_and_largest.__wrapped__)
    monkeypatch.setitem(last_and_largest.__wrapped__.__globals__, "doubled", inner)
    monkeypatch.setattr(_compiled, "MOST_ELEMENTS", 10)
    assert inner(np.ones(11))[0] == 2.0
    monkeypatch.setattr(inner, "_dispatcher", None if inner._dispatcher is None else 7)
    assert outer(np.ones(2)) == (2.0, 2.0)


def test_every_loop_can_be_called_from_python():
    # a function without an entry point ends the process when Python calls it
    loops = []
    for path in Path(aucmax.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if path.name != "_compiled.py":
            assert "import numba" not in text and "from numba" not in text, path
        if "njit" in text and path.name != "_compiled.py":
            name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            loops += vars(import_module(name)).values()
    options = [one._options for one in loops if isinstance(one, Loop)]
    assert len(options) > 100
    allowed = {"cache", "nogil", "inline", "error_model"}
    assert [each for each in options if not each.keys() <= allowed] == []


def test_loops_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(insertion_sort)) is insertion_sort


FITS = """
import sys
import numpy as np
import every_model
for name in sys.argv[2:]:
    found = every_model.scores(name, every_model.fitted(name))
    np.save(f"{sys.argv[1]}/{name}.npy", found)
print("numba" in sys.modules)
"""


def test_models_of_few_rows_are_the_same_without_the_compiler(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", FITS, str(tmp_path), *MODELS],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    for name in MODELS:
        found = np.load(tmp_path / f"{name}.npy")
        np.testing.assert_array_equal(found, scores(name, fitted(name)), name)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["AUCSVC", "MarginRanker", "LambdaMART"])
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
