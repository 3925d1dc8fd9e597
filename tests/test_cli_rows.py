"""Weights, groups, times, test files, parameters and data checks, as one types them."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax.metrics import roc_auc_score
from builders import visits
from command_line import error_of, read_json, run

ROWS = 240
FAST = ["--models", "svm-auc,logistic"]


@pytest.fixture(autouse=True)
def files(inside: Path) -> None:
    visits().write_csv("visits.csv")
    visits(1).write_csv("others.csv")


COMPARE = ["compare", "visits.csv", "--target", "sick", *FAST]
FIT = ["fit", "visits.csv", "--target", "sick", "-o", "new.aucmax"]


def test_groups_are_no_feature_and_are_kept_together():
    result = run(*COMPARE, "--groups", "patient")
    assert "5 folds of whole groups" in result.stdout
    record = read_json(*COMPARE, "--groups", "patient")
    assert (record["scheme"], record["groups"]) == ("groups", "patient")
    assert record["test_rows"] == ROWS


def test_the_past_is_learned_from_and_what_came_after_is_tested():
    record = read_json(*COMPARE, "--times", "day", "--cv", 3)
    assert (record["scheme"], record["folds"], record["times"]) == ("times", 3, "day")
    assert record["rows"] == ROWS
    assert 0.6 * ROWS < record["test_rows"] < ROWS
    assert "later than the training rows" in run(*COMPARE, "--times", "day").stdout


def test_weights_count_and_are_no_feature():
    run(*FIT, "--sample-weight", "cost", "--model", "logistic")
    model, other = aucmax.load("new.aucmax"), visits(1)
    assert "cost" not in [column["name"] for column in model.encoders_[0].columns_]
    record = read_json(
        "evaluate", "new.aucmax", "others.csv", "--sample-weight", "cost"
    )
    scores = model.decision_function(other.drop("cost"))
    expected = roc_auc_score(other["sick"], scores, sample_weight=other["cost"])
    assert record["auc"] == pytest.approx(expected, abs=1e-12)


def test_another_file_is_tested_and_the_best_model_saved():
    options = ["compare", "visits.csv", "--target", "sick", "--test", "others.csv"]
    options += ["--models", "svm-auc,logistic", "--drop", "patient", "--drop", "day"]
    result = run(*options, "--output-dir", ".")
    assert "tested on 240 other rows" in result.stdout
    assert "over the test rows" in result.stdout
    record = read_json(*options)
    best = {model["name"]: model["auc"] for model in record["models"]}[record["best"]]
    evaluated = read_json("evaluate", "visits.aucmax", "others.csv")
    assert best == pytest.approx(evaluated["auc"], abs=1e-9)


def test_a_test_file_leaves_no_folds():
    message = error_of(*COMPARE, "--test", "others.csv", "--cv", 3)
    assert "--test names the test rows" in message
    assert "no such file" in error_of(*COMPARE, "--test", "othrs.csv")


@pytest.mark.parametrize("command", [COMPARE, FIT], ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--sample-weight", "costs"],
            "visits.csv has no column 'costs'. Did you mean 'cost'",
        ),
        (["--groups", "sick"], "'sick' is the target; it cannot be --groups as well"),
        (["--sample-weight", "cost", "--groups", "cost"], "cannot be --groups as well"),
        (["--sample-weight", "cost", "--drop", "cost"], "is --sample-weight; it"),
        (["--groups", "dose"], "'dose' must hold whole numbers up to 2^53"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_columns_that_make_no_sense(command, options, message):
    assert message in error_of(*command, *options)


def test_times_that_cannot_be_read():
    visits(when=["soon"] * ROWS).write_csv("visits.csv")
    message = error_of(*COMPARE, "--times", "when")
    assert "column 'when' must be a number or a date such as 2024-01-31" in message


def test_svmlight_files_have_no_columns_to_name():
    Path("rows.svm").write_text("1 1:0.5\n0 2:1\n" * 20)
    message = error_of("compare", "rows.svm", "--sample-weight", "cost")
    assert "columns have no names" in message


@pytest.mark.slow
def test_rows_without_a_target_are_left_out_with_a_note():
    sick = [None if i % 10 == 0 else s for i, s in enumerate(visits()["sick"])]
    visits(sick=sick).write_csv("visits.csv")
    result = run(*COMPARE, "--sample-weight", "cost", "--groups", "patient")
    left_out = "column 'sick' is missing in 24 of 240 rows: they are left out"
    assert left_out in result.stderr
    assert "216 rows, " in result.stdout
    record = read_json(*FIT, "--model", "logistic")
    assert (record["rows"], record["rows_without_target"]) == (216, 24)
    evaluated = run("evaluate", "new.aucmax", "visits.csv")
    assert left_out in evaluated.stderr
    words = pl.Series(sick).cast(pl.String).fill_null(" ")
    visits(sick=words).write_csv("visits.csv")
    assert left_out in run(*COMPARE).stderr


def test_a_planted_leak_and_an_identifier_are_noted():
    rng = np.random.default_rng(0)
    bill = visits()["sick"] * 9 + rng.random(ROWS)
    visits(bill=bill, case=rng.permutation(ROWS)).write_csv("visits.csv")
    said = run(*COMPARE, "--cv", 2).stderr
    assert "note: column 'bill' alone ranks the target almost perfectly" in said
    assert "note: column 'case' is different in every row" in said


def test_parameters_are_set_and_checked():
    record = read_json(*FIT, "--model", "svm-auc:C=3,tol=1e-3")
    assert record["parameters"] == {"C": 3.0, "tol": 0.001}
    assert aucmax.load("new.aucmax").members_[0]["models"][0].C == 3.0
    os.remove("new.aucmax")
    message = error_of(*FIT, "--model", "svm-auc:c=3")
    assert "svm-auc has no parameter 'c'" in message
    assert "Its parameters are " in message
    message = error_of(*FIT, "--model", "lambdamart:n_estimators=many")
    assert "n_estimators must be an integer, got 'many'" in message
    # what only the model can know, it says
    assert "penalty" in error_of(*FIT, "--model", "svm-auc:penalty=l7")


AUTO = ["--time-limit", "2", "--model", "auto:cv=2"]


def test_fit_without_a_model_tries_many_and_says_how_well_they_rank():
    result = run(*FIT, *AUTO, "--drop", "patient", "--drop", "day")
    assert "Fitting auto to 240 rows, up to 2 s" in result.stderr
    assert "logistic" in result.stderr
    assert "AUC on new rows: 0." in result.stdout
    assert "Combination: " in result.stdout or "Selected: " in result.stdout
    scores = run("score", "new.aucmax", "others.csv").stdout.splitlines()
    assert scores[0] == "score,prediction"
    assert len(scores) == ROWS + 1
    record = read_json("evaluate", "new.aucmax", "others.csv")
    assert (record["model"], record["auc"] > 0.6) == ("auto", True)


@pytest.mark.slow
def test_the_search_is_recorded_and_trained_for_the_range():
    record = read_json(*FIT, *AUTO, "--fpr-range", 0, 0.2)
    assert sum(record["combination"].values()) == pytest.approx(1)
    assert record["leaderboard"][0]["model"] == "combination"
    evaluated = read_json("evaluate", "new.aucmax", "others.csv")
    assert (evaluated["metric"], evaluated["fpr_range"]) == ("partial_auc", [0, 0.2])


@pytest.mark.parametrize("options", [("--groups", "patient"), ("--times", "day")])
def test_groups_and_times_are_known_to_every_model(options):
    model = ("--model", "logistic")
    record = read_json(*FIT, *model, *options)
    assert options[1] in (record["groups"], record["times"])
    assert record["calibrate"] == "auto"
