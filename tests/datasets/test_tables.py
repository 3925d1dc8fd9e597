import csv
import gzip
import io
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from aucmax.datasets import load_table
from aucmax.datasets.loading import MISSING
from aucmax.exceptions import DataFileError

pytestmark = pytest.mark.kernel


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")

    def write(content, name="data.csv"):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


# ------------------------------------------------------------------ types


def test_columns_get_the_narrowest_type_that_holds_all_cells(write):
    frame = load_table(
        write(
            "int,float,text,date,flag,mixed\n"
            "1,1,a,2024-01-31,true,1\n"
            "-2,2.5,b,2024-02-01,false,x\n"
            "+3,1e3,c,2024-02-02,true,2.5\n"
        )
    )
    assert dict(frame.schema) == {
        "int": pl.Int64,
        "float": pl.Float64,
        "text": pl.String,
        "date": pl.String,
        "flag": pl.String,
        "mixed": pl.String,
    }
    assert frame["int"].to_list() == [1, -2, 3]
    assert frame["float"].to_list() == [1.0, 2.5, 1000.0]
    assert frame["mixed"].to_list() == ["1", "x", "2.5"]


@pytest.mark.parametrize("late", ["0.5", "x"])
def test_the_type_does_not_depend_on_the_first_rows(write, late):
    frame = load_table(write("a,b\n" + "1,1\n" * 5000 + f"{late},1\n"))
    assert frame["a"].dtype == (pl.Float64 if late == "0.5" else pl.String)
    assert frame["a"][-1] == (0.5 if late == "0.5" else "x")
    assert frame["b"].dtype == pl.Int64


@pytest.mark.parametrize("cell", MISSING)
def test_cells_that_mean_missing_become_null(write, cell):
    rows = f'n,t,q\n1,a,"{cell}"\n{cell}, {cell} ,x\n2.5,b,y\n'
    frame = load_table(write(rows))
    assert frame["n"].to_list() == [1.0, None, 2.5]
    assert frame["t"].to_list() == ["a", None, "b"]
    assert frame["q"].to_list() == [None, "x", "y"]


def test_the_missing_cells_can_be_chosen(write):
    frame = load_table(write("a,b\n-9,?\n1,x\n"), missing=["-9"])
    assert frame.rows() == [(None, "?"), (1, "x")]
    frame = load_table(write("a,b\nNA,?\n1,x\n"), missing=[])
    assert frame.rows() == [("NA", "?"), ("1", "x")]


def test_text_columns_stay_text(write):
    frame = load_table(write("zip,n\n01234,1\n00001,2\n"), text_columns=["zip", "none"])
    assert frame.rows() == [("01234", 1), ("00001", 2)]


def test_numbers_are_read_exactly(write):
    cells = ["0.1", "1.7976931348623157e308", "5e-324", "0.30000000000000004"]
    frame = load_table(write("a\n" + "\n".join(cells)))
    assert frame["a"].to_list() == [float(cell) for cell in cells]


# ------------------------------------------------------------------ layout

PLAIN = 'a,b\n1,x\n2,"y,z"\n3,"say ""hi""\nagain"\n'
EXPECTED = pl.DataFrame({"a": [1, 2, 3], "b": ["x", "y,z", 'say "hi"\nagain']})


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        PLAIN.rstrip("\n"),
        "\ufeff" + PLAIN,
        "\n\n" + PLAIN + "\n \n\n",
        PLAIN.replace("\n2", "\n\n \t\n2"),
        PLAIN.replace("\n1", "\n\n\n1"),
        ' "a", b\n1, x\n2,"y,z"\n3,"say ""hi""\nagain"\n'.lstrip(),
        '"a","b"\n' + PLAIN.partition("\n")[2],
    ],
)
def test_the_same_table_in_many_guises(write, content):
    assert_frame_equal(load_table(write(content)), EXPECTED)


