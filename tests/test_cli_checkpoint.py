"""``aucmax fit --checkpoint``: a killed command resumes where it was."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import aucmax
from aucmax.cli import main
from aucmax.model_selection.auto_checkpoint import SearchCheckpoint
from killed import KilledError

COMMAND = ["fit", "a.csv", "--target", "sick", "--quiet"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    dose = rng.normal(size=200)
    sick = np.where(dose + rng.normal(size=200) > 0.0, "yes", "no")
    pl.DataFrame({"dose": dose, "sick": sick}).write_csv("a.csv")
    return tmp_path


def run(*arguments, exit_code=0):
    result = CliRunner().invoke(main, [*COMMAND, *arguments])
    assert result.exit_code == exit_code, result.output
    return " ".join(result.output.split())


@pytest.mark.slow
def test_a_killed_command_resumes_and_removes_the_file_in_the_end(table, monkeypatch):
    fit = ["--time-limit", "2", "--checkpoint", "a.part", "-o", "m.aucmax"]
    with monkeypatch.context() as patch:
        update = SearchCheckpoint.update

        def update_and_die(self, **options):
            update(self, **options)
            raise KilledError

        patch.setattr(SearchCheckpoint, "update", update_and_die)
        run(*fit, exit_code=1)
    assert (table / "a.part").exists()
    said = run(*fit, "--set", "folds=3", exit_code=2)
    assert "the digest of the folds was" in said
    run(*fit)
    assert not (table / "a.part").exists()
    aucmax.load("m.aucmax")


def test_checkpoints_that_make_no_sense_are_refused_before_the_work(table):
    said = run("--checkpoint", "a.csv", "-o", "m.aucmax", exit_code=2)
    assert "a.csv is an input" in said
    said = run("--checkpoint", "m.aucmax", "-o", "m.aucmax", exit_code=2)
    assert "choose another name" in said
