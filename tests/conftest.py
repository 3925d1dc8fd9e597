import functools
import gc
import inspect
import os
import signal
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis.strategies import none

os.environ.setdefault("MPLBACKEND", "Agg")
# tests run in parallel: threads of a small product only wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
# one of scikit-learn's estimator checks is skipped without it
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# a first call compiles, so there is no deadline; the same examples each time, so that a
# test fails because of a change and not by chance
settings.register_profile("default", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# click below 8.2 has either both streams or their mixture, later ones have all three
if "mix_stderr" in inspect.signature(CliRunner).parameters:
    CliRunner.__init__ = functools.partialmethod(CliRunner.__init__, mix_stderr=False)
    Result.output = property(lambda result: result.stdout + result.stderr)
# signals, forks, limits and devices that Windows does not have
if os.name == "nt":
    collect_ignore = [
        "core/test_forks.py", "datasets/test_reading_limit.py",
        "persistence/test_kill_during_save.py", "test_cli_lost_output.py",
    ]  # fmt: skip


def pytest_runtest_setup(item):
    """Choose how loops run: as in a user's new process, or compiled whatever the size.

    Contracts and the tests of this folder (commands, documents) start like a new
    process, where Python runs small arrays; all other tests compile.
    """
    from aucmax._core import compiled

    is_new = item.path.parent.name in ("contracts", "tests")
    compiled.MAX_ELEMENTS = 10_000 if is_new else -1
    if is_new:
        for loop in _known_loops(len(sys.modules)):
            loop._seconds = 0.0


@functools.lru_cache(maxsize=1)
def _known_loops(_n_modules):
    """Return the loops of all modules that are imported by now."""
    from aucmax._core.compiled import Loop

    modules = [m for name, m in list(sys.modules.items()) if name.startswith("aucmax")]
    values = [value for module in modules for value in vars(module).values()]
    return [value for value in values if isinstance(value, Loop)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Keep the garbage collector from visiting thousands of tests repeatedly."""
    # At the first example Hypothesis warns if the collector finds no reference to its
    # generator of random numbers, and in Python 3.14 the only one would be frozen.
    given(none())(lambda _: None)()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """Change to an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def real_data():
    """Return the folder of real data sets that AUCMAX_DATA names, or skip."""
    folder = os.environ.get("AUCMAX_DATA")
    if folder is None:
        pytest.skip("AUCMAX_DATA is not set to a folder of real data sets")
    assert Path(folder).is_dir(), f"AUCMAX_DATA={folder!r} is not a folder"
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def _handle_interrupts():
    """Handle Ctrl-C, which a shell's background jobs and their children ignore."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