def test_a_blank_line_is_a_missing_cell_if_there_is_one_column(write):
    assert load_table(write("a\n1\n\n3\n\n"))["a"].to_list() == [1, None, 3]


def test_quotes_within_plain_fields_are_letters(write):
    frame = load_table(write('pipe,n\n5" long,1\n6",2\n'))
    assert frame["pipe"].to_list() == ['5" long', '6"']


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("data.tsv", {}),
        ("data.tab", {}),
        ("data.csv", {"separator": "\t"}),
        ("data.txt", {"format": "tsv"}),
        ("data.dat", {"format": "csv", "separator": "\t"}),
    ],
)
def test_tabs_may_separate(write, name, options):
    path = write("a\tb\n1\tx,y\n\t\n", name)
    assert load_table(path, **options).rows() == [(1, "x,y"), (None, None)]


def test_a_table_may_lack_a_header(write):
    frame = load_table(write("1,x\n2,y\n"), has_header=False)
    assert frame.columns == ["column_1", "column_2"]
    assert frame.rows() == [(1, "x"), (2, "y")]


def test_file_names_with_patterns_are_taken_literally(write):
    assert load_table(write("a,b\n1,2\n", "x[1]*.csv")).rows() == [(1, 2)]


cells = st.text(st.sampled_from('ab,";\n\r é€😀'), min_size=1).map(
    lambda cell: f"<{cell}>"
)


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(cells, min_size=width, max_size=width))
    ),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_whatever_csv_writes_is_read_back(write, rows, newline, quoting):
    width = len(rows[0]) if rows else 1
    table = [[f"name {i}" for i in range(width)], *rows, ["<>"] * width]
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=newline, quoting=quoting).writerows(table)
    frame = load_table(write(stream.getvalue()))
    assert frame.columns == table[0]
    assert frame.rows() == [tuple(row) for row in table[1:]]


@given(st.lists(st.sampled_from([*'a1.?",,\n\n ', "\r\n", "\x00", "é"])).map("".join))
def test_broken_text_is_refused_or_read_as_csv_reads_it(write, tail):
    text = "a,b\n1,2\n" + tail
    try:
        frame = load_table(write(text), missing=[""], text_columns=["a", "b"])
    except DataFileError:
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = [[cell.strip(" \t\r") or None for cell in row] for row in reader]
    assert [list(row) for row in frame.rows()] == [
        row for row in rows[1:] if row not in ([], [None])
    ]


def test_many_quoted_line_breaks_stay_in_their_rows(write):
    rows = [(i, f"line {i}\n,second " * (i % 4) + "end") for i in range(20_000)]
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows([("i", "t"), *rows])
    assert load_table(write(stream.getvalue())).rows() == rows


# ------------------------------------------------------------------ columns


def test_columns_are_chosen_in_the_order_asked_for(write):
    frame = load_table(write("a,b,c\n1,2,3\n"), columns=["c", "a"])
    assert frame.columns == ["c", "a"]
    assert frame.rows() == [(3, 1)]


def test_a_missing_column_is_named_with_near_names(write):
    with pytest.raises(DataFileError, match=r"no column 'Agee'\. Did you mean 'age'\?"):
        load_table(write("age,b\n1,2\n"), columns=["b", "Agee"])


def test_columns_must_be_distinct(write):
    path = write("a,b\n1,2\n")
    with pytest.raises(ValueError, match="columns, each once"):
        load_table(path, columns=["a", "a"])


