"""Rows of a file score as the rows of training did, however the file is written."""

import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
from aucmax.tables import encode_target
from command_line import error_of, run

pytestmark = pytest.mark.usefixtures("inside")
FIT = ("--target", "sick", "--model", "svm-auc")


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
    ran = run("score", "m.aucmax", "new.csv", "--keep", "key")
    lines_out = ran.stdout.splitlines()
    assert [line.split(",")[0] for line in lines_out] == ["key", *KEYS]
    assert "1 column that training did not have is ignored: 'key'" in ran.stderr


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


@pytest.mark.parametrize("name", ["score", "prediction", "probability"])
def test_a_kept_column_never_gives_way_to_one_of_the_output(name):
    fit(numbers())
    Path("new.csv").write_text(lines(f"{name},dose,age", "x,1,2"))
    message = error_of("score", "m.aucmax", "new.csv", "--keep", name, "--proba")
    assert f"the output has another column '{name}'; rename" in message


# ------------------------------------------------------------- decimal marks


def german(n: int = 40) -> str:
    rows = [
        f"{k}.{(k * 37) % 900 + 100},{k % 10};{k};{int(k * 5 % 13 > 6)}"
        for k in range(1, n + 1)
    ]
    return lines("pay;age;sick", *rows)


def scores(name: str, *options: object) -> list[float]:
    result = run("score", "m.aucmax", name, *options)
    return pl.read_csv(io.StringIO(result.stdout))["score"].to_list()


def test_a_row_scores_alike_whatever_other_rows_its_file_has():
    fit(german(), "--read", "decimal=,")
    assert aucmax.load("m.aucmax").file_roles_["read_options"]["decimal"] == ","
    Path("alone.csv").write_text(lines("pay;age", "1.234;7"))
    Path("others.csv").write_text(lines("pay;age", "1.234;7", "2,5;8"))
    Path("plain.csv").write_text(lines("pay,age", "1234,7"))
    expected = scores("plain.csv")[0]
    assert scores("alone.csv")[0] == scores("others.csv")[0] == expected


def test_without_the_option_decimal_commas_are_an_error_that_names_it():
    fit(numbers().replace("dose", "pay"))
    Path("new.csv").write_text(lines("pay;age", "1,5;7", "2,5;8"))
    assert "column 'pay' holds numbers, but row 1 has '1,5'" in error_of(
        "score", "m.aucmax", "new.csv"
    )
    said = fit(german()).stderr
    assert "decimal commas are read as text: 'pay' ('1.137,1')" in said
    assert "as numbers: --read decimal=," in said


def test_points_in_a_file_without_commas_are_doubtful_or_decimal():
    fit(german(), "--read", "decimal=,")
    Path("new.csv").write_text(lines("pay;age", "1.234;7"))
    Path("plain.csv").write_text(lines("pay,age", "1.234,7"))
    assert "thousands in 'pay' ('1.234')" in run("score", "m.aucmax", "new.csv").stderr
    assert scores("new.csv", "--read", "decimal=.") == scores("plain.csv")
    Path("new.csv").write_text(lines("pay;age", "1.5;7"))
    Path("plain.csv").write_text(lines("pay,age", "1.5,7"))
    assert scores("new.csv") == scores("plain.csv")


# ------------------------------------------------------------- ids and targets

BIG = 12345678901234567890


def test_queries_with_ids_beyond_64_bits_stay_different_and_are_kept():
    rows = [f"{BIG + k // 4},{k},{k % 3 % 2}" for k in range(40)]
    assert "10 queries" in fit(lines("id,age,sick", *rows), "--qid", "id").stdout
    said = run("score", "m.aucmax", "train.csv", "--keep", "id").stdout
    kept = [line.split(",")[0] for line in said.splitlines()]
    assert kept == ["id", *(str(BIG + k // 4) for k in range(40))]
    ids = [2**63 - 1, 2**63 - 2]
    pl.DataFrame({"id": ids, "age": [1, 2]}).write_parquet("new.parquet")
    run("score", "m.aucmax", "new.parquet", "--keep", "id", "-o", "out.parquet")
    assert pl.read_parquet("out.parquet")["id"].to_list() == ids


def test_values_beyond_64_bits_stay_different_in_python():
    groups = [BIG + k // 4 for k in range(40)]
    codes = encode_target([k % 2 for k in range(40)], groups=groups).groups
    assert np.unique(codes).size == 10
    codes = encode_target([2**70, 2**70 + 1]).grading.values
    assert codes == (str(2**70), str(2**70 + 1))
