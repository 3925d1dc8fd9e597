"""Tables as other programs write them, each from a real file."""

import gzip
import io
import random
import sys
import warnings
import zipfile

import pandas as pd
import polars as pl
import pytest
import xlsxwriter
from polars.testing import assert_frame_equal

import aucmax.datasets.memory
from aucmax.datasets import load_svmlight, load_table
from aucmax.exceptions import DataFileError, DataFileWarning
from persistence.test_model_file_fuzz import MUTATIONS
from torture.amount import times

PEOPLE = pl.DataFrame(
    {
        "name": ["Müller", "Ångström", "Nuñez"],
        "age": [41, None, 7],
        "dose": [0.5, 1.25, -3.0],
    }
)


@pytest.fixture
def no_remark():
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataFileWarning)
        yield


# ------------------------------------------------------------------ encodings


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("latin-1", "cp1252"),
        ("cp1252", "cp1252"),
        ("utf-16", "utf-16"),
        ("utf-32", "utf-32"),
    ],
)
def test_other_encodings_are_found_and_said(tmp_path, encoding, found):
    path = tmp_path / "people.csv"
    path.write_bytes(PEOPLE.write_csv().encode(encoding))
    with pytest.warns(DataFileWarning, match=f"found encoding '{found}'"):
        frame = load_table(path)
    assert_frame_equal(frame, PEOPLE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_frame_equal(load_table(path, encoding=encoding), PEOPLE)


@pytest.mark.usefixtures("no_remark")
def test_utf8_with_a_mark_needs_no_remark(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE.write_csv(), encoding="utf-8-sig")
    assert_frame_equal(load_table(path), PEOPLE)
    assert_frame_equal(load_table(path, encoding="utf-8-sig"), PEOPLE)


DAMAGED = PEOPLE.write_csv().encode().replace(b"\xc3\xbc", b"\xc3x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (DAMAGED, r"line 2.*not valid UTF-8.*encoding="),
        (b"a,b\n1,\x81\x9d\n", r"line 2, column 2.*0x81 is not valid UTF-8"),
        (PEOPLE.write_csv().encode("utf-16-le"), r"NUL byte.*encoding='utf-16'"),
    ],
    ids=["damaged", "of no encoding", "utf-16 without a mark"],
)
def test_text_of_no_certain_encoding_is_rejected(tmp_path, content, message):
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(DataFileError, match=message):
        load_table(path)


def test_a_wrong_encoding_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(PEOPLE.write_csv().encode("latin-1"))
    with pytest.raises(DataFileError, match="near line 2: not valid ascii"):
        load_table(path, encoding="ascii")
    with pytest.raises(ValueError, match="encoding must be 'auto' or an encoding"):
        load_table(path, encoding="hex")  # a codec of other things than text


# ------------------------------------------------------------------ separators


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_separators_are_found_and_said(tmp_path, separator):
    path = tmp_path / "people.csv"
    PEOPLE.write_csv(path, separator=separator)
    with pytest.warns(DataFileWarning, match="found separator .*separator="):
        assert_frame_equal(load_table(path), PEOPLE)


@pytest.mark.usefixtures("no_remark")
@pytest.mark.parametrize(
    "text",
    [
        "a;1,b\nx;y,1\nz;w,2\n",  # both fit: the comma is usual
        '"a;b",c\n"x;y",1\n"z;w",2\n',
        "a,b\n1,x;y\n2,z\n",
    ],
)
def test_a_comma_that_fits_is_taken(tmp_path, text):
    path = tmp_path / "commas.csv"
    path.write_text(text)
    assert load_table(path).width == 2


GERMAN = (
    "Betrag;Menge;Konto;Text;Code\n"
    "1.234,50;12.000;1,5;ja, nein;1,2,3\n"
    "-7,25;950;;nein;4\n"
    ",5;1.950;2e3;NA;5\n"
)


