"""Queries and levels of relevance at the command line."""

import gzip
import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax.metrics import roc_auc_score
from command_line import error_of, read_json, run

# files of these tests have columns that are neither features nor the target
pytestmark = pytest.mark.filterwarnings("ignore::aucmax.exceptions.ColumnsWarning")

N_QUERIES, SIZE = 30, 10
CSV = ["--target", "clicked", "--qid", "search"]
FAST = ["--models", "svm-auc,logistic", "--cv", "3", "-q"]
LEVELS = ["--models", "lambdamart-mauc,lambdamart,logistic", "--cv", "3", "-q"]


def searches(seed: int) -> pl.DataFrame:
    """Queries, some of them better throughout; z tells them, but not their rows."""
    rng = np.random.default_rng(seed)
    queries = rng.permutation(np.repeat(np.arange(N_QUERIES), SIZE))
    ease = 1.5 * rng.normal(size=N_QUERIES)[queries]
    x, z, noise = rng.normal(size=(3, queries.size))
    quality = x - z + ease + 0.5 * noise
    return pl.DataFrame(
        {
            "page": [f"page {i}" for i in range(queries.size)],
            "search": [f"words {q}" for q in queries],
            "x": x.round(4),
            "z": (z + ease).round(4),
            "clicked": ["yes" if q > 0 else "no" for q in quality],
            "stars": np.digitize(quality, [0, 1.5]),
        }
    )


