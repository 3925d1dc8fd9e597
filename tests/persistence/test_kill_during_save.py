"""kill -9 at any moment: the file is the old one or the new one."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from aucmax.persistence import load, save
from persistence.toy_models import Toy, with_state
from torture.amount import times

SAVE_FOR_EVER = """
import sys
sys.path.insert(0, sys.argv[2])
import numpy as np
from persistence.toy_models import Toy, with_state
from aucmax.persistence import save
from aucmax.persistence.registry import REGISTRY
REGISTRY["Toy"] = "persistence.toy_models"
print("ready", flush=True)
for i in range(1_000_000):
    toy = with_state(Toy(size=i), weights_=np.full(20_000, float(i)))
    save(toy, sys.argv[1], overwrite=True)
"""

N_KILLS = times(8, 1000)


def wait_for_a_save(path, last_inode):
    deadline = time.monotonic() + 60
    while path.stat().st_ino == last_inode and time.monotonic() < deadline:
        time.sleep(0.001)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_killed_save_leaves_a_file_that_loads(tmp_path):
    path, rng = tmp_path / "m.aucmax", random.Random(3)
    save(with_state(Toy(size=-1), weights_=np.full(20_000, -1.0)), path)
    # forked from one warm process: starting Python for each kill takes seconds
    code = SAVE_FOR_EVER.replace('print("ready", flush=True)', FORK_AND_REPORT)
    parent = subprocess.Popen(
        [sys.executable, "-c", code, path, Path(__file__).parents[1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    sizes = set()
    with parent:
        for _ in range(N_KILLS):
            last = path.stat().st_ino
            parent.stdin.write("go\n")
            parent.stdin.flush()
            child = int(parent.stdout.readline())
            wait_for_a_save(path, last)
            time.sleep(rng.uniform(0.0, 0.03))
            os.kill(child, signal.SIGKILL)
            assert parent.stdout.readline() == "dead\n"
            model = load(path)
            assert (model.weights_ == model.size).all()
            sizes.add(model.size)
        parent.stdin.close()
    assert parent.returncode == 0
    assert -1 not in sizes  # saves did finish between the kills
    save(Toy(), path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["m.aucmax"]


FORK_AND_REPORT = """
import os
while sys.stdin.readline():
    child = os.fork()
    if child == 0:
        break
    print(child, flush=True)
    os.waitpid(child, 0)
    print("dead", flush=True)
else:
    sys.exit(0)
"""
