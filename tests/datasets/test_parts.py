"""Tables in many files: which they are, and what must be the same in all."""

import polars as pl
import pytest

from aucmax.datasets import open_table
from aucmax.datasets.part_files import find_files
from aucmax.exceptions import DataFileError


@pytest.fixture
def folder(tmp_path):
    for k in range(3):
        part(k).write_parquet(tmp_path / f"part-{k}.parquet")
    return tmp_path


def part(k, **columns):
    usual = {"age": [30 + k, 40 + k], "ward": ["a", "b"], "sick": [0, 1]}
    return pl.DataFrame({**usual, **columns})


def names(files):
    return [file.name for file in files]


def test_a_name_stands_for_a_file_a_folder_or_a_pattern(folder):
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").touch()
    (folder / "more").mkdir()
    all_three = ["part-0.parquet", "part-1.parquet", "part-2.parquet"]
    assert names(find_files(folder)) == all_three
    assert names(find_files(str(folder / "part-[02].parquet"))) == all_three[::2]
    assert names(find_files(folder / "part-?.parquet")) == all_three
    assert names(find_files(folder / "part-1.parquet")) == all_three[1:2]
    assert names(find_files(folder / "none.parquet")) == ["none.parquet"]
    assert names(find_files("-")) == ["-"]


def test_a_file_may_be_named_like_a_pattern(tmp_path):
    (tmp_path / "a[1].csv").write_text("a\n1\n")
    (tmp_path / "a1.csv").write_text("a\n2\n")
    assert names(find_files(tmp_path / "a[1].csv")) == ["a[1].csv"]


def test_nothing_found_is_told(folder):
    with pytest.raises(DataFileError, match=r"no file matches .*prt-\*\.parquet"):
        find_files(folder / "prt-*.parquet")
    empty = folder / "empty"
    empty.mkdir()
    with pytest.raises(DataFileError, match="the folder has no files"):
        find_files(empty)
    (empty / "year=2024").mkdir()
    with pytest.raises(DataFileError, match=r"name the files by a pattern: .*\*\*"):
        find_files(empty)
    with pytest.raises(DataFileError, match="only folders do"):
        find_files(empty / "year*")


def test_formats_do_not_mix(folder):
    part(0).write_csv(folder / "part-9.csv")
    with pytest.raises(DataFileError, match=r"part-9\.csv is csv, but .*0\.parquet is"):
        open_table(folder)


def test_columns_are_the_same_in_any_order(folder):
    part(3).select("sick", "ward", "age").write_parquet(folder / "part-3.parquet")
    table = open_table(folder)
    assert table.columns == ["age", "ward", "sick"]
    assert table["age"].to_list() == [30, 40, 31, 41, 32, 42, 33, 43]


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (part(3).drop("sick"), r"part-3\.parquet has no column 'sick', which .*part-0"),
        (part(3, new=[1, 2]), r"part-3\.parquet has a column 'new', which .*does not"),
        (part(3).rename({"age": "Age"}), r"no column 'age'.* Did you mean 'Age'\?"),
        (
            part(3, age=["x", "y"]),
            r"part-3\.parquet: column 'age' holds strings, but numbers \(Int64\) in",
        ),
        (
            part(3, sick=[True, False]),
            r"column 'sick' holds values of type Boolean, but numbers",
        ),
    ],
)
def test_other_columns_or_types_are_named_with_their_file(folder, other, message):
    other.write_parquet(folder / "part-3.parquet")
    with pytest.raises(DataFileError, match=message):
        open_table(folder)


def test_numbers_may_be_of_different_widths(folder):
    narrow = part(3).cast({"age": pl.Float32, "sick": pl.Int8})
    narrow.write_parquet(folder / "part-3.parquet")
    empty = part(4).with_columns(age=pl.lit(None), ward=pl.lit(None))
    empty.write_parquet(folder / "part-4.parquet")
    categories = part(5).cast({"ward": pl.Categorical})
    categories.write_parquet(folder / "part-5.parquet")
    table = open_table(folder)
    assert table.dtypes == [pl.Float64, pl.String, pl.Int64]
    assert table["age"].to_list()[6:10] == [33, 43, None, None]
    assert table["ward"].to_list()[-4:] == [None, None, "a", "b"]


def test_parts_without_rows_do_not_matter_unless_all_are(folder):
    part(0).clear().write_parquet(folder / "part-00.parquet")
    assert open_table(folder).height == 6
    for k in range(3):
        part(k).clear().write_parquet(folder / f"part-{k}.parquet")
    with pytest.raises(DataFileError, match="the table has no rows"):
        open_table(folder)


def test_a_corrupt_file_in_the_middle_is_named(folder):
    whole = (folder / "part-1.parquet").read_bytes()
    for content in (whole[: len(whole) // 2], b"PAR1", b""):
        (folder / "part-1.parquet").write_bytes(content)
        with pytest.raises(DataFileError, match=r"part-1\.parquet: "):
            open_table(folder)


def test_corrupt_cells_in_the_middle_are_named(folder):
    part = pl.DataFrame(
        {"age": list(range(20_000)), "ward": ["a"] * 20_000, "sick": [0] * 20_000}
    )
    part.write_parquet(folder / "part-1.parquet", compression="zstd")
    content = bytearray((folder / "part-1.parquet").read_bytes())
    content[100:400] = bytes(300)
    (folder / "part-1.parquet").write_bytes(content)
    table = open_table(folder)
    with pytest.raises(DataFileError, match=r"part-1\.parquet: not a readable Parquet"):
        table["age"]


def test_a_part_that_is_gone_or_changed_is_named(folder):
    table = open_table(folder)
    part(1)[:1].write_parquet(folder / "part-1.parquet")
    with pytest.raises(DataFileError, match=r"part-1\.parquet: 1 rows instead of 2"):
        table.collect()
    (folder / "part-1.parquet").unlink()
    with pytest.raises(DataFileError, match=r"part-1\.parquet"):
        table.collect()


def test_svmlight_files_are_no_parts(tmp_path):
    for k in range(2):
        (tmp_path / f"{k}.svm").write_text("1 1:2\n0 1:3\n")
    with pytest.raises(DataFileError, match="svmlight files are read one at a time"):
        open_table(tmp_path)
