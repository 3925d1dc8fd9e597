"""A table on disk is the table in memory, some at a time."""

import gc
import pickle
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from aucmax._core.mapped import is_mapped
from aucmax.datasets import open_table
from aucmax.datasets.on_disk import TableOnDisk
from aucmax.exceptions import DataFileError

ROWS = 100


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "x": rng.normal(size=ROWS),
            "n": rng.integers(0, 9, ROWS),
            "w": rng.choice(["a", "b", None], ROWS),
            "y": rng.random(ROWS) < 0.3,
        }
    ).with_columns(pl.when(pl.col("x") < 1).then("x"))


@pytest.fixture
def table(tmp_path, frame) -> TableOnDisk:
    for k, (start, stop) in enumerate([(0, 30), (30, 31), (31, 100)]):
        path = tmp_path / f"{k}.parquet"
        frame[start:stop].write_parquet(path, row_group_size=7)
    return open_table(tmp_path)


def test_it_is_the_table(frame, table):
    assert table.shape == frame.shape
    assert len(table) == ROWS
    assert table.columns == frame.columns
    assert table.dtypes == frame.dtypes
    assert_frame_equal(table.collect(), frame)
    assert_frame_equal(table.head(40), frame.head(40))
    for name, column in zip(frame.columns, table.iter_columns(), strict=True):
        assert column.to_list() == table[name].to_list() == frame[name].to_list()
    assert table.estimated_size() == ROWS * (8 + 8 + 32 + 8)


@pytest.mark.parametrize("step", [1, 7, 30, 1000, None])
def test_slices_are_the_table(frame, table, step):
    slices = list(table.iter_slices(step))
    assert_frame_equal(pl.concat(slices), frame)
    assert max(part.height for part in slices) <= (step or ROWS)
    assert [part.height for part in slices] == [p.height for p in table.pieces(step)]


def test_columns_and_rows_are_chosen_as_of_a_frame(frame, table):
    mask = np.arange(ROWS) % 3 == 0
    chosen = table.filter(mask).select(["w", "x"])
    assert_frame_equal(chosen.collect(), frame.filter(mask).select("w", "x"))
    again = chosen.filter(np.arange(chosen.height) % 2 == 0)
    assert_frame_equal(again.collect(), frame.select("w", "x")[::6])
    rows = np.array([0, 30, 31, 99])
    assert_frame_equal(table[rows].drop(["n"]).collect(), frame[rows].drop("n"))
    assert table[rows].height == 4
    assert [part.height for part in table[rows].parts()] == [1, 1, 2]
    parts = [part.collect() for part in table[rows].parts()]
    assert_frame_equal(pl.concat(parts), frame[rows])


def test_what_it_cannot_choose_is_refused(table):
    with pytest.raises(TypeError, match="ascending numbers"):
        table[np.array([3, 1])]
    with pytest.raises(TypeError, match="ascending numbers"):
        table[np.array([1, 1])]
    with pytest.raises(KeyError, match="no column 'xx'"):
        table["xx"]


def test_pieces_can_be_sent_to_another_process(frame, table):
    pieces = pickle.loads(pickle.dumps(table.filter(frame["y"]).pieces(20)))
    rows = pl.concat([piece.read() for piece in pieces])
    assert_frame_equal(rows, frame.filter("y"))


def test_numbers_become_a_matrix_on_disk(frame, table):
    matrix = table.drop(["w"]).mapped()
    assert is_mapped(matrix)
    expected = frame.drop("w").cast(pl.Float64).to_numpy()
    np.testing.assert_array_equal(matrix, expected)
    with pytest.raises(TypeError, match="column 'w' is of type String"):
        table.mapped()


def test_narrow_numbers_stay_narrow(tmp_path):
    frame = pl.DataFrame({"a": [1.0, None], "b": [3.0, 4.0]}, schema_overrides=NARROW)
    frame.write_parquet(tmp_path / "a.parquet")
    assert open_table(tmp_path / "a.parquet").mapped().dtype == np.float32


NARROW = {"a": pl.Float32, "b": pl.Float32}


def test_nan_is_a_gap_as_in_other_tables(tmp_path):
    pl.DataFrame({"a": [1.0, np.nan]}).write_parquet(tmp_path / "a.parquet")
    assert open_table(tmp_path)["a"].to_list() == [1.0, None]


def test_text_files_are_one_table_whatever_each_of_them_looks_like(
    tmp_path, monkeypatch
):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "0.csv").write_text("code,size,note\n007,1,\n010,2,?\n")
    (parts / "1.csv").write_text("code,size,note\nA1,2.5,hello\n")
    (parts / "2.csv").write_text("code,size,note\n9,,\n")
    table = open_table(parts)
    assert table.collect().to_dict(as_series=False) == {
        "code": ["007", "010", "A1", "9"],
        "size": [1.0, 2.0, 2.5, None],
        "note": [None, None, "hello", None],
    }
    rows = table[np.array([1, 2])].drop(["note"])
    del table
    assert rows["code"].to_list() == ["010", "A1"]
    assert list(scratch.iterdir())
    del rows
    gc.collect()
    assert not list(scratch.iterdir())


def test_a_flaw_of_a_text_file_is_named_and_leaves_nothing(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    (tmp_path / "0.csv").write_text("a,b\n1,2\n")
    (tmp_path / "1.csv").write_text("a,b\n1,2,3\n")
    with pytest.raises(DataFileError, match=r"1\.csv: line 2.*more fields"):
        open_table(tmp_path / "*.csv")
    (tmp_path / "1.csv").write_text("a,c\n1,2\n")
    with pytest.raises(DataFileError, match=r"1\.csv has no column 'b'"):
        open_table(tmp_path / "*.csv")
    gc.collect()
    assert not list(scratch.iterdir())


def test_columns_may_be_kept_as_texts(tmp_path):
    Path(tmp_path / "0.csv").write_text("code\n007\n")
    assert open_table(tmp_path, text_columns=["code"])["code"].to_list() == ["007"]
