"""The command line as a new user meets it."""

import gzip
import inspect
import json
import os
import sys
from pathlib import Path

import click
import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax import (
    decisions,
    inference,
    inspection,
    model_selection,
    report,
    tables,
)
from aucmax.cli import main
from aucmax.datasets import load_demo, load_table
from aucmax.metrics import roc_auc_score
from command_line import error_of, run

ROWS = 300
FAST = ["--models", "svm-auc,logistic", "--cv", "3"]


def visits(seed: int) -> pl.DataFrame:
    """Text, gaps, dates as text, wide ranges, a key; the target is a word."""
    rng = np.random.default_rng(seed)
    size = rng.normal(size=ROWS)
    ward = rng.integers(0, 4, ROWS)
    risk = size + (ward == 2) + rng.normal(size=ROWS) * 0.8
    return pl.DataFrame(
        {
            "key": [f"patient {seed}-{i}" for i in range(ROWS)],
            "size": [None if i % 13 == 0 else s for i, s in enumerate(size.tolist())],
            "ward": [f"{w:03d}" if w else "intensive" for w in ward],
            "day": [f"2024-0{1 + i % 9}-1{i % 7}" for i in range(ROWS)],
            "dose": 10.0 ** rng.uniform(-150, 150, ROWS),
            "outcome": ["ill" if r > 1.5 else "well" for r in risk],
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("visits")
    visits(0).write_csv(folder / "visits.csv")
    visits(1).write_csv(folder / "new.csv")
    run(
        "fit", folder / "visits.csv", "--target", "outcome", "--output",
        folder / "m.aucmax", "--model", "svm-auc",
    )  # fmt: skip
    return folder


@pytest.mark.parametrize("command", main.commands)
def test_every_command_explains_itself_with_examples(command):
    assert command in run("--help").output
    text = run(command, "--help").output
    assert f"Examples:\n  aucmax {command}" in text
    assert "--json" in text


#: options on files, columns and printing, which have no parameter of the same name
ONLY_TYPED = {
    "as_json", "quiet", "force", "output", "output_dir", "read_options", "keep", "drop",
    "safe_csv", "save_threshold", "proba", "model", "format", "top",
    "horizon", "top_rows", "row_numbers", "unpaired", "target", "duration",
    "alerts", "for_onnx",
}  # fmt: skip


def python_parameters():
    """Names of the parameters of what the commands call."""
    calls = [
        aucmax.AutoRanker, aucmax.AutoRanker.fit, aucmax.AutoRanker.predict_proba,
        aucmax.AutoRanker.predict_event_probability, decisions.operating_point,
        decisions.compare_groups, inference.plan_auc, inspection.permutation_importance,
        model_selection.compare_models, report.report_model, tables.encode_target,
    ]  # fmt: skip
    return {name for call in calls for name in inspect.signature(call).parameters}


@pytest.mark.parametrize("command", main.commands.values(), ids=main.commands)
def test_options_have_the_names_of_python_and_are_at_most_18(command):
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert len(options) <= 18
    names = {option.name for option in options}
    assert names - ONLY_TYPED <= python_parameters()


def test_the_version_is_printed():
    assert aucmax.__version__ in run("--version").output


def test_demo_compares_draws_saves_and_can_be_repeated(inside, monkeypatch):
    fewer = load_demo().tail(1400)
    monkeypatch.setattr("aucmax.datasets.load_demo", lambda: fewer)
    code = sys.modules["aucmax.cli.demo"]
    monkeypatch.setattr(code, "_CANDIDATES", ("logistic",))
    first = run("demo", "--quiet")
    for name in ("auto", "logistic", "lightgbm", "lambdamart"):
        assert name in first.stdout
    files = {"machines.csv", "new-machines.csv", "machines.aucmax"}
    assert set(os.listdir("aucmax-demo")) == files | {"machines-report.html"}
    page = Path("aucmax-demo/machines-report.html").read_text(encoding="utf-8")
    assert "<pre><code>aucmax demo</code></pre>" in page
    assert "simulated machines, chosen to show interactions" in page
    assert os.getcwd() not in page
    # the commands that it suggests work as they are
    for line in first.stdout.splitlines():
        words = line.split()
        if line.startswith("  aucmax evaluate"):
            assert "AUC" in run(*words[1:]).stdout
        if line.startswith("  aucmax score"):
            assert run(*words[1 : words.index("|")]).stdout.startswith("score,")
    two = ["logistic", "lightgbm"]
    monkeypatch.setattr(code, "_MODELS", two)
    again = json.loads(run("demo", "--quiet", "--json").stdout)
    assert again["best"] in two
    assert Path(again["new_data_file"]).exists()


def test_compare_prints_a_table_and_saves_the_best_model_and_a_report(folder, inside):
    command = ["compare", folder / "visits.csv", "--target", "outcome", *FAST]
    result = run(*command, "--output-dir", ".")
    assert "(column 'outcome' is 'ill', not 'well')" in result.stdout
    assert "vs logistic" in result.stdout
    assert "column 'key' is left out: its strings look like names" in result.stderr
    assert "fold 3/3 logistic AUC" in result.stderr
    assert sorted(os.listdir()) == ["visits-report.html", "visits.aucmax"]
    scores = aucmax.load("visits.aucmax").decision_function(visits(1))
    assert roc_auc_score(visits(1)["outcome"] == "ill", scores) > 0.75


def test_compare_without_saving_writes_nothing(folder, inside):
    run("compare", folder / "visits.csv", "--target", "outcome", *FAST)
    assert os.listdir() == []


def test_the_positive_value_and_unwanted_columns_can_be_chosen(folder, inside):
    result = run(
        "fit", folder / "visits.csv", "--target", "outcome", "--pos-label", "well",
        "--drop", "size", "--drop", "day", "--output", "m.aucmax", "--json",
        "--model", "logistic",
    )  # fmt: skip
    record = json.loads(result.stdout)
    assert (record["positive"], record["negative"]) == ("well", "ill")
    model = aucmax.load("m.aucmax")
    assert [column["name"] for column in model.encoders_[0].columns_] == [
        "ward",
        "dose",
    ]


def test_scores_go_to_the_output_in_the_order_of_the_rows(folder):
    result = run("score", folder / "m.aucmax", folder / "new.csv")
    scores = pl.read_csv(result.stdout.encode())
    assert scores.columns == ["score", "prediction"]
    model = aucmax.load(folder / "m.aucmax")
    np.testing.assert_array_equal(scores["score"], model.decision_function(visits(1)))
    assert set(scores["prediction"]) == {"ill", "well"}


def test_scoring_needs_neither_target_nor_order_of_columns(folder, inside):
    expected = run("score", folder / "m.aucmax", folder / "new.csv").stdout
    columns = ["ward", "dose", "day", "size"]
    visits(1).select(columns).write_csv("bare.csv")
    assert run("score", folder / "m.aucmax", "bare.csv").stdout == expected


def test_evaluate_measures_and_counts_errors(folder, inside):
    command = ["evaluate", folder / "m.aucmax", folder / "new.csv"]
    text = run(*command).stdout
    record = json.loads(run(*command, "--json").stdout)
    labels = (visits(1)["outcome"] == "ill").to_numpy()
    model = aucmax.load(folder / "m.aucmax")
    scores = model.decision_function(visits(1))
    assert record["auc"] == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)
    low, high = record["auc_interval"]
    assert low < record["auc"] < high
    assert f"AUC          {record['auc']:.4f}" in text
    flagged = model.predict(visits(1)) == "ill"
    point = record["operating_point"]
    assert point["tp"] == (flagged & labels).sum()
    assert point["fp"] == (flagged & ~labels).sum()
    assert point["tp"] + point["fn"] == labels.sum()
    assert f"misses {point['fn']}" in text


def test_svmlight_files_need_no_target_and_may_differ_in_width(inside):
    rng = np.random.default_rng(0)

    def rows(width: int) -> bytes:
        dense = rng.normal(size=(ROWS, width)).round(3)
        labels = (dense[:, 0] + rng.normal(size=ROWS) > 0) * 2 - 1
        lines = [
            f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v > 0)
            for label, row in zip(labels, dense, strict=True)
        ]
        return ("\n".join(lines) + "\n").encode()

    Path("train.svm.gz").write_bytes(gzip.compress(rows(6)))
    Path("test.libsvm").write_bytes(rows(4))
    run("compare", "train.svm.gz", *FAST, "--quiet", "--output-dir", ".")
    record = json.loads(run("evaluate", "train.aucmax", "test.libsvm", "--json").stdout)
    assert record["auc"] > 0.6
    assert record["positive"] == 1
    assert len(run("score", "train.aucmax", "test.libsvm").stdout.splitlines()) == 301


