"""Fits that are killed at any moment and resumed end with the same model."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from torture.amount import times

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")

# forked from one warm process: starting Python for each kill takes seconds
SCRIPT = """
import os, random, signal, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import sklearn.linear_model, sklearn.model_selection
import aucmax
from aucmax.persistence import load, save

folder, n_kills = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4))
y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400) > 0.5
def new():
    return aucmax.AutoRanker(
        models=[
            "logistic",
            aucmax.LambdaMART(n_estimators=5),
            "kernel",
            ("auc", aucmax.LambdaMART("auc", n_estimators=5)),
        ],
        time_limit=None,
        cv=2,
    )

aucmax.LambdaMART(n_estimators=2).fit(X, y)

def start(name):
    progress, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            model = new().set_params(callback=lambda _: os.write(writing, b"x") < 1)
            model.fit(X, y, checkpoint=f"{folder}/{name}.part")
            save(model, f"{folder}/{name}.aucmax", overwrite=True)
            os._exit(0)
        except BaseException as error:
            print(type(error), error, flush=True)
            os._exit(1)
    os.close(writing)
    return child, progress

def wait(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

assert wait(start("whole")[0]) == 0
scores = lambda name: load(f"{folder}/{name}.aucmax").decision_function(X)
draw, n_killed, n_finished = random.Random(7), 0, 0
while n_killed < n_kills or n_finished == 0:
    child, progress = start("part")
    if n_killed < n_kills:
        for _ in range(draw.randint(1, 4)):
            if not os.read(progress, 1):
                break
        time.sleep(draw.uniform(0.0, 0.01))
        os.kill(child, signal.SIGKILL)
    while os.read(progress, 4096):
        pass
    os.close(progress)
    status = wait(child)
    if status == -signal.SIGKILL:
        n_killed += 1
        continue
    assert status == 0, status
    n_finished += 1
    os.remove(f"{folder}/part.part")
print(n_killed, (scores("part") == scores("whole")).all())
"""


@pytest.mark.slow
def test_a_killed_fit_resumes_to_the_same_model(tmp_path):
    n_kills = times(1, 100)
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(n_kills)],
        capture_output=True,
        text=True,
        timeout=3000,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.split() == [str(n_kills), "True"]
