"""Studies planned in the shell."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from aucmax.cli import main
from aucmax.metrics import plan_auc


def run(*arguments, exit_code=0):
    ran = CliRunner().invoke(main, ["plan", *map(str, arguments)])
    assert ran.exit_code == exit_code, ran.output
    return ran


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (
            "--auc 0.75 --null 0.65 --power 0.8",
            {"auc": 0.75, "null": 0.65, "power": 0.8},
        ),
        (
            "--auc 0.75 --positives 20 --ratio 3",
            {"auc": 0.75, "n_positive": 20, "ratio": 3},
        ),
        (
            "--auc 0.8 --positives 40 --power 0.9 --design-effect 1.2",
            {
                "auc": 0.8,
                "n_positive": 40,
                "power": 0.9,
                "level": None,
                "design_effect": 1.2,
            },
        ),
        (
            "--auc 0.8 --auc-b 0.7 --power 0.8 --unpaired --method obuchowski",
            {
                "auc": 0.8,
                "auc_b": 0.7,
                "power": 0.8,
                "paired": False,
                "method": "obuchowski",
            },
        ),
        (
            "--auc 0.6 --null 0.4 --power 0.8 --fpr-range 0 0.1 --level 0.1",
            {
                "auc": 0.6,
                "null": 0.4,
                "power": 0.8,
                "fpr_range": (0, 0.1),
                "level": 0.1,
            },
        ),
    ],
)
def test_it_prints_the_sentence_of_python(arguments, options):
    assert run(*arguments.split()).stdout.strip() == repr(plan_auc(**options))


def test_a_pilot_is_read_from_a_table(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    a, b = rng.normal(size=(2, 300)) + np.outer([1.2, 0.8], y)
    path = tmp_path / "pilot.csv"
    sick = np.where(y == 1, "yes", "no")
    pl.DataFrame({"sick": sick, "a": a, "b": b}).write_csv(path)
    pilot = ("--pilot", path, "--target", "sick", "--score", "a", "--score", "b")
    found = json.loads(run("--power", 0.8, *pilot, "--json").stdout)
    expected = plan_auc(power=0.8, pilot=(y, a, b))
    assert found["n_positive"] == expected.n_positive
    assert found["null"] is None
    text = run("--power", 0.8, *pilot[:-1], "c", exit_code=2).output
    assert "has no column 'c'" in text
    text = run("--power", 0.8, *pilot[:-1], "sick", exit_code=2).output
    assert "must hold real numbers" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--auc 0.75", "--positives and power are missing"),
        ("--auc 0.75 --power 0.8 --target y", "describe the file of --pilot"),
        ("--power 0.8 --pilot x.csv", "--pilot needs --target and one or two"),
        ("--auc 0.5 --power 0.8", "equal to the area"),
    ],
)
def test_bad_input_is_explained(arguments, message):
    assert message in run(*arguments.split(), exit_code=2).output
