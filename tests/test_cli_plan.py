"""Studies planned in the shell."""

import pytest

from aucmax.inference import plan_auc
from command_line import error_of, run

COMPARED = "--auc 0.8 --auc-2 0.7 --power 0.8 --unpaired --method obuchowski"
PART = "--auc 0.6 --null 0.4 --power 0.8 --fpr-range 0 0.1 --level 0.1"
CASES = {
    "--auc 0.75 --n-positive 20 --prevalence 0.25": {
        "n_positive": 20,
        "prevalence": 0.25,
    },
    "--auc 0.75 --width 0.2": {"width": 0.2},
    COMPARED: {"auc_2": 0.7, "power": 0.8, "paired": False, "method": "obuchowski"},
    PART: {"null": 0.4, "power": 0.8, "fpr_range": (0, 0.1), "level": 0.1},
}


@pytest.mark.parametrize("arguments", CASES)
def test_it_prints_the_sentence_of_python(arguments):
    words = arguments.split()
    expected = plan_auc(auc=float(words[1]), **CASES[arguments])
    assert run("plan", *words).stdout.strip() == repr(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--auc 0.75", "--n-positive and power are missing"),
        ("--auc 0.5 --power 0.8", "equal to the area"),
    ],
)
def test_bad_input_is_explained(arguments, message):
    assert message in error_of("plan", *arguments.split())
