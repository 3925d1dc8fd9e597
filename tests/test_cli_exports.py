"""From a table as some program exports it to scores: every format gives the same."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from aucmax.cli import main
from command_line import run

N_ROWS = 60


def patients():
    rng = np.random.default_rng(0)
    sick = [None if i % 10 == 9 else int(rng.random() < 0.4) for i in range(N_ROWS)]
    ages = (50 + 9 * rng.normal(size=N_ROWS) + [12 * (y or 0) for y in sick]).round(2)
    return pl.DataFrame(
        {
            "age": [None if i % 7 == 6 else age for i, age in enumerate(ages.tolist())],
            "clinic": rng.choice(["Köln", "Malmö", "A"], N_ROWS).tolist(),
            "sick": sick,
        }
    )


def as_csv(frame, **options):
    table = frame.to_pandas().astype({"sick": "Int64"})
    return table.to_csv(**{"index": False, **options}).encode()


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
    "plain.csv": as_csv,
    "index.csv": lambda frame: as_csv(frame, index=True),
    "latin.csv": lambda frame: as_csv(frame).decode().encode("latin-1"),
    "utf16.csv": lambda frame: as_csv(frame).decode().encode("utf-16"),
    "german.csv": lambda frame: as_csv(frame, sep=";", decimal=","),
    "sheet.xlsx": lambda frame: written(frame.write_excel),
    "arrow.feather": lambda frame: written(frame.write_ipc),
    "lines.jsonl": lambda frame: written(frame.write_ndjson),
    "columns.parquet": lambda frame: written(frame.write_parquet),
    "archive.zip": lambda frame: zipped(as_csv(frame)),
}
SAID = {
    "index.csv": "left out the unnamed first column, which numbers the rows",
    "latin.csv": "found encoding 'cp1252' (to change: --read encoding=)",
    "utf16.csv": "found encoding 'utf-16'",
    "german.csv": "found separator ';'",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def fit(path, **extra):
    decimal = ["--read", "decimal=,"] if path == "german.csv" else []
    return run(
        *("fit", path, "--target", "sick", "--model", "logistic", "-o", "m.aucmax"),
        *decimal,
        "--force",
        **extra,
    )


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("plain.csv").write_bytes(as_csv(patients()))
        fit("plain.csv")
        return run("score", "m.aucmax", "plain.csv").stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTS)
def test_every_export_is_fitted_and_scored_alike(name, expected):
    Path(name).write_bytes(EXPORTS[name](patients()))
    fitted = fit(name)
    assert "'sick' is missing in 6 of 60 rows" in fitted.stderr
    assert SAID.get(name, "") in fitted.stderr
    assert run("score", "m.aucmax", name).stdout == expected
    assert json.loads(run("evaluate", "m.aucmax", name, "--json").stdout)["auc"] > 0.6


def test_standard_input_is_fitted_and_scored(expected):
    content = as_csv(patients())
    fit("-", content=content)
    assert run("score", "m.aucmax", "-", content=content).stdout == expected


def test_the_output_folder_is_created():
    Path("plain.csv").write_bytes(as_csv(patients()))
    run(
        *("compare", "plain.csv", "--target", "sick", "--models", "logistic"),
        *("--cv", "2", "--output-dir", "new/deep"),
    )
    assert sorted(path.name for path in Path("new/deep").iterdir()) == [
        "plain-report.html",
        "plain-roc.png",
        "plain.aucmax",
    ]
    result = CliRunner().invoke(
        main, ["compare", "plain.csv", "--target", "sick", "--output-dir", "plain.csv"]
    )
    assert result.exit_code == 2
    assert "plain.csv is a file" in result.stderr


def test_only_one_file_is_standard_input():
    result = CliRunner().invoke(
        main, ["compare", "-", "--test", "-", "--target", "sick"]
    )
    assert result.exit_code == 2
    assert "cannot both be standard input" in result.stderr


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