# ------------------------------------------------------------------ flaws


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", r"line 3, column 3 \('c'\): missing: .* 2 of 3"),
        ("a,b\n1,2\n4,5,6\n", "line 3, column 3: more fields than the 2 columns"),
        ('a,b\n"x\ny",2\n1\n', r"line 4, column 2 \('b'\): missing"),
        ('a,b\n1,2\n3,"x\n4,5\n', r"line 3, column 2: this \" neither"),
        ('a,b\n1,"x"y\n', r"line 2, column 2: this \" neither"),
        (
            b"a,b\n1,2\n3,\xc3\xa9\xff\n",
            r"line 3, column 2: byte 0xff is not valid",
        ),
        (
            b"a,b\n1,\xe2\x82\xac\n3,\xe2\x82",
            r"line 3, column 2: byte 0xe2 is not valid",
        ),
        (b"a,\xff\n1,\xc3\xa9\n", "line 1, column 2: byte 0xff is not valid UTF-8"),
        ("a,b\n1,2\n3,é\x00\n", r"line 3, column 2: a NUL byte"),
        # of two flaws in a row, either is named: it depends on where blocks end
        (
            b"a,b\n1\xff,\x00\xc3\xa9\n",
            r"line 2, column (1.*byte 0xff|2.*NUL)",
        ),
        ("", "the file is empty"),
        ("a,b\n", "a header but no rows"),
        ("a,b\n\n \n", "a header but no rows"),
        ("a,b,a\n1,2,3\n", r"line 1, column 3 \('a'\): column 1 has the same name"),
        ("a;b\n1;2\n3\n", "has one column, 'a;b'; if ';' separates the columns"),
        ("a,b\r1,2\r", "line 1: a carriage return within the line"),
        (f'"{"x" * 200_000}",b\n1,2\n', "line 1: field larger than field limit"),
    ],
)
def test_flaws_are_named_with_file_line_and_column(write, content, message):
    path = write(content)
    with pytest.raises(DataFileError, match=message) as info:
        load_table(path)
    assert str(info.value).startswith(f"{path}: ")


def test_a_file_that_changes_meanwhile_is_read_as_it_was(write):
    path = write("a,b\n1,2\n")
    real_read = pl.read_csv

    def late(source, **options):
        path.write_text("")  # a map of the file would end the process here
        return real_read(source, **options)

    with patch.object(pl, "read_csv", late):
        assert load_table(path).rows() == [(1, 2)]


@pytest.mark.parametrize("name", ["data.svm", "data.letor"])
def test_formats_that_are_no_tables_are_refused(write, name):
    with pytest.raises(DataFileError, match="load_svmlight reads it"):
        load_table(write("1 1:2\n", name))
    with pytest.raises(DataFileError, match="'xlsx' is not a format of tables"):
        load_table(write("1 1:2\n", name), format="xlsx")


# ------------------------------------------------------------------ parquet

TYPED = pl.DataFrame({"a": [1, 2], "b": [0.5, float("nan")], "c": ["x", None]})


@pytest.mark.parametrize("name", ["data.parquet", "data.pq", "data.parquet.gz"])
def test_parquet_keeps_types_and_makes_nan_null(write, name):
    stream = io.BytesIO()
    TYPED.write_parquet(stream)
    content = stream.getvalue()
    path = write(gzip.compress(content) if name.endswith(".gz") else content, name)
    expected = TYPED.with_columns(b=pl.Series([0.5, None]))
    assert_frame_equal(load_table(path), expected)
    assert_frame_equal(load_table(path, columns=["c", "a"]), expected["c", "a"])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"a,b\n1,2\n", "not a readable Parquet file"),
        (b"PAR1" + b"x" * 100 + b"PAR1", "not a readable Parquet file"),
    ],
)
def test_broken_parquet_is_refused(write, content, message):
    with pytest.raises(DataFileError, match=message):
        load_table(write(content, "data.parquet"))


@pytest.mark.parametrize(
    "line", ['{"a": 1, "a": 2}', '{"a":1,"b":2,"\\u0061":3}', '{"b":"\\":","b":null}']
)
def test_a_key_that_occurs_twice_in_a_line_is_named(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a":1,"b":2}\n{"a":null,"b":"x"}\n' + line)
    key = "b" if line.startswith('{"b') else "a"
    with pytest.raises(DataFileError, match=f"line 3: .*the key '{key}' occurs 2"):
        load_table(path)