def test_decimal_commas_are_read_if_they_are_named(tmp_path):
    path = tmp_path / "german.csv"
    path.write_text(GERMAN)
    frame = load_table(path, separator=";", decimal=",")
    assert frame["Betrag"].to_list() == [1234.5, -7.25, 0.5]
    assert frame["Menge"].to_list() == [12000, 950, 1950]
    assert frame["Konto"].to_list() == [1.5, None, 2000.0]
    assert frame["Text"].to_list() == ["ja, nein", "nein", None]
    assert frame["Code"].to_list() == ["1,2,3", "4", "5"]


def test_decimal_commas_stay_text_with_a_warning_that_names_the_option(tmp_path):
    path = tmp_path / "german.csv"
    path.write_text(GERMAN)
    said = r"decimal commas are read as text: 'Betrag' \('1.234,50'\).*--read decimal=,"
    with pytest.warns(DataFileWarning, match=said):
        points = load_table(path, separator=";")
    assert points["Betrag"].dtype == pl.String
    assert points["Menge"].to_list() == [12.0, 950.0, 1.95]


# ------------------------------------------------------------------ no names


@pytest.mark.parametrize("start", [0, 1, 100])
def test_an_index_without_a_name_is_left_out_and_said(tmp_path, start):
    path = tmp_path / "pandas.csv"
    index = range(start, start + 3)
    pd.DataFrame({"a": [3, 1, 2], "b": list("xyz")}, index=index).to_csv(path)
    with pytest.warns(DataFileWarning, match="unnamed first column"):
        assert load_table(path).columns == ["a", "b"]
    assert load_table(path, columns=["column_1", "a"])["column_1"][0] == start
    again = tmp_path / "again.csv"
    pd.read_csv(path).to_csv(again, index=False)  # calls it Unnamed: 0
    with pytest.warns(DataFileWarning, match="numbers the rows"):
        assert load_table(again).columns == ["a", "b"]


@pytest.mark.parametrize("cells", [["x", "y", "z"], [1, 1, 2], [0.5, 1, 2]])
def test_other_columns_without_a_name_are_named_by_their_place(tmp_path, cells):
    path = tmp_path / "odd.csv"
    pd.DataFrame({"a": [3, 1, 2], "column_1": 0}, index=cells).to_csv(path)
    with pytest.warns(DataFileWarning, match="without a name are called column_1_"):
        frame = load_table(path)
    assert frame["column_1_"].to_list() == cells


def test_empty_columns_at_the_end_are_left_out(tmp_path):
    path = tmp_path / "trailing.csv"
    path.write_text("a,b,,\n1,2,,\n3,4,,\n")
    assert load_table(path).columns == ["a", "b"]
    path.write_text(",\n1,2\n")
    with pytest.warns(DataFileWarning):
        assert load_table(path).columns == ["column_2"]


# ------------------------------------------------------------------ typed files


@pytest.mark.parametrize("name", ["p.feather", "p.arrow", "p.ipc", "p.feather.gz"])
@pytest.mark.parametrize("compression", ["uncompressed", "lz4", "zstd"])
def test_feather_files_are_read(tmp_path, name, compression):
    plain = tmp_path / "plain.feather"
    PEOPLE.write_ipc(plain, compression=compression)
    path = tmp_path / name
    content = plain.read_bytes()
    if name.endswith(".gz"):
        content = gzip.compress(content)
    path.write_bytes(content)
    assert_frame_equal(load_table(path), PEOPLE)
    assert load_table(path, columns=["dose", "age"]).columns == ["dose", "age"]


@pytest.mark.parametrize("name", ["p.jsonl", "p.ndjson"])
def test_json_lines_are_read(tmp_path, name):
    path = tmp_path / name
    PEOPLE.write_ndjson(path)
    assert_frame_equal(load_table(path), PEOPLE)
    path.write_text('{"a": 1, "b": true}\n\n{"b": false, "c": "x"}\n{"a": 2.5}\n')
    frame = load_table(path)
    assert frame.rows() == [(1.0, True, None), (None, False, "x"), (2.5, None, None)]
    late = "".join(f'{{"a": {i}}}\n' for i in range(5000)) + '{"a": 0.5, "z": 1}\n'
    path.write_text(late)
    assert load_table(path).row(-1) == (0.5, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ('{"a": 1}\n{"a": }\n', "line 2: not valid JSON"),
        ('{"a": 1}\n[1, 2]\n', "line 2: a list instead of an object"),
        ('{"a": 1}\n{"a": 2', "line 2: not valid JSON"),
        ("a,b\n1,2\n", "line 1: not valid JSON"),
        ('{"a": [1, 2]}\n', "'a' holds lists or objects"),
        ('{"a": {"b": 1}}\n', "'a' holds lists or objects"),
    ],
)
def test_flawed_json_lines_are_refused_with_the_line(tmp_path, text, message):
    path = tmp_path / "p.jsonl"
    path.write_text(text)
    with pytest.raises(DataFileError, match=message):
        load_table(path)


