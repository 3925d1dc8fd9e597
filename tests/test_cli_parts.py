"""Commands on tables in many files, in memory and on disk."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner, Result

import aucmax
from aucmax.cli import main

ROWS = 240
FIT = ["--target", "sick", "--model", "svm-auc", "-q"]


def run(*arguments: object, exit_code: int = 0) -> Result:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == exit_code, result.output
    assert "Traceback" not in result.output
    return result


def refuse(*arguments: object) -> str:
    result = run(*arguments, exit_code=2)
    return " ".join(result.stderr.split())


def visits(seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age, ward = rng.normal(size=ROWS), rng.choice(["north", "south"], ROWS)
    sick = age + (ward == "north") + rng.normal(size=ROWS) > 1
    return pl.DataFrame(
        {"key": np.arange(ROWS) * 7 % ROWS, "age": age, "ward": ward, "sick": sick * 1}
    )


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()
    Path("texts").mkdir()
    for k in range(3):
        part = visits()[80 * k : 80 * k + 80]
        part.write_parquet(f"parts/part-{k}.parquet")
        part.write_csv(f"texts/part-{k}.csv")
    visits().write_csv("whole.csv")
    return tmp_path


def model_of(*arguments: object) -> tuple[object, ...]:
    run("fit", *arguments, *FIT, "-o", "m.aucmax", "--force")
    model = aucmax.load("m.aucmax")
    # Parquet has no decimal mark to remember
    columns = [{**c, "decimal_comma": None} for c in model.encoder_.columns_]
    found = columns, model.encoder_.dropped_, model.threshold_
    return *found, model.estimator_.coef_.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["--in-memory", "--on-disk"])
def test_parts_give_the_model_of_the_whole(folder, where):
    whole = model_of("whole.csv")
    for data in ("parts", "parts/part-*.parquet", "texts", "texts/*.csv", "whole.csv"):
        assert model_of(data, where) == whole, data
    assert not os.listdir("scratch")


def test_scores_go_to_parts_or_to_one_file(folder):
    model_of("parts")
    run("score", "m.aucmax", "whole.csv", "--keep", "key", "-o", "whole-scores.csv")
    whole = pl.read_csv("whole-scores.csv")
    assert whole.columns == ["key", "score", "prediction"]
    keep = ["--keep", "key"]
    for where in ("--on-disk", "--in-memory"):
        run("score", "m.aucmax", "parts", *keep, "-o", "one.csv", where, "--force")
        assert pl.read_csv("one.csv").equals(whole)
        printed = run("score", "m.aucmax", "parts/*.parquet", *keep, where, "-q")
        assert printed.stdout == Path("one.csv").read_text()
    said = run("score", "m.aucmax", "parts", *keep, "-o", "scores")
    assert "Wrote 240 scores to 3 files in scores." in said.stdout
    names = [f"part-{k}.parquet" for k in range(3)]
    assert sorted(os.listdir("scores")) == names
    assert pl.read_parquet("scores/*.parquet").equals(whole)
    assert "exists" in refuse("score", "m.aucmax", "parts", "-o", "scores")
    run("score", "m.aucmax", "texts", *keep, "-o", "text-scores", "--json")
    assert sorted(os.listdir("text-scores")) == [f"part-{k}.csv" for k in range(3)]
    both = pl.concat([pl.read_csv(f"text-scores/part-{k}.csv") for k in range(3)])
    assert both.equals(whole)


def test_rows_are_evaluated_alike(folder):
    model_of("parts")
    visits(1)[:100].write_parquet("new-0.parquet")
    visits(1)[100:].write_parquet("new-1.parquet")
    found = [
        json.loads(run("evaluate", "m.aucmax", "new-*.parquet", where, "--json").stdout)
        for where in ("--on-disk", "--in-memory")
    ]
    assert found[0] == found[1]
    assert found[0]["rows"] == ROWS


def test_rows_without_a_target_are_left_out_on_disk_too(folder):
    part = visits(1)[:80].with_columns(sick=pl.lit(None, dtype=pl.Int64))
    part.write_parquet("parts/part-9.parquet")
    said = run("fit", "parts", *FIT[:-1], "-o", "m.aucmax", "--on-disk", "--json")
    assert "missing in 80 of 320 rows" in said.stderr
    record = json.loads(said.stdout)
    assert (record["rows"], record["rows_without_target"]) == (240, 80)


def test_a_part_without_positives_is_no_matter(folder):
    visits(1).filter(pl.col("sick") == 0).write_parquet("parts/part-9.parquet")
    assert model_of("parts", "--on-disk") == model_of("parts", "--in-memory")


def test_on_disk_trees_are_the_default(folder):
    said = run(
        "fit", "parts", "--target", "sick", "-o", "t.aucmax", "--on-disk",
        "--set", "n_estimators=5",
    )  # fmt: skip
    assert "Fitted lambdamart on 240 rows" in said.stdout
    auto = ["fit", "parts", "--target", "sick", "-o", "a.aucmax", "--on-disk"]
    assert "auto needs all rows in memory" in refuse(*auto, "--model", "auto")


@pytest.mark.slow
def test_other_commands_read_parts_into_memory(folder):
    said = run("compare", "parts/part-*.parquet", "--target", "sick", "--folds", "2",
               "--models", "logistic,svm-auc", "-q")  # fmt: skip
    assert "Best model: part.aucmax" in said.stdout
    run("explain", "part.aucmax", "parts", "-q")


def test_bad_parts_are_named(folder):
    fit = [*FIT, "-o", "m.aucmax"]
    assert "no file matches 'none-*.parquet'" in refuse("fit", "none-*.parquet", *fit)
    visits(1).drop("sick").write_parquet("parts/part-5.parquet")
    message = "parts/part-5.parquet has no column 'sick', which parts/part-0.parquet"
    for where in ("--on-disk", "--in-memory"):
        assert message in refuse("fit", "parts", *fit, where)
    visits(1).cast({"age": pl.String}).write_parquet("parts/part-5.parquet")
    assert "column 'age' holds strings, but numbers" in refuse("fit", "parts", *fit)
    Path("parts/part-1.parquet").write_bytes(b"PAR1 and nothing else")
    Path("parts/part-5.parquet").unlink()
    assert "parts/part-1.parquet: not a readable" in refuse("fit", "parts", *fit)
    Path("texts/part-1.csv").write_text("")
    assert "texts/part-1.csv: the file is empty" in refuse("fit", "texts", *fit)
    Path("texts/other.parquet").write_bytes(b"")
    assert "must have one format" in refuse("fit", "texts", *fit)
    assert not Path("m.aucmax").exists()
    assert not os.listdir("scratch")


LIMITED = (
    "import resource, sys; from aucmax.cli import main;"
    "limit = int(sys.argv.pop(1));"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)); main()"
)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
@pytest.mark.parametrize("data", ["parts", "texts"])
def test_a_full_disk_is_told_and_leaves_nothing(folder, data):
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, "1500", "fit", data, *FIT, "-o", "m.aucmax",
         "--on-disk"],
        env={**os.environ, "TMPDIR": "scratch"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "the disk is full" in ran.stderr
    assert not os.listdir("scratch")
    assert not Path("m.aucmax").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_ctrl_c_leaves_nothing(folder):
    arguments = ["fit", "texts", "--target", "sick", "-o", "m.aucmax", "--on-disk"]
    arguments += ["--set", "n_estimators=1000000"]
    child = subprocess.Popen(
        [sys.executable, "-m", "aucmax", *arguments],
        env={**os.environ, "TMPDIR": "scratch"}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while "Fitting" not in child.stderr.readline():
        pass
    assert os.listdir("scratch")
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 130
    assert "Interrupted" in child.stderr.read()
    child.stderr.close()
    assert not os.listdir("scratch")
    assert not Path("m.aucmax").exists()
