"""Raw tables: text, missing values, an empty column, sparse rows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from aucmax.cli import main
from aucmax.datasets import load_table
from aucmax.tables import check_table, encode_target
from aucmax.tables.folds import split_rows

pytestmark = pytest.mark.real_data

#: plain logistic regression on these data, five folds, as their collector reports it
REPORTED = {"hypothyroid": 0.9861, "sick": 0.9496, "kr-vs-kp": 0.9937}


def run(*arguments: object) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTED)
def test_compare_reaches_the_reported_auc_on_a_table(name, real_data, tmp_path):
    path = real_data / f"{name}/{name}.csv.gz"
    out = run(
        "compare", path, "--target", "target", "--json", "--quiet", "--output-dir",
        tmp_path, "--models", "svm-auc,logistic",
    )  # fmt: skip
    record = json.loads(out)
    aucs = {model["name"]: model["auc"] for model in record["models"]}
    assert aucs["logistic"] >= REPORTED[name] - 0.001
    assert aucs["svm-auc"] >= REPORTED[name] - 0.003
    assert Path(record["report"]).stat().st_size > 10_000
    scores = run("score", record["model_file"], path).splitlines()
    assert len(scores) == record["rows"] + 1


def test_the_empty_column_of_sick_is_left_out(real_data, tmp_path):
    path = real_data / "sick/sick.csv.gz"
    out = run(
        "fit", path, "--target", "target", "--model", "logistic", "--json", "-o",
        tmp_path / "m.aucmax",
    )  # fmt: skip
    assert json.loads(out)["dropped_columns"]["TBG"] == "it is empty"


@pytest.mark.slow
def test_a9a_is_learned_from_one_file_and_measured_on_another(real_data, tmp_path):
    model = tmp_path / "a9a.aucmax"
    run("fit", real_data / "a9a/a9a_train.svm.gz", "--model", "svm-auc", "-o", model)
    record = json.loads(
        run("evaluate", model, real_data / "a9a/a9a_test.svm.gz", "--json")
    )
    assert record["auc"] >= 0.901
    low, high = record["auc_interval"]
    assert low < 0.9022 < high


def test_queries_of_a_ranking_collection_are_learned_and_measured(real_data, tmp_path):
    folder, model = real_data / "mq2008", tmp_path / "mq.aucmax"
    run("fit", folder / "S1.svm.gz", "--model", "lambdamart-mauc", "-o", model)
    record = json.loads(run("evaluate", model, folder / "S2.svm.gz", "--json"))
    assert record["levels"] == {"0": 3080, "1": 385, "2": 170}
    assert (record["queries"], record["usable_queries"]) == (157, 112)
    assert record["mauc"] > 0.70
    assert record["ordinal_auc"] > 0.71
    low, high = record["ndcg@10_interval"]
    assert low < record["ndcg@10"] < high


@pytest.mark.slow
def test_models_of_levels_and_of_classes_are_compared_within_queries(real_data):
    out = run(
        "compare", real_data / "mq2008/S1.svm.gz", "--json", "--quiet",
        "--models", "lambdamart-ordinal,svm-auc,lightgbm", "--cv", "3",
    )  # fmt: skip
    record = json.loads(out)
    assert (record["metric"], record["usable_queries"]) == ("ndcg@10", 105)
    maucs = {model["name"]: model["mauc"] for model in record["models"]}
    # learning within queries pays
    assert min(maucs["lambdamart-ordinal"], maucs["svm-auc"]) > maucs["lightgbm"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REPORTED, "spambase", "mammography", "ionosphere"])
def test_public_tables_have_no_leak_and_no_identifier(name, real_data):
    table = load_table(real_data / f"{name}/{name}.csv.gz")
    target = encode_target(table["target"])
    folds = split_rows(target, None, 0)
    notices = check_table(table.drop("target"), target, folds)
    kinds = {notice.kind for notice in notices}
    assert kinds <= {"copies", "constant"}
