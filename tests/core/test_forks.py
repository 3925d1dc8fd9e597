"""A forked process works, or raises with advice; it never waits forever."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from torture.amount import times

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

HEAD = """
import os, signal, sys, traceback, warnings
warnings.simplefilter("ignore")
import numpy as np
import every_model

def in_child(work):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)  # what hangs is killed
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    print("ended with", status, flush=True)
"""

ARRAYS = """
models = ["auc_svc", "margin_ranker", "rank_boost", "soft_rank_boost", "graph_ranker"]
for name in models * int(sys.argv[1]):
    model, rows, labels = every_model.MODELS[name]
    every_model.fitted(name)
    in_child(lambda: model.fit(rows, labels))
    in_child(lambda: every_model.scores(name, model))
"""

TREES = """
import aucmax
X = np.random.default_rng(0).normal(size=(3000, 4))
y = X[:, 0] > 0
model = aucmax.LambdaMART(n_estimators=3, n_jobs=2).fit(X, y)
expected = model.decision_function(X)

def score():
    assert (model.decision_function(X) == expected).all()

def fit():
    again = aucmax.LambdaMART(n_estimators=3, n_jobs=2).fit(X, y)
    assert (again.decision_function(X) == expected).all()

in_child(score)
in_child(fit)
in_child(lambda: in_child(fit))
"""

TABLES = """
import tempfile, aucmax
from aucmax.datasets import load_table
model = every_model.fitted("auto_ranker")
model.decision_function(every_model.TABLE)
with tempfile.TemporaryDirectory() as folder:
    aucmax.save(model, folder + "/model.aucmax")
    in_child(lambda: model.decision_function(every_model.TABLE))
    in_child(lambda: aucmax.load(folder + "/model.aucmax"))
    in_child(lambda: load_table(folder + "/a.csv"))
"""


N_ROUNDS = times(1, 10)


@pytest.fixture(scope="module")
def said():
    """Return what each script says, one after the other in one process."""
    scripts = {"arrays": ARRAYS, "trees": TREES, "tables": TABLES}
    code = "".join(
        f"print({name!r}, flush=True)\n{script}" for name, script in scripts.items()
    )
    result = subprocess.run(
        [sys.executable, "-c", HEAD + code, str(N_ROUNDS)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert result.returncode == 0, result.stderr
    parts = re.split("^(arrays|trees|tables)\n", result.stdout, flags=re.MULTILINE)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return {name: part.splitlines() for name, part in named}


@pytest.mark.slow
def test_models_of_arrays_fit_and_score_in_a_forked_process(said):
    assert said["arrays"] == ["ended with 0"] * (10 * N_ROUNDS)


@pytest.mark.slow
def test_trees_take_one_thread_where_the_others_were_lost(said):
    assert said["trees"] == ["ended with 0"] * 4


def test_a_process_forked_after_polars_was_used_gets_an_error_with_advice(said):
    lines = said["tables"]
    assert lines[1::2] == ["ended with 1"] * 3
    for line in lines[::2]:
        assert line.startswith("ForkedProcessError")
        assert "get_context('spawn')" in line
