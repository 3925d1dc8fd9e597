"""Thresholds, probabilities and explanations, as one types them."""

import os
import re
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
import builders
from aucmax.decisions import operating_point
from command_line import error_of, read_json, run

ROWS = 400


def visits(seed: int) -> pl.DataFrame:
    """Sick are those with a high dose, more of them in the red ward."""
    table = builders.visits(seed, ROWS).drop("patient", "day")
    rng = np.random.default_rng(seed + 9)
    signal = table["dose"] + (table["ward"] == "red") + rng.normal(size=ROWS)
    sick = np.where(signal > 1.0, "yes", "no")
    return table.with_columns(
        pl.Series("<b>noise</b>", rng.normal(size=ROWS)), pl.Series("sick", sick)
    )


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("decisions")
    before = Path.cwd()
    os.chdir(folder)
    visits(0).write_csv("known.csv")
    visits(1).write_csv("new.csv")
    fit = ["fit", "known.csv", "--target", "sick", "--drop", "cost", "--quiet"]
    run(*fit, "--model", "logistic", "-o", "plain.aucmax")
    yield folder
    os.chdir(before)


EVALUATE = ["evaluate", "plain.aucmax", "new.csv"]


def scored(model="plain.aucmax", seed=1):
    table = visits(seed)
    labels = (table["sick"] == "yes").to_numpy()
    return labels, aucmax.load(model).decision_function(table.drop("cost"))


@pytest.mark.parametrize(
    "rule",
    [
        {"recall": 0.9},
        {"fpr": 0.05},
        {"precision": 0.7},
        {"alerts": 50},
        {"alerts": 0.1},
        {"costs": (5, 1)},
        {"threshold": 0.5},
    ],
    ids=str,
)
def test_a_rule_chooses_the_threshold(rule):
    flags = [
        part for name, value in rule.items() for part in (f"--{name}", *np.ravel(value))
    ]
    point = operating_point(*scored(), **rule)
    assert read_json(*EVALUATE, *flags)["operating_point"] == point.to_dict()
    text = run(*EVALUATE, *flags).stdout
    assert f"Threshold {point.threshold:.6g} ({point.rule}). {point}" in text
    assert ("Cost" in text) == ("costs" in rule)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["evaluate", "--recall", 0.9, "--fpr", 0.1], "not --recall and --fpr"),
        (["evaluate", "--costs", 0, 0], "costs are both 0"),
        (["evaluate", "--recall", 90], "recall must be in [0, 1], got 90.0"),
        (["evaluate", "--save-threshold"], "needs a rule for the threshold, such as"),
        (["score", "--prevalence", 0.1], "add --proba"),
        (["score", "--proba", "--prevalence", 2], "prevalence must be above 0"),
        (["explain", "--row", 999], "there is no row 999: new.csv has 400 rows"),
    ],
    ids=str,
)
def test_options_that_make_no_sense_are_rejected(command, message):
    name, *options = command
    assert message in error_of(name, "plain.aucmax", "new.csv", *options)


def test_without_a_rule_it_is_the_model_s_own():
    assert read_json(*EVALUATE)["operating_point"]["threshold"] == 0.0
    assert "the model's own: best balanced accuracy" in run(*EVALUATE).stdout


def test_a_threshold_is_stored_in_the_model_and_makes_alerts():
    shutil.copy("plain.aucmax", "alerts.aucmax")
    evaluate = ["evaluate", "alerts.aucmax", "new.csv"]
    before = read_json("score", "alerts.aucmax", "new.csv")
    assert "alert" not in before
    ran = run(*evaluate, "--fpr", 0.05, "--save-threshold")
    assert "The threshold is stored in alerts.aucmax" in ran.stdout
    expected = operating_point(*scored(), fpr=0.05)
    model = aucmax.load("alerts.aucmax")
    assert model.alert_threshold_ == expected.threshold
    assert model.alert_point_ == expected.to_dict()
    after = read_json("score", "alerts.aucmax", "new.csv")
    assert sum(after["alert"]) == expected.alerts
    assert after["score"] == before["score"]
    assert after["prediction"] != before["prediction"]
    # one decision: in the file, in Python, and with another threshold
    other = read_json("score", "alerts.aucmax", "new.csv", "--threshold", 0.5)
    for record in (after, other):
        assert record["prediction"] == [["no", "yes"][k] for k in record["alert"]]
    assert sum(other["alert"]) == sum(score > 0.5 for score in before["score"])
    new = visits(1).drop("cost", "sick")
    assert model.predict(new).tolist() == after["prediction"]
    assert "has another column 'alert'" in run(
        "score", "alerts.aucmax", "new.csv", "--keep", "alert", exit_code=2
    ).stderr  # fmt: skip
    # without a rule, the stored threshold is evaluated
    text = run(*evaluate).stdout
    rule = "stored in the model, chosen for false positive rate of at most 0.05"
    assert f"Threshold {expected.threshold:.6g} ({rule}). {expected}" in text
    record = read_json(*evaluate, "--alerts", 0.1, "--save-threshold")
    assert record["model_file"] == "alerts.aucmax"
    model = aucmax.load("alerts.aucmax")
    assert model.alert_point_ == operating_point(*scored(), alerts=0.1).to_dict()
    table = visits(0)
    model.fit(table.drop("sick", "cost"), table["sick"])
    assert model.alert_threshold_ is None  # of the earlier fit


