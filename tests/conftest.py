import functools
import gc
import inspect
import os
import signal
import sys
import time
from collections import defaultdict
from pathlib import Path
from zlib import crc32

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
        "test_cli_memory.py", "torture/test_killed_fits.py",
    ]  # fmt: skip


def pytest_configure():
    """Choose the sample of cases: another one each day; workers inherit it."""
    os.environ.setdefault("AUCMAX_SAMPLE", str(int(time.time() // 86400)))


def pytest_report_header():
    """Print how to run the same sample again."""
    return f"sample of cases: AUCMAX_SAMPLE={os.environ['AUCMAX_SAMPLE']}"


def _drawn(nodeid):
    """Return a number that the sample and the name of a test decide."""
    return crc32(f"{os.environ['AUCMAX_SAMPLE']} {nodeid}".encode())


def pytest_runtest_setup(item):
    """Compile all loops, however few the rows, except in one test of eight.

    That test starts like a new process, where Python runs small arrays.
    """
    from aucmax._core import compiled

    is_new = _drawn(item.nodeid) % 8 == 0
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


def pytest_collection_modifyitems(config, items):
    """Leave out some tests, and some cases of tests that have many, by AUCMAX_SAMPLE.

    One case in n stays of a test that is marked sampled(n), and one in six of any
    other with more than a dozen cases, except where each file or each model has one
    case: in the top folder and in `contracts`. A test that is marked rotating(n) stays
    on one day in n, whole. `make torture` runs everything.
    """
    if os.environ.get("AUCMAX_TORTURE"):
        return
    left_out = {item for item in items if not _is_due(item)}
    cases = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            cases[item.parent.nodeid, item.originalname].append(item)
    for of_one_test in cases.values():
        n_kept = -(-len(of_one_test) // _one_in(of_one_test))
        of_one_test.sort(key=lambda item: _drawn(item.nodeid))
        left_out.update(of_one_test[n_kept:])
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _is_due(item):
    """Return whether this is the one day in n of a test marked rotating(n)."""
    mark = item.get_closest_marker("rotating")
    if mark is None:
        return True
    name = f"{item.parent.nodeid} {item.originalname}"
    return (int(os.environ["AUCMAX_SAMPLE"]) + crc32(name.encode())) % mark.args[0] == 0


def _one_in(cases):
    """Return n if one case in n of a test is run."""
    mark = cases[0].get_closest_marker("sampled")
    if mark is not None:
        return mark.args[0]
    folder = cases[0].path.parent
    is_sampled = folder.name != "contracts" and folder != Path(__file__).parent
    return 6 if is_sampled and len(cases) > 12 else 1


@pytest.fixture(scope="session", autouse=True)
def raise_for_failed_candidates():
    """Make a candidate of AutoRanker that fails raise, instead of a notice."""
    from aucmax.model_selection import auto_search

    auto_search.RAISES = True


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
