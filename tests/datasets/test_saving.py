import polars as pl
import pytest
from polars.testing import assert_frame_equal

from aucmax.datasets import load_table, save_table

TABLE = pl.DataFrame({"a": [1, 2, None], "b": ["x, y", 'a "quote"', "ü"]})


@pytest.mark.parametrize("name", ["t.csv", "t.TSV", "t.tab", "t.parquet", "t.pq"])
def test_a_saved_table_is_read_again(tmp_path, name):
    save_table(TABLE, tmp_path / name)
    assert_frame_equal(load_table(tmp_path / name), TABLE)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.svm", "t.xlsx", "t"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match=r"written as \.csv, \.tsv or \.parquet"):
        save_table(TABLE, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_replaced_only_if_told(tmp_path):
    path = tmp_path / "t.csv"
    save_table(TABLE, path)
    with pytest.raises(FileExistsError):
        save_table(TABLE, path)
    save_table(TABLE.head(1), str(path), overwrite=True)
    assert load_table(path).height == 1
