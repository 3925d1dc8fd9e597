"""First calls in a fresh process, before and after the loops are compiled."""

import os
import resource
import subprocess
import sys
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.harness import Report

TITLE = "cold start: imports and a first call in a fresh process"
ROWS = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 8))
y = X[:, 0] + rng.normal(size=1000) > 0
import aucmax
"""
GRAPHS = """
import aucmax
from aucmax import datasets, graphs
images, masks = datasets.make_letter_images("A", 5, random_state=0)
edges = graphs.grid_edges(*images[0].shape)
graphs = [(image.reshape(-1, 1), edges) for image in images]
labels = masks.reshape(len(images), -1)
"""
SCIPY = "import numpy, scipy.sparse, scipy.special"
SCIKIT_LEARN = "import numpy, sklearn.base, sklearn.utils.validation"
# numba lists what it knows when it first loads or compiles anything
NUMBA = """
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
"""


class Call(NamedTuple):
    """A first call, what it must import, and the most seconds on a quiet machine."""

    script: str
    needs: str
    cold: float
    warm: float = 1.0
    own: float = 0.3


CALLS = {
    "roc_auc_score": Call(
        ROWS + "aucmax.metrics.roc_auc_score(y, X[:, 0])", SCIPY, 1.5
    ),
    "AUCSVC": Call(ROWS + "aucmax.AUCSVC().fit(X, y)", SCIKIT_LEARN, 3.0),
    "LambdaMART": Call(ROWS + "aucmax.LambdaMART().fit(X, y)", "import lightgbm", 4.0),
    "MarginRanker": Call(ROWS + "aucmax.MarginRanker().fit(X, y)", SCIKIT_LEARN, 4.0),
    "GraphRanker": Call(
        GRAPHS + "aucmax.GraphRanker().fit(graphs, labels)", SCIKIT_LEARN + NUMBA, 8.0
    ),
}


def run(report: Report) -> None:
    """Time each call with an empty cache and with a full one, less what it imports.

    Before anything is timed it has run once, so that all modules are there as
    bytecode, as they are once a package was used or installed by pip.
    """
    processor_seconds(SCIKIT_LEARN)
    report.add("import of scikit-learn alone", processor_seconds(SCIKIT_LEARN), "s")
    for name, call in CALLS.items():
        with TemporaryDirectory() as full, TemporaryDirectory() as empty:
            processor_seconds(call.script, full)
            processor_seconds(call.needs)
            # in turn, since a machine is now faster and now slower
            turns = [
                (processor_seconds(call.script, full), processor_seconds(call.needs))
                for _ in range(2)
            ]
            cold = processor_seconds(call.script, empty)
        warm, needs = map(min, zip(*turns, strict=True))
        report.add(f"{name}: with an empty cache", cold, "s", at_most=call.cold)
        report.add(f"{name}: with a full cache", warm, "s", at_most=call.warm)
        report.add(
            f"{name}: with a full cache, less its imports",
            warm - needs,
            "s",
            at_most=call.own,
            remark=f"importing what it needs takes {needs:.2f} s",
        )


def processor_seconds(script: str, cache: str | None = None) -> float:
    """Run a script by itself, on one thread; return its processor time.

    That is what it would take on a machine with nothing else to do. Bytecode is kept,
    whatever the environment of the benchmark says: without it, each process would
    compile a thousand modules from their source.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
