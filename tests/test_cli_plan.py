"""Studies planned in the shell."""

import pytest
from click.testing import CliRunner

from aucmax.cli import main
from aucmax.inference import plan_auc


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
            "--auc 0.75 --n-positive 20 --ratio 3",
            {"auc": 0.75, "n_positive": 20, "ratio": 3},
        ),
        (
            "--auc 0.8 --n-positive 40 --power 0.9 --design-effect 1.2",
            {
                "auc": 0.8,
                "n_positive": 40,
                "power": 0.9,
                "level": None,
                "design_effect": 1.2,
            },
        ),
        (
            "--auc 0.8 --auc-2 0.7 --power 0.8 --unpaired --method obuchowski",
            {
                "auc": 0.8,
                "auc_2": 0.7,
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--auc 0.75", "--n-positive and power are missing"),
        ("--auc 0.5 --power 0.8", "equal to the area"),
    ],
)
def test_bad_input_is_explained(arguments, message):
    assert message in run(*arguments.split(), exit_code=2).output