def as_svmlight(table: pl.DataFrame) -> str:
    queries = table["search"].rank("dense").to_list()
    return "".join(
        f"{stars} qid:{query} 1:{x} 2:{z}\n"
        for stars, query, x, z in zip(
            table["stars"], queries, table["x"], table["z"], strict=True
        )
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("searches")
    for name, seed in (("known", 0), ("new", 1)):
        searches(seed).drop("stars").write_csv(folder / f"{name}.csv")
        searches(seed).drop("clicked").write_csv(folder / f"{name}-stars.csv")
        (folder / f"{name}.svm").write_text(as_svmlight(searches(seed)))
    run(
        "fit", folder / "known.csv", *CSV, "--model", "svm-auc", "-o",
        folder / "m.aucmax",
    )  # fmt: skip
    run(
        "fit", folder / "known.svm", "--model", "lambdamart-mauc", "-o",
        folder / "levels.aucmax",
    )  # fmt: skip
    return folder


def expected(metric, model: str, labels: np.ndarray) -> float:
    """The mean over queries of the new rows."""
    new = searches(1)
    scores = aucmax.load(model).decision_function(new)
    return metric(labels, scores, qid=new["search"].to_numpy())


@pytest.mark.slow
def test_compare_ranks_within_queries(folder, inside):
    command = ["compare", folder / "known.csv", *CSV, *FAST]
    result = run(*command, "--output-dir", ".")
    assert "30 queries, " in result.stdout
    assert "of them with both classes, 3 folds" in result.stdout
    assert "Student's t of the paired differences over queries" in result.stdout
    assert "DeLong" not in result.stdout
    assert result.stderr == ""
    model = aucmax.load("known.aucmax")
    roles = model.file_roles_
    assert (roles["model"], roles["qid"]) == ("svm-auc", "search")
    assert [one["name"] for one in model.encoders_[0].columns_] == ["x", "z"]


def test_evaluate_uses_the_queries_of_training(folder, inside):
    command = ["evaluate", folder / "m.aucmax", folder / "new.csv"]
    record = read_json(*command)
    clicked = (searches(1)["clicked"] == "yes").to_numpy()
    assert record["auc"] == pytest.approx(
        expected(roc_auc_score, folder / "m.aucmax", clicked), abs=1e-12
    )
    low, high = record["auc_interval"]
    assert low < record["auc"] < high
    point = record["operating_point"]
    assert point["tp"] + point["fn"] == clicked.sum()
    text = run(*command).stdout
    assert f"AUC          {record['auc']:.4f}" in text
    assert f"Means over {record['usable_queries']} queries" in text


def test_evaluate_takes_another_column_of_queries(folder, inside):
    searches(1).rename({"search": "words"}).write_csv("renamed.csv")
    command = ["evaluate", folder / "m.aucmax", "renamed.csv"]
    message = error_of(*command)
    assert "no column 'search', which named the queries at training" in message
    assert read_json(*command, "--qid", "words")["qid"] == "words"


def test_scores_need_no_queries_but_can_be_kept_beside_them(folder, inside):
    command = ["score", folder / "m.aucmax"]
    scores = run(*command, folder / "new.csv").stdout
    searches(1).select("z", "x").write_csv("bare.csv")
    assert run(*command, "bare.csv").stdout == scores
    kept = run(*command, folder / "new.csv", "--keep", "search").stdout
    assert kept.startswith("search,score,prediction\nwords ")


def test_queries_of_svmlight_files_are_used(folder):
    record = read_json("compare", folder / "known.svm", "--pos-label", 2, *FAST)
    assert record["queries"] == N_QUERIES
    assert (record["positive"], record["negative"]) == (2, [0, 1])


def test_scores_of_svmlight_rows_can_stand_beside_their_queries(folder):
    out = run("score", folder / "levels.aucmax", folder / "new.svm", "--keep", "qid")
    scores = pl.read_csv(out.stdout.encode())
    assert scores.columns == ["qid", "score"]
    assert scores["qid"].to_list() == searches(1)["search"].rank("dense").to_list()


@pytest.mark.parametrize("name", ["train.txt", "train.csv", "fold1", "train.txt.gz"])
def test_letor_files_are_recognised_by_their_first_line(folder, inside, name):
    content = (folder / "new.svm").read_bytes()
    Path(name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    scores = run("score", folder / "levels.aucmax", name).stdout
    assert scores == run("score", folder / "levels.aucmax", folder / "new.svm").stdout


@pytest.mark.parametrize(
    "data",
    [
        ["known.svm"],
        ["known-stars.csv", "--target", "stars", "--qid", "search"],
        ["known-stars.csv", "--target", "stars", "--drop", "search"],
    ],
    ids=["svmlight", "table", "without queries"],
)
def test_levels_are_compared_by_ndcg_or_without_queries_by_mauc(folder, data):
    command = ["compare", folder / data[0], *data[1:], *LEVELS]
    record = read_json(*command)
    metric = "mauc" if "--drop" in data else "ndcg@10"
    assert record["metric"] == metric
    assert record["unit"] == ("folds" if "--drop" in data else "queries")
    assert sum(record["levels"].values()) == record["rows"] == 300
    for model in record["models"]:
        assert 0.5 < model["mauc"] < model["ordinal_auc"] < 1
        assert model["low"] < model[metric] < model["high"]


def test_a_model_of_levels_is_fitted_and_evaluated(folder, inside):
    text = run("evaluate", folder / "levels.aucmax", folder / "new.svm").stdout
    assert "levels of the label 0: " in text
    assert "MAUC         0." in text
    assert "ordinal AUC  0." in text


def test_levels_without_a_model_that_learns_them_are_refused_with_a_hint(
    folder, inside
):
    command = ["compare", folder / "known.svm", "--models", "logistic"]
    message = error_of(*command)
    assert "the label has 3 different values (0: " in message
    assert "Use --pos-label VALUE to rank one value above all others" in message
    assert "name a model that learns them: auto, lambdarank, lambdamart-mauc" in message
    alone = ["fit", folder / "known-stars.csv", "--target", "stars", "--drop", "search"]
    assert "3 different values" in error_of(*alone, "-o", "m.aucmax")


def test_levels_in_queries_are_fitted_for_ndcg_by_default(folder, inside):
    fit = ["fit", folder / "known.svm", "-o", "auto.aucmax"]
    text = run(*fit, "--model", "auto:cv=2,max_fits=4").stdout
    assert "NDCG@10 on new rows: 0." in text
    record = read_json("evaluate", "auto.aucmax", folder / "new.svm")
    low, high = record["ndcg@10_interval"]
    assert 0.6 < low < record["ndcg@10"] < high
    assert record["metric"] == "ndcg@10"
    assert "score" in run("score", "auto.aucmax", folder / "new.svm").stdout
    message = error_of(*fit, "--force", "--metric", "partial_auc")
    assert "does not apply to levels of relevance in queries" in message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--qid", "serach"], "has no column 'serach'. Did you mean 'search'?"),
        (["--qid", "clicked"], "'clicked' is the target; it cannot be --qid as well"),
        (
            ["--qid", "page"],
            "none of the 300 queries of column 'page' has rows with different",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize(
    "command",
    [["compare"], ["fit", "-o", "new.aucmax"]],
    ids=lambda command: command[0],
)
def test_queries_that_make_no_sense(folder, inside, command, options, message):
    data = [folder / "known.csv", "--target", "clicked"]
    assert message in error_of(*command, *data, *options)
    assert os.listdir() == []


@pytest.mark.slow
def test_auto_has_no_probabilities_within_queries(folder, inside):
    fit = ["fit", folder / "known.csv", *CSV, "--time-limit", 1, "-o", "m.aucmax"]
    assert read_json(*fit)["calibrate"] is None
    error = error_of("score", "m.aucmax", folder / "new.csv", "--proba")
    assert "no probabilities: it was fitted with queries" in error