def test_scores_come_with_probabilities_and_another_threshold():
    run("score", "plain.aucmax", "new.csv", "--proba", "--threshold", 1, "-o", "s.csv")
    table = pl.read_csv("s.csv")
    assert table.columns == ["score", "probability", "prediction"]
    assert ((table["prediction"] == "yes") == (table["score"] > 1)).all()
    assert table["probability"].is_between(0, 1).all()
    rare = read_json(
        "score", "plain.aucmax", "new.csv", "--proba", "--prevalence", 0.01
    )
    assert np.mean(rare["probability"]) < table["probability"].mean() / 3


def test_evaluation_on_the_training_rows_says_so():
    evaluated = run("evaluate", "plain.aucmax", "known.csv")
    assert "the model was fitted to about 100% of these rows" in evaluated.stderr
    assert read_json("evaluate", "plain.aucmax", "known.csv")["known_rows"] == 1.0
    assert "fitted to" not in run(*EVALUATE).stderr
    assert read_json(*EVALUATE)["known_rows"] == 0.0


def test_levels_have_neither_thresholds_nor_probabilities():
    table = visits(0).with_columns(sick=pl.Series(np.arange(ROWS) % 3))
    table.write_csv("levels.csv")
    fit = ["fit", "levels.csv", "--target", "sick", "--model", "lambdamart-ordinal"]
    run(*fit, "-o", "l.aucmax", "--quiet")
    words = run("evaluate", "l.aucmax", "levels.csv", "--alerts", 5, exit_code=2).stderr
    assert "leave out --alerts" in words
    save = ["evaluate", "l.aucmax", "levels.csv", "--fpr", 0.1, "--save-threshold"]
    assert "leave out --fpr" in run(*save, exit_code=2).stderr
    words = run("score", "l.aucmax", "levels.csv", "--threshold", 5, exit_code=2).stderr
    assert "ranks by levels" in words


def test_explain_prints_importance_and_dependence():
    ran = run("explain", "plain.aucmax", "new.csv")
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("AUC 0.")
    assert lines[1].split()[0] == "dose"
    assert "mean rank by ward: 0." in ran.stdout
    assert "% of the rows)" in ran.stdout
    assert "\n  dose\n" in ran.stderr  # progress
    record = read_json("explain", "plain.aucmax", "new.csv")
    assert record["importance"]["column"][:2] == ["dose", "ward"]
    assert len(record["dependence"]) == 3
    assert record["scorecard"] is None


def test_explain_prints_contributions_to_rows_without_a_target():
    visits(1).drop("sick").write_csv("unlabelled.csv")
    explain = ["explain", "plain.aucmax", "unlabelled.csv"]
    assert run(*explain, "--row", 3).stdout.startswith("\nRow 3: score")
    record = read_json(*explain, "--row", 3, "--row", 9)
    assert [one["row"] for one in record["contributions"]] == [3, 9]
    part = record["contributions"][0]
    total = part["expected"] + sum(part["columns"].values())
    assert total == pytest.approx(part["score"])
    scores = scored()[1]
    assert part["score"] == pytest.approx(scores[2])
    top = read_json(*explain, "--top-rows", 2)["contributions"]
    highest = np.argsort(-scores, kind="stable")[:2] + 1
    assert [one["row"] for one in top] == highest.tolist()