WRITE = {
    "csv": PEOPLE.write_csv,
    "jsonl": PEOPLE.write_ndjson,
    "feather": PEOPLE.write_ipc,
    "parquet": PEOPLE.write_parquet,
    "xlsx": PEOPLE.write_excel,
    "svm": lambda file: file.write(b"1 1:2.5 3:1e-3 # n\n-1 2:4\n" * 3),
}


@pytest.mark.parametrize("ending", WRITE)
@pytest.mark.filterwarnings("ignore::aucmax.exceptions.DataFileWarning")
def test_flawed_files_of_any_kind_are_read_or_rejected(tmp_path, ending):
    read = load_svmlight if ending == "svm" else load_table
    draw, stream = random.Random(0), io.BytesIO()
    WRITE[ending](stream)
    content, bad, n_rejected = stream.getvalue(), tmp_path / f"bad.{ending}", 0
    # of 10,000 damaged binary files, polars ends the process for one or two: it
    # reserves the memory that they name
    n_files = 3_000 if ending in ("parquet", "feather") else 30_000
    for _ in range(times(60, n_files)):
        bad.write_bytes(draw.choice(MUTATIONS)(content, draw))
        try:
            read(bad)
        except DataFileError:
            n_rejected += 1
    assert n_rejected >= 10


# ------------------------------------------------------------------ spreadsheets


def write_sheets(path, **sheets):
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for r, row in enumerate(rows):
                for c, cell in enumerate(row):
                    if cell is not None:
                        sheet.write(r, c, cell)


@pytest.mark.usefixtures("no_remark")
def test_a_spreadsheet_is_read(tmp_path):
    path = tmp_path / "people.xlsx"
    PEOPLE.write_excel(path)
    assert_frame_equal(load_table(path), PEOPLE)
    assert load_table(path, columns=["dose"]).columns == ["dose"]


def test_texts_of_a_spreadsheet_are_those_of_a_text_file(tmp_path):
    path = tmp_path / "typed.xlsx"
    rows = [
        [None, "age ", "code", "empty", "mixed", "flag"],
        [10, 50, "007", None, 1, True],
        [11, 51.5, "NA", None, "x", False],
        [None] * 6,
        [12, "NA", "?", None, 3, None],
    ]
    write_sheets(path, first=rows, second=[["q"], [3]])
    with pytest.warns(DataFileWarning, match=r"first sheet, not 'second'; .*numbers"):
        frame = load_table(path, text_columns=["code"])
    assert frame.columns == ["age", "code", "empty", "mixed", "flag"]
    assert frame["age"].to_list() == [50.0, 51.5, None]
    assert frame["code"].to_list() == ["007", None, None]
    assert frame["empty"].dtype == pl.Float64
    assert frame["mixed"].to_list() == ["1", "x", "3"]
    assert frame["flag"].to_list() == [True, False, None]


def test_a_sheet_can_be_named(tmp_path):
    path = tmp_path / "two.xlsx"
    write_sheets(path, first=[["a"], [1]], second=[["q"], [3]])
    assert load_table(path, sheet="second").rows() == [(3,)]
    with pytest.raises(DataFileError, match="no sheet 'third'; there are 'first', 'se"):
        load_table(path, sheet="third")
    with pytest.raises(ValueError, match="is not a spreadsheet"):
        load_table(__file__, format="csv", sheet="first")


