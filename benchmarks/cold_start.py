"""First calls in a fresh process, before and after the loops are compiled."""

import os
import resource
import subprocess
import sys
import tempfile

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
from aucmax import datasets, structured
images, masks = datasets.make_letter_images("A", 5, random_state=0)
edges = structured.grid_edges(*images[0].shape)
graphs = [(image.reshape(-1, 1), edges) for image in images]
labels = masks.reshape(len(images), -1)
"""
# a first call, and the most seconds on a quiet machine, with and without compiling
CALLS = {
    "roc_auc_score": (ROWS + "aucmax.metrics.roc_auc_score(y, X[:, 0])", 1.5, 1.0),
    "AUCSVC": (ROWS + "aucmax.AUCSVC().fit(X, y)", 3.0, 1.0),
    "LambdaMART": (ROWS + "aucmax.LambdaMART().fit(X, y)", 4.0, 1.0),
    "MarginRanker": (ROWS + "aucmax.MarginRanker().fit(X, y)", 4.0, 1.0),
    "GraphRanker": (GRAPHS + "aucmax.GraphRanker().fit(graphs, labels)", 8.0, 1.0),
}
LIBRARIES = "import numpy, sklearn.base, sklearn.utils.validation"


def run(report: Report) -> None:
    """Time each call twice with one cache; any estimator imports scikit-learn."""
    libraries = processor_seconds(LIBRARIES, None)
    report.add("import of scikit-learn alone", libraries, "s")
    for name, (script, cold, warm) in CALLS.items():
        with tempfile.TemporaryDirectory() as cache:
            seconds = [processor_seconds(script, cache) for _ in range(2)]
        for cache_is, taken, most in zip(
            ("an empty", "a full"), seconds, (cold, warm), strict=True
        ):
            report.add(
                f"{name}: with {cache_is} cache",
                taken,
                "s",
                at_most=most,
                remark=f"{taken - libraries:+.1f} s against scikit-learn alone",
            )


def processor_seconds(script: str, cache: str | None) -> float:
    """Run a script by itself, on one thread; return its processor time.

    That is what it would take on a machine with nothing else to do.
    """
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = cache
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