@pytest.mark.parametrize("n_alerts", [0, 7, 400])
def test_exactly_the_highest_scored_rows_are_alerts(n_alerts):
    record = read_json("score", "plain.aucmax", "new.csv", "--alerts", n_alerts)
    assert list(record) == ["score", "alert"]
    assert sum(record["alert"]) == n_alerts
    alerts = [s for s, a in zip(record["score"], record["alert"], strict=True) if a]
    assert sorted(alerts) == sorted(record["score"])[400 - n_alerts :]


def test_alerts_of_rows_with_one_score_are_the_first():
    visits(1).head(1).select(pl.all().repeat_by(5).explode()).write_csv("same.csv")
    ran = run("score", "plain.aucmax", "same.csv", "--alerts", 2)
    assert [line[-1] for line in ran.stdout.splitlines()[1:]] == list("11000")
    assert "3 more rows have the score of the last alert" in ran.stderr
    both = ["score", "plain.aucmax", "same.csv", "--alerts", 2, "--threshold", 0]
    assert "two rules" in run(*both, exit_code=2).stderr


@pytest.mark.slow
def test_a_scorecard_is_printed_in_the_units_of_the_table():
    table = pl.read_csv("known.csv")
    table.with_columns(dose=500 + 100 * pl.col("dose")).write_csv("milligrams.csv")
    run(
        "fit", "milligrams.csv", "--target", "sick", "--model", "margin", "-o",
        "card.aucmax", "--quiet",
    )  # fmt: skip
    command = ["explain", "card.aucmax", "milligrams.csv", "--top", 2]
    text = run(*command).stdout
    assert "Scorecard:" in text
    thresholds = re.findall(r"dose (?:>|<=) (\S+)", text)
    assert thresholds
    assert all(100 < float(threshold) < 900 for threshold in thresholds)


def test_groups_of_people_are_compared_by_a_column():
    labels = scored()[0]
    new = visits(1).with_columns(ward=pl.when(pl.col("dose") < 2).then(pl.col("ward")))
    new.write_csv("wards.csv")
    has_ward = new["ward"].is_not_null().to_numpy()
    record = read_json("evaluate", "plain.aucmax", "wards.csv", "--by", "ward")
    groups = record["by"]
    assert groups["column"] == "ward"
    assert groups["n_missing"] == (~has_ward).sum()
    assert groups["threshold"] == record["operating_point"]["threshold"]
    rows = has_ward & (new["ward"] == "red").fill_null(False).to_numpy()
    red = next(one for one in groups["groups"] if one["group"] == "red")
    assert (red["n_rows"], red["n_positive"]) == (rows.sum(), labels[rows].sum())
    text = run("evaluate", "plain.aucmax", "wards.csv", "--by", "ward").stdout
    assert "By column 'ward':\ngroup" in text
    run("report", "plain.aucmax", "wards.csv", "--by", "ward", "-o", "wards.md")
    assert "## By ward" in Path("wards.md").read_text()
    ran = run(*EVALUATE, "--by", "dose", exit_code=2)
    assert "by has 400 different values" in ran.stderr
    assert "no column 'wart'" in run(*EVALUATE, "--by", "wart", exit_code=2).stderr


def test_rows_unlike_those_of_training_are_noted():
    visits(1).with_columns(pl.col("dose") * 1000).write_csv("unit.csv")
    shutil.copy("plain.aucmax", "drift.aucmax")
    rule = ["--alerts", 0.1, "--save-threshold"]
    run("evaluate", "drift.aucmax", "new.csv", *rule)
    for command in ("score", "evaluate"):
        assert "of the values are" not in run(command, "drift.aucmax", "new.csv").stderr
        notes = run(command, "drift.aucmax", "unit.csv").stderr
        assert re.search(r"note: column 'dose': 9\d% of the values are missing", notes)
        assert re.search(r"4\d\.\d% of the rows are alerts, but 10\.0% of", notes)
    run("score", "drift.aucmax", "unit.csv", "new.csv", exit_code=2)
    visits(1).write_csv("day-1.csv")
    shutil.copy("unit.csv", "day-2.csv")
    notes = run("score", "drift.aucmax", "day-*.csv", "-o", "of days").stderr
    assert re.search(r"column 'dose': [45]\d% of the values are missing", notes)
