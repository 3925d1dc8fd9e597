"""First calls in a fresh process with an empty compiler cache, imports included.

These gates are processor seconds, the one figure here that depends on the machine.
"""

import os
import resource
import subprocess
import sys
from tempfile import TemporaryDirectory

from benchmarks.gates import gate

ROWS = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 8))
y = X[:, 0] + rng.normal(size=1000) > 0
import aucmax
"""
GRAPHS = """
import aucmax
images, masks = aucmax.datasets.make_letter_images("A", 5, random_state=0)
edges = aucmax.graphs.grid_edges(*images[0].shape)
graphs = [(image.reshape(-1, 1), edges) for image in images]
aucmax.GraphRanker().fit(graphs, masks.reshape(len(images), -1))
"""


def processor_seconds(script: str) -> float:
    """Run a script twice with an empty cache; the first run writes bytecode."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(2):
        with TemporaryDirectory() as cache:
            environment["NUMBA_CACHE_DIR"] = cache
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", script], check=True, env=environment)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@gate("first roc_auc_score of 1,000 rows", at_most=1.5, unit="s")
def metric() -> float:
    return processor_seconds(ROWS + "aucmax.metrics.roc_auc_score(y, X[:, 0])")


@gate("first AUCSVC", at_most=3.0, unit="s")
def auc_svc() -> float:
    return processor_seconds(ROWS + "aucmax.AUCSVC().fit(X, y)")


@gate("first LambdaMART", at_most=3.0, unit="s")
def lambdamart() -> float:
    return processor_seconds(ROWS + "aucmax.LambdaMART().fit(X, y)")


@gate("first MarginRanker", at_most=4.0, unit="s")
def margin_ranker() -> float:
    return processor_seconds(ROWS + "aucmax.MarginRanker().fit(X, y)")


@gate("first GraphRanker", at_most=8.0, unit="s")
def graph_ranker() -> float:
    return processor_seconds(GRAPHS)
