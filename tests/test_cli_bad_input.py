"""Whatever is wrong: one clear message, exit code 2, no traceback, no file."""

import os
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import aucmax
from aucmax.cli import main
from aucmax.linear import AUCSVC
from command_line import error_of, read_json, run, save_logistic

ROWS = 40


def table(**columns: object) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    usual = {
        "age": rng.normal(50, 9, ROWS).round(1),
        "sex": ["F", "M"] * (ROWS // 2),
        "sick": [0, 0, 0, 1] * (ROWS // 4),
    }
    return pl.DataFrame({**usual, **columns})


@pytest.fixture(scope="module")
def good_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A good table, and a good model of it."""
    folder = tmp_path_factory.mktemp("good")
    table().write_csv(folder / "good.csv")
    save_logistic(folder / "good.aucmax", table(), "sick")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(autouse=True)
def files(good_files: dict[str, bytes], inside: Path) -> None:
    """Both in the current folder."""
    for name, content in good_files.items():
        Path(name).write_bytes(content)


COMPARE = ["compare", "{}", "--target", "sick"]
FIT = ["fit", "{}", "--target", "sick", "-o", "new.aucmax"]
SCORE = ["score", "good.aucmax", "{}"]
EVALUATE = ["evaluate", "good.aucmax", "{}"]
LEARNING = pytest.mark.parametrize(
    "command", [COMPARE, FIT], ids=lambda command: command[0]
)


def on(command: list[str], data: str) -> str:
    return error_of(*(word.format(data) for word in command))


BAD_FILES = {
    "god.csv": (None, "god.csv: no such file or folder. Did you mean 'good.csv'"),
    "absent.xyz": (None, "absent.xyz: no such file or folder"),
    "broken.csv": (b"age,sex,sick\n50,F,0\n60,M\n", "line 3, column 3 ('sick')"),
    "damaged.csv.gz": (b"\x1f\x8bnot really", "not valid gzip data"),
    "infinite.csv": (
        b"age,sex,sick\n5,F,0\ninf,M,1\n" + b"5,F,0\n6,M,1\n" * 9,
        "column 'age', row 2: inf",
    ),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_is_named_with_the_place(name):
    content, message = BAD_FILES[name]
    if content is not None:
        Path(name).write_bytes(content)
    for command in (COMPARE, FIT, SCORE, EVALUATE):
        assert message in on(command, name)


def test_a_file_without_permission(monkeypatch):
    really_open = Path.open

    def deny(path: Path, *arguments: object, **options: object) -> object:
        if path.name == "good.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return really_open(path, *arguments, **options)

    # the owner may be root, whom the file system denies nothing
    monkeypatch.setattr(Path, "open", deny)
    assert "good.csv: cannot be opened: Permission denied" in on(SCORE, "good.csv")


@pytest.mark.parametrize("command", [COMPARE, FIT, EVALUATE], ids=lambda c: c[0])
def test_a_target_that_is_not_there(command):
    table().rename({"sick": "Sick"}).write_csv("other.csv")
    message = on(command, "other.csv")
    assert "other.csv has no column 'sick'. Did you mean 'Sick'?" in message


def test_a_target_that_is_not_named():
    command = [word for word in COMPARE if word not in ("--target", "sick")]
    message = on(command, "good.csv")
    assert "which column of good.csv is the target?" in message
    assert "'age', 'sex', 'sick'" in message


@LEARNING
def test_a_table_from_which_nothing_can_be_learned(command):
    table(sick=[1] * ROWS).write_csv("bad.csv")
    assert "all 40 rows have column 'sick' = 1" in on(command, "bad.csv")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--pos-label", "yes"], "'yes' does not occur in column 'sick', which has 0"),
        (["--drop", "agee"], "no column 'agee'. Did you mean 'age'?"),
        (["--drop", "sick"], "'sick' is the target"),
        (["--read", "decimal"], "need NAME=VALUE with one of decimal, separator"),
        (["--read", "decimal=;"], "decimal must be one of '.', ',', got ';'"),
        (["--read", "encoding=klingon"], "klingon"),
    ],
    ids=str,
)
def test_options_of_the_table_that_make_no_sense(options, expected):
    assert expected in on([*FIT, *options], "good.csv")


@pytest.mark.parametrize("command", [SCORE, EVALUATE], ids=lambda c: c[0])
def test_a_column_that_the_model_needs(command):
    table().rename({"age": "years"}).write_csv("renamed.csv")
    message = on(command, "renamed.csv")
    assert "missing column 'age'; the model was trained with it" in message


def test_a_column_to_keep_that_is_not_there():
    message = error_of(*SCORE[:2], "good.csv", "--keep", "key")
    assert "good.csv has no column 'key'" in message


@pytest.mark.parametrize("content", [None, b"no model", b""])
def test_a_model_file_that_is_none(content):
    Path("good.aucmax").unlink()
    if content is not None:
        Path("good.aucmax").write_bytes(content)
    assert "good.aucmax" in error_of("evaluate", "good.aucmax", "good.csv")


def test_a_model_without_the_preparation_of_a_table():
    X = np.arange(20.0).reshape(10, 2)
    aucmax.save(AUCSVC().fit(X, np.arange(10) > 4), "bare.aucmax")
    message = error_of("score", "bare.aucmax", "good.csv")
    assert "the AUCSVC in bare.aucmax cannot prepare the columns" in message


OUTPUTS = {
    "fit": ["fit", "good.csv", "--target", "sick", "--output"],
    "score": ["score", "good.aucmax", "good.csv", "--output"],
    "report": ["report", "good.aucmax", "good.csv", "--output"],
}


@pytest.mark.parametrize("command", OUTPUTS)
def test_an_output_that_cannot_be_written_is_rejected_before_the_work(
    command, monkeypatch
):
    ending = {"fit": "aucmax", "score": "csv", "report": "html"}[command]
    os.mkdir("closed")
    os.mkdir(f"folder.{ending}")
    Path(f"old.{ending}").write_text("precious")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed")
    for stem, message in {
        "old": "exists; choose another name, or replace it with --force",
        "absent/new": "there is no folder absent",
        "folder": "is a folder",
        "closed/new": "no permission",
    }.items():
        assert message in error_of(*OUTPUTS[command], f"{stem}.{ending}")
    assert Path(f"old.{ending}").read_text() == "precious"


def test_an_output_never_replaces_an_input_not_even_by_force():
    message = error_of(*SCORE[:2], "good.csv", "-o", "good.csv", "--force")
    assert "good.csv is an input" in message


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--cv", "1"], "cv must be an integer of at least 2"),
        (["--cv", "21"], "10 rows are positive, but 21 folds need 42"),
        (["--fpr-range", "0.5", "0.5"], "fpr_range must satisfy 0 <= low < high <= 1"),
        (
            ["--models", "svm-auc,svm"],
            "there is no model 'svm'. Did you mean 'svm-auc'?",
        ),
        (["--models", ""], "there is no model ''"),
        (["--colour"], "No such option"),
        (["--metric", "accuracy"], "metric must be one of 'auc', 'partial_auc'"),
        (["--metric", "ndcg"], "'ndcg' does not apply to two classes without queries"),
    ],
    ids=str,
)
def test_options_that_make_no_sense(options, expected):
    assert expected in on([*COMPARE, *options], "good.csv")


def test_an_unknown_command_and_a_missing_argument():
    assert "No such command 'train'" in error_of("train")
    assert "Missing argument 'DATA'" in error_of("compare")
    assert "Missing option '--output'" in error_of("fit", "good.csv")


def test_a_fault_of_our_own_has_exit_code_1_and_a_way_to_report_it(monkeypatch):
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr("aucmax.datasets.loading.read_file", fail)
    result = CliRunner().invoke(main, ["score", "good.aucmax", "good.csv"])
    assert result.exit_code == 1
    assert "RuntimeError: a wheel came off" in result.stderr
    assert "Traceback" in result.stderr
    assert "This is a fault in aucmax" in result.stderr


def overlapping_classes() -> None:
    """Write a table on which weights of 0 have the smallest hinge of a narrow range."""
    rng = np.random.default_rng(0)
    target = rng.random(600) < 0.3
    table = pl.DataFrame({"a": rng.normal(size=600) + 0.3 * target, "target": target})
    table.write_csv("overlap.csv")


def test_a_model_that_ranks_nothing_is_not_saved():
    overlapping_classes()
    arguments = ["fit", "overlap.csv", "--target", "target", "-o", "m.aucmax", "--json"]
    arguments += ["--fpr-range", "0", "0.1"]
    result = run(*arguments, "--model", "svm-pauc", exit_code=1)
    assert result.stdout == ""
    assert "svm-pauc gives all 600 rows the same score" in result.stderr
    assert "--model linear" in result.stderr
    assert not Path("m.aucmax").exists()
    # the advice is good
    run(*arguments, "--model", "linear")


def test_a_comparison_in_which_no_model_ranks_saves_nothing():
    overlapping_classes()
    arguments = ["compare", "overlap.csv", "--target", "target", "--cv", "2"]
    result = run(*arguments, "--models", "svm-pauc", "--output-dir", "new", exit_code=1)
    assert "no model ranks these rows" in result.stderr
    assert os.listdir("new") == []


def test_a_model_with_constant_scores_has_no_numbers_in_a_comparison():
    overlapping_classes()
    arguments = ["compare", "overlap.csv", "--target", "target", "--cv", "2"]
    arguments += ["--fpr-range", "0", "0.1", "--models", "svm-pauc,logistic"]
    assert "svm-pauc: constant scores on 2 of 2 folds." in run(*arguments).stdout
    record = read_json(*arguments)
    collapsed, logistic = record["models"]
    assert collapsed["problem"] == "constant scores on 2 of 2 folds"
    for key in ("auc", "partial_auc", "low", "high"):
        assert collapsed[key] is None
        assert logistic[key] > 0
    assert (record["best"], record["tests"]) == ("logistic", [])


def test_a_model_that_ranks_nothing_on_other_rows_is_not_measured():
    table(age=[50.0] * ROWS, sex=["F"] * ROWS).write_csv("alike.csv")
    result = run("evaluate", "good.aucmax", "alike.csv", exit_code=1)
    assert "gives all 40 rows of alike.csv the same score" in result.stderr
