"""Rows of a file score as the rows of training did, however the file is written."""

import io
from pathlib import Path

import polars as pl
import pytest

from test_cli import run
from test_cli_bad_input import refuse

FIT = ("--target", "sick", "--model", "svm-auc")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fit(text: str, *options: object, name: str = "train.csv") -> object:
    Path(name).write_text(text)
    return run("fit", name, *FIT, "-o", "m.aucmax", "--force", *options)


def lines(header: str, *rows: str) -> str:
    return "\n".join([header, *rows, ""])


def numbers(n: int = 40) -> str:
    rows = [f"{k},{(k * 7) % 11},{int(k * 5 % 13 > 6)}" for k in range(n)]
    return lines("dose,age,sick", *rows)


# ------------------------------------------------------------- columns to keep

KEYS = ["007", "12345678901234567890", "12345678901234567891", "1e5", "NA", " a ", "?"]


def test_kept_columns_are_copied_as_they_are_written():
    fit(numbers())
    rows = [f"{key},{k},3" for k, key in enumerate(KEYS)]
    Path("new.csv").write_text(lines("key,dose,age", *rows))
    for where in ("--in-memory", "--on-disk"):
        said = run("score", "m.aucmax", "new.csv", "--keep", "key", where).stdout
        assert [line.split(",")[0] for line in said.splitlines()] == ["key", *KEYS]


def test_a_column_of_the_model_is_kept_as_it_is_written_and_scored_as_before():
    fit(numbers())
    Path("new.csv").write_text(lines("dose,age", "007,1e0", "1.50,NA", " 2,3"))
    alone = pl.read_csv(io.StringIO(run("score", "m.aucmax", "new.csv").stdout))
    said = run("score", "m.aucmax", "new.csv", "--keep", "dose", "--keep", "age").stdout
    assert [line.split(",")[:2] for line in said.splitlines()[1:]] == [
        ["007", "1e0"], ["1.50", "NA"], [" 2", "3"],
    ]  # fmt: skip
    both = pl.read_csv(io.StringIO(said))
    assert both["score"].to_list() == alone["score"].to_list()


def test_kept_columns_of_parts_are_copied_as_they_are_written():
    fit(numbers())
    Path("parts").mkdir()
    Path("parts/a.csv").write_text(lines("key,dose,age", "007,1,2", "8,3,4"))
    Path("parts/b.csv").write_text(lines("key,dose,age", "NA,1,2", ",3,4"))
    said = run("score", "m.aucmax", "parts", "--keep", "key").stdout
    assert [line.split(",")[0] for line in said.splitlines()[1:]] == [
        "007", "8", "NA", "",
    ]  # fmt: skip


def test_kept_cells_of_a_spreadsheet_are_its_texts_and_numbers():
    fit(numbers())
    cells = pl.DataFrame(
        {"key": ["007", "NA"], "row": [7.0, 8.5], "dose": [1, 2], "age": [3, 4]}
    )
    cells.write_excel("new.xlsx")
    keep = ("--keep", "key", "--keep", "row")
    said = run("score", "m.aucmax", "new.xlsx", *keep).stdout
    assert [line.split(",")[:2] for line in said.splitlines()[1:]] == [
        ["007", "7"], ["NA", "8.5"],
    ]  # fmt: skip


def test_typed_keys_keep_their_type():
    fit(numbers())
    keys = pl.Series("key", [2**63 - 1, -1])
    pl.DataFrame([keys, *pl.DataFrame({"dose": [1, 2], "age": [3, 4]})]).write_parquet(
        "new.parquet"
    )
    run("score", "m.aucmax", "new.parquet", "--keep", "key", "-o", "out.parquet")
    assert pl.read_parquet("out.parquet")["key"].to_list() == keys.to_list()


@pytest.mark.parametrize("name", ["score", "prediction", "probability"])
def test_a_kept_column_never_gives_way_to_one_of_the_output(name):
    fit(numbers(), "--calibrate", "sigmoid")
    Path("new.csv").write_text(lines(f"{name},dose,age", "x,1,2"))
    message = refuse("score", "m.aucmax", "new.csv", "--keep", name, "--proba")
    assert f"the output has a column '{name}' of its own; rename" in message


def test_a_column_to_keep_that_is_missing_is_named_without_the_copies():
    fit(numbers())
    Path("new.csv").write_text(lines("key,dose,age", "x,1,2"))
    message = refuse("score", "m.aucmax", "new.csv", "--keep", "key", "--keep", "no")
    assert "no column 'no'. The columns are 'key', 'dose', 'age'." in message
