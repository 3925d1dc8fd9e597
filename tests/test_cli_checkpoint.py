"""``aucmax fit --checkpoint``: a killed command goes on where it was."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import aucmax
from aucmax.cli import main
from aucmax.trees.rounds import TreeRounds


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    dose = rng.normal(size=200)
    sick = np.where(dose + rng.normal(size=200) > 0.0, "yes", "no")
    pl.DataFrame({"dose": dose, "sick": sick}).write_csv("a.csv")
    return tmp_path


def run(*arguments, exit_code=0):
    command = ["fit", "a.csv", "--target", "sick", "--quiet", *arguments]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == exit_code, result.output
    return " ".join(result.output.split())


def test_a_killed_command_goes_on_and_removes_the_file_in_the_end(table, monkeypatch):
    fit = ["--model", "lambdamart", "--set", "n_estimators=50"]
    with monkeypatch.context() as patch:
        before = TreeRounds._round

        def killed(self):
            if self.watch.n_iter == 30:
                raise KeyboardInterrupt
            return before(self)

        patch.setattr(TreeRounds, "_round", killed)
        run(*fit, "--checkpoint", "a.part", "-o", "m.aucmax", exit_code=130)
    assert (table / "a.part").exists()
    said = run(*fit[:3], "n_estimators=9", "--checkpoint", "a.part", "-o", "m.aucmax",
               exit_code=2)  # fmt: skip
    assert "num_iterations was 50 and is 9 now" in said
    run(*fit, "--checkpoint", "a.part", "-o", "m.aucmax")
    assert not (table / "a.part").exists()
    run(*fit, "--checkpoint", "b.part", "-o", "whole.aucmax")
    texts = [
        aucmax.load(name).estimator_.model_text_
        for name in ("m.aucmax", "whole.aucmax")
    ]
    assert texts[0] == texts[1]


def test_checkpoints_that_make_no_sense_are_refused_before_the_work(table):
    said = run("--model", "linear", "--checkpoint", "a.part", "-o", "m", exit_code=2)
    assert "linear keeps no checkpoint" in said
    said = run("--checkpoint", "a.csv", "-o", "m.aucmax", exit_code=2)
    assert "a.csv is an input" in said
    said = run("--checkpoint", "m.aucmax", "-o", "m.aucmax", exit_code=2)
    assert "choose another name" in said
