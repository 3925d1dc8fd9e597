import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")
# tests run side by side: threads of a small product only wait for each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
# one of scikit-learn's estimator checks is skipped without it
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# a first call compiles, so no example can be held to a deadline; the same examples
# each time, so that a test fails for a change and not by chance
settings.register_profile("default", deadline=None, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(scope="session")
def real_data():
    """Return the folder of real data sets that AUCMAX_DATA names, or skip."""
    folder = os.environ.get("AUCMAX_DATA")
    if folder is None:
        pytest.skip("AUCMAX_DATA names no folder of real data sets")
    assert Path(folder).is_dir(), f"AUCMAX_DATA names no folder, but {folder!r}"
    return Path(folder)


@pytest.fixture(scope="session", autouse=True)
def _listening_to_the_keyboard():
    """Hear Ctrl-C, which a shell's background jobs and their children ignore."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
