"""Commands on tables in many files; scores are made in blocks of rows."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax.datasets import loading
from builders import visits
from command_line import error_of, run

ROWS = 240
FIT = ["--target", "sick", "--model", "svm-auc", "-q"]


@pytest.fixture
def folder(inside) -> Path:
    table = visits(key=np.arange(ROWS) * 7 % ROWS).drop("patient", "day", "cost")
    Path("parts").mkdir()
    Path("csv-parts").mkdir()
    for k in range(3):
        part = table[80 * k : 80 * k + 80]
        part.write_parquet(f"parts/part-{k}.parquet")
        part.write_csv(f"csv-parts/part-{k}.csv")
    table.write_csv("whole.csv")
    return inside


def model_of(data: object) -> tuple[object, ...]:
    run("fit", data, *FIT, "-o", "m.aucmax", "--force")
    model = aucmax.load("m.aucmax")
    encoder, coef = model.encoders_[0], model.members_[0]["models"][0].coef_
    return encoder.columns_, encoder.dropped_, model.threshold_, coef.tolist()


@pytest.mark.slow
def test_parts_give_the_model_of_the_whole(folder):
    whole = model_of("whole.csv")
    for data in ("parts", "parts/part-*.parquet", "csv-parts", "csv-parts/*.csv"):
        assert model_of(data) == whole, data


@pytest.mark.parametrize("rows_per_block", [7, 100_000])
def test_scores_go_to_parts_or_to_one_file(folder, monkeypatch, rows_per_block):
    monkeypatch.setattr(loading, "_ROWS_PER_BLOCK", rows_per_block)
    model_of("parts")
    run("score", "m.aucmax", "whole.csv", "--keep", "key", "-o", "whole-scores.csv")
    whole = pl.read_csv("whole-scores.csv")
    assert whole.columns == ["key", "score", "prediction"]
    keep = ["--keep", "key"]
    run("score", "m.aucmax", "parts", *keep, "-o", "one.csv", "--force")
    assert pl.read_csv("one.csv").equals(whole)
    printed = run("score", "m.aucmax", "parts/*.parquet", *keep, "-q")
    assert printed.stdout == Path("one.csv").read_text()
    said = run("score", "m.aucmax", "parts", *keep, "-o", "scores")
    assert "Wrote 240 scores to 3 files in scores." in said.stdout
    assert sorted(os.listdir("scores")) == [f"part-{k}.parquet" for k in range(3)]
    assert pl.read_parquet("scores/*.parquet").equals(whole)
    assert "exists" in error_of("score", "m.aucmax", "parts", "-o", "scores")
    run("score", "m.aucmax", "csv-parts", *keep, "-o", "csv-scores", "--json")
    assert sorted(os.listdir("csv-scores")) == [f"part-{k}.csv" for k in range(3)]
    both = pl.concat([pl.read_csv(f"csv-scores/part-{k}.csv") for k in range(3)])
    assert both.equals(whole)


def test_bad_parts_are_named(folder):
    fit = [*FIT, "-o", "m.aucmax"]
    assert "no file matches 'none-*.parquet'" in error_of("fit", "none-*.parquet", *fit)
    pl.read_parquet("parts/part-0.parquet").drop("sick").write_parquet(
        "parts/part-5.parquet"
    )
    message = "parts/part-5.parquet has no column 'sick', which parts/part-0.parquet"
    assert message in error_of("fit", "parts", *fit)
    Path("parts/part-1.parquet").write_bytes(b"PAR1 and nothing else")
    Path("parts/part-5.parquet").unlink()
    assert "parts/part-1.parquet: not a readable" in error_of("fit", "parts", *fit)
    Path("csv-parts/part-1.csv").write_text("")
    assert "csv-parts/part-1.csv: the file is empty" in error_of(
        "fit", "csv-parts", *fit
    )
    assert not Path("m.aucmax").exists()


# the program takes 400 MB, and the rows as a frame 240 MB, as a matrix as much again
LIMIT = 800_000_000
LIMITED = (
    "import resource; from aucmax.cli import main;"
    f"resource.setrlimit(resource.RLIMIT_DATA, ({LIMIT}, {LIMIT})); main()"
)


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the limit counts otherwise there"
)
def test_rows_beyond_memory_are_scored(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 50))
    frame = pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})
    frame = frame.with_columns(sick=X[:, 0] + X[:, 1] > 1)
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=50_000)
    frame[:2000].write_csv(tmp_path / "few.csv")
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    for command in (
        ["fit", "few.csv", "--target", "sick", "--model", "logistic", "-o", "m.aucmax"],
        ["score", "m.aucmax", "rows.parquet", "-o", "scores.parquet"],
    ):
        ran = subprocess.run(
            [sys.executable, "-c", LIMITED, *command],
            cwd=tmp_path, env={**os.environ, **one_thread}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
    assert pl.read_parquet(tmp_path / "scores.parquet").height == 1_000_000
