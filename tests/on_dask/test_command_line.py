"""The command line with workers: the same models and scores, and clear errors."""

import os
import re
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

pytest.importorskip("distributed")

import psutil
from distributed import Client, LocalCluster

import aucmax
from aucmax.cli import main
from aucmax.cli.row_storage import LOOPBACK, ProgressLine

ROWS = 600


@pytest.fixture(scope="module")
def address():
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            scheduler_kwargs=LOOPBACK,
        ) as cluster,
        Client(cluster, set_as_default=False),
    ):
        yield cluster.scheduler_address


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x, ward = rng.normal(size=(ROWS, 2)), rng.choice(["north", "south"], ROWS)
    sick = x[:, 0] + (ward == "north") + rng.normal(size=ROWS) > 1
    frame = pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "ward": ward, "sick": sick * 1})
    Path("parts").mkdir()
    for k in range(3):
        frame[200 * k : 200 * k + 200].write_parquet(f"parts/part-{k}.parquet")
    return tmp_path


def run(*arguments, exit_code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == exit_code, result.output
    assert "Traceback" not in result.output
    return result


FIT = ["fit", "parts", "--target", "sick", "-q", "--force", "-o"]


def test_linear_models_are_those_of_one_process(folder, address):
    run(*FIT, "m.aucmax", "--model", "svm-auc", "--scheduler", address)
    run(*FIT, "local.aucmax", "--model", "svm-auc", "--on-disk")
    model, local = aucmax.load("m.aucmax"), aucmax.load("local.aucmax")
    weights = local.estimator_.coef_
    np.testing.assert_allclose(model.estimator_.coef_, weights, rtol=1e-9)
    np.testing.assert_array_equal(model.row_sketch_, local.row_sketch_)


def test_trees_score_and_evaluate_by_workers(folder, address):
    settings = ["--model", "lambdamart", "--set", "n_estimators=10"]
    run(*FIT, "m.aucmax", *settings, "--scheduler", address)
    both = [["--scheduler", address], ["--in-memory"]]
    for k, where in enumerate(both):
        run("score", "m.aucmax", "parts", "-o", f"{k}.csv", *where)
    ours, local = pl.read_csv("0.csv"), pl.read_csv("1.csv")
    np.testing.assert_allclose(ours["score"], local["score"], rtol=1e-9)
    run("score", "m.aucmax", "parts", "-o", "scores", "--scheduler", address)
    assert len(os.listdir("scores")) == 3
    said = [run("evaluate", "m.aucmax", "parts", *where).stdout for where in both]
    assert said[0] == said[1]
    assert "AUC          0.8" in said[0]


PAGE = (Path(__file__).parents[2] / "docs/user_guide/more_rows.md").read_text()
COMMANDS = [
    re.findall(r"^\$ aucmax (.*)$", block, re.MULTILINE)
    for block in PAGE.split("```text\n")[1:]
    if block.startswith("$ aucmax")
]


@pytest.mark.parametrize("commands", COMMANDS)
def test_the_commands_of_the_page_run_on_two_workers(folder, address, commands):
    for name in ("clicks", "clicks-of-june", "new-clicks"):
        Path(name).symlink_to("parts")
    for command in commands:
        here = command.replace("tcp://10.0.0.1:8786", address)
        run(*shlex.split(here.replace("clicked", "sick")))
    assert Path("clicks.aucmax").is_file()
    assert len(os.listdir("scores")) == 3


def test_models_that_workers_cannot_fit_are_refused(folder, address):
    said = run(
        *FIT, "m.aucmax", "--model", "logistic", "--scheduler", address, exit_code=2
    )
    assert "logistic cannot be fitted by Dask's workers" in said.stderr


def test_a_scheduler_that_is_not_there_is_told_soon(folder):
    said = run(*FIT, "m.aucmax", "--scheduler", "tcp://127.0.0.1:9", exit_code=2)
    assert "there is no scheduler at tcp://127.0.0.1:9" in said.stderr
    both = ["--scheduler", "tcp://127.0.0.1:9", "--workers", "2"]
    assert "leave out --workers" in run(*FIT, "m.aucmax", *both, exit_code=2).stderr


def listening(process):
    """Return the addresses at which a process and its children listen."""
    found = set()
    with suppress(psutil.NoSuchProcess):
        for one in (process, *process.children(recursive=True)):
            with suppress(psutil.Error):
                found.update(
                    each.laddr.ip
                    for each in one.net_connections("inet")
                    if each.status == psutil.CONN_LISTEN
                )
    return found


def test_workers_of_this_machine_are_started_and_listen_to_it_alone(folder):
    command = [sys.executable, "-m", "aucmax", *FIT, "m.aucmax", "--model", "svm-auc"]
    ran = subprocess.Popen(
        [*command, "--workers", "2", "--on-disk"], stderr=subprocess.PIPE, text=True
    )
    process, addresses = psutil.Process(ran.pid), set()
    while ran.poll() is None:
        addresses |= listening(process)
        time.sleep(0.5)
    assert ran.returncode == 0, ran.stderr.read()
    ran.stderr.close()
    assert aucmax.load("m.aucmax").n_rows_ == ROWS
    assert addresses == {"127.0.0.1"}


def test_no_workers_are_started_for_rows_that_fit_in_memory(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)  # an error, if asked for
    model = ["--model", "svm-auc", "--workers", "2"]
    said = run(*FIT[:4], "--force", "-o", "m.aucmax", *model)
    assert "fit in memory" in said.stderr
    assert "--on-disk starts them" in said.stderr
    assert "fit in memory" not in run(*FIT, "m.aucmax", *model).stderr  # quiet
    for command in ("evaluate", "score"):
        said = run(command, "m.aucmax", "parts", "--workers", "2")
        assert "no workers are started" in said.stderr
    monkeypatch.setattr("aucmax.datasets.memory.free_memory", lambda: 1000)
    assert "aucmax[dask]" in run(*FIT, "m.aucmax", *model, exit_code=2).stderr


def test_without_dask_it_says_what_to_install(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = run(*FIT, "m.aucmax", "--workers", "2", "--on-disk", exit_code=2)
    assert "pip install 'aucmax[dask]'" in said.stderr


def test_news_are_shown_every_few_seconds(monkeypatch):
    seen = []
    clock = iter([0.0, 1.0, 5.0, 5.0, 6.0])
    monkeypatch.setattr("aucmax.cli.row_storage.monotonic", lambda: next(clock))
    progress = ProgressLine(lambda text, n: seen.append(text))
    progress("round 1")
    progress("round 2")
    progress("round 3")
    assert seen == ["round 2"]