def test_sheets_without_rows_are_refused(tmp_path):
    path = tmp_path / "empty.xlsx"
    for rows in ([], [["a", "b"]]):
        write_sheets(path, only=rows)
        with pytest.raises(DataFileError, match="no rows below the column names"):
            load_table(path)
    path.write_bytes(b"")
    with pytest.raises(DataFileError, match="the file is empty"):
        load_table(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataFileError, match="not a readable spreadsheet"):
        load_table(path)


def test_a_name_that_two_columns_have_is_an_error(tmp_path):
    write_sheets(tmp_path / "two.xlsx", only=[["age", "age "], [1, 2]])
    with pytest.raises(DataFileError, match="more than one occurrence"):
        load_table(tmp_path / "two.xlsx")


def test_a_spreadsheet_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.xlsx"
    write_sheets(path, only=[["a"], [1]])
    monkeypatch.setattr(aucmax.datasets.memory, "FREE_BYTES", 1 << 20)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/bomb.xml", bytes(1 << 24))
    with pytest.raises(DataFileError, match="max_memory"):
        load_table(path)


def test_without_its_package_a_spreadsheet_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "people.xlsx"
    PEOPLE.write_excel(path)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(DataFileError, match=r"pip install 'aucmax\[excel\]'"):
        load_table(path)


# ------------------------------------------------------------------ archives, pipes


def test_a_table_in_a_zip_archive_is_read(tmp_path):
    for name, inner in (("people.csv.zip", "x"), ("people.zip", "folder/people.csv")):
        path = tmp_path / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(inner, PEOPLE.write_csv())
        assert_frame_equal(load_table(path), PEOPLE)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "feather", "parquet", "excel"])
def test_standard_input_is_read(monkeypatch, kind):
    stream = io.BytesIO()
    WRITE["xlsx" if kind == "excel" else kind](stream)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stream.getvalue())))
    format = "auto" if kind == "csv" else kind
    assert_frame_equal(load_table("-", format=format), PEOPLE)


def test_errors_of_standard_input_give_advice_that_can_be_followed(monkeypatch):
    for content, message in (
        (b"a,b\n1\n", r"standard input: line 2, column 2 \('b'\): missing"),
        (b"\x1f\x8b...", "standard input: this looks like gzip data; unpack it, or"),
        (b"", "standard input: the file is empty"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        with pytest.raises(DataFileError, match=message):
            load_table("-")


# ------------------------------------------------------------------ several files


@pytest.fixture
def parts(tmp_path):
    for k in range(3):
        part = pl.DataFrame({"a": [k, k + 1], "b": ["x", None], "c": [0.5, 1.5]})
        part.write_csv(tmp_path / f"part-{k}.csv")
        part.select("c", "a", "b").write_parquet(tmp_path / f"part-{k}.parquet")
    return tmp_path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_files_of_a_pattern_are_one_table(parts, kind):
    frame = load_table(parts / f"part-*.{kind}")
    order = ["c", "a", "b"] if kind == "parquet" else ["a", "b", "c"]
    assert frame.columns == order
    assert frame["a"].to_list() == [0, 1, 1, 2, 2, 3]
    assert frame["c"].to_list() == [0.5, 1.5] * 3


def test_a_folder_is_its_files_without_hidden_ones(parts):
    for path in parts.glob("*.csv"):
        path.unlink()
    (parts / "_SUCCESS").write_text("")
    assert load_table(parts).height == 6
    with pytest.raises(DataFileError, match="no file matches 'none-"):
        load_table("none-*.csv")


def test_text_in_one_file_is_text_in_all(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n007,1\n")
    (tmp_path / "2.csv").write_text("b,a\n2.5,x\n")
    assert load_table(tmp_path).rows() == [("007", 1.0), ("x", 2.5)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,x\n1,2\n", "2.csv has no column 'b', which"),
        ("a,b,c\n1,2,3\n", "1.csv has no column 'c', which"),
    ],
)
def test_files_with_other_columns_are_refused(tmp_path, content, message):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text(content)
    with pytest.raises(DataFileError, match=message):
        load_table(tmp_path)


def test_text_and_numbers_of_typed_files_do_not_mix(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(DataFileError, match="column 'a' is text in some files"):
        load_table(tmp_path)
