"""Tables from other programs: how they are read, and where results go."""

import io
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import aucmax
from command_line import error_of, run

pytestmark = pytest.mark.usefixtures("inside")
N_ROWS = 60
FIT = ["--target", "sick", "--model", "logistic", "-o", "m.aucmax", "-q"]


def patients():
    rng = np.random.default_rng(0)
    sick = rng.random(N_ROWS) < 0.4
    age = (50 + 9 * rng.normal(size=N_ROWS) + 12 * sick).round(2)
    town = rng.choice(["Тверь", "Псков"], N_ROWS)
    return pl.DataFrame({"age": age, "town": town, "sick": sick * 1})


def test_a_file_is_read_as_it_says_and_new_files_as_that_of_training():
    frame = patients()
    frame.write_csv("plain.csv")
    text = frame.write_csv(separator="^").replace(".", ",")
    Path("export.csv").write_bytes(text.encode("cp1251"))
    options = ["decimal=,", "separator=^", "encoding=cp1251"]
    flags = [word for option in options for word in ("--read", option)]
    run("fit", "export.csv", *flags, *FIT)
    stored = aucmax.load("m.aucmax").file_roles_["read_options"]
    assert stored == dict(option.split("=") for option in options)
    scores = run("score", "m.aucmax", "export.csv").stdout
    plain = ["--read", "decimal=.", "--read", "separator=,", "--read", "encoding=utf-8"]
    assert run("score", "m.aucmax", "plain.csv", *plain).stdout == scores


def written(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def zipped(content):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("table.csv", content)
    return stream.getvalue()


EXPORTS = {
    "latin.csv": lambda table: table.write_csv().encode("latin-1"),
    "utf16.csv": lambda table: table.write_csv().encode("utf-16"),
    "german.csv": lambda table: (
        table.write_csv(separator=";").replace(".", ",").encode()
    ),
    "sheet.xlsx": lambda table: written(table.write_excel),
    "arrow.feather": lambda table: written(table.write_ipc),
    "lines.jsonl": lambda table: written(table.write_ndjson),
    "columns.parquet": lambda table: written(table.write_parquet),
    "archive.zip": lambda table: zipped(table.write_csv()),
}


@pytest.mark.parametrize("name", EXPORTS)
def test_every_format_is_fitted_and_scored_as_the_csv_file(name):
    clinics = pl.Series("town", ["Köln", "Malmö", "A"] * (N_ROWS // 3))
    table = patients().with_columns(clinics)
    table.write_csv("plain.csv")
    Path(name).write_bytes(EXPORTS[name](table))
    run("fit", "plain.csv", *FIT)
    expected = run("score", "m.aucmax", "plain.csv").stdout
    decimal = ["--read", "decimal=,"] if name == "german.csv" else []
    run("fit", name, *decimal, *FIT, "--force")
    assert run("score", "m.aucmax", name).stdout == expected


def test_standard_input_is_fitted_and_scored():
    content = patients().write_csv()
    Path("plain.csv").write_text(content)
    run("fit", "-", *FIT, content=content)
    scores = run("score", "m.aucmax", "plain.csv").stdout
    assert run("score", "m.aucmax", "-", content=content).stdout == scores


def test_the_output_folder_is_created():
    patients().write_csv("plain.csv")
    run(
        *("compare", "plain.csv", "--target", "sick", "--models", "logistic"),
        *("--cv", "2", "--output-dir", "new/deep"),
    )
    assert sorted(path.name for path in Path("new/deep").iterdir()) == [
        "plain-report.html",
        "plain.aucmax",
    ]
    compare = ["compare", "plain.csv", "--target", "sick", "--output-dir", "plain.csv"]
    assert "plain.csv is a file" in error_of(*compare)


def test_only_one_file_is_standard_input():
    message = error_of("compare", "-", "--test", "-", "--target", "sick")
    assert "cannot both be standard input" in message


@pytest.mark.parametrize(("negative", "positive"), [(-1, 1), (0, 1), (1.5, 2.5)])
def test_svmlight_predictions_are_the_labels_of_the_file(negative, positive):
    rng = np.random.default_rng(0)
    y = np.arange(N_ROWS) % 2
    lines = [
        f"{positive if label else negative:{'' if positive == 2.5 else '+d'}} "
        f"1:{rng.normal() + 3 * label:.3f}"
        for label in y
    ]
    Path("rows.svm").write_text("\n".join(lines))
    run("fit", "rows.svm", "--model", "logistic", "-o", "m.aucmax")
    table = pl.read_csv(
        run("score", "m.aucmax", "rows.svm").stdout.encode(), infer_schema=False
    )
    assert set(table["prediction"]) == {str(negative), str(positive)}


def test_what_onnx_cannot_hold_is_said_before_the_fit_and_a_model_prints_itself():
    days = [f"2024-01-{1 + k % 28:02}" for k in range(N_ROWS)]
    dated = patients().with_columns(id=pl.int_range(pl.len()), day=pl.Series(days))
    dated.write_csv("dated.csv")
    message = error_of("fit", "dated.csv", *FIT, "--for-onnx")
    assert "column 'day' holds dates" in message
    assert "--drop" in message
    pytest.importorskip("onnx")
    run("fit", "dated.csv", *FIT, "--for-onnx", "--drop", "day")
    assert "age, town" in run("export", "m.aucmax", "m.onnx").stdout
    model = aucmax.load("m.aucmax")
    assert "AUC on new rows: 0." in str(model)
    encoder = str(model.encoders_[0])
    assert "1 of kind number, 1 of kind category; left out: 'id'" in encoder