@pytest.mark.parametrize("name", ["scores.csv", "scores.tsv", "scores.parquet"])
def test_scores_can_be_written_with_a_key_beside_them(folder, inside, name):
    run("score", folder / "m.aucmax", folder / "new.csv", "--keep", "key", "-o", name)
    scores = load_table(name)
    assert scores.columns == ["key", "score", "prediction"]
    assert scores["key"].to_list() == visits(1)["key"].to_list()


def test_a_model_is_exported(folder, inside):
    pytest.importorskip("onnx", reason="onnx is not installed")
    from aucmax.onnx import to_onnx

    command = ["fit", folder / "visits.csv", "--target", "outcome", "--model", "linear"]
    run(*command, "--drop", "day", "-o", "m.aucmax", "-q")
    said = run("export", "m.aucmax", "--to", "onnx", "m.onnx").stdout
    assert said == "Inputs: size, ward, dose. Saved to m.onnx.\n"
    exported = to_onnx(aucmax.load("m.aucmax")).SerializeToString()
    assert Path("m.onnx").read_bytes() == exported
    message = error_of("export", "m.aucmax", "m.onx")
    assert "must end in one of .onnx" in message


def test_force_replaces_files(folder, inside):
    command = [
        "fit", folder / "visits.csv", "--target", "outcome", "-o", "m.aucmax",
        "--model", "logistic",
    ]  # fmt: skip
    run(*command)
    before = Path("m.aucmax").stat().st_mtime_ns
    run(*command, "--force")
    assert Path("m.aucmax").stat().st_mtime_ns > before
