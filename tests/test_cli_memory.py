"""A table that memory cannot hold is fitted; without leaving it on disk it is not."""

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import aucmax
from torture.amount import times

pytestmark = [
    pytest.mark.skipif(
        not sys.platform.startswith("linux"), reason="the limit counts otherwise there"
    ),
]

ROWS, COLUMNS, PARTS = 600_000, 50, 6
# The program itself takes 400 MB, rows as a frame 240 MB, as a matrix as much again:
# far beyond the limit, since some libraries wait for ever for their last few bytes.
LIMIT = 800_000_000
LIMITED = (
    "import resource; from aucmax.cli import main;"
    f"resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT})); main()"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    for k in range(0, PARTS, 2):
        X = rng.normal(size=(ROWS // PARTS, COLUMNS))
        sick = X[:, 0] + X[:, 1] + rng.normal(size=len(X)) > 2
        frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
        frame.with_columns(sick=sick).write_parquet(
            folder / f"part-{k}.parquet", compression="uncompressed"
        )
        os.link(folder / f"part-{k}.parquet", folder / f"part-{k + 1}.parquet")
    return folder


def run(folder, *arguments):
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        cwd=folder, env={**os.environ, **one_thread}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


FIT = ["fit", "part-*.parquet", "--target", "sick", "-o", "m.aucmax", "--force"]


@pytest.mark.slow
@pytest.mark.parametrize("model", ["svm-auc", *times([], ["lambdamart"])])
def test_rows_beyond_memory_stay_on_disk_by_themselves(folder, model):
    settings = ["--set", "n_estimators=2"] if model == "lambdamart" else []
    ran = run(folder, *FIT, "--model", model, *settings)
    assert ran.returncode == 0, ran.stderr
    assert "rows stay on disk" in ran.stderr
    assert aucmax.load(folder / "m.aucmax").n_rows_ == ROWS
    if times(False, True):  # another process of seconds
        output = f"scores of {model}"
        ran = run(folder, "score", "m.aucmax", "part-*.parquet", "--output", output)
        assert ran.returncode == 0, ran.stderr
        assert len(os.listdir(folder / output)) == PARTS


@pytest.mark.slow
@pytest.mark.skipif(times(True, False), reason="takes seconds; part of torture")
def test_in_memory_they_fail(folder):
    ran = run(folder, *FIT, "--model", "svm-auc", "--in-memory")
    assert ran.returncode != 0
