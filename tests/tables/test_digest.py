import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

from aucmax.tables import encode_target
from aucmax.tables.frames import digest_table

TABLE = pl.DataFrame(
    {
        "age": [31, 42, None, 7],
        "size": [0.5, float("nan"), 2.0, 1.0],
        "kind": ["a", "bc", None, ""],
        "day": pl.Series(
            ["2024-01-01", "2024-01-02", None, "2024-01-03"]
        ).str.to_date(),
        "known": [True, False, None, True],
    }
)
TARGET = encode_target([0, 1, 1, 0])


def test_it_does_not_change_with_chunks_or_the_kind_of_frame():
    expected = digest_table(TABLE, TARGET)
    chunked = pl.concat([TABLE[:1], TABLE[1:]], rechunk=False)
    assert digest_table(chunked, TARGET) == expected
    numbers = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    target = encode_target([0, 1])
    assert digest_table(numbers, target) == digest_table(
        pl.DataFrame({"a": [1.0, 2.0], "b": [3, 4]}), target
    )


def test_it_changes_with_any_cell_name_order_and_label():
    changed = [
        TABLE.with_columns(age=pl.Series([31, 42, 0, 7])),
        TABLE.with_columns(size=pl.Series([0.5, None, 2.0, 1.0])),
        TABLE.with_columns(kind=pl.Series(["ab", "c", None, ""])),
        TABLE.with_columns(kind=pl.Series(["a", "bc", "", None])),
        TABLE.with_columns(day=TABLE["day"].dt.offset_by("1d")),
        TABLE.with_columns(known=~TABLE["known"]),
        TABLE.rename({"age": "ages"}),
        TABLE[::-1],
        TABLE[:, ::-1],
        TABLE.with_columns(TABLE["age"].cast(pl.Float64)),
    ]
    prints = [digest_table(one, TARGET) for one in (TABLE, *changed)]
    prints.append(digest_table(TABLE, encode_target([1, 0, 1, 0])))
    assert len(set(prints)) == len(prints)
    assert all(len(one) == 16 for one in prints)


def test_sparse_rows_have_one_too():
    dense = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 4.0]])
    rows = sparse.csr_array(dense)
    prints = {
        digest_table(kind(rows), TARGET) for kind in (type(rows), sparse.csc_array)
    }
    assert len(prints) == 1
    other = sparse.csr_array(dense[:, ::-1])
    assert digest_table(other, TARGET) not in prints
